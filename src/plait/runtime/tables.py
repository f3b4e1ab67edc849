"""The tables of the run log and of experience, for SQLite and Postgres alike.

Knows nothing of what the records mean. SQLAlchemy takes a third of a second to import, so the tables
are built at the first use and not when this module is loaded.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table


@dataclass(frozen=True, kw_only=True)
class Tables:
    """All tables and what binds them."""

    metadata: "MetaData"
    version: "Table"
    """One row: the number of the last migration."""
    runs: "Table"
    """One row a run: who may write to it, and what a list of runs shows."""
    records: "Table"
    """The append-only log."""
    experiences: "Table"
    """One row a workflow, pipeline or lesson; how it is found again, and how it did since."""
    memories: "Table"
    """One row a memory of experience: what tells its last change from all others."""


@cache
def tables() -> Tables:
    """Describe the tables as the newest migration leaves them."""
    from sqlalchemy import Column, Integer, MetaData, Table

    metadata = MetaData()
    runs, records = _log(metadata)
    experiences, memories = _experience(metadata)
    return Tables(
        metadata=metadata,
        version=Table("schema_version", metadata, Column("number", Integer, nullable=False)),
        runs=runs,
        records=records,
        experiences=experiences,
        memories=memories,
    )


def _log(metadata: "MetaData") -> "tuple[Table, Table]":
    from sqlalchemy import BigInteger, Column, Float, Integer, Table, Text, UniqueConstraint

    runs = Table(
        "runs",
        metadata,
        Column("run_id", Text, primary_key=True),
        Column("created", Float, nullable=False),
        Column("epoch", Integer, nullable=False),
        Column("status", Text, nullable=False),
        Column("task", Text, nullable=False),
        Column("owner", Text, nullable=False),
        Column("claimed", Float, nullable=False),
        Column("seconds", Float, nullable=False),
    )
    records = Table(
        "records",
        metadata,
        Column("run_id", Text, primary_key=True),
        Column("sequence", BigInteger, primary_key=True, autoincrement=False),
        Column("path", Text, nullable=False),
        Column("revision", Integer, nullable=False),
        Column("epoch", Integer, nullable=False),
        Column("at", Float, nullable=False),
        Column("kind", Text, nullable=False),
        Column("data", Text, nullable=False),
        UniqueConstraint("run_id", "path", "revision", name="records_path"),
        sqlite_with_rowid=False,
    )
    return runs, records


def _experience(metadata: "MetaData") -> "tuple[Table, Table]":
    from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, Table, Text

    experiences = Table(
        "experiences",
        metadata,
        Column("id", Text, primary_key=True),
        # A hash of memory, kind, domain, key and tools, and one of the key: the texts themselves can be too
        # long for an index of Postgres.
        Column("identity", Text, nullable=False, unique=True),
        Column("key_hash", Text, nullable=False),
        # Any number that no other change of the row for searches has.
        Column("changed", BigInteger, nullable=False),
        *(
            Column(name, Text, nullable=False)
            for name in ("memory", "kind", "domain", "goal", "key", "tools")
        ),
        *(Column(name, Text, nullable=False) for name in ("content", "status", "run_id", "model", "source")),
        Column("created", Float, nullable=False),
        *(Column(name, Integer, nullable=False) for name in ("uses", "successes", "failures")),
        Column("failures_in_a_row", Integer, nullable=False),
        Column("last_used", Float, nullable=False),
        # Float32, the lowest byte first. Where Postgres compares vectors itself, it has them once more.
        Column("vector", LargeBinary),
        Column("approved", Integer, nullable=False),
        # What goes first when a memory is full: that of the lowest.
        Column("worth", Float, nullable=False),
    )
    memories = Table(
        "memories",
        metadata,
        Column("name", Text, primary_key=True),
        Column("changed", BigInteger, nullable=False),
    )
    return experiences, memories
