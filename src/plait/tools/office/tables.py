"""The tables of the office: text cells, kept as CSV files in a run's folder.

Knows nothing of the tools that read and change them. Every change replaces the table's whole file at
once, so that a process killed at any moment leaves the old table or the new one, and a folder opened
again goes on from there. Rows are never changed in place: a reader keeps what it has seen, and all
runs of a process share the rows that none of them has touched.
"""

import contextlib
import csv
import functools
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TypeAlias

from plait.errors import ToolError, UserError

Row: TypeAlias = Mapping[str, str]

FIXED_TIME = "2023-11-30 00:00:00"
"""The office's clock stands still, so that equal calls have equal effects."""

COLUMNS: Mapping[str, Sequence[str]] = {
    "calendar_events": ("event_id", "event_name", "participant_email", "event_start", "duration"),
    "emails": ("email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body"),
    "plots": ("file_path",),
    "project_tasks": ("task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board"),
    "customers": (
        "customer_id",
        "assigned_to_email",
        "customer_name",
        "customer_email",
        "customer_phone",
        "last_contact_date",
        "product_interest",
        "status",
        "follow_up_by",
        "notes",
    ),
}
"""The five tables that tools change, each with its columns; the first column is the row's id."""

VISIT_COLUMNS = (
    "date_of_visit",
    "visitor_id",
    "page_views",
    "session_duration_seconds",
    "traffic_source",
    "user_engaged",
)


class Table:
    """One table, read at first use."""

    def __init__(self, name: str, *, folder: Path | None, save: bool) -> None:
        self.name = name
        self.columns = COLUMNS[name]
        self._path = None if folder is None else folder / f"{name}.csv"
        self._save = save
        self._rows: Sequence[Row] | None = None

    @property
    def rows(self) -> Sequence[Row]:
        """All rows in the order of the table.

        Raises:
            UserError: the table's file in the folder cannot be read as this table.
            ToolError: the folder cannot be written to.
        """
        if self._rows is None:
            self._rows = self._load()
        return self._rows

    def find(self, row_id: str) -> Row | None:
        """Return the first row with this id, or None."""
        return next((row for row in self.rows if row[self.columns[0]] == row_id), None)

    def next_id(self) -> int:
        """Return the largest id plus one."""
        ids = (row[self.columns[0]] for row in self.rows)
        return max((int(value) for value in ids if value.isdecimal()), default=-1) + 1

    def append(self, cells: Sequence[str]) -> None:
        """Add a row at the end, its cells in the order of the columns."""
        self._replace([*self.rows, dict(zip(self.columns, cells, strict=True))])

    def delete(self, row_id: str) -> None:
        """Take out every row with this id."""
        self._replace([row for row in self.rows if row[self.columns[0]] != row_id])

    def set(self, row_id: str, column: str, value: str) -> None:
        """Put `value` into one column of every row with this id."""
        key = self.columns[0]
        self._replace([{**row, column: value} if row[key] == row_id else row for row in self.rows])

    def _replace(self, rows: Sequence[Row]) -> None:
        # The file first: when writing fails, memory and file both still hold the old table.
        if self._path is not None and self._save:
            _write_atomically(self._path, _as_csv(self.columns, rows))
        self._rows = rows

    def _load(self) -> Sequence[Row]:
        if self._path is not None and self._path.exists():
            return _read_file(self._path, self.columns)
        rows = _starting_rows(self.name)
        if self._path is not None and self._save:
            _write_atomically(self._path, _as_csv(self.columns, rows))
        return rows


class Office:
    """The state that the office tools act on.

    Args:
        folder: Where the tables live. What is missing there starts as the packaged table; None keeps
            everything in memory.
        save: Whether tables are written to the folder; without, it is only read.
    """

    def __init__(self, folder: Path | None, *, save: bool = True) -> None:
        self.tables: Mapping[str, Table] = {name: Table(name, folder=folder, save=save) for name in COLUMNS}

    @property
    def events(self) -> Table:
        return self.tables["calendar_events"]

    @property
    def emails(self) -> Table:
        return self.tables["emails"]

    @property
    def plots(self) -> Table:
        return self.tables["plots"]

    @property
    def tasks(self) -> Table:
        return self.tables["project_tasks"]

    @property
    def customers(self) -> Table:
        return self.tables["customers"]


@functools.cache
def visits() -> Sequence[Row]:
    """Return the website's visits, which no tool changes."""
    return _parse(_packaged("analytics_data"), VISIT_COLUMNS, "analytics_data.csv")


@functools.cache
def addresses() -> Sequence[str]:
    """Return the company's e-mail addresses, which no tool changes."""
    return _packaged("email_addresses").split()


@functools.cache
def _starting_rows(name: str) -> Sequence[Row]:
    return () if name == "plots" else _parse(_packaged(name), COLUMNS[name], f"{name}.csv")


def _packaged(name: str) -> str:
    return resources.files("plait.tools.office").joinpath("data", f"{name}.csv").read_text(encoding="utf-8")


def _read_file(path: Path, columns: Sequence[str]) -> Sequence[Row]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as exc:
        raise UserError(f"cannot read the table {str(path)!r}: {exc}; mend or delete the file") from exc
    return _parse(text, columns, str(path))


def _parse(text: str, columns: Sequence[str], place: str) -> Sequence[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, list[str]())
        if header != list(columns):
            raise UserError(
                f"the table {place!r} should have the columns {','.join(columns)!r}, not"
                f" {','.join(header)[:200]!r}; mend or delete the file"
            )
        return [dict(zip(columns, cells, strict=True)) for cells in reader if cells]
    except (csv.Error, ValueError) as exc:
        raise UserError(
            f"the table {place!r} is damaged at line {reader.line_num} ({exc}); mend or delete the file"
        ) from exc


def _as_csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    text = io.StringIO()
    plain = csv.writer(text, lineterminator="\n")
    # A carriage return ends a row for the reader but is not quoted by the plain writer.
    quoted = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writerow(columns)
    for row in rows:
        cells = [row[column] for column in columns]
        writer = quoted if any("\r" in cell for cell in cells) else plain
        writer.writerow(cells)
    return text.getvalue()


def _write_atomically(path: Path, text: str) -> None:
    # One fixed name beside the table: what a killed process left is overwritten, never piled up.
    temporary = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as exc:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        reason = exc.strerror or str(exc)
        raise ToolError(f"cannot save the table {str(path)!r}: {reason}; nothing was changed") from exc


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
