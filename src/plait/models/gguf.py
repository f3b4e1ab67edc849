"""Reads what Plait needs to know of a GGUF file: is it one, and how much memory a token takes.

Knows nothing of engines or catalogues. Reads the head of the file only, never a tensor.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from plait.errors import UserError

MAGIC = b"GGUF"
_BYTES_PER_CACHE_ELEMENT = 2  # llama.cpp keeps keys and values as 16-bit floats
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}


@dataclass(frozen=True, kw_only=True)
class ModelShape:
    """The sizes that decide how much memory a model takes."""

    file_bytes: int
    trained_context: int
    """Most tokens the model was trained to read; 0 where the file does not say."""
    bytes_per_token: int
    """Keys and values of one token over all layers."""


def read_shape(path: Path) -> ModelShape:
    """Read the shape of the model in `path`.

    Raises:
        UserError: the file is missing, or no GGUF file of a language model.
    """
    metadata = _read_metadata(path)
    architecture = metadata.get("general.architecture", "")

    def number(key: str, default: int) -> int:
        value = metadata.get(f"{architecture}.{key}", default)
        return value if isinstance(value, int) else default

    layers, width = number("block_count", 0), number("embedding_length", 0)
    if layers <= 0 or width <= 0:
        raise UserError(f"{str(path)!r} is no language model: its GGUF header names no layers.")
    heads = max(number("attention.head_count", 1), 1)
    head_width = width // heads
    per_head = number("attention.key_length", head_width) + number("attention.value_length", head_width)
    cached_heads = metadata.get(f"{architecture}.attention.head_count_kv", heads)
    total_heads = sum(cached_heads) if isinstance(cached_heads, list) else cached_heads * layers  # pyright: ignore[reportUnknownArgumentType]
    return ModelShape(
        file_bytes=path.stat().st_size,
        trained_context=number("context_length", 0),
        bytes_per_token=total_heads * per_head * _BYTES_PER_CACHE_ELEMENT,
    )


def is_gguf(path: Path) -> bool:
    """Return whether the file begins as a GGUF file does."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _read_metadata(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise UserError(f"{str(path)!r} is no GGUF file: it does not begin with GGUF.")
            return _read_entries(file)
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (struct.error, UnicodeDecodeError, KeyError) as error:
        raise UserError(f"{str(path)!r} is damaged: its GGUF header cannot be read.") from error


def _read_entries(file: BinaryIO) -> dict[str, Any]:
    _version, _tensors, count = _unpack(file, "<I"), _unpack(file, "<Q"), _unpack(file, "<Q")
    entries: dict[str, Any] = {}
    for _ in range(count):
        key = _read_string(file)
        # The vocabulary, 150,000 strings or more, comes after all that is asked for here.
        if key.startswith("tokenizer.") and any(known.endswith(".block_count") for known in entries):
            break
        entries[key] = _read_value(file, _unpack(file, "<I"))
    return entries


def _read_value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _read_string(file)
    if kind == _ARRAY:
        of, length = _unpack(file, "<I"), _unpack(file, "<Q")
        return [_read_value(file, of) for _ in range(length)]
    return _unpack(file, _SCALARS[kind])


def _read_string(file: BinaryIO) -> str:
    length = _unpack(file, "<Q")
    if length > 1 << 24:
        raise struct.error(f"a string of {length} bytes")
    return file.read(length).decode()


def _unpack(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]
