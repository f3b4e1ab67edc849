"""The vectors of experience as Postgres compares them itself, where its extension pgvector is there.

Knows nothing of searches. One row for each record that a search may find, in a table of its own: counting
a use then touches neither the vectors nor the graphs over them. The records hold their vectors too, so that
this table can be made anew at any time, and a database without the extension misses nothing but speed.
"""

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from plait.experience.record import Experience
from plait.runtime.experience_codec import read_tools
from plait.runtime.vectors import NUMBER_BYTES, is_unit, unpack

if TYPE_CHECKING:
    from sqlalchemy import Connection

DEFAULT_NUMBERS = 384
"""How long the vectors of the default embedder are."""
MOST_GRAPH_NUMBERS = 4_000
"""Longer ones have no graph in pgvector, and are compared one by one."""
ROWS_AT_ONCE = 1_000
NODE_BYTES = 700
"""What a graph takes in memory for a vector beside its numbers, while it is made, with some room."""
MIB = 1 << 20
MOST_BUILD_BYTES = 2 << 30
_GRAPH_LOCK = 7_021_420_778
"""Any number that no other program is likely to lock."""

_Searched: TypeAlias = tuple[str, str, str, str, float, Sequence[str], Sequence[float]]
"""Id, memory, kind, domain, created, tools and vector of a record."""

# That of the column and not of the table: who drops the extension drops the column alone.
_READY = (
    "EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('experience_vectors')"
    " AND attname = 'embedding' AND NOT attisdropped)"
)
# Version 0.8 is the first that goes on where a filter leaves too few of what a graph gave.
_OFFERED = (
    "to_regtype('halfvec') IS NOT NULL AND EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'"
    r" AND CAST(regexp_match(extversion, '^(\d+)\.(\d+)') AS integer[]) >= ARRAY[0, 8])"
)
_MAY_SET_UP = (
    "COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false) AND EXISTS (SELECT FROM pg_class"
    " WHERE oid = to_regclass('experiences') AND pg_has_role(relowner, 'USAGE'))"
)
_TABLE = (
    "DROP TABLE IF EXISTS experience_vectors",
    # Rows are read in their thousands: a vector beside them, not among them, costs a second look for each.
    "CREATE TABLE experience_vectors (id TEXT PRIMARY KEY REFERENCES experiences ON DELETE CASCADE,"
    " memory TEXT NOT NULL, kind TEXT NOT NULL, domain TEXT NOT NULL, created DOUBLE PRECISION NOT NULL,"
    " tools TEXT[] NOT NULL, numbers INTEGER NOT NULL, embedding vector NOT NULL)"
    " WITH (toast_tuple_target = 8160)",
    "CREATE INDEX experience_vectors_of ON experience_vectors (memory, kind, domain, numbers)",
)
_PUT = (
    "INSERT INTO experience_vectors (id, memory, kind, domain, created, tools, numbers, embedding) VALUES"
    " (%(id)s, %(memory)s, %(kind)s, %(domain)s, %(created)s, CAST(%(tools)s AS text[]), %(numbers)s,"
    " CAST(%(embedding)s AS vector)) ON CONFLICT (id) DO UPDATE SET created = EXCLUDED.created,"
    " tools = EXCLUDED.tools, numbers = EXCLUDED.numbers, embedding = EXCLUDED.embedding"
)


def ready(connection: "Connection") -> bool:
    """Whether this database compares vectors itself."""
    return _is_postgres(connection) and _ask(connection, _READY)


def missing(connection: "Connection") -> bool:
    """Whether this database could compare vectors itself, and is not prepared for it yet."""
    return _is_postgres(connection) and _ask(
        connection,
        f"NOT {_READY} AND {_OFFERED} AND to_regclass('experiences') IS NOT NULL AND {_MAY_SET_UP}",
    )


def offer(connection: "Connection") -> None:
    """Install the extension where the server has it and this user may."""
    from sqlalchemy.exc import DBAPIError

    if not _ask(connection, "EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')"):
        return
    try:
        with connection.begin_nested():
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
    except DBAPIError as error:
        # Who may is a matter of each server; `plait doctor` says what an administrator would do.
        if error.connection_invalidated:
            raise


