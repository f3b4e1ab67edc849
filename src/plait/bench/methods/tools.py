"""The methods that benchmarks of tool tasks compare: Plait, its baselines, and two that need no model.

Knows nothing of how a method's result is judged.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from plait.agents.agent import Agent
from plait.bench.baselines.plan_execute import plan_execute
from plait.bench.baselines.react import ReactTask, react
from plait.bench.baselines.reflexion import reflexion
from plait.bench.methods.method import OF_MODEL, PLAIT, Asked, Means, Method, journal_of
from plait.bench.methods.strands import STRANDS, alone
from plait.bench.workbench import WorkbenchTask, replay
from plait.errors import BudgetExhausted, ReplyError
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.ledger import usage_of
from plait.models.protocol import Settings
from plait.paths import runs_folder
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.sources import open_tools

OFFICE = "plait.tools.office"


Loop: TypeAlias = Callable[[Journal, ReactTask], Awaitable[str]]
"""A baseline: solves a task and returns the answer; empty where it has none."""


async def _baseline(name: str, loop: Loop, task: Asked, run_id: str, means: Means) -> str:
    options, model = means.options, means.model
    assert model is not None
    folder = runs_folder() / run_id
    folder.mkdir(parents=True, exist_ok=True)
    journal = await journal_of(name, task, run_id, means)
    spent = usage_of(await asyncio.to_thread(means.log.records, run_id))
    try:
        async with open_tools(options.tools, folder) as toolset:
            agent = Agent(
                role=name,
                strand="baseline",
                model=model,
                budget=Budget(options.limits(), spent=spent),
                settings=Settings(temperature=options.temperature, seed=options.seed),
            )
            executor = Executor(toolset.tools, ApprovalPolicy(yes=True))
            work = ReactTask(
                task=task.query, notes=toolset.notes, tools=toolset.tools, executor=executor, agent=agent
            )
            status, answer = await _ended(loop, journal, work)
        await journal.finish(status, {"answer": answer})
    finally:
        await journal.close()
    return status


async def _ended(loop: Loop, journal: Journal, work: ReactTask) -> tuple[str, str]:
    """Return how a baseline ended; whatever ended it, the tables say whether it was right."""
    try:
        answer = await loop(journal, work)
    except BudgetExhausted:
        return "budget_exhausted", ""
    except ReplyError:
        return "failed", ""
    return ("succeeded" if answer else "failed"), answer or ""


async def _gold(task: WorkbenchTask, run_id: str, means: Means) -> str:
    folder = runs_folder() / run_id
    folder.mkdir(parents=True, exist_ok=True)
    replay(task.gold, folder)
    return "succeeded"


async def _nothing(task: Asked, run_id: str, means: Means) -> str:
    return "succeeded"


METHODS: Mapping[str, Method[WorkbenchTask]] = {
    "plait": PLAIT,
    **{strand: alone(strand) for strand in STRANDS},
    "react": Method(
        solve=partial(_baseline, "react", react),
        about="a plain ReAct loop (Yao et al., 2023)",
        reads=OF_MODEL,
    ),
    "reflexion": Method(
        solve=partial(_baseline, "reflexion", reflexion),
        about="ReAct in three trials, with reflections in between (Shinn et al., 2023)",
        reads=OF_MODEL,
    ),
    "plan-and-execute": Method(
        solve=partial(_baseline, "plan-and-execute", plan_execute),
        about="a plan, ReAct for each step, and replanning (Wang et al., 2023)",
        reads=OF_MODEL,
    ),
    "gold": Method(solve=_gold, about="the calls that the benchmark holds for right", reads=frozenset()),
    "nothing": Method(solve=_nothing, about="no call at all", reads=frozenset()),
}
