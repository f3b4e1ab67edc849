"""Run tasks with one method, resumably, and measure what came of each.

Knows nothing of how a method works or what is measured. Each finished task is a line of JSON; tasks that
have a line are not run again. Runs are recorded in the run log like any other.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from plait.agents.together import together
from plait.bench.begun import Begun, seconds_on_record, status_on_record
from plait.bench.benchmark import Benchmark, Ended, Measures
from plait.bench.methods.method import Asked, Means, Method
from plait.errors import NeedsDecision, PlaitError, UserError
from plait.models.ledger import usage_of
from plait.runner import new_run_id
from plait.task import Usage

UNDECIDED = "needs_decision"
"""How a run ends that was stopped in the middle of an effect."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How one task went."""

    index: int
    """Row in the joined task files, from 0."""
    query: str
    run_id: str
    status: str
    model_calls: int
    tool_calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    seconds: float
    usd: float = 0.0
    measures: Measures = field(default_factory=dict[str, float])
    """What came of it; beside the others in its line."""

    @property
    def broke(self) -> bool:
        """Whether an error ended it, such as a model that could not be reached."""
        return self.status.startswith("error")

    def as_json(self) -> dict[str, Any]:
        """Return the trial as its line holds it."""
        value = asdict(self)
        measures = value.pop("measures")
        return {**value, **measures}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], measures: Collection[str] = ()) -> "Trial":
        """Return the trial of a line.

        Args:
            value: What the line holds.
            measures: What must be measured.

        Raises:
            TypeError, ValueError: it is none.
        """
        own = {each.name for each in fields(cls)} - {"measures"}
        rest = {name: item for name, item in value.items() if name not in own}
        if not all(isinstance(rest.get(name), int | float) for name in {*measures, *rest}):
            raise ValueError("something is not measured")
        return cls(**{name: item for name, item in value.items() if name in own}, measures=rest)


@dataclass(frozen=True, kw_only=True)
class Work:
    """What is run, and where it is kept."""

    benchmark: Benchmark[Any]
    method: Method[Any]
    """How tasks are solved."""
    means: Means
    """What it works with."""
    file: Path
    """Takes a line for each task that is done."""
    at_once: int = 1
    """Tasks under way at the same time."""
    again: bool = False
    """Whether tasks that an error ended are run again."""


async def run_trials(
    tasks: Sequence[tuple[int, Asked]], work: Work, tell: Callable[[Trial, int], None]
) -> list[Trial]:
    """Run the tasks that have no line in the file yet; return how all of them went, in their order.

    Args:
        tasks: With their row.
        work: What is run.
        tell: Is told of each as it is done, and how many are left.

    Raises:
        UserError: the options or tools cannot be used, or the file holds something else.
    """
    _end_with_whole_line(work.file)
    found = {trial.index: trial for trial in read_trials(work.file, work.benchmark.fields())}
    done = {index: trial for index, trial in found.items() if not (work.again and trial.broke)}
    begun = Begun(work.file, work.means.log, {trial.run_id for trial in found.values()})
    turn = asyncio.Semaphore(work.at_once)

    async def one(index: int, task: Asked) -> None:
        async with turn:
            trial = await _one(index, task, work, begun)
        with work.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(trial.as_json()) + "\n")
        done[index] = trial
        tell(trial, sum(index not in done for index, _ in tasks))

    # What all tasks share is wrong for each of them; the first says it.
    await together([one(index, task) for index, task in tasks if index not in done])
    return [done[index] for index, _ in tasks]


async def _one(index: int, task: Asked, work: Work, begun: Begun) -> Trial:
    means = work.means
    run_id, status, seconds = await _solved(index, task, work, begun)
    status, measures = await _judged(task, run_id, status, work)
    usage = Usage()
    if work.method.asks_model:
        usage = usage_of(await asyncio.to_thread(means.log.records, run_id))
    return Trial(
        index=index,
        query=task.query,
        run_id=run_id,
        status=status,
        model_calls=usage.model_calls,
        tool_calls=usage.tool_calls,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        seconds=round(seconds, 1),
        usd=usage.usd,
        measures=measures,
    )


async def _solved(index: int, task: Asked, work: Work, begun: Begun) -> tuple[str, str, float]:
    """Solve a task, in the run that was begun for it where there is one.

    Returns:
        The run, how it ended, and the seconds it took.
    """
    if not work.method.asks_model:
        return await _timed(task, new_run_id(), work)
    if run_id := begun.take_up(index):
        outcome = await _timed(task, run_id, work)
        if outcome[1] != UNDECIDED:
            return outcome
    # Also where the process died in the middle of an effect: it was one on the run's own copy of the world.
    return await _timed(task, begun.anew(index), work)


async def _timed(task: Asked, run_id: str, work: Work) -> tuple[str, str, float]:
    log = work.means.log
    earlier = await asyncio.to_thread(seconds_on_record, log, run_id)
    started = time.monotonic()
    try:
        status = await asyncio.to_thread(status_on_record, log, run_id)
        status = status or await work.method.solve(task, run_id, work.means)
    except UserError:
        raise  # It is in what all tasks share, and a task with a line would never be run again.
    except NeedsDecision:
        status = UNDECIDED
    except PlaitError as error:
        status = f"error: {error.message}"
    return run_id, status, earlier + time.monotonic() - started


async def _judged(task: Asked, run_id: str, status: str, work: Work) -> tuple[str, Measures]:
    """Return what came of a run; where that cannot be told, its status says why."""
    ended = Ended(run_id=run_id, broke=status.startswith("error"), means=work.means)
    try:
        return status, await work.benchmark.judge(task, ended)
    except UserError:
        raise
    except PlaitError as error:
        nothing = await work.benchmark.judge(task, replace(ended, broke=True))
        return f"error: it cannot be judged: {error.message}", nothing


def read_trials(file: Path, measures: Collection[str] = ()) -> list[Trial]:
    """Return the finished tasks of a file; none where there is no file.

    A line that is being written, or was when its process was killed, is passed over.

    Args:
        file: The file.
        measures: What must be measured of each task.

    Raises:
        UserError: it cannot be read, or a line is no trial.
    """
    if not file.exists():
        return []
    try:
        return [
            Trial.from_json(json.loads(line), measures) for line in _whole(file.read_bytes()).splitlines()
        ]
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{str(file)!r} holds a line that is no finished task: move it away") from error


def _end_with_whole_line(file: Path) -> None:
    """Take out the line that was being written when the process was killed that had the file.

    Only who has the file for itself may do so.

    Raises:
        UserError: it cannot be written.
    """
    try:
        if file.exists() and _whole(text := file.read_bytes()) != text:
            os.truncate(file, len(_whole(text)))
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be written: {error.strerror}") from error


def _whole(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]
