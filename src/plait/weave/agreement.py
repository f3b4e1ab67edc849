"""What teams that rehearsed a plan agree to do, and the way through it for the one that does it.

Beyond the papers: tool calls are chosen by how many teams would make the same ones, before any is made.
Knows nothing of how plans are rehearsed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plait.events import ActionsAgreed, Noted
from plait.journal import Journal
from plait.reflection.guide import Advice, Arrived, Call, Forward, Guide, Lost, Trail
from plait.reflection.trajectory import Step, Trajectory

AGREED = "The teams agreed on this."


def agreed(rehearsed: Mapping[str, Trajectory]) -> ActionsAgreed:
    """Choose the team whose calls are made, and tell why.

    Teams whose plan failed count only where all did. Of the others most would change the world by the same
    calls, in whatever order; of as many, those whose tool agents scored their calls higher; of equals, the
    first team's.

    Args:
        rehearsed: What each team did, by its name, in the order of the teams.
    """
    alive = {team: each for team, each in rehearsed.items() if not each.failed} or rehearsed
    effects = {team: _effects(each) for team, each in rehearsed.items()}
    groups: dict[tuple[str, ...], list[str]] = {}
    for team in alive:
        groups.setdefault(tuple(sorted(effects[team])), []).append(team)

    def weight(group: Sequence[str]) -> tuple[int, float]:
        return len(group), max(_score(rehearsed[team]) for team in group)

    chosen = max(groups.values(), key=weight)  # Of equals the first.
    by = max(chosen, key=lambda team: _score(rehearsed[team]))
    return ActionsAgreed(
        by=by,
        teams=chosen,
        calls=effects[by],
        others=[{"team": team, "calls": calls} for team, calls in effects.items() if team not in chosen],
    )


def _steps(trajectory: Trajectory) -> list[Step]:
    return [step for run in trajectory.runs.values() for step in run.steps[run.carried :]]


def _effects(trajectory: Trajectory) -> list[str]:
    return [step.call for step in _steps(trajectory) if step.effect and step.ok]


def _score(trajectory: Trajectory) -> float:
    """Return the mean score of what the tool agent chose; 0 where it scored nothing."""
    scores = [step.score for step in _steps(trajectory) if step.score is not None]
    return sum(scores) / len(scores) if scores else 0.0


@dataclass(frozen=True, kw_only=True)
class AgreedTrail:
    """The calls of one subtask as they were rehearsed; a `reflection.guide.Trail`."""

    steps: Sequence[Step]
    """Those that worked, with what earlier rounds did first."""
    claim: str
    """What its agent said when it was done."""
    thought: str = AGREED

    def next(self, steps: Sequence[Step], chosen: Mapping[str, int]) -> Forward:
        """Say the next call; the way leads no further where a read says otherwise than in the rehearsal.

        It never parts, so that nothing is chosen.
        """
        for made, rehearsed in zip(steps, self.steps, strict=False):
            if not made.ok:
                return Lost(reason=f"{made.call} did not work")
            if not made.effect and made.observation != rehearsed.observation:
                return Lost(reason=f"{made.call} says otherwise than when it was rehearsed")
        if len(steps) >= len(self.steps):
            return Arrived()
        step = self.steps[len(steps)]
        return Call(tool=step.tool, arguments=step.arguments)

    def result(self, steps: Sequence[Step]) -> str:
        """Say what the agent who rehearsed it said."""
        return self.claim

    def told(self, steps: Sequence[Step]) -> str:
        """Say nothing: the answer agents of all teams look at what was done."""
        return ""

    def ended(self, journal: Journal, steps: Sequence[Step], *, left: str, forks: int) -> None:
        """Tell why an agent goes on by itself, where it does."""
        if left:
            journal.emit(Noted(text=f"the agreed calls lead no further: {left}"))


@dataclass(frozen=True, kw_only=True)
class AgreedGuide:
    """Knows the agreed ways, and what the run's own guide knows; a `reflection.guide.Guide`."""

    trails: Mapping[str, AgreedTrail]
    """By the goal of the subtask."""
    own: Guide | None = None
    walks: bool = True
    """Whether the own guide's ways are gone; they come first, as nobody rehearses what is known."""

    async def advice(self, journal: Journal, goal: str) -> Advice:
        """Return what the own guide says."""
        return Advice() if self.own is None else await self.own.advice(journal, goal)

    async def warnings(self, journal: Journal, goal: str) -> Sequence[str]:
        """Return what the own guide warns of."""
        return () if self.own is None else await self.own.warnings(journal, goal)

    async def knows(self, journal: Journal, goal: str) -> bool:
        """Whether the own guide knows a way through all of `goal`."""
        return self.own is not None and self.walks and await self.own.knows(journal, goal)

    async def trail(self, journal: Journal, goal: str, task: str) -> Trail | None:
        """Return the way through `goal`, or None."""
        known = await self.own.trail(journal, goal, task) if self.own is not None and self.walks else None
        return known or self.trails.get(goal)


def trails_of(trajectory: Trajectory) -> dict[str, AgreedTrail]:
    """Return the ways through the subtasks that a rehearsal came through, by their goals."""
    return {
        run.subtask.goal: AgreedTrail(
            steps=[*run.steps[: run.carried], *(step for step in run.steps[run.carried :] if step.ok)],
            claim=run.result,
        )
        for run in trajectory.runs.values()
        if run.status == "succeeded"
    }
