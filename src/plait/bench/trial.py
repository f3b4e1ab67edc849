"""Run WorkBench tasks with one method, resumably, and judge the tables at the end.

Knows nothing of how a method works. Each finished task is a line of JSON; tasks that have a line are not
run again. Runs are recorded in the run log like any other.
"""

import json
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from plait.agents.agent import Agent
from plait.bench.baselines.react import ReactTask, react
from plait.bench.workbench import WorkbenchTask, judge
from plait.errors import BudgetExhausted, PlaitError, ReplyError, UserError
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.ledger import usage_of
from plait.models.paths import runs_folder
from plait.models.protocol import LanguageModel, Settings
from plait.runner import Hands, new_run_id, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Usage
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.sources import open_tools

OFFICE = "plait.tools.office"


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


Method: TypeAlias = Callable[[WorkbenchTask, str, LanguageModel, RunLog, Options], Awaitable[str]]
"""Solves a task as run `run_id`, and returns how it ended."""


async def with_plait(
    task: WorkbenchTask, run_id: str, model: LanguageModel, log: RunLog, options: Options
) -> str:
    """Solve a task as `plait run` does."""
    result = await start(task.query, options, Hands(model=model, log=log), run_id=run_id)
    return result.status


async def with_react(
    task: WorkbenchTask, run_id: str, model: LanguageModel, log: RunLog, options: Options
) -> str:
    """Solve a task with a plain ReAct loop."""
    folder = runs_folder() / run_id
    folder.mkdir(parents=True, exist_ok=True)
    journal = await log.start(run_id, task.query, {**options.as_json(), "method": "react"})
    try:
        async with open_tools(options.tools, folder) as toolset:
            agent = Agent(
                role="react",
                strand="baseline",
                model=model,
                budget=Budget(options.limits()),
                settings=Settings(temperature=options.temperature, seed=options.seed),
            )
            executor = Executor(toolset.tools, ApprovalPolicy(yes=True))
            work = ReactTask(
                task=task.query, notes=toolset.notes, tools=toolset.tools, executor=executor, agent=agent
            )
            status, answer = await _react(journal, work)
        await journal.finish(status, {"answer": answer})
    finally:
        await journal.close()
    return status


async def _react(journal: Journal, work: ReactTask) -> tuple[str, str]:
    """Return how a ReAct loop ended; whatever ended it, the tables say whether it was right."""
    try:
        answer = await react(journal, work)
    except BudgetExhausted:
        return "budget_exhausted", ""
    except ReplyError:
        return "failed", ""
    return ("succeeded" if answer else "failed"), answer or ""


METHODS: Mapping[str, Method] = {"plait": with_plait, "react": with_react}


async def run_trials(
    tasks: Sequence[tuple[int, WorkbenchTask]],
    method: str,
    model: LanguageModel,
    options: Options,
    file: Path,
    tell: Callable[[Trial], None],
) -> list[Trial]:
    """Run the tasks that have no line in `file` yet, one after another; return all lines.

    Raises:
        UserError: the options or tools cannot be used.
    """
    done = read_trials(file)
    log = RunLog.open()
    try:
        for index, task in tasks:
            if index in {trial.index for trial in done}:
                continue
            trial = await _one(index, task, METHODS[method], model, log, options)
            done.append(trial)
            with file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(asdict(trial)) + "\n")
            tell(trial)
    finally:
        await log.close()
    return done


async def _one(
    index: int, task: WorkbenchTask, method: Method, model: LanguageModel, log: RunLog, options: Options
) -> Trial:
    run_id = new_run_id()
    begun = time.monotonic()
    try:
        status = await method(task, run_id, model, log, options)
    except UserError:
        raise  # It is in what all tasks share, and a task with a line would never be run again.
    except PlaitError as error:
        status = f"error: {error.message}"
    seconds = time.monotonic() - begun
    judgement = judge(runs_folder() / run_id, task.gold, error=status.startswith("error"))
    usage: Usage = usage_of(log.records(run_id))
    return Trial(
        index=index,
        query=task.query,
        run_id=run_id,
        right=judgement.correct,
        side_effects=judgement.side_effects,
        gold_changes=bool(judgement.gold_changes),
        status=status,
        model_calls=usage.model_calls,
        tool_calls=usage.tool_calls,
        input_tokens=usage.input_tokens,
        cached_input_tokens=usage.cached_input_tokens,
        output_tokens=usage.output_tokens,
        seconds=round(seconds, 1),
    )


def read_trials(file: Path) -> list[Trial]:
    """Return the finished tasks of a file; none where there is no file."""
    if not file.exists():
        return []
    return [Trial(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines() if line]


def summary(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return the figures of a method: counts, sums, and medians per task."""
    acting = [trial for trial in trials if trial.gold_changes]
    return {
        "tasks": len(trials),
        "right": sum(trial.right for trial in trials),
        "right_with_gold_actions": f"{sum(trial.right for trial in acting)} of {len(acting)}",
        "side_effects": sum(trial.side_effects for trial in trials),
        "errors": sum(trial.status.startswith("error") for trial in trials),
        "model_calls": sum(trial.model_calls for trial in trials),
        "tool_calls": sum(trial.tool_calls for trial in trials),
        "input_tokens": sum(trial.input_tokens for trial in trials),
        "cached_input_tokens": sum(trial.cached_input_tokens for trial in trials),
        "output_tokens": sum(trial.output_tokens for trial in trials),
        "seconds": round(sum(trial.seconds for trial in trials)),
        "median_seconds": round(statistics.median(trial.seconds for trial in trials), 1) if trials else 0,
    }
