"""What a method is, what it works with, and Plait itself as one.

Knows nothing of how a method's result is judged.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel
from plait.runner import Hands, resume, start
from plait.runtime.journal import RunJournal
from plait.runtime.log import RunLog
from plait.runtime.options import Options


class Asked(Protocol):
    """What every task of a benchmark has."""

    @property
    def query(self) -> str:
        """What is to be done, as it is said to a method."""
        ...


Exercise = TypeVar("Exercise", bound=Asked)


@dataclass(frozen=True, kw_only=True)
class Means:
    """What a method works with."""

    options: Options
    log: RunLog
    model: LanguageModel | None
    """None where the method asks none."""
    embedder: Embedder | None = None
    """Used instead of the local one."""

    @property
    def hands(self) -> Hands:
        """The same, as a run takes it."""
        return Hands(model=self.model, log=self.log, embedder=self.embedder)


Solve: TypeAlias = Callable[[Exercise, str, Means], Awaitable[str]]
"""Solves a task as run `run_id`, and returns how it ended."""

OF_MODEL = frozenset(
    {"model", "base_url", "temperature", "seed", "max_calls", "max_tokens", "max_usd", "max_seconds"}
)
"""Options that every method goes by that asks a model."""


@dataclass(frozen=True, kw_only=True)
class Method(Generic[Exercise]):
    """One way to solve tasks."""

    solve: Solve[Exercise]
    about: str
    """In a line."""
    reads: frozenset[str] | None = None
    """Options that it goes by; None: all."""
    counts: str = ""
    """The option that its name in tables ends in, in place of its last letter."""

    @property
    def asks_model(self) -> bool:
        """Whether it needs one."""
        return self.reads is None or bool(self.reads)

    def goes_by(self, option: str) -> bool:
        """Whether an option makes it another method."""
        return self.reads is None or option in self.reads

    def label(self, name: str, options: Options) -> str:
        """Return what a table calls it: `best-of-n` with as many tries as there are."""
        return f"{name[:-1]}{getattr(options, self.counts)}" if self.counts else name


async def solve_with(options: Options, task: Asked, run_id: str, means: Means) -> str:
    """Solve a task as `plait run` does with these options; a run that was begun is taken up."""
    if await asyncio.to_thread(on_record, means.log, run_id):
        return (await resume(run_id, means.hands)).status
    return (await start(task.query, options, means.hands, run_id=run_id)).status


async def journal_of(name: str, task: Asked, run_id: str, means: Means) -> RunJournal:
    """Return the journal of a run that is recorded as another method's; one that was begun is taken up."""
    if await asyncio.to_thread(on_record, means.log, run_id):
        return await means.log.resume(run_id)
    return await means.log.start(run_id, task.query, {**means.options.as_json(), "method": name})


def on_record(log: RunLog, run_id: str) -> bool:
    """Whether a run was begun."""
    return any(run.run_id == run_id for run in log.runs())


async def _plait(task: Asked, run_id: str, means: Means) -> str:
    return await solve_with(means.options, task, run_id, means)


PLAIT: Method[Any] = Method(solve=_plait, about="as `plait run` does")
