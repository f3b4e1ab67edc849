"""Runs teach a memory that goes on growing, and other runs use copies of it as it was after each kind.

A copy is of one run alone, so no use learns from another. What was learned is kept after each kind of task
and after half of it, so that the same command goes on after a kill, and another model can use it later.
Knows nothing of commands.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TypeAlias

from plait.bench.files import alone
from plait.bench.learning.memories import Memories, on_a_copy
from plait.bench.learning.plan import LEARN, USES, LearningPlan, Rows
from plait.bench.methods.method import Means
from plait.bench.plan import Found
from plait.bench.trial import Trial, Work, read_trials, run_trials
from plait.errors import UserError
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
        UserError: the options cannot be used, another process is at work on a file, a task to learn from
            broke, or what is to be used is not kept.
    """
    options = plan.options
    model = resolve_model(plan.lessons.user or options.model, base_url=options.base_url or None)
    log = RunLog.open()
    try:
        with ExitStack() as held:
            for label in plan.labels:
                held.enter_context(alone(plan.file(label)))
            means = Means(options=options, log=log, model=model, embedder=embedder)
            memories = Memories(plan.file(LEARN), plan.about(), ExperienceStore(log))
            found = await _Course(plan, means, memories, tell).take()
            used = [trial.run_id for label, trials in found.items() if label != LEARN for trial in trials]
            await memories.forget_copies(used)
    finally:
        await model.aclose()
        await log.close()
    return found


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


@dataclass(frozen=True)
class _Course:
    """The kinds of tasks, one after another."""

    plan: LearningPlan
    means: Means
    memories: Memories
    tell: Tell

    async def take(self) -> Found:
        """Learn from each kind and use it; return how all tasks went."""
        kinds = [*enumerate(self.plan.kinds, self.plan.lessons.skip + 1)]
        if self.plan.lessons.user:
            for number, _ in kinds:
                await self.memories.kept(f"{number}")
        elif not self.plan.file(LEARN).exists():
            self._nothing_used()
        found: dict[str, list[Trial]] = {label: [] for label in self.plan.labels}
        for number, rows in kinds:
            if not self.plan.lessons.user:
                found[LEARN] += await self._learn(number, self.plan.tasks(LEARN, rows))
            for label in self.plan.lessons.uses:
                found[label] += await self._use(number, label, self.plan.tasks(label, rows))
        return found

    def _nothing_used(self) -> None:
        if used := [label for label in self.plan.lessons.uses if self.plan.file(label).exists()]:
            raise UserError(
                f"{str(self.plan.file(used[0]))!r} is of what was learned before, which is not there any"
                " more: move it away too"
            )

    async def _learn(self, number: int, rows: Rows) -> Sequence[Trial]:
        half = len(rows) // 2
        await self._taught(rows[:half])
        await self.memories.keep(f"{number}-half")
        trials = await self._taught(rows)
        await self.memories.keep(f"{number}")
        return trials

    async def _taught(self, rows: Rows) -> Sequence[Trial]:
        options = self.plan.options.changed({"memory": self.memories.growing})
        work = self._work(LEARN, replace(self.means, options=options))
        trials = await run_trials(rows, work, lambda trial, _: self.tell(LEARN, trial))
        if broke := [trial for trial in trials if trial.broke]:
            raise UserError(
                f"{len(broke)} of the tasks to learn from broke ({broke[0].status}); what is done is kept:"
                " mend it and add --again"
            )
        return trials

    async def _use(self, number: int, label: str, rows: Rows) -> Sequence[Trial]:
        memory = await self.memories.kept(f"{number}-half" if USES[label].half else f"{number}")
        work = self._work(label, replace(self.means, options=self.plan.options_of(label)))
        work = replace(work, method=on_a_copy(work.method, memory), at_once=self.plan.at_once)
        return await run_trials(rows, work, lambda trial, _: self.tell(label, trial))

    def _work(self, label: str, means: Means) -> Work:
        return Work(
            benchmark=self.plan.benchmark,
            method=self.plan.method(label),
            means=means,
            file=self.plan.file(label),
            again=self.plan.again,
        )
