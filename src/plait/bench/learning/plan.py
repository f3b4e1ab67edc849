"""What is learned from and what uses it: some tasks of each kind, and the others (ICE, Tables 1 to 3).

Knows nothing of how it is run or shown.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from plait.bench.benchmark import Benchmark
from plait.bench.files import digest_of, made
from plait.bench.learning.step_counts import with_step_counts
from plait.bench.methods.method import Asked, Method
from plait.bench.methods.strands import switched_off
from plait.bench.plan import Wanted
from plait.errors import UserError
from plait.runtime.options import Options

LEARN = "learn"
"""The label of the runs that teach."""
Rows: TypeAlias = Sequence[tuple[int, Asked]]
"""Tasks with their row."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """One way to use what was learned."""

    about: str
    """In a line."""
    method: str = "plait"
    off: Sequence[str] = ()
    """Switches that go off."""
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Other options that change."""
    same: bool = False
    """On the tasks that were learned from; else on the others."""
    half: bool = False
    """With what half of the tasks taught."""

    def of(self, options: Options) -> Options:
        """Return the options of its runs."""
        return switched_off(options, self.off, self.changes)


USES: Mapping[str, Use] = {
    "same": Use(about="the tasks that were learned from, once more", same=True),
    "both": Use(about="other tasks, with what was learned"),
    "none": Use(about="other tasks, without it", off=("experience",)),
    "half": Use(about="other tasks, with what half as many tasks taught", half=True),
    "execution": Use(about="other tasks, with pipelines only", off=("planning-experience",)),
    "planning": Use(about="other tasks, with workflows and lessons only", off=("execution-experience",)),
    "teams": Use(about="other tasks, with what was learned and two teams", changes={"teams": 2}),
    "react": Use(about="other tasks, by a plain ReAct loop", method="react"),
}
DEFAULT_USES = ("both", "none")


@dataclass(frozen=True, kw_only=True)
class Lessons:
    """How much is learned from, and who uses it how."""

    learn: int
    """Tasks of each kind that are learned from."""
    uses: Sequence[str]
    skip: int = 0
    """Kinds at the head of the order that are left out."""
    user: str = ""
    """A model that uses what the first one learned; empty: the same."""

    def __post_init__(self) -> None:
        if unknown := [name for name in self.uses if name not in USES]:
            raise UserError(f"--use {unknown[0]!r} is unknown; there is: {', '.join(USES)}")
        if self.learn < 2 and "half" in self.uses:
            raise UserError("--use half needs --learn 2 or more")


@dataclass(frozen=True, kw_only=True)
class LearningPlan:
    """What is run, and where it is kept."""

    benchmark: Benchmark[Any]
    """Counts steps, too."""
    options: Options
    """Of the runs that teach."""
    lessons: Lessons
    kinds: Sequence[Rows]
    """The tasks of each kind, in the order in which they are learned."""
    folder: Path
    all_tasks: str
    """Digest of all tasks there are."""
    at_once: int = 1
    again: bool = False

    @property
    def labels(self) -> Sequence[str]:
        """What is run: learning, where it is, and each use."""
        return self.lessons.uses if self.lessons.user else (LEARN, *self.lessons.uses)

    def tasks(self, label: str, rows: Rows) -> Rows:
        """Return which tasks of a kind are run."""
        taught = label == LEARN or USES[label].same
        return rows[: self.lessons.learn] if taught else rows[self.lessons.learn :]

    def all_of(self, label: str) -> list[int]:
        """Return the rows of all tasks that are run."""
        return [index for rows in self.kinds for index, _ in self.tasks(label, rows)]

    def options_of(self, label: str) -> Options:
        """Return the options of the runs."""
        if label == LEARN:
            return self.options
        user = self.options.changed({"model": self.lessons.user or self.options.model})
        return USES[label].of(user)

    def method(self, label: str) -> Method[Any]:
        """Return how tasks are solved."""
        return self.benchmark.method("plait" if label == LEARN else USES[label].method)

    def file(self, label: str) -> Path:
        """Return the file of finished tasks."""
        use = [] if label == LEARN else [self.options_of(label).as_json()]
        digest = digest_of([version("plait"), self.all_tasks, self._taught_by(), *use])
        return self.folder / f"{label}-{digest}.jsonl"

    def about(self) -> dict[str, Any]:
        """Return what stands beside the file of what teaches."""
        return {"plait": version("plait"), "tasks": self.all_tasks, "taught_by": self._taught_by()}

    def _taught_by(self) -> Sequence[Any]:
        return [self.options.as_json(), self.lessons.learn, self.lessons.skip]


def learning_plan(
    benchmark: Benchmark[Any], options: Options, lessons: Lessons, wanted: Wanted
) -> LearningPlan:
    """Read the tasks, and order kinds and the tasks of each by the seed.

    Raises:
        UserError: the tasks cannot be read, no kind has enough of them, or the folder cannot be made.
    """
    if benchmark.makes:
        raise UserError(f"{benchmark.name} has no tools: what pipelines are worth is told by one that has")
    tasks = benchmark.load(wanted.data)
    kinds: dict[str, list[tuple[int, Asked]]] = {}
    for index, task in enumerate(tasks):
        kinds.setdefault(benchmark.kind(task), []).append((index, task))
    enough = [rows for rows in kinds.values() if len(rows) > lessons.learn]
    for rows in enough:
        random.Random(options.seed).shuffle(rows)
    random.Random(options.seed).shuffle(enough)
    chosen = enough[lessons.skip :][: wanted.kinds]
    if not chosen:
        raise UserError(
            f"no kind of task is left with more than {lessons.learn} of them: --learn or --skip fewer"
        )
    return LearningPlan(
        benchmark=with_step_counts(benchmark),
        options=options,
        lessons=lessons,
        kinds=chosen,
        folder=made(wanted.folder),
        all_tasks=digest_of([benchmark.told(task) for task in tasks], 8),
        at_once=wanted.at_once,
        again=wanted.again,
    )
