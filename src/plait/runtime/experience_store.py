"""The memory of experience in the database of the run log: `plait.experience.record.Memory`.

Knows nothing of how experience is made or used. All it does goes through the log's one thread, so that it
shares its transactions, its patience with other processes, and its one line for what goes wrong.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plait.errors import LogError, UserError
from plait.experience.record import DEFAULT_MEMORY, Experience, ExperienceKind, ExperienceStatus
from plait.runtime import experience_rows as rows
from plait.runtime import experience_vectors
from plait.runtime.codec import canonical_hash
from plait.runtime.experience_codec import Row, as_kept, identity, storable, to_experience
from plait.runtime.experience_rules import counted, learned_again, with_status, worth
from plait.runtime.experience_search import Search, readable
from plait.runtime.experience_shelf import ShelfLabel, Sought
from plait.runtime.log import RunLog
from plait.runtime.vectors import check_direction, pack, unpack

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST_OF_A_KIND = 10_000
_COUNTS = ("status", "uses", "successes", "failures", "failures_in_a_row", "last_used")


class ExperienceStore:
    """What was learned from runs, kept beside them.

    A memory holds so many records of each kind at most. When it is full, that of least `worth` goes for what
    is added.
    """

    def __init__(
        self,
        log: RunLog,
        *,
        most_of_a_kind: int = MOST_OF_A_KIND,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._log = log
        self._most_of_a_kind = most_of_a_kind
        self._clock = clock
        # Used by the log's thread alone.
        self._search = Search()

    async def add(self, experience: Experience) -> Experience:
        """Keep a record and return it as it is kept; see `Memory.add`, and `learned_again` for its status.

        A new record whose id another one has already is given an id of its own.

        Raises:
            UserError: its vector has no direction, or another length than those of its memory.
            LogError: it cannot be written, or the record that it replaces cannot be read.
        """
        # Nobody but the user approves, and he does not do so by adding.
        record = as_kept(replace(experience, approved=False))

        def add(connection: "Connection") -> Experience:
            rows.hold(connection, record.memory)
            found = rows.select_one(connection, identity=identity(record))
            old = _readable_one(found)
            if found is None:
                kept = _with_free_id(connection, record)
            elif old is None:
                kept = replace(record, id=found["id"])  # What cannot be read is learned over.
            elif (kept := learned_again(old, record)) is old:
                return old
            if record.vector:
                rows.check_vector(connection, kept, len(record.vector))
            rows.write(connection, kept, rows.new_change(connection, kept.memory), new=found is None)
            rows.evict(connection, kept, self._most_of_a_kind)
            return kept

        return await self._log.transact(add)

    async def get(self, id: str) -> Experience:
        """Return the record whose id begins so.

        Raises:
            UserError: there is none, or more than one.
            LogError: it cannot be read.
        """

        def get(connection: "Connection") -> Experience:
            return _record(connection, rows.find_id(connection, storable(id)))

        return await self._log.transact(get, writes=False)

    async def find_id(self, id: str) -> str:
        """Return the whole id of the record whose id begins so, also where the record is damaged.

        Raises:
            UserError: there is none, or more than one.
        """
        return await self._log.transact(
            lambda connection: rows.find_id(connection, storable(id)), writes=False
        )

    async def find(
        self,
        *,
        memory: str = DEFAULT_MEMORY,
        kind: ExperienceKind | None = None,
        domain: str = "",
        statuses: Collection[ExperienceStatus] = (),
        tools: Collection[str] | None = None,
        key: str = "",
        most: int | None = None,
    ) -> list[Experience]:
        """Return records without their vectors, newest first; see `Memory.find`.

        A damaged record hides no other: it is left out, and `damaged` says what is wrong with it.

        Raises:
            LogError: the database cannot be read.
        """
        records, _ = await self._read(
            memory=memory, kind=kind, domain=domain, statuses=statuses, key=key, most=most
        )
        return [record for record in records if tools is None or set(record.tools) <= set(tools)]

    async def damaged(self, *, memory: str = DEFAULT_MEMORY) -> list[LogError]:
        """Say of every record of a memory that cannot be read which it is and why."""
        _, unreadable = await self._read(memory=memory)
        return unreadable

    async def without_vector(self, *, memory: str, kind: ExperienceKind, domain: str) -> list[Experience]:
        """Return the active records that still need a vector, newest first."""
        records, _ = await self._read(
            memory=memory, kind=kind, domain=domain, statuses=("active",), without_vector=True
        )
        return records

    async def nearest(
        self,
        vector: Sequence[float],
        most: int,
        *,
        memory: str = DEFAULT_MEMORY,
        kind: ExperienceKind,
        domain: str,
        tools: Collection[str] | None = None,
    ) -> list[tuple[Experience, float]]:
        """Return the active records nearest to a vector, nearest first; see `Memory.nearest`.

        They come without their vectors; of equally near ones the newest comes first.

        Raises:
            UserError: the vector has no direction, or another length than those of the memory; or numpy is
                not installed.
            LogError: the database cannot be read.
        """
        check_direction(vector)
        label = ShelfLabel(memory=storable(memory), kind=kind, domain=storable(domain))
        sought = Sought(label=label, vector=vector, most=most, tools=tools)
        return await self._log.transact(
            lambda connection: self._search.nearest(connection, sought), writes=False
        )

    async def used(self, id: str, *, succeeded: bool) -> Experience:
        """Count a use and return the record; see `Memory.used`, and `counted` for its status.

        Raises:
            UserError: there is no such record.
            LogError: it cannot be read or written.
        """
        now = self._clock()
        return await self._changed(id, lambda record: counted(record, succeeded=succeeded, now=now))

    async def change(self, id: str, *, status: ExperienceStatus) -> None:
        """Set a record's status.

        Raises:
            UserError: there is no such record.
            LogError: it cannot be read or written.
        """
        await self._changed(id, lambda record: with_status(record, status))

    async def embedded(self, id: str, vector: Sequence[float]) -> None:
        """Keep the vector of a record's key; no error where the record is gone.

        Raises:
            UserError: the vector has no direction, or another length than those of the memory.
            LogError: it cannot be read or written.
        """
        packed = pack(vector)

        def embed(connection: "Connection") -> None:
            try:
                record = _held(connection, storable(id))
            except UserError:
                return
            rows.check_vector(connection, record, len(vector))
            change = rows.new_change(connection, record.memory)
            rows.update(connection, record.id, {"vector": packed, "changed": change})
            experience_vectors.put(connection, replace(record, vector=unpack(packed)))

        await self._log.transact(embed)

    async def forget_vectors(self, *, memory: str = DEFAULT_MEMORY) -> None:
        """Take the vectors from all records of a memory: what to do when its embedder changes."""
        name = storable(memory)
        await self._log.transact(lambda connection: rows.forget_vectors(connection, name))

    async def remove(self, ids: Sequence[str]) -> None:
        """Forget records, and leave nothing of them on the disk; what is not there is no error.

        Raises:
            LogError: they cannot be removed.
        """
        names = [storable(id) for id in ids]
        await self._log.transact(lambda connection: rows.remove(connection, names), removes=True)

    async def copy(self, memory: str, to: str) -> None:
        """Make memory `to` hold what `memory` holds, and nothing else; what is damaged is left out.

        Raises:
            LogError: it cannot be read or written.
        """
        memory, to = storable(memory), storable(to)

        def copy(connection: "Connection") -> None:
            rows.hold(connection, to)
            rows.remove(connection, [row["id"] for row in rows.select_some(connection, memory=to)])
            for each in rows.select_some(connection, memory=memory):
                if record := _readable_one(rows.select_one(connection, id=each["id"])):
                    kept = _with_free_id(connection, replace(record, memory=to))
                    rows.write(connection, kept, rows.new_change(connection, to), new=True)

        await self._log.transact(copy)

    async def forget(self, memory: str) -> None:
        """Forget a memory with all that it holds; no error where there is none.

        Raises:
            LogError: it cannot be removed.
        """
        name = storable(memory)
        await self._log.transact(lambda connection: rows.forget(connection, name), removes=True)

    async def _changed(self, id: str, change: Callable[[Experience], Experience]) -> Experience:
        """Count or judge a record in the way `change` says, while nobody else can."""

        def apply(connection: "Connection") -> Experience:
            before = _held(connection, storable(id))
            after = change(before)
            values: dict[str, Any] = {name: getattr(after, name) for name in _COUNTS}
            values |= {"approved": int(after.approved), "worth": worth(after)}
            if after.status != before.status:
                values["changed"] = rows.new_change(connection, before.memory)
            rows.update(connection, before.id, values)
            if after.status != before.status:
                experience_vectors.put(connection, after)
            return after

        return await self._log.transact(apply)

    async def _read(
        self, *, memory: str, domain: str = "", key: str = "", **filters: Any
    ) -> tuple[list[Experience], list[LogError]]:
        """Return the records that can be read, and what is wrong with the others."""
        place = {"memory": storable(memory), "domain": storable(domain), "key": storable(key)}

        def read(connection: "Connection") -> tuple[list[Experience], list[LogError]]:
            return readable(rows.select_some(connection, **place, **filters))

        return await self._log.transact(read, writes=False)


def _record(connection: "Connection", id: str) -> Experience:
    row = rows.select_one(connection, id=id)
    if row is None:
        raise rows.unknown(connection, id)
    return to_experience(row)


def _held(connection: "Connection", id: str) -> Experience:
    """Hold the memory of a record, and return the record as it is then."""
    rows.hold(connection, _record(connection, id).memory)
    return _record(connection, id)


def _with_free_id(connection: "Connection", record: Experience) -> Experience:
    """Return a record with an id that no other has: one may come back into another memory of its database."""
    if rows.select_one(connection, id=record.id) is None:
        return record
    return replace(record, id=canonical_hash([record.id, identity(record)]))


def _readable_one(found: Row | None) -> Experience | None:
    records, _ = readable([] if found is None else [found])
    return records[0] if records else None
