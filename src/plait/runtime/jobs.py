"""What the writer of the log is given to do, and how whoever waits for it learns what came of it.

Knows nothing of the thread that does it, nor of transactions.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from plait.runtime.store import RecordRow, RunEnd, RunRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")
JobOutcome: TypeAlias = BaseException | None
"""Why a job failed; None where it did not."""
Settle: TypeAlias = Callable[[JobOutcome, Any], None]
"""Takes that, and what the function of the job returned."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Append:
    """Rows of one run, in order."""

    run_id: str
    epoch: int
    rows: list[RecordRow]
    durable: bool
    lazy: bool = False
    """Nobody waits for these rows: they may be written with the next ones."""
    first: "Callable[[Connection], None] | None" = None
    """Done before; where it raises a PlaitError the rows are refused. It may be called again."""
    begins: RunRow | None = None
    """A run to add first, which must not be there."""
    ends: RunEnd | None = None
    """How the run ended, to be noted in the list of runs."""
    settle: Settle
    """Called on `loop` once the rows are on disk, or cannot be."""
    loop: asyncio.AbstractEventLoop


@dataclass(frozen=True, kw_only=True, slots=True)
class Transaction:
    """A function to run in a transaction."""

    function: "Callable[[Connection], Any]"
    writes: bool
    durable: bool
    settle: Settle
    loop: asyncio.AbstractEventLoop | None
    """Where `settle` is called; None: in the writer's thread."""


Job: TypeAlias = Append | Transaction
Settled: TypeAlias = tuple[Job, JobOutcome, Any]


def is_lazy(job: Job) -> bool:
    """Whether nobody waits for a job."""
    return isinstance(job, Append) and job.lazy


def into(future: "Future[T] | asyncio.Future[T]") -> Settle:
    """Return what puts an outcome into a future."""

    def settle(error: JobOutcome, value: Any) -> None:
        if future.cancelled():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
            future.exception()  # Counts as seen: not everybody waits for what becomes of a job.

    return settle


def settle_all(settled: list[Settled]) -> None:
    """Wake the callers, once for each event loop."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[Settled]] = {}
    for each in settled:
        by_loop.setdefault(each[0].loop, []).append(each)
    for loop, some in by_loop.items():
        if loop is None:
            _call_all(some)
            continue
        # A loop that is closed has nobody left who waits; it may close at any moment.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_call_all, some)


def _call_all(settled: list[Settled]) -> None:
    for job, error, value in settled:
        job.settle(error, value)


async def result_of(future: "asyncio.Future[T]") -> T:
    """Await what a queued function returns.

    Who stops waiting does not keep it from being run, nor others from learning what came of it.
    """
    return await asyncio.shield(future)
