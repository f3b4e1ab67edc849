"""The tables of the run log, for SQLite and Postgres alike.

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


@cache
def tables() -> Tables:
    """Describe the tables as the newest migration leaves them."""
    from sqlalchemy import BigInteger, Column, Float, Integer, MetaData, Table, Text, UniqueConstraint

    metadata = MetaData()
    version = Table("schema_version", metadata, Column("number", Integer, nullable=False))
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
    return Tables(metadata=metadata, version=version, runs=runs, records=records)
