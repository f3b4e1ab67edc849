"""What the trials of methods come to, and how two methods differ on the same tasks.

Knows nothing of how they are shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plait.bench.statistics import FEW, Interval, mcnemar, mean, median, share, sign_flips
from plait.bench.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a method did on some tasks."""

    tasks: int
    right: int
    right_share: Interval
    acting: int
    """Tasks whose gold calls change something: doing nothing solves all others."""
    acting_right: int
    acting_share: Interval
    side_effects: int
    errors: int
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


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A method against another, on the tasks that both have done."""

    tasks: int
    better: int
    """Tasks that only this one solved."""
    worse: int
    """Tasks that only the other solved."""
    p_right: float
    calls: Interval
    """Model calls more than the other, of a task."""
    p_calls: float

    @property
    def too_few(self) -> bool:
        """Whether no significance is claimed, whatever the p-values."""
        return self.tasks < FEW


def figures(trials: Sequence[Trial]) -> Figures:
    """Return the figures of a method."""
    acting = [trial for trial in trials if trial.gold_changes]
    right, acting_right = (sum(trial.right for trial in some) for some in (trials, acting))
    return Figures(
        tasks=len(trials),
        right=right,
        right_share=share(right, len(trials)),
        acting=len(acting),
        acting_right=acting_right,
        acting_share=share(acting_right, len(acting)),
        side_effects=sum(trial.side_effects for trial in trials),
        errors=sum(trial.broke for trial in trials),
        model_calls=sum(trial.model_calls for trial in trials),
        calls=mean([trial.model_calls for trial in trials]),
        tool_calls=sum(trial.tool_calls for trial in trials),
        input_tokens=sum(trial.input_tokens for trial in trials),
        cached_input_tokens=sum(trial.cached_input_tokens for trial in trials),
        output_tokens=sum(trial.output_tokens for trial in trials),
        seconds=median([trial.seconds for trial in trials]),
        usd=sum(trial.usd for trial in trials),
    )


def difference(one: Sequence[Trial], other: Sequence[Trial]) -> Difference:
    """Return how a method differs from another on the tasks that both have done, and no error ended."""
    others = {trial.index: trial for trial in other if not trial.broke}
    pairs = [(trial, others[trial.index]) for trial in one if trial.index in others and not trial.broke]
    better = sum(mine.right and not theirs.right for mine, theirs in pairs)
    worse = sum(theirs.right and not mine.right for mine, theirs in pairs)
    calls = [float(mine.model_calls - theirs.model_calls) for mine, theirs in pairs]
    return Difference(
        tasks=len(pairs),
        better=better,
        worse=worse,
        p_right=mcnemar(better, worse),
        calls=mean(calls),
        p_calls=sign_flips(calls),
    )
