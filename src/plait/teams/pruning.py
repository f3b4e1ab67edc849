"""Pruning: which of the rated solutions do not take part in a merge (Croto, section 4.1.1).

Knows nothing of how solutions are rated, or of what they are.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """What decides whether a solution goes."""

    quality: float | None
    """None, which could not be rated, is lower than all."""
    again: bool = False
    """Its content is that of another candidate, so that nothing is lost by it."""
    draw: float = 0.0
    """Of equals the lowest goes: neither the order nor the number of a team decides."""


def draw(*names: object) -> float:
    """Return a number from 0 to below 1 that follows from `names` alone."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:6]) / 256**6


def lowest(candidates: Sequence[Candidate], share: float) -> list[int]:
    """Return the places of the floor(share * n) lowest, in order; at least one solution stays.

    Of equally rated ones those go first whose content is there again, then those with the lowest draw.

    Args:
        candidates: What there is.
        share: 0 to below 1.
    """
    count = min(_count(share, len(candidates)), len(candidates) - 1)
    return sorted(sorted(range(len(candidates)), key=lambda place: _rank(candidates[place]))[: max(count, 0)])


def lowest_of_groups(groups: Sequence[Sequence[Candidate]], share: float) -> list[list[int]]:
    """Return for each group the places of those that are dropped, in order; at least one stays in each.

    Each group drops the floor(share * size) lowest of its own. Groups of two would drop nothing by that, so
    what rounding leaves of floor(share * n) for all n solutions goes too: the lowest of all that are left.

    Args:
        groups: The solutions of each group.
        share: 0 to below 1.
    """
    out = [lowest(group, share) for group in groups]
    places = [(number, place) for number, group in enumerate(groups) for place in range(len(group))]
    more = _count(share, len(places)) - sum(map(len, out))
    for number, place in sorted(places, key=lambda at: _rank(groups[at[0]][at[1]])):
        if more > 0 and place not in out[number] and len(out[number]) < len(groups[number]) - 1:
            out[number].append(place)
            more -= 1
    return [sorted(dropped) for dropped in out]


def _count(share: float, number: int) -> int:
    # A share such as 0.28 of 25 is 7, though 0.28 * 25 falls short of it.
    return math.floor(round(share * number, 9))


def _rank(candidate: Candidate) -> tuple[float, bool, float]:
    quality = -math.inf if candidate.quality is None else candidate.quality
    return (quality, not candidate.again, candidate.draw)
