"""What is run of a benchmark, where it is kept, and running it.

Each method, or variant of one, has a file of finished tasks, named after all that decides what comes out: the
method, the options that it goes by, the data and the version. Knows nothing of commands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from plait.bench.benchmark import Benchmark
from plait.bench.files import alone, digest_of, made, told_beside
from plait.bench.methods.method import Asked, Means, Method
from plait.bench.sample import sample
from plait.bench.trial import Trial, Work, read_trials, run_trials
from plait.errors import UserError
from plait.models.embeddings import Embedder
from plait.models.protocol import LanguageModel
from plait.models.resolve import resolve_model
from plait.runtime.log import RunLog
from plait.runtime.options import Options

Found: TypeAlias = Mapping[str, Sequence[Trial]]
"""How the tasks went, by the label of who solved them."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which tasks are run, and how."""

    data: Path
    """Where they come from."""
    folder: Path
    """Where those that are finished are kept; made if need be."""
    limit: int | None = None
    """So many, spread over all kinds; None: all."""
    kinds: int | None = None
    """Only of so many kinds, so that there are more of each; None: all."""
    every: int | None = None
    """Every so many, from the first one."""
    at_once: int = 1
    again: bool = False
    """Tasks that an error ended are run again."""

    def __post_init__(self) -> None:
        if self.every is not None and (self.limit, self.kinds) != (None, None):
            raise UserError("--every says which tasks are run, as --limit and --kinds do: give one")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of a comparison: a method with its options."""

    label: str
    """What tables call it."""
    method: str
    options: Options


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is run, and where it is kept."""

    benchmark: Benchmark[Any]
    entries: Sequence[Entry]
    tasks: Sequence[tuple[int, Asked]]
    """With their row."""
    folder: Path
    all_tasks: str
    """Digest of all tasks there are: other data makes other files."""
    at_once: int = 1
    again: bool = False

    def method(self, entry: Entry) -> Method[Any]:
        """Return how an entry solves tasks."""
        return self.benchmark.method(entry.method)

    def said(self, entry: Entry) -> dict[str, Any]:
        """Return the options that an entry goes by."""
        method = self.method(entry)
        return {name: value for name, value in entry.options.as_json().items() if method.goes_by(name)}

    def file(self, entry: Entry) -> Path:
        """Return the file of an entry's finished tasks."""
        digest = digest_of([version("plait"), self.all_tasks, self.said(entry)])
        return self.folder / f"{entry.method}-{digest}.jsonl"

    def about(self, entry: Entry) -> dict[str, Any]:
        """Return what stands beside that file."""
        return {"plait": version("plait"), "tasks": self.all_tasks, "options": self.said(entry)}

    def kinds(self) -> dict[int, str]:
        """Return of which kind each task is, by its row."""
        return {index: self.benchmark.kind(task) for index, task in self.tasks}

    def files(self) -> dict[str, str]:
        """Return the file of each entry by its label."""
        return {entry.label: str(self.file(entry)) for entry in self.entries}


def plan(benchmark: Benchmark[Any], entries: Sequence[Entry], wanted: Wanted) -> Plan:
    """Read the tasks and choose those that are run; the seed of the first entry's options chooses.

    Raises:
        UserError: a method is unknown, the tasks cannot be read, or the folder cannot be made.
    """
    for entry in entries:
        benchmark.method(entry.method)
    tasks = benchmark.load(wanted.data)
    seed = entries[0].options.seed
    every = list(enumerate(tasks))[:: wanted.every]
    return Plan(
        benchmark=benchmark,
        entries=entries,
        tasks=every if wanted.every else sample(tasks, wanted.limit, seed, benchmark.kind, wanted.kinds),
        folder=made(wanted.folder),
        all_tasks=digest_of([benchmark.told(task) for task in tasks], 8),
        at_once=wanted.at_once,
        again=wanted.again,
    )


def ignored(plan: Plan, said: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return what was said and an entry does not go by, by its label.

    The seed is never ignored: it chooses the tasks.
    """
    found = {
        entry.label: [name for name in said if not plan.method(entry).goes_by(name) and name != "seed"]
        for entry in plan.entries
    }
    return {label: names for label, names in found.items() if names}


def still_open(plan: Plan) -> dict[str, int]:
    """Return how many tasks each entry has still to run, by its label.

    Raises:
        UserError: a file of finished tasks cannot be read.
    """
    wanted = {index for index, _ in plan.tasks}
    found: dict[str, int] = {}
    for entry in plan.entries:
        trials = read_trials(plan.file(entry), plan.benchmark.fields())
        done = {trial.index for trial in trials if not (plan.again and trial.broke)}
        found[entry.label] = len(wanted - done)
    return found


async def carry_out(
    plan: Plan, tell: Callable[[Entry, Trial, int], None], *, embedder: Embedder | None = None
) -> Found:
    """Run what has no line yet, one entry after another; return how all tasks went.

    Args:
        plan: What is run.
        tell: Is told of each task as it is done, and how many are left for that entry.
        embedder: Used instead of the local one.

    Raises:
        UserError: the options cannot be used, or another process is at work on a file.
    """
    model = None
    if any(plan.method(entry).asks_model for entry in plan.entries):
        options = plan.entries[0].options
        model = resolve_model(options.model, base_url=options.base_url or None)
    log = RunLog.open()
    try:
        return {
            entry.label: await _run(plan, entry, Shared(log=log, model=model, embedder=embedder), tell)
            for entry in plan.entries
        }
    finally:
        if model is not None:
            await model.aclose()
        await log.close()


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What all entries work with."""

    log: RunLog
    model: LanguageModel | None
    embedder: Embedder | None


async def _run(
    plan: Plan, entry: Entry, shared: Shared, tell: Callable[[Entry, Trial, int], None]
) -> list[Trial]:
    file = plan.file(entry)
    with alone(file):
        memory = told_beside(file, plan.about(entry))["memory"]
        options = entry.options.changed({"memory": memory})
        means = Means(options=options, log=shared.log, model=shared.model, embedder=shared.embedder)
        work = Work(
            benchmark=plan.benchmark,
            method=plan.method(entry),
            means=means,
            file=file,
            at_once=plan.at_once,
            again=plan.again,
        )
        return await run_trials(plan.tasks, work, lambda trial, left: tell(entry, trial, left))
