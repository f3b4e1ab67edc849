"""What a benchmark is: tasks from files, the methods that are compared, and the measures of what came of it.

Knows nothing of single benchmarks; each is one small module in `benchmarks`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias

from plait.bench.methods.method import Exercise, Means, Method
from plait.errors import UserError
from plait.paths import runs_folder
from plait.runtime.options import Options, chosen

Measures: TypeAlias = Mapping[str, float]
"""What came of a task, by the name of the measure; yes and no are true and false."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A run that is over, and what is there to judge it with."""

    run_id: str
    broke: bool
    """An error ended it: whatever it did, it solved nothing."""
    means: Means

    @property
    def folder(self) -> Path:
        """Where the run worked, or left what it made; perhaps there is none."""
        return runs_folder() / self.run_id


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One figure of a method: the share of tasks where something holds, or the mean of a number."""

    name: str
    """Of the figure, for instance in `--json`."""
    field: str = ""
    """What is measured of each task; empty: what the name says."""
    among: str = ""
    """Only tasks count for which this is measured and not 0."""
    yes_no: bool = False
    """Whether it holds for a task or not."""
    head: str = ""
    """Of its column in a table; empty: the name. None but those with `column` have one."""
    optional: bool = False
    """It may not be known of a task, which then does not count."""
    column: bool = True
    best: float | None = 1.0
    """The highest value there can be; None: there is none."""

    @property
    def of(self) -> str:
        """The name of what is measured of each task."""
        return self.field or self.name


@dataclass(frozen=True, kw_only=True)
class Benchmark(Generic[Exercise]):
    """One benchmark."""

    name: str
    about: str
    """In a line."""
    load: Callable[[Path], Sequence[Exercise]]
    """Reads all tasks of a file or folder; raises UserError."""
    kind: Callable[[Exercise], str]
    """What tasks have in common that are alike: a slice is spread over all kinds."""
    told: Callable[[Exercise], Sequence[Any]]
    """All of a task that matters, as JSON: other tasks make other files of results."""
    fixed: Mapping[str, Any]
    """Options of every run."""
    methods: Mapping[str, Method[Exercise]]
    judge: Callable[[Exercise, Ended], Awaitable[Measures]]
    """Measures a run that is over; asks no model where it broke."""
    measures: Sequence[Measure]
    """The first is what methods are compared by."""
    explained: str
    """What the columns of its table mean, in a line."""

    @property
    def main(self) -> Measure:
        """What methods are compared by."""
        return self.measures[0]

    @property
    def makes(self) -> bool:
        """Whether something is made, by teams; else tools are called."""
        return "domain" in self.fixed

    def options(self, said: Mapping[str, Any]) -> Options:
        """Return the options of its runs: what was said, over what it fixes.

        Raises:
            UserError: an option is invalid.
        """
        return chosen({**said, **self.fixed})

    def method(self, name: str) -> Method[Exercise]:
        """Return the method of that name.

        Raises:
            UserError: there is none.
        """
        if name not in self.methods:
            raise UserError(f"--method {name!r} is unknown; there is: {', '.join(self.methods)}")
        return self.methods[name]

    def fields(self) -> frozenset[str]:
        """Return the names of all that must be measured of a task."""
        needed = [each for each in self.measures if not each.optional]
        return frozenset(name for each in needed for name in (each.of, each.among) if name)
