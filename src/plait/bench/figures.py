"""The figures of the papers as values, from what is kept of a benchmark; and why one cannot be drawn.

- teams against quality: Croto, Figure 2 and Tables 4 and 5.
- threshold and rounds: MIRROR, section 4.3, "Score threshold selection" and "Rounds of inter-reflection".
- cost against pass rate: MIRROR, Figure 4.
- score distribution: MIRROR, Figure 3.

Knows nothing of drawing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.bench.benchmark import Benchmark, Measure
from plait.bench.comparison import measured
from plait.bench.kept import Kept
from plait.bench.statistics import Interval, mean
from plait.bench.trial import Trial
from plait.events import Gated, Record

SCORES = range(11)
MOST_ROLES = 6
MOST_POINTS = 20
TOKENS = "tokens of a task"


@dataclass(frozen=True, kw_only=True)
class Point:
    """One value with how sure it is."""

    x: float
    y: Interval
    tasks: int


@dataclass(frozen=True, kw_only=True)
class Line:
    """Points that belong together."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes of a figure."""

    y: str
    lines: Sequence[Line]
    best: float | None = None
    """The highest value there can be; None: there is none."""
    marks: Sequence[float] = ()
    """Places on the x axis that are marked: thresholds."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure."""

    name: str
    """Of its file."""
    title: str
    x: str
    panels: Sequence[Panel]
    kind: str = "lines"
    """`lines`: points joined by their x; `points`: each stands alone; `bars`: counts."""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Missing:
    """A figure that cannot be drawn, and what it takes."""

    title: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A figure of one option that takes several values."""

    name: str
    title: str
    option: str
    x: str
    all_measures: bool = False


SWEEPS = (
    Sweep(name="teams", title="Teams against quality", option="teams", x="teams", all_measures=True),
    Sweep(name="rounds", title="Rounds", option="rounds", x="rounds at most"),
    *(
        Sweep(
            name=f"{role}-threshold",
            title=f"Threshold of the {role} gate",
            option=f"{role}_threshold",
            x=f"threshold of the {role} gate",
        )
        for role in ("planner", "tool", "answer", "phase")
    ),
)


def figures_of(
    benchmark: Benchmark[Any], labelled: Sequence[tuple[str, Kept]], records: Iterable[Record]
) -> list[Figure | Missing]:
    """Return every figure, or why there is none.

    Args:
        benchmark: What the results are of.
        labelled: All that is kept, each with its label.
        records: Those of the runs of Plait that tell scores.
    """
    kept = [each for _, each in labelled]
    sweeps = [sweep for sweep in SWEEPS if _has(benchmark, sweep)]
    return [
        *(_swept(benchmark, kept, sweep) for sweep in sweeps),
        _cost(benchmark, labelled),
        _scores(records),
    ]


def _has(benchmark: Benchmark[Any], sweep: Sweep) -> bool:
    """Whether an option means something there: gates of phases where something is made, the others else."""
    gate = sweep.option.endswith("_threshold")
    return not gate or (sweep.option == "phase_threshold") == benchmark.makes


def _swept(benchmark: Benchmark[Any], kept: Sequence[Kept], sweep: Sweep) -> Figure | Missing:
    groups: dict[str, list[Kept]] = {}
    for each in kept:
        value = each.options.get(sweep.option)
        if each.method == "plait" and isinstance(value, int | float):
            rest = {name: item for name, item in each.options.items() if name != sweep.option}
            key = json.dumps([each.plait, each.data, rest], sort_keys=True)
            groups.setdefault(key, []).append(each)
    flag = f"--{sweep.option.replace('_', '-')}"
    several = [group for group in groups.values() if len(group) > 1]
    if not several:
        wanted = f"run plait bench {benchmark.name} with several values of it"
        return Missing(title=sweep.title, why=f"no two results differ in {flag} alone: {wanted}")
    chosen = max(several, key=lambda group: (len(group), sum(len(each.trials) for each in group)))
    drawn = sorted(chosen, key=lambda each: float(each.options[sweep.option]))
    shown = [each for each in benchmark.measures if each.best is not None and each.column]
    measures = [benchmark.main, *(shown[1:] if sweep.all_measures else ())]
    lines = [_line(measure, drawn, sweep) for measure in measures]
    others = len(several) - 1
    return Figure(
        name=sweep.name,
        title=sweep.title,
        x=sweep.x,
        panels=(
            Panel(y=benchmark.main.name, lines=lines, best=benchmark.main.best),
            Panel(y=TOKENS, lines=[Line(name=TOKENS, points=[_tokens(each, sweep) for each in drawn])]),
        ),
        note=_counted(drawn) + (f" {others} more such series of results are not drawn." if others else ""),
    )


def _line(measure: Measure, kept: Sequence[Kept], sweep: Sweep) -> Line:
    points: list[Point] = []
    for each in kept:
        found = measured(each.trials, measure)
        if found.tasks:
            points.append(Point(x=float(each.options[sweep.option]), y=found.mean, tasks=found.tasks))
    return Line(name=measure.name, points=points)


def _tokens(kept: Kept, sweep: Sweep) -> Point:
    interval = mean([_tokens_of(trial) for trial in kept.trials])
    return Point(x=float(kept.options[sweep.option]), y=interval, tasks=len(kept.trials))


def _tokens_of(trial: Trial) -> float:
    return float(trial.input_tokens + trial.output_tokens)


def _cost(benchmark: Benchmark[Any], labelled: Sequence[tuple[str, Kept]]) -> Figure | Missing:
    """Return what each method costs and how good it is."""
    title = "Cost against pass rate" if benchmark.main.yes_no else "Cost against quality"
    lines: list[Line] = []
    for label, each in labelled:
        cost = mean([_tokens_of(trial) for trial in each.trials]).value
        if cost:
            found = measured(each.trials, benchmark.main)
            lines.append(
                Line(name=f"{label} ({found.tasks})", points=[Point(x=cost, y=found.mean, tasks=found.tasks)])
            )
    if len(lines) < 2:
        return Missing(title=title, why="fewer than two methods that ask a model have finished a task")
    left = len(lines) - MOST_POINTS
    return Figure(
        name="cost",
        title=title,
        x=TOKENS,
        panels=(Panel(y=benchmark.main.name, lines=lines[:MOST_POINTS], best=benchmark.main.best),),
        kind="points",
        note="In brackets: tasks." + (f" {left} more results are not drawn." if left > 0 else ""),
    )


def _scores(records: Iterable[Record]) -> Figure | Missing:
    """Return how agents scored their own replies, by role."""
    title = "Distribution of scores"
    counts: dict[str, list[int]] = {}
    thresholds: dict[str, set[float]] = {}
    for record in records:
        event = record.event
        if isinstance(event, Gated) and event.score is not None and 0 <= event.score <= max(SCORES):
            counts.setdefault(event.role, [0] * len(SCORES))[round(event.score)] += 1
            thresholds.setdefault(event.role, set()).add(event.threshold)
    if not counts:
        return Missing(title=title, why="no run of plait on record gave its replies scores")
    roles = sorted(counts, key=lambda role: -sum(counts[role]))
    panels = [_bars(role, counts[role], thresholds[role]) for role in roles[:MOST_ROLES]]
    left = len(roles) - MOST_ROLES
    return Figure(
        name="scores",
        title=title,
        x="score",
        panels=panels,
        kind="bars",
        note="Dotted: the threshold of the gate."
        + (f" {left} more roles are not drawn." if left > 0 else ""),
    )


def _bars(role: str, counts: Sequence[int], thresholds: set[float]) -> Panel:
    points = [
        Point(x=float(score), y=Interval(value=count, low=count, high=count), tasks=sum(counts))
        for score, count in zip(SCORES, counts, strict=True)
    ]
    return Panel(y=f"{role}", lines=[Line(name=role, points=points)], marks=sorted(thresholds))


def _counted(kept: Sequence[Kept]) -> str:
    counts: Mapping[int, None] = dict.fromkeys(len(each.trials) for each in kept)
    return f"{' or '.join(map(str, sorted(counts)))} tasks a point, with 95% intervals."
