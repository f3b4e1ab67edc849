"""What the trials of methods come to, and how two methods differ on the same tasks.

Knows nothing of how they are shown.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from plait.bench.benchmark import Measure
from plait.bench.statistics import FEW, Interval, mcnemar, mean, median, share, sign_flips
from plait.bench.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One measure over all tasks that it is about."""

    tasks: int
    total: float
    """Of a yes-or-no measure, in how many tasks it holds."""
    mean: Interval


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a method did on some tasks."""

    tasks: int
    errors: int
    measures: Mapping[str, Measured]
    model_calls: int
    calls: Interval
    """Model calls of a task."""
    tool_calls: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    seconds: Interval
    """The median task."""
    usd: float

    @property
    def tokens_a_task(self) -> float:
        """Tokens of a task, read and written."""
        return (self.input_tokens + self.output_tokens) / self.tasks if self.tasks else 0.0


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A method against another, on the tasks that both have done."""

    tasks: int
    better: int
    """Tasks on which this one did better: of a yes-or-no measure, that only this one solved."""
    worse: int
    change: Interval
    """Of the measure, of a task."""
    p: float
    calls: Interval
    """Model calls more than the other, of a task."""
    p_calls: float

    @property
    def too_few(self) -> bool:
        """Whether no significance is claimed, whatever the p-values."""
        return self.tasks < FEW


def figures(trials: Sequence[Trial], measures: Sequence[Measure]) -> Figures:
    """Return the figures of a method."""
    return Figures(
        tasks=len(trials),
        errors=sum(trial.broke for trial in trials),
        measures={measure.name: measured(trials, measure) for measure in measures},
        model_calls=sum(trial.model_calls for trial in trials),
        calls=mean([trial.model_calls for trial in trials]),
        tool_calls=sum(trial.tool_calls for trial in trials),
        input_tokens=sum(trial.input_tokens for trial in trials),
        cached_input_tokens=sum(trial.cached_input_tokens for trial in trials),
        output_tokens=sum(trial.output_tokens for trial in trials),
        seconds=median([trial.seconds for trial in trials]),
        usd=sum(trial.usd for trial in trials),
    )


def like_one_before(trials: Sequence[Trial], kinds: Mapping[int, Hashable]) -> list[Trial]:
    """Return the trials of tasks that came after another of their kind: what experience can make cheaper.

    Args:
        trials: In any order; they were run in that of their ids.
        kinds: Of which kind a task is, by its row.
    """
    seen: set[Hashable] = set()
    found: list[Trial] = []
    for trial in sorted(trials, key=lambda trial: trial.run_id):
        if (kind := kinds[trial.index]) in seen:
            found.append(trial)
        seen.add(kind)
    return found


def measured(trials: Sequence[Trial], measure: Measure) -> Measured:
    """Return one measure of a method."""
    about = [trial.measures for trial in trials if not measure.among or trial.measures[measure.among]]
    values = [each[measure.of] for each in about if measure.of in each]
    total = sum(values)
    interval = share(int(total), len(values)) if measure.yes_no else mean(values)
    return Measured(tasks=len(values), total=total, mean=interval)


def difference(one: Sequence[Trial], other: Sequence[Trial], measure: Measure) -> Difference:
    """Return how a method differs from another on the tasks that both have done, and no error ended."""
    others = {trial.index: trial for trial in other if not trial.broke}
    pairs = [(trial, others[trial.index]) for trial in one if trial.index in others and not trial.broke]
    changes = [float(mine.measures[measure.of] - theirs.measures[measure.of]) for mine, theirs in pairs]
    better, worse = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
    calls = [float(mine.model_calls - theirs.model_calls) for mine, theirs in pairs]
    return Difference(
        tasks=len(pairs),
        better=better,
        worse=worse,
        change=mean(changes),
        p=mcnemar(better, worse) if measure.yes_no else sign_flips(changes),
        calls=mean(calls),
        p_calls=sign_flips(calls),
    )
