"""The rows of a task file: a table with named columns, or an object a line.

Knows nothing of what they mean.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from plait.errors import UserError


def rows_of(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a file, each with text in all of `columns`.

    Raises:
        UserError: it cannot be read, or a row lacks something; the message names file and line.
    """
    return (row for _, row in numbered_rows(path, columns))


def numbered_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the rows of a file as `rows_of` does, each with the line in which it ends.

    Raises:
        UserError: as `rows_of`.
    """
    try:
        with path.open("rb") as file:
            read = (
                _objects(path, _decoded(path, file))
                if path.suffix == ".jsonl"
                else _table(path, _decoded(path, _split(file)), columns)
            )
            for number, row in read:
                for column in columns:
                    if not isinstance(row.get(column), str) or not row[column].strip():
                        raise _wrong(path, number, f"there is no {column!r}")
                yield number, row
    except OSError as error:
        raise UserError(f"cannot read the task file {str(path)!r}: {error.strerror or error}") from error


def files_in(source: Path, pattern: str) -> Sequence[Path]:
    """Return a file itself, or the files of a folder that a pattern fits, sorted.

    Raises:
        UserError: there is none.
    """
    if not source.is_dir():
        return [source]
    if found := sorted(source.glob(pattern)):
        return found
    raise UserError(
        f"no task files ({pattern}) in the folder {str(source)!r}: name one of another name itself"
    )


def _split(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, also those that a carriage return alone ends."""
    for line in file:
        yield from line.splitlines(keepends=True)


def _decoded(path: Path, lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a file as text; a byte order mark, as tables of some programs have it, goes."""
    for number, line in enumerate(lines, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _wrong(path, number, "it is no UTF-8") from error
        yield text


def _table(
    path: Path, lines: Iterator[str], columns: Sequence[str]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(lines, strict=True)
    try:
        if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
            raise UserError(f"task file {str(path)!r} has no column {missing[0]!r}")
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise _wrong(path, reader.reader.line_num, str(error)) from error


def _objects(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: Any = json.loads(line)
        except ValueError as error:
            raise _wrong(path, number, f"it is no JSON ({str(error).partition(':')[0]})") from error
        if not isinstance(value, dict):
            raise _wrong(path, number, "it is no object")
        yield number, cast("dict[str, Any]", value)


def _wrong(path: Path, line: int, what: str) -> UserError:
    return UserError(f"task file {str(path)!r}, line {line}: {what}")
