"""What teams that rehearsed a plan agree to do, and the way through it for the one that does it.

Beyond the papers: tool calls are chosen by how many teams would make the same ones, before any is made.
Knows nothing of how plans are rehearsed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plait.events import ActionsAgreed, Noted
from plait.journal import Journal
from plait.models.schema import properties_of
from plait.reflection.guide import Advice, Arrived, CallAhead, Forward, Guide, Lost, Trail
from plait.reflection.trajectory import Step, Trajectory
from plait.tools.arguments import canonical
from plait.tools.tool import Tool

MOST_SAID = 300
"""Characters of what a tool said, where that is why its agent goes on."""
_DOUBTFUL = re.compile(
    r"n't\b|\b(?:not?|cannot|unable|unknown|invalid|missing|already|denied|forbidden|fail\w*|error\w*|refus\w*"
    r"|reject\w*)\b",
    re.IGNORECASE,
)
"""Words by which a tool may say that it did not do what it was called for, though the call was no failure."""


def agreed(rehearsed: Mapping[str, Trajectory], tools: Mapping[str, Tool]) -> ActionsAgreed:
    """Choose the team whose calls are made, and tell why.

    Teams whose plan failed count only where all did, unless they failed after something that only seemed to
    be done: what it would have brought was missing. Of the others most would change the world by the same
    calls, in whatever order; of as many, those whose tool agents scored their calls higher. Of those who
    would do the same, the one with the fewest calls does it; of equals, the first team.

    Args:
        rehearsed: What each team did, by its name, in the order of the teams.
        tools: By their names.
    """
    effects = {team: _effects(each) for team, each in rehearsed.items()}
    alive = [team for team, each in rehearsed.items() if effects[team] or not each.failed] or [*rehearsed]
    groups: dict[tuple[str, ...], list[str]] = {}
    for team in alive:
        groups.setdefault(tuple(sorted(_spelled(step, tools) for step in effects[team])), []).append(team)

    def weight(group: Sequence[str]) -> tuple[int, float]:
        return len(group), max(_score(rehearsed[team]) for team in group)

    chosen = max(groups.values(), key=weight)  # Of equals the first.
    by = max(chosen, key=lambda team: _fit(rehearsed[team]))
    calls = {team: [step.call for step in steps] for team, steps in effects.items()}
    return ActionsAgreed(
        by=by,
        teams=chosen,
        calls=calls[by],
        others=[{"team": team, "calls": calls[team]} for team in calls if team not in chosen],
    )


def _effects(trajectory: Trajectory) -> list[Step]:
    return [step for step in trajectory.made if step.effect and step.ok]


def _spelled(step: Step, tools: Mapping[str, Tool]) -> str:
    """Spell a call so that equal ones are equal, whatever is left out that stands by itself."""
    properties = properties_of(tools[step.tool].parameters)
    defaults = {name: each["default"] for name, each in properties.items() if "default" in each}
    return canonical(step.tool, {**defaults, **step.arguments})


def _fit(trajectory: Trajectory) -> tuple[bool, int, float]:
    return not trajectory.failed, -len(trajectory.made), _score(trajectory)


def _score(trajectory: Trajectory) -> float:
    """Return the mean score of what the tool agent chose; 0 where it scored nothing."""
    scores = [step.score for step in trajectory.made if step.score is not None]
    return sum(scores) / len(scores) if scores else 0.0


@dataclass(frozen=True, kw_only=True)
class AgreedTrail:
    """The calls of one subtask as they were rehearsed; a `reflection.guide.Trail`."""

    steps: Sequence[Step]
    """Those that worked, with what earlier rounds did first."""
    claim: str
    """What its agent said when it was done."""
    carried: int = 0
    """How many of the steps, from the first, an earlier round took."""
    thought: str = ""
    """None: told that teams agreed, small models answer that, and not what was done."""

    def next(self, steps: Sequence[Step], chosen: Mapping[str, int]) -> Forward:
        """Say the next call; the way leads no further where a read says otherwise than in the rehearsal, nor
        where an effect may have said that it was not done.

        It never parts, so that nothing is chosen.
        """
        for made, rehearsed in [*zip(steps, self.steps, strict=False)][self.carried :]:
            if not made.ok:
                return Lost(reason=f"{made.call} did not work")
            if made.effect and _DOUBTFUL.search(made.observation):
                return Lost(reason=f"{made.call} says: {made.observation}"[:MOST_SAID])
            if not made.effect and made.observation != rehearsed.observation:
                return Lost(reason=f"{made.call} says otherwise than when it was rehearsed")
        if len(steps) >= len(self.steps):
            return Arrived()
        step = self.steps[len(steps)]
        return CallAhead(tool=step.tool, arguments=step.arguments)

    def result(self, steps: Sequence[Step]) -> str:
        """Say what its last effect brought, or else what the agent who rehearsed it said."""
        last = next((step for step in reversed(steps[self.carried :]) if step.effect), None)
        return self.claim if last is None else f"{last.call}: {last.observation}"

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
    """Whether the own guide's ways are gone where nothing was agreed on."""

    async def advice(self, journal: Journal, goal: str) -> Advice:
        """Return what the own guide says."""
        return Advice() if self.own is None else await self.own.advice(journal, goal)

    async def warnings(self, journal: Journal, goal: str) -> Sequence[str]:
        """Return what the own guide warns of."""
        return () if self.own is None else await self.own.warnings(journal, goal)

    async def knows(self, journal: Journal, goal: str, task: str) -> bool:
        """Whether the own guide knows a way through all of `goal`."""
        return self.own is not None and self.walks and await self.own.knows(journal, goal, task)

    async def trail(self, journal: Journal, goal: str, task: str) -> Trail | None:
        """Return the way through `goal`, or None."""
        if (agreed := self.trails.get(goal)) is not None:
            return agreed
        return await self.own.trail(journal, goal, task) if self.own is not None and self.walks else None


def trails_of(trajectory: Trajectory) -> dict[str, AgreedTrail]:
    """Return the ways through the subtasks that a rehearsal came through, by their goals.

    There is none where the same goal was given again after it failed: something was put in between.
    """
    runs = trajectory.runs.values()
    again = {run.subtask.goal for run in runs if run.replaced or run.status != "succeeded"}
    return {
        run.subtask.goal: AgreedTrail(
            steps=[*run.steps[: run.carried], *(step for step in run.steps[run.carried :] if step.ok)],
            claim=run.result,
            carried=run.carried,
        )
        for run in runs
        if run.status == "succeeded" and run.subtask.goal not in again
    }
