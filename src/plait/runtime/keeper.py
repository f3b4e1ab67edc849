"""Who owns which run: claims runs for this process, takes their rows, gives them back.

Knows nothing of what steps mean or of listing runs. It joins the locks (is a run live?), the writer
(one thread for the database) and the journals that the runs are recorded through.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from plait.errors import PlaitError, UserError
from plait.events import RunFinished
from plait.runtime import store
from plait.runtime.database import Database
from plait.runtime.history import History, read_history
from plait.runtime.jobs import Append, JobOutcome, into, result_of
from plait.runtime.journal import RunJournal
from plait.runtime.locks import Locks, locks_of
from plait.runtime.recorder import Recorder
from plait.runtime.store import RecordRow, RunEnd, RunRow
from plait.runtime.writer import Writer

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Keeper:
    """The runs that this process owns in one database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        # Used by the writer's thread alone.
        self._locks = locks_of(database)
        self.writer = Writer(database, on_reconnect=self._locks.renew)

    async def begin(self, run: RunRow, rows: list[RecordRow]) -> RunJournal:
        """Add a run that has some rows already, and return its journal.

        Raises:
            UserError: there is a run of that id.
            LogError: the database cannot be used.
        """
        hold = _Hold(self._locks, run.run_id)
        sink = RunSink(self, run)
        try:
            history = read_history(rows)
            await sink.put(rows, first=hold.take)
        except BaseException:
            with suppress(RuntimeError):  # A log that is closed meanwhile gives all back.
                await result_of(self.writer.queued(hold.give_back, writes=False))
            raise
        return RunJournal(Recorder(run.run_id, run.epoch, history, sink), sink, seconds=run.seconds)

    async def claim(
        self, run_id: str, claim: "Callable[[Connection], tuple[History, RunRow, RunRow]]"
    ) -> RunJournal:
        """Take a run over in the way `claim` says, and return its journal.

        `claim` returns what is on record, and the run as it was and as it is now.

        Raises:
            UserError: the run is live, or `claim` refuses.
            LogError: the database cannot be used.
        """
        await self._take(run_id)
        claiming = self.writer.queued(claim)
        try:
            history, before, run = await result_of(claiming)
        except asyncio.CancelledError:
            await asyncio.shield(self._give_up(run_id, claiming))
            raise
        except BaseException:
            await self.release(run_id)
            raise
        sink = RunSink(self, run, before)
        return RunJournal(Recorder(run_id, run.epoch, history, sink), sink, seconds=run.seconds)

    async def withdraw(self, before: RunRow, epoch: int) -> None:
        """Leave a run as it was before it was claimed, unless a step was recorded since."""
        work = self.writer.queued(lambda c: store.withdraw_claim(c, before, epoch), durable=True)
        await result_of(work)

    async def release(self, run_id: str) -> None:
        """Give a run back; nothing happens if it is not held."""
        await result_of(self.writer.queued(lambda _: self._locks.release(run_id), writes=False))

    def live(self, run_ids: list[str]) -> set[str]:
        """Say which of some runs a process holds."""

        def probe(_: "Connection") -> set[str]:
            return {run_id for run_id in run_ids if self._locks.is_live(run_id)}

        return self.writer.run(probe, writes=False)

    def while_idle(self, run_id: str, work: "Callable[[Connection], None]") -> None:
        """Do something to a run that no process may take up meanwhile.

        Raises:
            UserError: the run is live.
        """
        hold = _Hold(self._locks, run_id)
        self.writer.run(hold.take, writes=False)
        try:
            self.writer.run(work, durable=True)
        finally:
            self.writer.run(hold.give_back, writes=False)

    def close(self) -> None:
        """Write what is queued and give everything back; safe to call twice."""
        self.writer.close()
        self._locks.close()
        self.database.engine.dispose()

    async def _take(self, run_id: str) -> None:
        """Take the lock of a run; whoever stops waiting for it does not keep it."""
        hold = _Hold(self._locks, run_id)
        try:
            await result_of(self.writer.queued(hold.take, writes=False))
        except asyncio.CancelledError:
            with suppress(RuntimeError):  # As above.
                self.writer.queued(hold.give_back, writes=False)
            raise

    async def _give_up(self, run_id: str, claiming: "asyncio.Future[tuple[History, RunRow, RunRow]]") -> None:
        """Undo a claim that nobody waits for any more, once it is made."""
        try:
            with suppress(PlaitError, RuntimeError):
                _, before, run = await result_of(claiming)
                await self.withdraw(before, run.epoch)
        finally:
            with suppress(RuntimeError):  # As above.
                await self.release(run_id)


