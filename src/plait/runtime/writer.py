"""Group commit: one thread that writes whatever has been queued in one transaction.

Knows nothing of journals or events: it is given rows, or functions that take a connection. Many
runs at once so cost a few commits, and no caller of `append` or `queued` waits on the disk.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from plait.errors import LogError, PlaitError, UserError
from plait.runtime import appending, store
from plait.runtime.database import Database
from plait.runtime.jobs import Append, Job, JobOutcome, Settled, Transaction, into, is_lazy, settle_all

if TYPE_CHECKING:
    from sqlalchemy import Connection

LINGER_SECONDS = 0.05
"""Events that nobody waits for are written within this time."""

T = TypeVar("T")


class Writer:
    """The one thread that uses the database."""

    def __init__(self, database: Database, *, on_reconnect: Callable[[], None]) -> None:
        """Begin to write; `on_reconnect` is called in this thread when a connection was lost."""
        self._database = database
        self._on_reconnect = on_reconnect
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._urgent = threading.Event()  # Somebody waits for something in the queue.
        self._failed: dict[tuple[str, int], LogError] = {}
        self._connection: Connection | None = None
        self._closed = False
        self._closing = threading.Lock()  # Nothing is queued after what ends the thread.
        self._thread = threading.Thread(target=self._work, name="plait-log", daemon=True)
        self._thread.start()

    def append(self, job: Append) -> None:
        """Queue rows; they are committed in the order they came."""
        self._put(job)

    def run(self, function: "Callable[[Connection], T]", *, writes: bool = True, durable: bool = False) -> T:
        """Do something in turn with what is queued, and wait for what it returns or raises."""
        future: Future[T] = Future()
        self._put(
            Transaction(function=function, writes=writes, durable=durable, settle=into(future), loop=None)
        )
        return future.result()

    def queued(
        self, function: "Callable[[Connection], T]", *, writes: bool = True, durable: bool = False
    ) -> "asyncio.Future[T]":
        """Queue a function from an event loop; await what it returns or raises with `result_of`."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(
            Transaction(function=function, writes=writes, durable=durable, settle=into(future), loop=loop)
        )
        return future

    def close(self) -> None:
        """Commit what is queued and end the thread; safe to call twice."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
                self._urgent.set()
        self._thread.join()

    def _put(self, job: Job) -> None:
        with self._closing:
            if self._closed:
                raise RuntimeError("the run log is closed")
            self._queue.put(job)
        if not is_lazy(job):
            self._urgent.set()

    def _work(self) -> None:
        try:
            while self._commit_queued():
                pass
        finally:
            self._disconnect()

    def _commit_queued(self) -> bool:
        """Commit all that is queued, at least one job; say whether to go on."""
        jobs = self._take()
        todo = [job for job in jobs if job is not None]
        settled: list[Settled] = []
        self._commit(todo, settled)
        settle_all(settled)
        return len(todo) == len(jobs)

    def _take(self) -> list[Job | None]:
        """Take all that is queued; wait a little for more while nobody waits for any of it."""
        jobs = [self._queue.get()]
        if jobs[0] is not None and is_lazy(jobs[0]):
            self._urgent.wait(LINGER_SECONDS)
        # Before the queue is emptied: what comes later is then either taken now or flagged anew.
        self._urgent.clear()
        while not self._queue.empty():
            jobs.append(self._queue.get())
        return jobs

    def _commit(self, jobs: list[Job], settled: list[Settled], *, again: bool = False) -> None:
        """Commit jobs together, once more on a new connection where it was lost.

        If that fails, commit them one by one, so that each bears its own error.
        """
        if not jobs:
            return
        try:
            with self._database.translated():
                outcomes = self._transaction(jobs, again=again)
        except Exception as exc:
            lost = self._database.lost(exc)
            if lost and not again:
                self._commit(jobs, settled, again=True)
                return
            if len(jobs) > 1:
                for job in jobs:
                    self._commit([job], settled, again=again)
                return
            outcomes = [(jobs[0], exc, None)]
        for job, error, _ in outcomes:
            if isinstance(job, Append):
                self._remember_failure(job, error)
        settled += outcomes

    def _transaction(self, jobs: list[Job], *, again: bool) -> list[Settled]:
        connection = self._connect()
        writes = any(isinstance(job, Append) or job.writes for job in jobs)
        durable = any(job.durable for job in jobs)
        with self._database.begin(connection, writes=writes, durable=durable):
            outcomes: list[Settled] = []
            waiting: list[Append] = []
            for job in jobs:
                if isinstance(job, Append):
                    waiting.append(job)
                    continue
                outcomes += self._append_all(connection, waiting, again=again)
                waiting = []
                outcomes.append(self._do(connection, job, alone=len(jobs) == 1))
            outcomes += self._append_all(connection, waiting, again=again)
        return outcomes

    def _append_all(self, connection: "Connection", jobs: list[Append], *, again: bool) -> list[Settled]:
        """Insert the rows of all jobs whose process still owns its run.

        `again`: the connection was lost, and nobody knows whether before or after the commit.
        """
        if again:
            done = [job for job in jobs if job.rows and store.has_record(connection, job.rows[-1])]
            jobs = [job for job in jobs if job not in done]
            return [*((job, None, None) for job in done), *self._append_all(connection, jobs, again=False)]
        if not jobs:
            return []
        hindered = [_hindrance(connection, job) for job in jobs]
        owned = appending.epochs(connection, {job.run_id for job in jobs})
        outcomes: list[Settled] = []
        accepted: list[Append] = []
        for job, hindrance in zip(jobs, hindered, strict=True):
            error = hindrance or self._refusal(job, owned)
            if error is None:
                accepted.append(job)
            outcomes.append((job, error, None))
        store.insert_runs(connection, [job.begins for job in accepted if job.begins])
        appending.insert_records(connection, [row for job in accepted for row in job.rows])
        store.end_runs(connection, [job.ends for job in accepted if job.ends])
        return outcomes

    def _refusal(self, job: Append, owned: dict[str, int]) -> PlaitError | None:
        """Say why the rows of a job may not be written; None when they may."""
        failed = self._failed.get((job.run_id, job.epoch))
        if failed is not None:
            return failed
        if job.begins is None:
            epoch = owned.get(job.run_id)
            return None if epoch == job.epoch else store.taken_over(job.run_id, epoch)
        if job.run_id in owned:
            return UserError(f"there is already a run {job.run_id!r}")
        owned[job.run_id] = job.epoch
        return None

    def _do(self, connection: "Connection", job: Transaction, *, alone: bool) -> Settled:
        try:
            return job, None, job.function(connection)
        except PlaitError as exc:
            if alone or job.writes:
                raise  # Rolls back whatever the function wrote before; the others are then done again.
            return job, exc, None

    def _remember_failure(self, job: Append, error: JobOutcome) -> None:
        """After a hole in a run's log nothing may follow: later rows can rest on the lost ones."""
        if error is not None and job.begins is None:
            failure = error if isinstance(error, LogError) else LogError(str(error))
            self._failed.setdefault((job.run_id, job.epoch), failure)

    def _connect(self) -> "Connection":
        if self._connection is not None and self._connection.invalidated:
            self._disconnect()
            self._connection = self._database.engine.connect()
            self._on_reconnect()
        if self._connection is None:
            self._connection = self._database.engine.connect()
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _hindrance(connection: "Connection", job: Append) -> PlaitError | None:
    """Do what comes before the rows of a job; return what it raises."""
    try:
        if job.first is not None:
            job.first(connection)
    except PlaitError as exc:
        return exc
    return None
