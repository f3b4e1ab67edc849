"""What a team gives to a phase and gets from it, and the event that tells of its end. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass

from plait.events import PhaseFinished
from plait.teams.chain import Phase
from plait.teams.solution import Rating, Solution


@dataclass(frozen=True, kw_only=True)
class PhaseWork:
    """What a team gives to one of its phases."""

    team: int
    phase: Phase
    products: Mapping[str, Solution]
    """All that the team's chain wrote so far, by product."""
    rating: Rating | None = None
    """Of the product that the phase writes, where it is there and was rated."""

    @property
    def name(self) -> str:
        """The team's name."""
        return team_name(self.team)


@dataclass(frozen=True, kw_only=True)
class PhaseResult:
    """What a phase yields."""

    solution: Solution
    rating: Rating | None
    """Of the solution, where the phase inspects."""
    rounds: int
    """Replies of the assistant."""
    agreed: bool


def team_name(number: int) -> str:
    """Return the name of team `number`, from 1, as paths and events have it."""
    return f"team-{number}"


def finished_event(work: PhaseWork, result: PhaseResult) -> PhaseFinished:
    """Return the event that tells of a phase's end."""
    solution = result.solution
    return PhaseFinished(
        team=work.name,
        phase=work.phase.name,
        product=solution.product,
        rounds=result.rounds,
        agreed=result.agreed,
        digest=solution.digest,
        files={path: len(content.splitlines()) for path, content in solution.files.items()},
        characters=len(solution.text) + sum(map(len, solution.files.values())),
    )
