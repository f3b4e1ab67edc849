"""The two statements of every commit: whose the runs are, and their new records.

Knows nothing of what records mean. On SQLite both take as few steps of the driver as can be: at each, that
is for each row, it gives up the interpreter's lock and waits for the event loop to give it back.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from plait.runtime.store import RecordRow
from plait.runtime.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Insert, Select

MOST_ROWS = 64
"""In one statement; a power of two. Shorter ones are powers of two as well, so that few are ever prepared."""

_SQLITE_EPOCHS = (
    "SELECT json_group_object(run_id, epoch) FROM runs WHERE run_id IN (SELECT value FROM json_each(?))"
)


def epochs(connection: "Connection", run_ids: Collection[str]) -> dict[str, int]:
    """Say who may write to some runs, and hold that until the transaction ends."""
    if _is_sqlite(connection):
        found = connection.exec_driver_sql(_SQLITE_EPOCHS, (json.dumps(list(run_ids)),))
        return json.loads(found.scalar_one())
    rows = connection.execute(_select_epochs(), {"run_ids": list(run_ids)})
    return {row.run_id: row.epoch for row in rows}


def insert_records(connection: "Connection", rows: Sequence[RecordRow]) -> None:
    """Add records."""
    if not rows:
        return
    left = cast("Sequence[Mapping[str, Any]]", rows)
    if not _is_sqlite(connection):
        connection.execute(_insert(), left)
        return
    names = _columns()
    while left:
        count = min(MOST_ROWS, 1 << (len(left).bit_length() - 1))
        values = tuple(row[name] for row in left[:count] for name in names)
        connection.exec_driver_sql(_sqlite_insert(count), values)
        left = left[count:]


def _is_sqlite(connection: "Connection") -> bool:
    return connection.dialect.name == "sqlite"


# Built once each: that takes longer than executing them.


@cache
def _select_epochs() -> "Select[str, int]":
    from sqlalchemy import bindparam, select

    runs = tables().runs
    some = runs.c.run_id.in_(bindparam("run_ids", expanding=True))
    return select(runs.c.run_id, runs.c.epoch).where(some).with_for_update(read=True)


@cache
def _insert() -> "Insert":
    return tables().records.insert()


@cache
def _columns() -> Sequence[str]:
    return tuple(tables().records.c.keys())


@cache
def _sqlite_insert(count: int) -> str:
    row = f"({', '.join('?' * len(_columns()))})"
    return f"INSERT INTO records ({', '.join(_columns())}) VALUES {', '.join([row] * count)}"
