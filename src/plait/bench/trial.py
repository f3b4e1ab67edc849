"""Run tasks with one method, resumably, and judge the tables at the end.

Knows nothing of how a method works. Each finished task is a line of JSON; tasks that have a line are not
run again. Runs are recorded in the run log like any other.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from plait.bench.methods import Means, Method
from plait.bench.workbench import WorkbenchTask, judge
from plait.errors import PlaitError, UserError
from plait.models.ledger import usage_of
from plait.models.paths import runs_folder
from plait.runner import new_run_id
from plait.task import Usage


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How one task went."""

    index: int
    """Row in the joined task files, from 0."""
    query: str
    run_id: str
    right: bool
    side_effects: bool
    """Something changed and the result is not right."""
    gold_changes: bool
    status: str
    model_calls: int
    tool_calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    seconds: float
    usd: float = 0.0

    @property
    def broke(self) -> bool:
        """Whether an error ended it, such as a model that could not be reached."""
        return self.status.startswith("error")


async def run_trials(
    tasks: Sequence[tuple[int, WorkbenchTask]],
    method: Method,
    means: Means,
    file: Path,
    tell: Callable[[Trial, int], None],
    *,
    at_once: int = 1,
    again: bool = False,
) -> list[Trial]:
    """Run the tasks that have no line in `file` yet; return how all of them went, in their order.

    Args:
        tasks: With their row.
        method: How they are solved.
        means: What it works with.
        file: Takes a line for each task that is done.
        tell: Is told of each as it is done, and how many are left.
        at_once: Tasks under way at the same time.
        again: Whether tasks that an error ended are run again.

    Raises:
        UserError: the options or tools cannot be used, or the file holds something else.
    """
    found = {trial.index: trial for trial in read_trials(file)}
    done = {index: trial for index, trial in found.items() if not (again and trial.broke)}
    turn = asyncio.Semaphore(at_once)

    async def one(index: int, task: WorkbenchTask) -> None:
        async with turn:
            trial = await _one(index, task, method, means)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(trial)) + "\n")
        done[index] = trial
        tell(trial, sum(index not in done for index, _ in tasks))

    try:
        async with asyncio.TaskGroup() as group:
            for index, task in tasks:
                if index not in done:
                    group.create_task(one(index, task))
    except* PlaitError as errors:
        # What all tasks share is wrong for each of them; the first says it.
        raise errors.exceptions[0] from None
    return [done[index] for index, _ in tasks]


async def _one(index: int, task: WorkbenchTask, method: Method, means: Means) -> Trial:
    run_id = new_run_id()
    begun = time.monotonic()
    try:
        status = await method.solve(task, run_id, means)
    except UserError:
        raise  # It is in what all tasks share, and a task with a line would never be run again.
    except PlaitError as error:
        status = f"error: {error.message}"
    seconds = time.monotonic() - begun
    judgement = judge(runs_folder() / run_id, task.gold, error=status.startswith("error"))
    usage = usage_of(means.log.records(run_id)) if method.asks_model else Usage()
    return Trial(
        index=index,
        query=task.query,
        run_id=run_id,
        right=judgement.correct,
        side_effects=judgement.side_effects,
        gold_changes=judgement.gold_changes,
        status=status,
        model_calls=usage.model_calls,
        tool_calls=usage.tool_calls,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        seconds=round(seconds, 1),
        usd=usage.usd,
    )


def read_trials(file: Path) -> list[Trial]:
    """Return the finished tasks of a file; none where there is no file.

    A line that was being written when the process was killed is taken out.

    Raises:
        UserError: it cannot be read, or a line is no trial.
    """
    if not file.exists():
        return []
    try:
        text = file.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            os.truncate(file, len(whole))
        return [Trial(**json.loads(line)) for line in whole.splitlines()]
    except OSError as error:
        raise UserError(f"{str(file)!r} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise UserError(f"{str(file)!r} holds a line that is no finished task: move it away") from error
