"""The statements that read and write experience.

Knows nothing of threads, of how records change, or of how vectors are compared: every function takes an
open transaction. Whoever changes a memory holds it until the transaction ends, so that changes of several
processes come one after another, and marks each change that a search could notice.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plait.errors import UserError
from plait.experience.record import Experience, ExperienceKind, ExperienceStatus
from plait.runtime import experience_vectors
from plait.runtime.codec import digest
from plait.runtime.experience_codec import FIELDS, Row, identity, to_row
from plait.runtime.experience_rules import worth
from plait.runtime.tables import tables
from plait.runtime.vectors import NUMBER_BYTES, pack

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

NAMED_IDS = 5
IDS_AT_ONCE = 10_000
"""Databases bound the values of one statement."""
MARK_BITS = 63


def hold(connection: "Connection", memory: str) -> None:
    """Keep others from changing a memory until the transaction ends."""
    memories = tables().memories
    # Of two processes that both find nothing on Postgres one adds the row, and the other waits for that.
    connection.execute(_insert_or_leave(connection, memory))
    connection.execute(memories.select().where(memories.c.name == memory).with_for_update())


def _insert_or_leave(connection: "Connection", memory: str) -> Any:
    from sqlalchemy.dialects import postgresql, sqlite

    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(tables().memories).values(name=memory, changed=0).on_conflict_do_nothing()


def new_change(connection: "Connection", memory: str) -> int:
    """Note that a memory that is held is changed for searches; return the mark of the change.

    Marks are drawn and not counted: one that was rolled back must not come again with another change.
    """
    memories = tables().memories
    mark = secrets.randbits(MARK_BITS)
    connection.execute(memories.update().where(memories.c.name == memory).values(changed=mark))
    return mark


def last_change(connection: "Connection", memory: str) -> int | None:
    """Return the mark of a memory's last change that a search could notice."""
    from sqlalchemy import select

    memories = tables().memories
    return connection.execute(select(memories.c.changed).where(memories.c.name == memory)).scalar()


def whole_row(record: Experience, changed: int) -> dict[str, Any]:
    """Write a record as a row with all its columns."""
    return {
        **to_row(record),
        "identity": identity(record),
        "key_hash": digest(record.key),
        "vector": pack(record.vector) if record.vector else None,
        "changed": changed,
        "worth": worth(record),
    }


def write(connection: "Connection", record: Experience, changed: int, *, new: bool) -> None:
    """Add a record, or write it over the one of its id."""
    values = whole_row(record, changed)
    if new:
        connection.execute(tables().experiences.insert().values(values))
    else:
        update(connection, record.id, values)
    experience_vectors.put(connection, record)


def update(connection: "Connection", id: str, values: Mapping[str, Any]) -> None:
    """Set some columns of a record."""
    experiences = tables().experiences
    connection.execute(experiences.update().where(experiences.c.id == id).values(values))


def select_one(connection: "Connection", **by: str) -> Row | None:
    """Return the row that has a value in a unique column."""
    experiences = tables().experiences
    query = _rows(vectors=True).where(*(experiences.c[name] == value for name, value in by.items()))
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else dict(row)


def select_some(
    connection: "Connection",
    *,
    memory: str,
    kind: ExperienceKind | None = None,
    domain: str = "",
    statuses: Collection[ExperienceStatus] = (),
    key: str = "",
    without_vector: bool = False,
    most: int | None = None,
) -> list[Row]:
    """Return rows without their vectors, newest first, `most` at most; an empty filter takes all."""
    experiences = tables().experiences
    query = _rows(vectors=False).where(experiences.c.memory == memory)
    if kind:
        query = query.where(experiences.c.kind == kind)
    if domain:
        query = query.where(experiences.c.domain == domain)
    if statuses:
        query = query.where(experiences.c.status.in_(statuses))
    if key:
        query = query.where(experiences.c.key_hash == digest(key))
    if without_vector:
        query = query.where(experiences.c.vector.is_(None))
    query = query.order_by(experiences.c.created.desc(), experiences.c.id.desc()).limit(most)
    return [dict(row) for row in connection.execute(query).mappings()]


def select_by_id(connection: "Connection", ids: Collection[str]) -> list[Row]:
    """Return the rows of some ids without their vectors, in any order."""
    # By nothing but the ids: with more to choose by, SQLite reads the whole memory.
    query = _rows(vectors=False).where(tables().experiences.c.id.in_(ids))
    return [dict(row) for row in connection.execute(query).mappings()]


