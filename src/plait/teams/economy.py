"""How a run goes on when its budget runs low: with fewer teams, without a merge, in fewer rounds.

Better less of all than to stop in the middle. What lies ahead is taken to cost what phases have cost so
far. Each decision is a step on record: a run that is taken up again or replayed goes the same way. Knows
nothing of what phases do, or of who waits for whom.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from plait.journal import JSON, Journal, JSONObject
from plait.models.amounts import Amounts, lacking, mean_of, shortage
from plait.models.budget import Budget
from plait.teams.chain import Phase

FAIR = 2.0
"""How many times its fair share of the budget a team may take: chains differ, and one must not starve all."""
MEANS = "means"
"""The step that records how a phase or a meeting goes on, below its name."""


def share_of(teams: int) -> float:
    """Return the share of a run's budget that one of several teams may take."""
    return FAIR / teams


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """What lies ahead of a team."""

    rank: int
    """How many teams go on: the team itself and those before it."""
    together: int
    """Phases until the last meeting, the next among them."""
    meetings: int
    """To be held on the way."""
    alone: int = 0
    """Phases after that, which one chain goes through."""

    @property
    def work(self) -> int:
        """All that is to be paid, in phases; a merge is taken to cost as much as one."""
        return self.rank * self.together + (self.rank - 1) * self.meetings + self.alone

    @property
    def length(self) -> int:
        """The same one after the other, as time has it: what teams do, they do at once."""
        return self.together + (self.meetings if self.rank > 1 else 0) + self.alone


@dataclass(frozen=True, kw_only=True)
class BudgetLook:
    """What a look at the budget found, when it was made."""

    lacks: str = ""
    """What is too little for all that lies ahead, in a few words; empty where the budget pays it."""
    rank: int = 1
    """How many teams went on then."""

    @property
    def fewer_teams(self) -> str:
        """Say why a team gives way to those before it."""
        return f"the budget runs low: {self.lacks}, so fewer teams go on"

    def fewer_rounds(self, team: str, phase: str) -> str:
        """Say that the last team does less in a phase."""
        return f"the budget runs low: {self.lacks}, so {team} does with one round in {phase}"

    def no_merge(self, phase: str, best: str) -> str:
        """Say that a meeting takes what is there."""
        return (
            f"the budget runs low: {self.lacks}, so nothing is merged after {phase}: all take what {best} has"
        )


def ahead_of(chain: Sequence[Phase], phase: Phase, meetings: Sequence[str], rank: int) -> Ahead:
    """Return what lies ahead of a team that begins a phase.

    Args:
        chain: Its phases.
        phase: Where it is.
        meetings: Phases after which teams meet; after the last of them one chain goes on, unless there are
            none.
        rank: How many teams go on, it among them.
    """
    left = list(chain[chain.index(phase) :])
    last = max((number for number, each in enumerate(left, 1) if each.name in meetings), default=0)
    if not last:
        return Ahead(rank=rank, together=len(left), meetings=0)
    held = sum(each.name in meetings for each in left)
    return Ahead(rank=rank, together=last, meetings=held, alone=len(left) - last)


class Economy:
    """What phases of one run cost, and what the rest of its budget pays."""

    def __init__(self, journal: Journal, budget: Budget, *, thrifty: bool) -> None:
        self._journal = journal
        self._budget = budget
        self._thrifty = thrifty
        self._costs: list[Amounts] = []

    def ended(self, phase: Budget) -> None:
        """Take what a phase cost that came to its end."""
        self._costs.append(phase.spent)

    async def lacks(self, place: str, ahead: Ahead) -> BudgetLook:
        """Return whether the budget pays all that lies ahead.

        Args:
            place: Below the run's own; what is found is on record there.
            ahead: What is to be paid.
        """
        if not self._thrifty:
            return BudgetLook()

        async def look(_: JSONObject) -> JSON:
            return {"lacks": self._lacking(ahead), "rank": ahead.rank}

        # With other limits it is looked at anew. What lies ahead is no argument: who goes on may depend on
        # who was faster.
        limits: JSONObject = {"limits": asdict(self._budget.limits)}
        found = cast("Mapping[str, Any]", await self._journal.call(f"{place}/{MEANS}", look, limits))
        return BudgetLook(lacks=str(found["lacks"]), rank=int(found["rank"]))

    def _lacking(self, ahead: Ahead) -> str:
        if not self._costs:
            return ""
        mean = mean_of(self._costs)
        needed = Amounts(
            calls=mean.calls * ahead.work,
            tokens=mean.tokens * ahead.work,
            usd=mean.usd * ahead.work,
            seconds=mean.seconds * ahead.length,
        )
        left = self._budget.unspent()
        limit = lacking(left, needed)
        return shortage(limit, left, needed) if limit else ""
