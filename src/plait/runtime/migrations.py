"""The numbered steps that bring a database to the newest schema.

Knows nothing of events. A step is never edited once released; a change is a new function at the end
of `MIGRATIONS`. All missing steps run in one transaction, so a database is never left half-way.
"""

from typing import TYPE_CHECKING

from plait.errors import LogError
from plait.runtime import experience_merging, experience_vectors
from plait.runtime.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

_ADVISORY_LOCK = 7_021_420_777
"""Any number that no other program is likely to lock."""


def create_run_log(connection: "Connection") -> None:
    """1: runs and their records."""
    statements = (
        "CREATE TABLE runs (run_id TEXT PRIMARY KEY NOT NULL, created DOUBLE PRECISION NOT NULL,"
        " epoch INTEGER NOT NULL, status TEXT NOT NULL, task TEXT NOT NULL, owner TEXT NOT NULL,"
        " claimed DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL)",
        "CREATE TABLE records (run_id TEXT NOT NULL, sequence BIGINT NOT NULL, path TEXT NOT NULL,"
        " revision INTEGER NOT NULL, epoch INTEGER NOT NULL, at DOUBLE PRECISION NOT NULL,"
        " kind TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (run_id, sequence),"
        " CONSTRAINT records_path UNIQUE (run_id, path, revision))"
        + (" WITHOUT ROWID" if connection.dialect.name == "sqlite" else ""),
    )
    for statement in statements:
        connection.exec_driver_sql(statement)


def create_experience(connection: "Connection") -> None:
    """2: what was learned from runs, and the memories that it is in."""
    text, number, whole = "TEXT NOT NULL", "DOUBLE PRECISION NOT NULL", "INTEGER NOT NULL"
    numbers = "BLOB" if connection.dialect.name == "sqlite" else "BYTEA"
    statements = (
        f"CREATE TABLE experiences (id {text} PRIMARY KEY, identity {text} UNIQUE, key_hash {text},"
        f" changed BIGINT NOT NULL, memory {text}, kind {text}, domain {text}, goal {text}, key {text},"
        f" tools {text}, content {text}, status {text}, run_id {text}, model {text}, source {text},"
        f" created {number}, uses {whole}, successes {whole}, failures {whole},"
        f" failures_in_a_row {whole}, last_used {number}, vector {numbers})",
        "CREATE INDEX experiences_of ON experiences (memory, kind, domain, key_hash)",
        # What a search runs over: ids are read without the rows, which hold long texts and vectors.
        "CREATE INDEX experiences_searched ON experiences (memory, kind, domain, id, changed)"
        " WHERE status = 'active' AND vector IS NOT NULL",
        "CREATE INDEX experiences_embedded ON experiences (memory) WHERE vector IS NOT NULL",
        "CREATE TABLE memories (name TEXT PRIMARY KEY NOT NULL, changed BIGINT NOT NULL)",
    )
    for statement in statements:
        connection.exec_driver_sql(statement)


def rank_experience(connection: "Connection") -> None:
    """3: which records go first, and the same ones in another order of tools only once.

    A server that has pgvector is asked for it; `experience_vectors.set_up` then makes what it needs.
    """
    worth = (
        "CASE WHEN status NOT IN ('active', 'provisional') THEN 0.0 WHEN failures > successes THEN 1e11"
        " WHEN successes = 0 THEN 2e11 ELSE 3e11 END + CASE WHEN age < 0 THEN 0 WHEN age < 1e11 THEN age"
        " ELSE 99999999999.0 END"
    )
    age = (
        "(CASE WHEN created > last_used THEN created ELSE last_used END + 604800.0 * (successes - failures))"
    )
    statements = (
        "ALTER TABLE experiences ADD COLUMN approved INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE experiences ADD COLUMN worth DOUBLE PRECISION NOT NULL DEFAULT 0",
        f"UPDATE experiences SET worth = {worth.replace('age', age)}",
        "CREATE INDEX experiences_worth ON experiences (memory, kind, worth, id)",
    )
    for statement in statements:
        connection.exec_driver_sql(statement)
    experience_merging.merge_orders(connection)
    if connection.dialect.name == "postgresql":
        experience_vectors.offer(connection)


MIGRATIONS = (create_run_log, create_experience, rank_experience)


def version(connection: "Connection") -> int:
    """Say how many migrations a database has had; 0 for an empty one."""
    from sqlalchemy import inspect, select

    table = tables().version
    if not inspect(connection).has_table(table.name):
        return 0
    return connection.execute(select(table.c.number)).scalar_one()


def migrate(connection: "Connection", name: str) -> None:
    """Run the migrations that a database misses, inside the caller's transaction.

    Raises:
        LogError: the database was written by a newer Plait.
    """
    _lock(connection)
    found = version(connection)
    check(found, name)
    if found == len(MIGRATIONS):
        return
    if found == 0:
        connection.exec_driver_sql("CREATE TABLE schema_version (number INTEGER NOT NULL)")
        connection.exec_driver_sql("INSERT INTO schema_version VALUES (0)")
    for step in MIGRATIONS[found:]:
        step(connection)
    connection.exec_driver_sql(f"UPDATE schema_version SET number = {len(MIGRATIONS)}")


def set_up_vectors(connection: "Connection") -> None:
    """Let Postgres compare vectors, inside the caller's transaction, where nobody else did it meanwhile.

    Not a migration: the extension may come long after the schema, and go again.
    """
    _lock(connection)
    if experience_vectors.missing(connection):
        experience_vectors.set_up(connection)


def _lock(connection: "Connection") -> None:
    """Keep others from changing the schema until the transaction ends; SQLite knows one writer at a time."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")


def check(found: int, name: str) -> None:
    """Refuse a database that this version cannot know.

    Raises:
        LogError: it was written by a newer Plait.
    """
    if found > len(MIGRATIONS):
        raise LogError(
            f"the run log {name!r} was written by a newer Plait (schema {found}, this one knows"
            f" {len(MIGRATIONS)}): update Plait, or set PLAIT_HOME to another folder"
        )
