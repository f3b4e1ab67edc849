"""Who owns which run: claims runs for this process, takes their rows, gives them back.

Knows nothing of what steps mean or of listing runs. It joins the locks (is a run live?), the writer
(one thread for the database) and the journals that the runs are recorded through.
"""

import asyncio
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from plait.errors import LogError, UserError
from plait.events import RunFinished
from plait.runtime import store
from plait.runtime.database import Database
from plait.runtime.history import History
from plait.runtime.journal import RunJournal
from plait.runtime.locks import locks_of
from plait.runtime.recorder import Recorder
from plait.runtime.store import RecordRow, RunRow
from plait.runtime.writer import Append, Outcome, Writer, result_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")


class Keeper:
    """The runs that this process owns in one database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.writer = Writer(database)
        self._locks = locks_of(database)
        self._mutex = threading.Lock()

    async def own(self, run_id: str, claim: "Callable[[Connection], tuple[History, RunRow]]") -> RunJournal:
        """Lock a run, claim it in the database and return its journal.

        Raises:
            UserError: the run is live, or `claim` refuses.
            LogError: the database cannot be used.
        """
        await asyncio.to_thread(self.acquire, run_id)
        try:
            history, run = await result_of(self.writer.run(claim))
        except BaseException:
            await self.release(run_id)
            raise
        sink = RunSink(self, run)
        return RunJournal(Recorder(run_id, run.epoch, history, sink), sink, seconds=run.seconds)

    def acquire(self, run_id: str) -> None:
        """Take the lock of a run.

        Raises:
            UserError: the run is live.
            LogError: the lock cannot be had.
        """
        try:
            with self._mutex, self.database.translated():
                taken = self._locks.acquire(run_id)
        except OSError as exc:
            raise LogError(
                f"run {run_id!r} cannot be locked beside {self.database.name!r} ({exc.strerror}):"
                " check the permissions of the folder, or set PLAIT_HOME"
            ) from exc
        if not taken:
            run = self.writer.run(
                lambda connection: store.select_run(connection, run_id), writes=False
            ).result()
            where = f"in {run.owner}" if run else "in another process"
            raise UserError(f"run {run_id!r} is running {where}: wait for it, or stop it first")

    def give_back(self, run_id: str) -> None:
        """Give the lock of a run back; nothing happens if it is not held."""
        with self._mutex, self.database.translated():
            self._locks.release(run_id)

    async def release(self, run_id: str) -> None:
        """Give the lock of a run back from within an event loop."""
        await asyncio.to_thread(self.give_back, run_id)

    def live(self, run_ids: list[str]) -> set[str]:
        """Say which of some runs a process holds."""
        with self._mutex, self.database.translated():
            return {run_id for run_id in run_ids if self._locks.is_live(run_id)}

    def while_idle(self, run_id: str, work: "Callable[[Connection], T]") -> T:
        """Do something to a run that no process may take up meanwhile.

        Raises:
            UserError: the run is live.
        """
        self.acquire(run_id)
        try:
            return self.writer.run(work, durable=True).result()
        finally:
            self.give_back(run_id)

    def close(self) -> None:
        """Write what is queued and give everything back; safe to call twice."""
        self.writer.close()
        with self._mutex:
            self._locks.close()
        self.database.engine.dispose()


class RunSink:
    """Where the recorder of one run puts its rows, and its journal the end of the run."""

    def __init__(self, keeper: Keeper, run: RunRow) -> None:
        self._keeper = keeper
        self._run = run

    def put(
        self,
        rows: list[RecordRow],
        *,
        durable: bool = False,
        after: "Callable[[Connection], None] | None" = None,
    ) -> "asyncio.Future[None]":
        """Queue rows, and something to do in the same transaction."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle(outcome: Outcome) -> None:
            if future.cancelled():
                return
            if outcome is None:
                future.set_result(None)
            else:
                future.set_exception(outcome)
                future.exception()  # Counts as seen: what an event meets is reported by the next step.

        self._keeper.writer.append(
            Append(
                run_id=self._run.run_id,
                epoch=self._run.epoch,
                rows=rows,
                durable=durable,
                after=after,
                settle=settle,
                loop=loop,
            )
        )
        return future

    async def finish(self, recorder: Recorder, status: str, result: Mapping[str, Any]) -> None:
        """Record the end of the run, with its status in the list of runs, in one transaction."""
        seconds = self._run.seconds + time.time() - self._run.claimed

        def note(connection: "Connection") -> None:
            store.finish_run(connection, self._run.run_id, status=status, seconds=seconds)

        await recorder.add(RunFinished(status=status, result=result), after=note)

    async def release(self) -> None:
        """Give the run back."""
        await self._keeper.release(self._run.run_id)


def owner() -> str:
    """Name this process, for messages to other users of the database."""
    return f"process {os.getpid()} on {socket.gethostname()}"
