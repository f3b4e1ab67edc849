"""The run log: start, resume, read, list and remove runs in one database.

Knows nothing of tasks, models or tools. Methods that are not async block for a moment: they are for
commands, which have nothing else to do.
"""

import asyncio
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from plait.errors import UserError
from plait.events import Event, Record, RunStarted
from plait.paths import database_file
from plait.runtime import appending, experience_vectors, store
from plait.runtime.codec import encode
from plait.runtime.database import Database, open_database
from plait.runtime.history import History, read_history
from plait.runtime.jobs import result_of
from plait.runtime.journal import RunJournal
from plait.runtime.keeper import Keeper, own_version, owner
from plait.runtime.recorder import Decision
from plait.runtime.store import RecordRow, RunRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A run as a list shows it."""

    run_id: str
    created: float
    """Unix time."""
    status: str
    """`running`, `interrupted`, or how the run ended."""
    task: str
    seconds: float
    """Seconds of work over all its processes."""
    live: bool


class RunLog:
    """One database of runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keeper = Keeper(database)

    @classmethod
    def open(cls, url: str | None = None) -> "RunLog":
        """Open the log at an address, by default PLAIT_DATABASE_URL, else a file in the data folder.

        Raises:
            UserError: the address is none.
            LogError: the database cannot be reached, read or written, or is newer than this Plait.
        """
        address = url or os.environ.get("PLAIT_DATABASE_URL") or f"sqlite:///{database_file()}"
        return cls(open_database(address))

    async def start(self, run_id: str, task: str, options: Mapping[str, Any]) -> RunJournal:
        """Begin a run and own it.

        Raises:
            UserError: there is a run of that id.
            LogError: it cannot be written.
        """
        started = RunStarted(task=task, options=options, version=own_version())
        return await self.adopt(run_id, started, ())

    async def adopt(self, run_id: str, started: RunStarted, copied: Sequence[RecordRow]) -> RunJournal:
        """Begin a run with rows of another: what a fork does.

        Raises:
            UserError: there is a run of that id.
            LogError: it cannot be written.
        """

        now = time.time()
        run = RunRow(
            run_id=run_id,
            created=now,
            epoch=1,
            status=store.RUNNING,
            # For lists only: the event holds it exactly, and a database takes no lone surrogates.
            task=started.task.encode(errors="replace").decode(),
            owner=owner(),
            claimed=now,
            seconds=0.0,
        )
        return await self._keeper.begin(run, [_run_event(run, 1, 0, started), *_renumbered(run, copied)])

    async def resume(
        self, run_id: str, options: Mapping[str, Any] | None = None, *, decision: Decision | None = None
    ) -> RunJournal:
        """Take a run up again and own it; whoever owned it before cannot write to it any more.

        Args:
            run_id: the whole id.
            options: options to change, over those on record.
            decision: what to do about effects in doubt.

        Raises:
            UserError: no such run, it is live, or there is nothing to decide.
            LogError: it cannot be read or written.
        """

        def claim(connection: "Connection") -> tuple[History, RunRow, RunRow]:
            before = store.select_run(connection, run_id, lock=True)
            if before is None:
                raise store.unknown_run(connection, run_id)
            run = store.claim_run(connection, before, owner=owner(), now=time.time())
            history = read_history(store.select_records(connection, run_id))
            if decision and not history.intents:
                raise UserError(f"run {run_id!r} has no effect in doubt: resume it without a decision")
            return history, before, run

        journal = await self._keeper.claim(run_id, claim)
        try:
            await journal.take_up(options or {}, decision)
        except BaseException:
            await journal.close()
            raise
        return journal

    async def rows(self, run_id: str) -> list[RecordRow]:
        """Read all rows of a run in their order, as they are stored.

        Raises:
            UserError: there is no such run.
            LogError: the log cannot be read.
        """
        work = self._keeper.writer.queued(lambda connection: store.rows_of(connection, run_id), writes=False)
        return await result_of(work)

    def records(self, run_id: str) -> list[Record]:
        """Read all records of a run in their order.

        Raises:
            UserError: there is no such run.
            LogError: the log cannot be read.
        """
        return [store.to_record(row) for row in self._read(lambda c: store.rows_of(c, run_id))]

    def records_of_kinds(self, kinds: Collection[str]) -> list[Record]:
        """Read the records of some kinds of all runs, run by run in their order.

        Raises:
            LogError: the log cannot be read.
        """
        return [store.to_record(row) for row in self._read(lambda c: store.select_kinds(c, kinds))]

    def runs(self, limit: int | None = None) -> list[RunSummary]:
        """List runs, newest first.

        Raises:
            LogError: the log cannot be read.
        """
        runs = self._read(lambda connection: store.select_runs(connection, limit=limit))
        live = self._keeper.live([run.run_id for run in runs if run.status == store.RUNNING])
        return [self._summary(run, run.run_id in live) for run in runs]

    def find(self, prefix: str) -> str:
        """Return the id of the one run that begins with `prefix`.

        Raises:
            UserError: none does, or several do.
        """
        return self._read(lambda connection: store.find_run(connection, prefix))

    def append(self, run_id: str, event: Event) -> None:
        """Add an event of the run itself, such as feedback, to a run that is not going on.

        Raises:
            UserError: no such run, or it is live.
            LogError: it cannot be written.
        """

        def add(connection: "Connection") -> None:
            run = store.select_run(connection, run_id, lock=True)
            if run is None:
                raise store.unknown_run(connection, run_id)
            sequence, number = store.next_place(connection, run_id, event.kind)
            appending.insert_records(connection, [_run_event(run, sequence, number, event)])

        self._keeper.while_idle(run_id, add)

    def remove(self, run_id: str) -> None:
        """Remove a run and everything recorded of it.

        Raises:
            UserError: no such run, or it is live.
            LogError: it cannot be written.
        """
        self._keeper.while_idle(run_id, lambda connection: store.delete_run(connection, run_id))
        self._database.truncate_journal()

    def lacks_pgvector(self) -> bool:
        """Whether this is a Postgres that cannot compare vectors itself.

        Raises:
            LogError: the log cannot be read.
        """
        return self._database.is_postgres and not self._read(experience_vectors.ready)

    async def transact(
        self, work: "Callable[[Connection], T]", *, writes: bool = True, removes: bool = False
    ) -> T:
        """Run a function in a transaction of the database, in turn with what runs record.

        For what is kept beside the runs.

        Args:
            work: takes the connection; it is called again where the connection was lost, or where another
                function of the same transaction failed.
            writes: whether it changes anything.
            removes: whether nothing of what it removes may be left on the disk.

        Raises:
            LogError: the database cannot be used.
        """
        result = await result_of(self._keeper.writer.queued(work, writes=writes, durable=removes))
        if removes:
            await asyncio.to_thread(self._database.truncate_journal)
        return result

    async def close(self) -> None:
        """Write what is queued and give all runs back; safe to call twice."""
        await asyncio.to_thread(self._keeper.close)

    def close_now(self) -> None:
        """Do the same where there is no event loop."""
        self._keeper.close()

    def _read(self, work: "Callable[[Connection], T]") -> T:
        return self._keeper.writer.run(work, writes=False)

    def _summary(self, run: RunRow, live: bool) -> RunSummary:
        status, seconds = run.status, run.seconds
        if status == store.RUNNING:
            status = "running" if live else "interrupted"
            seconds += self._read(lambda connection: store.worked(connection, run))
        return RunSummary(
            run_id=run.run_id, created=run.created, status=status, task=run.task, seconds=seconds, live=live
        )


def _run_event(run: RunRow, sequence: int, number: int, event: Event) -> RecordRow:
    return RecordRow(
        run_id=run.run_id,
        sequence=sequence,
        path=f"run!{event.kind}!{number}",
        revision=0,
        epoch=run.epoch,
        at=time.time(),
        kind=event.kind,
        data=encode(event),
    )


def _renumbered(run: RunRow, rows: Sequence[RecordRow]) -> list[RecordRow]:
    return [
        {**row, "run_id": run.run_id, "sequence": number, "epoch": run.epoch}
        for number, row in enumerate(rows, start=2)
    ]