class _Hold:
    """The lock of one run for one who wants it; used by the writer's thread alone."""

    def __init__(self, locks: Locks, run_id: str) -> None:
        self._locks = locks
        self._run_id = run_id
        self._held = False  # The writer may call twice if another job spoils the transaction.

    def take(self, connection: "Connection") -> None:
        """Take it.

        Raises:
            UserError: the run is live.
        """
        self._held = self._held or self._locks.acquire(self._run_id)
        if not self._held:
            run = store.select_run(connection, self._run_id)
            where = f"in {run.owner}" if run else "in another process"
            raise UserError(f"run {self._run_id!r} is running {where}: wait for it, or stop it first")

    def give_back(self, _: "Connection") -> None:
        """Give it back, where it was taken."""
        if self._held:
            self._locks.release(self._run_id)
            self._held = False


class RunSink:
    """Where the recorder of one run puts its rows, and its journal the end of the run."""

    def __init__(self, keeper: Keeper, run: RunRow, before: RunRow | None = None) -> None:
        """Take a run, and what it was before this process took it up; None where it is new."""
        self._keeper = keeper
        self._run = run
        self._before = before
        self._failure: BaseException | None = None

    @property
    def failure(self) -> BaseException | None:
        """Why rows could not be written; after that none are."""
        return self._failure

    def put(
        self,
        rows: list[RecordRow],
        *,
        durable: bool = False,
        lazy: bool = False,
        first: "Callable[[Connection], None] | None" = None,
        ends: RunEnd | None = None,
    ) -> "asyncio.Future[None]":
        """Queue rows; note in the list of runs that the run has ended, or after `first` that it begins."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        told = into(future)

        def settle(outcome: JobOutcome, value: object) -> None:
            self._failure = self._failure or outcome  # What an event meets is reported by the next step.
            told(outcome, value)

        self._keeper.writer.append(
            Append(
                run_id=self._run.run_id,
                epoch=self._run.epoch,
                rows=rows,
                durable=durable,
                lazy=lazy,
                first=first,
                begins=self._run if first else None,
                ends=ends,
                settle=settle,
                loop=loop,
            )
        )
        return future

    async def finish(self, recorder: Recorder, status: str, result: Mapping[str, Any]) -> None:
        """Record the end of the run, and its status in the list of runs, in one transaction."""
        seconds = self._run.seconds + time.time() - self._run.claimed
        end = RunEnd(run_id=self._run.run_id, status=status, seconds=seconds)
        await recorder.add(RunFinished(status=status, result=result), ends=end)

    async def withdraw(self) -> None:
        """Leave the run as it was before it was taken up, unless it went on since, or is new."""
        before, epoch = self._before, self._run.epoch
        if before is not None:
            await self._keeper.withdraw(before, epoch)

    async def release(self) -> None:
        """Give the run back."""
        await self._keeper.release(self._run.run_id)


def owner() -> str:
    """Name this process, for messages to other users of the database."""
    return f"process {os.getpid()} on {_host()}"


@cache
def _host() -> str:
    return socket.gethostname()


@cache
def own_version() -> str:
    """Return Plait's version."""
    return version("plait")