def _rows(*, vectors: bool) -> "Select[Any]":
    from sqlalchemy import select

    columns = [tables().experiences.c[name] for name in FIELDS]
    return select(*columns, raw_vector()) if vectors else select(*columns)


def raw_vector() -> "ColumnElement[Any]":
    """Select vectors as the driver gives them: a damaged one fails where it is read, not with all others."""
    from sqlalchemy import type_coerce
    from sqlalchemy.types import NullType

    return type_coerce(tables().experiences.c.vector, NullType()).label("vector")


def find_id(connection: "Connection", prefix: str) -> str:
    """Return the id of the one record that begins with `prefix`.

    Raises:
        UserError: none does, or several do.
    """
    from sqlalchemy import select

    ids = tables().experiences.c.id
    query = select(ids).where(ids.startswith(prefix, autoescape=True)).order_by(ids).limit(NAMED_IDS + 1)
    # To SQLite `A` begins with `a`.
    found = [id for id in connection.execute(query).scalars() if prefix and id.startswith(prefix)]
    if not found:
        raise unknown(connection, prefix)
    if len(found) > 1 and found[0] != prefix:
        named = ", ".join(found[:NAMED_IDS])
        raise UserError(f"several experiences begin with {prefix!r}: {named}; give more of the id")
    return found[0]


def unknown(connection: "Connection", id: str) -> UserError:
    """Make the error for a record that is not there, naming some that are."""
    from sqlalchemy import select

    experiences = tables().experiences
    query = select(experiences.c.id).order_by(experiences.c.created.desc(), experiences.c.id.desc()).limit(3)
    latest = list(connection.execute(query).scalars())
    hint = f"the latest are {', '.join(latest)}" if latest else "nothing was learned yet"
    return UserError(f"there is no experience {id!r}: {hint}")


def evict(connection: "Connection", kept: Experience, most: int) -> None:
    """Remove the records of least worth of a kind that are too many, but never `kept`."""
    from sqlalchemy import func, select

    experiences = tables().experiences
    c = experiences.c
    same = (c.memory == kept.memory, c.kind == kept.kind)
    there = connection.execute(select(func.count()).select_from(experiences).where(*same)).scalar_one()
    if there <= most:
        return
    # In the order of an index: however many there are, only those that go are read.
    least = select(c.id).where(*same, c.id != kept.id).order_by(c.worth, c.id).limit(there - most)
    connection.execute(experiences.delete().where(c.id.in_(least)))


def remove(connection: "Connection", ids: Sequence[str]) -> None:
    """Remove records; what is not there is no error."""
    from sqlalchemy import select

    experiences = tables().experiences
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = experiences.c.id.in_(ids[start : start + IDS_AT_ONCE])
        # In one order, so that two who remove do not wait for each other.
        memories = connection.execute(select(experiences.c.memory).where(some).distinct()).scalars()
        for memory in sorted(memories):
            hold(connection, memory)
            new_change(connection, memory)
        connection.execute(experiences.delete().where(some))


def forget(connection: "Connection", memory: str) -> None:
    """Remove a memory with all its records."""
    hold(connection, memory)
    experiences, memories = tables().experiences, tables().memories
    connection.execute(experiences.delete().where(experiences.c.memory == memory))
    connection.execute(memories.delete().where(memories.c.name == memory))


def forget_vectors(connection: "Connection", memory: str) -> None:
    """Take the vectors from all records of a memory."""
    hold(connection, memory)
    experiences = tables().experiences
    some = (experiences.c.memory == memory, experiences.c.vector.is_not(None))
    connection.execute(
        experiences.update().where(*some).values(vector=None, changed=new_change(connection, memory))
    )
    experience_vectors.forget(connection, memory)


def check_vector(connection: "Connection", record: Experience, numbers: int) -> None:
    """Refuse a vector that is not as long as those of the other records of its memory.

    Raises:
        UserError: it is not.
    """
    from sqlalchemy import func, select

    c = tables().experiences.c
    others = (c.memory == record.memory, c.vector.is_not(None), c.id != record.id)
    length = connection.execute(select(func.length(c.vector)).where(*others).limit(1)).scalar()
    if length is not None and length != numbers * NUMBER_BYTES:
        raise other_length(record.memory, length // NUMBER_BYTES, numbers)


def other_length(memory: str, there: int, given: int) -> UserError:
    """Make the error for a vector of an embedder other than the one that a memory was made with."""
    return UserError(
        f"the vectors of memory {memory!r} have {there} numbers and not {given}: use the embedder that it was"
        f" made with, or forget them: plait memory forget-vectors --memory {memory}"
    )
