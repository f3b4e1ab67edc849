"""Solutions with their ratings; meetings and the end of a run share them: equal content is rated once.

Knows nothing of teams. A rating's place follows from what is rated, not from who asks first.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plait.errors import ReplyError
from plait.events import SolutionRated
from plait.journal import Journal
from plait.teams.ensemble import Ensemble
from plait.teams.replies import Points
from plait.teams.settling import all_through
from plait.teams.solution import Rating, Solution


@dataclass(frozen=True, kw_only=True)
class Contender:
    """A solution that stands for its team, with its rating where that is known."""

    solution: Solution
    rating: Rating | None = None
    name: str = ""
    """Whose it is in a meeting: a team that brings it, which need not have made it, or a merge."""
    points: Points = Points()
    """What the merge that made it says of it, if one did."""

    @property
    def quality(self) -> float | None:
        """How good it is, or None where it is not rated."""
        return None if self.rating is None else self.rating.quality


def best(entries: Sequence[Contender]) -> int:
    """Return the place of the best rated entry; of equals the first, and one without a rating last."""
    qualities = [-math.inf if entry.quality is None else entry.quality for entry in entries]
    return qualities.index(max(qualities))


class Ratings:
    """The ratings of one run, made when they are first asked for."""

    def __init__(self, journal: Journal, ensemble: Ensemble) -> None:
        self._journal = journal
        self._ensemble = ensemble
        self._found: dict[str, Rating | None] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def rated(self, entries: Sequence[Contender]) -> tuple[list[Contender], list[SolutionRated]]:
        """Rate what is not rated yet, all at once; return the entries, and what to tell of them in order.

        Raises:
            BudgetExhausted, ModelError: as `Quality.rate`.
        """
        result = await all_through([self._one(entry) for entry in entries])
        told: dict[str, SolutionRated] = {}
        for before, entry in zip(entries, result, strict=True):
            if before.rating is None and entry.rating is not None:
                by = entry.name or entry.solution.by
                told.setdefault(entry.solution.digest, rating_event(entry.solution, entry.rating, by))
        return result, list(told.values())

    async def _one(self, entry: Contender) -> Contender:
        if entry.rating is not None:
            return entry
        return replace(entry, rating=await self._of(entry.solution))

    async def _of(self, solution: Solution) -> Rating | None:
        key = f"{solution.product}-{solution.digest}"
        async with self._locks.setdefault(key, asyncio.Lock()):
            if key not in self._found:
                self._found[key] = await rate(self._journal, f"ratings/{key}", self._ensemble, solution)
        return self._found[key]


async def rate(journal: Journal, place: str, ensemble: Ensemble, solution: Solution) -> Rating | None:
    """Rate a solution at a place of its own; None where its judge gave no usable reply.

    Raises:
        BudgetExhausted, ModelError: as `Quality.rate`.
    """

    async def looked(branch: Journal, looked_at: Solution) -> Rating | None:
        try:
            return await ensemble.domain.quality.rate(branch, ensemble.task, looked_at)
        except ReplyError:
            return None

    return await journal.branch(place, looked, solution)


def rating_event(solution: Solution, rating: Rating, by: str) -> SolutionRated:
    """Return the event that tells of a rating."""
    return SolutionRated(
        by=by,
        digest=solution.digest,
        quality=rating.quality,
        dimensions=rating.dimensions,
        findings=list(rating.findings),
    )
