"""The phases of a round as whoever works through them: one crew, or several that meet (the weave).

Knows nothing of rounds.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from plait.agents.gate import Judged, Passed
from plait.journal import Journal
from plait.reflection.act import act
from plait.reflection.answer_agent import write_answer
from plait.reflection.crew import Crew
from plait.reflection.plan import Plan
from plait.reflection.planner import make_plan
from plait.reflection.trajectory import Effects, Trajectory


class Phases(Protocol):
    """Plan, act and answer, each at the place of a round."""

    @property
    def teams(self) -> int:
        """How many teams work."""
        ...

    async def plan(self, journal: Journal, crew: Crew, lessons: Sequence[str], number: int) -> Judged[Plan]:
        """Return the plan of round `number`; `lessons` are earlier rounds as text."""
        ...

    async def act(self, journal: Journal, crew: Crew, trajectory: Trajectory, effects: Effects) -> None:
        """Work through the plan of `trajectory`, which fills; `effects` takes what was done and seen."""
        ...

    async def answer(self, journal: Journal, crew: Crew, trajectory: Trajectory) -> Passed[Any]:
        """Return the answer of a round with its score.

        Raises:
            ReplyError: no try gave an answer of the asked form.
        """
        ...


class OneCrew:
    """The phases as one crew works through them, and meets nobody."""

    teams = 1

    async def plan(self, journal: Journal, crew: Crew, lessons: Sequence[str], number: int) -> Judged[Plan]:
        """Let the planner plan."""

        async def place(branch: Journal, _: None) -> Judged[Plan]:
            return await make_plan(branch, crew, lessons, number)

        return await journal.branch("plan", place, None)

    async def act(self, journal: Journal, crew: Crew, trajectory: Trajectory, effects: Effects) -> None:
        """Work through the plan."""
        await act(journal, crew, trajectory, effects)

    async def answer(self, journal: Journal, crew: Crew, trajectory: Trajectory) -> Passed[Any]:
        """Let the answer agent write."""

        async def place(branch: Journal, _: None) -> Passed[Any]:
            return await write_answer(branch, crew, trajectory)

        return await journal.branch("answer", place, None)
