"""Runs teach a memory that goes on growing, and other runs use copies of it as it was after each kind.

A copy is of one run alone, so no use learns from another. What was learned is kept after each kind of task
and after half of it, so that the same command goes on after a kill, and another model can use it later.
Knows nothing of commands.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from plait.bench.files import alone, tell_beside, told_beside
from plait.bench.learning.plan import LEARN, USES, LearningPlan, Rows
from plait.bench.methods.method import Asked, Means, Method, on_record
from plait.bench.plan import Found
from plait.bench.trial import Trial, Work, read_trials, run_trials
from plait.errors import PlaitError, UserError
from plait.models.embeddings import Embedder
from plait.models.resolve import resolve_model
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

Tell: TypeAlias = Callable[[str, Trial], None]
"""Is told the label of each task that is done."""


async def learn_and_use(plan: LearningPlan, tell: Tell, *, embedder: Embedder | None = None) -> Found:
    """Run what has no line yet, kind by kind; return how all tasks went, by label.

    Args:
        plan: What is run.
        tell: Is told of each task as it is done.
        embedder: Used instead of the local one.

    Raises:
        UserError: the options cannot be used, another process is at work on a file, or nothing was learned
            that another model could use.
    """
    options = plan.options
    model = resolve_model(plan.lessons.user or options.model, base_url=options.base_url or None)
    log = RunLog.open()
    try:
        with ExitStack() as held:
            for label in plan.labels:
                held.enter_context(alone(plan.file(label)))
            means = Means(options=options, log=log, model=model, embedder=embedder)
            course = _Course(plan, means, tell)
            for number, rows in enumerate(plan.kinds, plan.lessons.skip + 1):
                await course.take(number, rows)
    finally:
        await model.aclose()
        await log.close()
    return {label: _in_order(plan, label) for label in plan.labels}


def open_tasks(plan: LearningPlan) -> Mapping[str, int]:
    """Return how many tasks are still to be run, by label.

    Raises:
        UserError: a file of finished tasks cannot be read.
    """
    left: dict[str, int] = {}
    for label in plan.labels:
        trials = read_trials(plan.file(label), plan.benchmark.fields())
        done = {trial.index for trial in trials if not (plan.again and trial.broke)}
        left[label] = len(set(plan.all_of(label)) - done)
    return left


def _in_order(plan: LearningPlan, label: str) -> Sequence[Trial]:
    trials = {trial.index: trial for trial in read_trials(plan.file(label), plan.benchmark.fields())}
    return [trials[index] for index in plan.all_of(label)]


@dataclass(frozen=True)
class _Course:
    """The kinds of tasks, one after another."""

    plan: LearningPlan
    means: Means
    tell: Tell

    async def take(self, number: int, rows: Rows) -> None:
        """Learn from a kind, and use it."""
        if not self.plan.lessons.user:
            taught = self.plan.tasks(LEARN, rows)
            await self._learn(taught[: len(taught) // 2])
            await self._keep(f"{number}-half")
            await self._learn(taught)
            await self._keep(f"{number}")
        for label in self.plan.lessons.uses:
            use = USES[label]
            memory = self._kept(f"{number}-half" if use.half else f"{number}")
            method = on_a_copy(self.plan.method(label), memory)
            await self._run(label, self.plan.tasks(label, rows), method, self.plan.at_once)

    async def _learn(self, rows: Rows) -> None:
        await self._run(LEARN, rows, self.plan.method(LEARN), 1)

    async def _run(self, label: str, rows: Rows, method: Method[Any], at_once: int) -> None:
        options = self.plan.options_of(label).changed({"memory": self._beside()["memory"]})
        work = Work(
            benchmark=self.plan.benchmark,
            method=method,
            means=replace(self.means, options=options),
            file=self.plan.file(label),
            at_once=at_once,
            again=self.plan.again,
        )
        await run_trials(rows, work, lambda trial, _: self.tell(label, trial))

    def _beside(self) -> dict[str, Any]:
        return told_beside(self.plan.file(LEARN), self.plan.about() | {"kept": []})

    async def _keep(self, name: str) -> None:
        """Keep the memory as it is, once: later it is larger."""
        beside = self._beside()
        if name not in beside["kept"]:
            await ExperienceStore(self.means.log).copy(beside["memory"], f"{beside['memory']}-{name}")
            tell_beside(self.plan.file(LEARN), {**beside, "kept": [*beside["kept"], name]})

    def _kept(self, name: str) -> str:
        beside = self._beside()
        if name not in beside["kept"]:
            raise UserError("nothing is kept that another model could use: first learn, without --user")
        return f"{beside['memory']}-{name}"


def on_a_copy(method: Method[Any], memory: str) -> Method[Any]:
    """Return a method that solves each task with a copy of a memory of its own, which goes with it."""

    async def solve(task: Asked, run_id: str, means: Means) -> str:
        store, own = ExperienceStore(means.log), f"bench-use-{run_id}"
        if not await asyncio.to_thread(on_record, means.log, run_id):
            await store.copy(memory, own)
        try:
            status = await method.solve(
                task, run_id, replace(means, options=means.options.changed({"memory": own}))
            )
        except PlaitError:
            await _forget(store, own)
            raise
        # Not where it is stopped: the run is taken up with what it had.
        await _forget(store, own)
        return status

    return replace(method, solve=solve)


async def _forget(store: ExperienceStore, memory: str) -> None:
    await store.remove([record.id for record in await store.find(memory=memory)])
