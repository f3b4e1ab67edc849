"""A team: its chain, and what it has written so far.

Knows nothing of other teams.
"""

from dataclasses import dataclass, field

from plait.events import TeamStarted
from plait.teams.chain import Chain, Phase
from plait.teams.ensemble import Ensemble
from plait.teams.phase_values import PhaseWork, team_name
from plait.teams.ratings import Entry
from plait.teams.solution import Rating, Solution


@dataclass(kw_only=True)
class Team:
    """A team on its way through its chain."""

    number: int
    chain: Chain
    products: dict[str, Solution] = field(default_factory=dict[str, Solution])
    ratings: dict[str, Rating] = field(default_factory=dict[str, Rating])
    """Of versions of its products, by digest, as its own phases and meetings made them."""

    @property
    def name(self) -> str:
        """As paths and events have it."""
        return team_name(self.number)

    def entry(self, product: str) -> Entry | None:
        """Return what it has of a product."""
        solution = self.products.get(product)
        return (
            None if solution is None else Entry(solution=solution, rating=self.ratings.get(solution.digest))
        )

    def take(self, entry: Entry) -> None:
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
    leave_out = ensemble.settings.leave_out
    teams: list[Team] = []
    for number in range(1, ensemble.settings.teams + 1):
        without = leave_out[number - 1] if number <= len(leave_out) else ()
        teams.append(Team(number=number, chain=ensemble.domain.chain.without(without)))
    return teams