def set_up(connection: "Connection") -> None:
    """Make the table, and fill it from the records; nobody can write to these meanwhile."""
    connection.exec_driver_sql("LOCK TABLE experiences IN SHARE ROW EXCLUSIVE MODE")
    for statement in _TABLE:
        connection.exec_driver_sql(statement)
    lengths = Counter({DEFAULT_NUMBERS: 0})
    for batch in _searched(connection):
        lengths.update(len(vector) for *_, vector in batch)
        _copy(connection, batch)
    for numbers, count in sorted(lengths.items()):
        _give_memory(connection, count * (NUMBER_BYTES // 2 * numbers + NODE_BYTES))
        _make_graph(connection, numbers)
    connection.exec_driver_sql("ANALYZE experience_vectors")


def put(connection: "Connection", record: Experience) -> None:
    """Bring the table in step with a record that was written in this same transaction.

    Only after that: whoever sets the table up waits for who has written, and who writes waits for him.
    """
    if not ready(connection):
        return
    if record.status != "active" or not record.vector:
        connection.exec_driver_sql("DELETE FROM experience_vectors WHERE id = %(id)s", {"id": record.id})
        return
    _want_graph(connection, len(record.vector))
    values: dict[str, Any] = {name: getattr(record, name) for name in ("id", "memory", "kind", "domain")}
    values |= {"created": record.created, "tools": list(record.tools), "numbers": len(record.vector)}
    connection.exec_driver_sql(_PUT, {**values, "embedding": written(record.vector)})


def forget(connection: "Connection", memory: str) -> None:
    """Take all vectors of a memory from the table."""
    if ready(connection):
        connection.exec_driver_sql(
            "DELETE FROM experience_vectors WHERE memory = %(memory)s", {"memory": memory}
        )


def written(vector: Sequence[float]) -> str:
    """Write a vector as the extension reads it, to the last bit of float32 numbers."""
    return f"[{','.join(format(number, '.9g') for number in vector)}]"


def _want_graph(connection: "Connection", numbers: int) -> None:
    """Make a graph over vectors of a length that are the first of it."""
    if _has_graph(connection, numbers):
        return
    # Two who both make it would then wait for each other.
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_GRAPH_LOCK})")
    if not _has_graph(connection, numbers):
        _make_graph(connection, numbers)


def _has_graph(connection: "Connection", numbers: int) -> bool:
    """Whether there is a graph, or none can be made: they are too long, or the table is another user's."""
    return numbers > MOST_GRAPH_NUMBERS or _ask(
        connection,
        f"to_regclass('experience_vectors_{numbers}') IS NOT NULL OR NOT EXISTS (SELECT FROM pg_class"
        " WHERE oid = to_regclass('experience_vectors') AND pg_has_role(relowner, 'USAGE'))",
    )


def _make_graph(connection: "Connection", numbers: int) -> None:
    if numbers <= MOST_GRAPH_NUMBERS:
        # Numbers of 16 bits: half as large, and what it finds is compared exactly after that.
        connection.exec_driver_sql(
            f"CREATE INDEX experience_vectors_{numbers} ON experience_vectors USING hnsw"
            f" ((embedding::halfvec({numbers})) halfvec_cosine_ops) WHERE numbers = {numbers}"
        )


def _give_memory(connection: "Connection", needed_bytes: int) -> None:
    """Let a graph be made in memory, which takes minutes where it takes hours without; for this transaction.

    By one process, as several share memory of a kind of which containers have little.
    """
    megabytes = min(needed_bytes, MOST_BUILD_BYTES) // MIB + 1
    connection.exec_driver_sql("SET LOCAL max_parallel_maintenance_workers = 0")
    connection.exec_driver_sql(
        "SELECT set_config('maintenance_work_mem', %(memory)s, true) WHERE"
        " pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes(%(memory)s)",
        {"memory": f"{megabytes}MB"},
    )


def _searched(connection: "Connection") -> Iterator[list[_Searched]]:
    """Read what a search may find, in batches; a damaged record is left out."""
    query = (
        "SELECT id, memory, kind, domain, created, tools, vector FROM experiences WHERE status = 'active'"
        f" AND vector IS NOT NULL AND id > %(after)s ORDER BY id LIMIT {ROWS_AT_ONCE}"
    )
    after = ""
    while found := connection.exec_driver_sql(query, {"after": after}).all():
        after = found[-1].id
        yield [
            (*of, tools, vector)
            for *of, text, data in found
            if (tools := read_tools(text)) is not None and (vector := _read(bytes(data))) is not None
        ]


def _copy(connection: "Connection", batch: Sequence[_Searched]) -> None:
    """Write rows in the extension's binary form, which takes a tenth of the time of its text."""
    driver: Any = connection.connection
    columns = "id, memory, kind, domain, created, tools, numbers, embedding"
    with (
        driver.cursor() as cursor,
        cursor.copy(f"COPY experience_vectors ({columns}) FROM STDIN (FORMAT BINARY)") as stream,
    ):
        stream.set_types(("text", "text", "text", "text", "float8", "text[]", "int4", "bytea"))
        for *of, tools, vector in batch:
            numbers = len(vector)
            stream.write_row((*of, list(tools), numbers, struct.pack(f">hh{numbers}f", numbers, 0, *vector)))


def _read(data: bytes) -> Sequence[float] | None:
    try:
        vector = unpack(data)
    except ValueError:
        return None
    return vector if is_unit(vector) else None


def _is_postgres(connection: "Connection") -> bool:
    return connection.dialect.name == "postgresql"


def _ask(connection: "Connection", condition: str) -> bool:
    return bool(connection.exec_driver_sql(f"SELECT {condition}").scalar_one())
