"""Remembers which files of a model were verified, so that loading one need not read gigabytes to trust it.

A file is taken as whole while its size and the time of its last change are those it had when its sum was
right. Knows nothing of catalogues, fetching or engines: a model is its name and the sums of its files.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from plait.errors import UserError
from plait.models.progress import MEBIBYTE
from plait.paths import models_folder

Sums: TypeAlias = Mapping[Path, str]
"""The hexadecimal sha256 that each file should have."""


def sha256_of(file: Path) -> str:
    """Return the hexadecimal sha256 of a file."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def is_verified(model: str, sums: Sums) -> bool:
    """Whether all files are there and none has changed since its sum was right; reads none of them."""
    known = _read(model)
    stamps = _stamps(sums)
    return all(stamp is not None and known.get(_key(path)) == stamp for path, stamp in stamps.items())


def verify(model: str, sums: Sums, note: Callable[[str], None]) -> Sequence[Path]:
    """Read all files, remember those that are whole, and return those that are damaged or not there.

    Raises:
        UserError: a file cannot be read.
    """
    whole: dict[str, Any] = {}
    for path, stamp in _stamps(sums).items():
        if stamp is None:
            continue
        if stamp["size_bytes"] > MEBIBYTE:
            note(f"Checking the sum of {path.name} ({stamp['size_bytes'] / MEBIBYTE:.0f} MiB)")
        try:
            if sha256_of(path) == stamp["sha256"]:
                whole[_key(path)] = stamp
        except OSError as error:
            raise UserError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    _write(model, whole)
    return [path for path in sums if _key(path) not in whole]


def remember(model: str, sums: Sums) -> None:
    """Take the files as verified, just now and as they are."""
    _write(model, {_key(path): stamp for path, stamp in _stamps(sums).items() if stamp is not None})


def forget(model: str) -> None:
    """Forget what was verified of a model."""
    with suppress(OSError):  # What is remembered of files that change is not believed anyway.
        _record(model).unlink(missing_ok=True)


def _record(model: str) -> Path:
    return models_folder() / f"{model}.verified.json"


def _key(path: Path) -> str:
    """Name a file, by its place in the folder of models where it is there: the folder may be moved."""
    folder = models_folder()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _stamps(sums: Sums) -> dict[Path, dict[str, Any] | None]:
    """Return what tells a file from a changed one; None where there is no file."""
    stamps: dict[Path, dict[str, Any] | None] = {}
    for path, sha256 in sums.items():
        stamps[path] = None
        if path.is_file():
            found = path.stat()
            stamps[path] = {"sha256": sha256, "size_bytes": found.st_size, "mtime_ns": found.st_mtime_ns}
    return stamps


def _read(model: str) -> Mapping[str, Any]:
    try:
        known: Any = json.loads(_record(model).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # Nothing is known, so everything is verified anew.
    return known if isinstance(known, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _write(model: str, whole: Mapping[str, Any]) -> None:
    record = _record(model)
    part = record.with_name(f"{record.name}.part")
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(whole, indent=1), encoding="utf-8")
        part.replace(record)
    except OSError:
        # Weights on a disk that cannot be written are verified at every load.
        with suppress(OSError):
            part.unlink(missing_ok=True)
