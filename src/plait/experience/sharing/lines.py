"""The lines of a file of experience: bounded before they are read, and JSON in which every text can be seen.

A file is a header line and a record a line. Knows nothing of what a record is.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, cast

from plait.errors import UserError
from plait.experience.pipelines.soundness import shown
from plait.journal import JSON

FORMAT, VERSION = "plait-experience", 1
MOST_LINE_BYTES = 262_144
MOST_FILE_BYTES = 33_554_432
MOST_RECORDS = 10_000
MOST_DEPTH = 24
"""Lists and objects inside each other."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ALLOWED = frozenset("\n\t\u200c\u200d")
"""Line ends, and what joins letters in some scripts."""


def header() -> str:
    """Return the first line of a file."""
    return json.dumps({"format": FORMAT, "version": VERSION})


def lines_of(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers.

    Raises:
        UserError: it is empty, or it or one of its lines is larger than may be.
    """
    read = number = 0
    while line := stream.readline(MOST_LINE_BYTES + 1):
        read, number = read + len(line), number + 1
        if len(line) > MOST_LINE_BYTES:
            raise UserError(f"line {number} is longer than {MOST_LINE_BYTES:,} bytes")
        if read > MOST_FILE_BYTES:
            raise UserError(f"it is larger than {MOST_FILE_BYTES:,} bytes")
        if number > MOST_RECORDS + 1:
            raise UserError(f"it has more than {MOST_RECORDS:,} records")
        yield number, line
    if not number:
        raise UserError("it is empty")


def check_header(line: bytes) -> None:
    """Check the first line of a file.

    Raises:
        UserError: it is none of this format and version.
    """
    try:
        fields = object_of(line)
    except UserError:
        fields = dict[str, Any]()
    if fields.get("format") != FORMAT:
        raise UserError("its first line is not that of experience that Plait exported")
    if fields.get("version") != VERSION or isinstance(fields.get("version"), bool):
        version = json.dumps(fields.get("version"))
        raise UserError(f"it has version {shown(version)} of the format, and this Plait reads {VERSION}")


def object_of(line: bytes) -> Mapping[str, Any]:
    """Read a line as a JSON object in which every text can be seen.

    Raises:
        UserError: it is none.
    """
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise UserError("it is not UTF-8 text") from error
    except RecursionError as error:
        raise UserError(f"it is nested deeper than {MOST_DEPTH} levels") from error
    except ValueError as error:
        raise UserError("it is not JSON") from error
    if not isinstance(value, dict):
        raise UserError("it is not a JSON object")
    _check_texts(cast("JSON", value), MOST_DEPTH)
    return cast("Mapping[str, Any]", value)


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    # Of two equal keys one reader takes the first and another the last.
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise UserError("it has a key twice in one object")
    return fields


def _refused(name: str) -> Any:
    raise UserError(f"it holds {name}, which is no JSON")


def _check_texts(value: JSON, depth: int) -> None:
    """Refuse texts with characters that nobody sees, wherever they stand, and what is nested too deep."""
    if isinstance(value, str):
        unseen = next((one for one in value if one not in _ALLOWED and _is_unseen(one)), "")
        if unseen:
            raise UserError(f"it holds the character U+{ord(unseen):04X}, which nobody sees")
        return
    if isinstance(value, int | float | None):
        return
    if not depth:
        raise UserError(f"it is nested deeper than {MOST_DEPTH} levels")
    inside = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
    for item in inside:
        _check_texts(item, depth - 1)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN
