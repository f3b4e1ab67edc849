"""The rows of a task file: a table with named columns, or an object a line.

Knows nothing of what they mean.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from plait.errors import UserError


def rows_of(path: Path, columns: Sequence[str]) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a file, each with text in all of `columns`.

    Raises:
        UserError: it cannot be read, or a row lacks something; the message names file and line.
    """
    try:
        for line, row in _lines(path) if path.suffix == ".jsonl" else _table(path, columns):
            for column in columns:
                if not isinstance(row.get(column), str) or not row[column].strip():
                    raise UserError(f"task file {str(path)!r}, line {line}: there is no {column!r}")
            yield row
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"cannot read the task file {str(path)!r}: {error}") from error


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


def _table(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
            raise UserError(f"task file {str(path)!r} has no column {missing[0]!r}")
        for row in reader:
            yield reader.line_num, row


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            value: Any = json.loads(line)
            if not isinstance(value, dict):
                raise UserError(f"task file {str(path)!r}, line {number}: it is no object")
            yield number, cast("dict[str, Any]", value)
