"""How sure a figure is: intervals for shares and means, and tests of two methods on the same tasks.

Knows nothing of benchmarks. Nothing here assumes that a figure is normally distributed.
"""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Z_95 = 1.959964
DRAWS = 10_000
"""Of a bootstrap or a permutation test."""
FEWEST = 6
"""Values of which a bootstrap says anything."""
FEW = 100
"""Below so many tasks no difference is called significant."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A figure and where it lies with 95% confidence."""

    value: float
    low: float
    high: float


def share(count: int, of: int) -> Interval:
    """Return a share with its Wilson interval, which keeps within 0 and 1 for few tasks too."""
    if of == 0:
        return Interval(value=0.0, low=0.0, high=1.0)
    found, square = count / of, Z_95**2
    middle = (found + square / (2 * of)) / (1 + square / of)
    half = Z_95 / (1 + square / of) * math.sqrt(found * (1 - found) / of + square / (4 * of**2))
    # At the ends rounding would leave a hair's breadth.
    low = 0.0 if count == 0 else max(0.0, middle - half)
    high = 1.0 if count == of else min(1.0, middle + half)
    return Interval(value=found, low=low, high=high)


def mean(values: Sequence[float], seed: int = 0) -> Interval:
    """Return a mean with its percentile bootstrap interval, which knows no bounds for fewer than 6 values."""
    return _bootstrapped(values, statistics.fmean, seed)


def median(values: Sequence[float], seed: int = 0) -> Interval:
    """Return a median with its percentile bootstrap interval."""
    return _bootstrapped(values, statistics.median, seed)


def mcnemar(better: int, worse: int) -> float:
    """Return the p-value, two-sided and exact, of a paired difference in right tasks.

    Args:
        better: Tasks that only the one method solved.
        worse: Tasks that only the other solved.
    """
    differing = better + worse
    if differing == 0:
        return 1.0
    tail = sum(math.comb(differing, number) for number in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / 2**differing)


def sign_flips(differences: Sequence[float], seed: int = 0) -> float:
    """Return the p-value, two-sided, of a mean paired difference, by flipping signs.

    Exact where there are few enough pairs to flip all of them; else from draws.
    """
    told = [difference for difference in differences if difference]
    if not told:
        return 1.0
    seen = abs(math.fsum(told)) - 1e-9
    if 2 ** len(told) <= DRAWS:
        sums = (
            math.fsum(value if flips >> place & 1 else -value for place, value in enumerate(told))
            for flips in range(2 ** len(told))
        )
        return sum(abs(total) >= seen for total in sums) / 2 ** len(told)
    draw = random.Random(seed)
    hits = sum(
        abs(math.fsum(value if draw.random() < 0.5 else -value for value in told)) >= seen
        for _ in range(DRAWS)
    )
    return (hits + 1) / (DRAWS + 1)


def _bootstrapped(values: Sequence[float], figure: Callable[[Sequence[float]], float], seed: int) -> Interval:
    if len(values) < FEWEST:
        return Interval(value=figure(values) if values else 0.0, low=-math.inf, high=math.inf)
    draw = random.Random(seed)
    found = sorted(figure(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    cut = len(found) // 40
    return Interval(value=figure(values), low=found[cut], high=found[-1 - cut])
