"""A team: its chain, and what it has written so far.

Knows nothing of other teams.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from plait.events import TeamStarted
from plait.models.budget import Budget
from plait.teams.chain import Chain, Phase
from plait.teams.economy import share_of
from plait.teams.ensemble import Ensemble
from plait.teams.phase_values import PhaseWork, team_name
from plait.teams.ratings import Contender
from plait.teams.solution import Rating, Solution


@dataclass(kw_only=True)
class Team:
    """A team on its way through its chain."""

    number: int
    chain: Chain
    budget: Budget
    """Its share of the run's."""
    products: dict[str, Solution] = field(default_factory=dict[str, Solution])
    ratings: dict[str, Rating] = field(default_factory=dict[str, Rating])
    """Of versions of its products, by digest, as its own phases and meetings made them."""

    @property
    def name(self) -> str:
        """As paths and events have it."""
        return team_name(self.number)

    def entry(self, product: str) -> Contender | None:
        """Return what it has of a product."""
        solution = self.products.get(product)
        return (
            None
            if solution is None
            else Contender(solution=solution, rating=self.ratings.get(solution.digest))
        )

    def take(self, entry: Contender) -> None:
        """Replace what it has of a product."""
        self.products[entry.solution.product] = entry.solution
        if entry.rating is not None:
            self.ratings[entry.solution.digest] = entry.rating

    def work(self, phase: Phase) -> PhaseWork:
        """Return what it gives to a phase."""
        entry = self.entry(phase.writes)
        return PhaseWork(
            team=self.number,
            phase=phase,
            products=dict(self.products),
            rating=None if entry is None else entry.rating,
        )

    def started(self, ensemble: Ensemble) -> TeamStarted:
        """Return the event that tells of it."""
        return TeamStarted(
            team=self.name,
            temperature=ensemble.temperature(self.number),
            phases=[phase.name for phase in self.chain.phases],
        )


def make_teams(ensemble: Ensemble) -> list[Team]:
    """Return the teams of a run, each with its own chain.

    Raises:
        UserError: a phase was to be left out that is unknown or not optional.
    """
    settings = ensemble.settings
    leave_out = settings.leave_out
    share = share_of(settings.teams) if settings.thrifty else 1.0
    teams: list[Team] = []
    for number in range(1, settings.teams + 1):
        without = leave_out[number - 1] if number <= len(leave_out) else ()
        chain = ensemble.domain.chain.without(without)
        budget = ensemble.budget.part(team_name(number), share)
        teams.append(Team(number=number, chain=chain, budget=budget))
    return teams


def inspected_next(teams: Sequence[Team], phase: Phase, present: Sequence[str]) -> bool:
    """Whether a team that met after `phase` inspects what it is given back before it changes it."""
    for team in teams:
        phases = team.chain.phases
        later = phases[phases.index(phase) + 1 :] if team.name in present else ()
        following = next((each for each in later if each.writes == phase.writes), None)
        if following is not None and following.inspects:
            return True
    return False
