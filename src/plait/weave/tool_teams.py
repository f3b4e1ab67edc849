"""Teams on a tool task: each plans, plans meet; each rehearses, one acts; each answers, answers meet.

Where teams (Croto) and reflection (MIRROR) are joined: plan, act, answer is the chain of a tool task, and
plan and answer are its key phases. Knows nothing of rounds.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from plait.agents.agent import Agent
from plait.agents.gate import Judged, Passed
from plait.errors import ReplyError
from plait.events import PlanMade, TeamDropped, TeamStarted
from plait.journal import Journal
from plait.reflection.act import act
from plait.reflection.answer_agent import write_answer
from plait.reflection.crew import Crew
from plait.reflection.plan import Plan
from plait.reflection.planner import make_plan
from plait.reflection.trajectory import Effects, Trajectory
from plait.teams.ensemble import Ensemble
from plait.teams.phase_values import team_name
from plait.teams.places import tell
from plait.teams.settling import all_through
from plait.tools.rehearsal import Rehearsal
from plait.weave.agreement import AgreedGuide, agreed, trails_of
from plait.weave.tool_meetings import CHAIN, meet_on_answers, meet_on_plans

Result = TypeVar("Result")


class ToolTeams:
    """Several teams in the phases of a round; a `reflection.phases.Phases`."""

    def __init__(self, ensemble: Ensemble) -> None:
        self._ensemble = ensemble

    async def plan(self, journal: Journal, crew: Crew, lessons: Sequence[str], number: int) -> Judged[Plan]:
        """Let every team plan, and make one plan of theirs."""
        for team in self._teams:
            temperature = self._of(crew, team).planner.settings.temperature
            phases = [phase.name for phase in CHAIN.phases]
            started = TeamStarted(team=team_name(team), temperature=temperature, phases=phases)
            await tell(journal, team_name(team), started)

        async def made(branch: Journal, own: Crew) -> Judged[Plan]:
            return await make_plan(branch, own, lessons, number)

        plans = await self._each(journal, crew, "plan", made)
        plan = await meet_on_plans(journal, self._drawing_on(crew), crew, plans)
        await tell(journal, "plan", PlanMade(round=number, subtasks=plan.output.as_json()))
        return plan

    async def act(self, journal: Journal, crew: Crew, trajectory: Trajectory, effects: Effects) -> None:
        """Let every team rehearse the plan, and the one whose calls most agree on make them."""
        if await self._all_known(journal, crew, trajectory.plan):
            return await act(journal, crew, trajectory, effects)
        rehearsed = await self._rehearsed(journal, crew, trajectory.plan, effects)
        choice = agreed(rehearsed)
        await tell(journal, "act", choice)
        team = [*rehearsed].index(choice.by) + 1
        guide = AgreedGuide(
            trails=trails_of(rehearsed[choice.by]), own=crew.guide, walks=crew.goes_known_ways
        )
        acting = replace(self._of(crew, team), guide=guide, goes_known_ways=True)
        return await act(journal, acting, trajectory, effects)

    async def answer(self, journal: Journal, crew: Crew, trajectory: Trajectory) -> Passed[Any]:
        """Let every team answer from what was done, and make one answer of theirs."""

        async def made(branch: Journal, own: Crew) -> Judged[Any]:
            return (await write_answer(branch, own, trajectory)).judged

        answers = await self._each(journal, crew, "answer", made)
        judged = await meet_on_answers(journal, self._drawing_on(crew), crew, trajectory, answers)
        return Passed(judged=judged, attempts=1, refused=(), forced=bool(judged.problems))

    @property
    def teams(self) -> int:
        """How many there are."""
        return self._ensemble.settings.teams

    @property
    def _teams(self) -> range:
        return range(1, self.teams + 1)

    def _drawing_on(self, crew: Crew) -> Ensemble:
        """Return the ensemble for a meeting of a round, which spends what the round does."""
        return replace(self._ensemble, budget=crew.planner.budget)

    def _of(self, crew: Crew, team: int) -> Crew:
        """Return the crew of a team: each draws for itself."""

        def own(agent: Agent) -> Agent:
            return replace(agent, settings=self._ensemble.drawn(agent.settings, team))

        return replace(crew, planner=own(crew.planner), tool=own(crew.tool), answer=own(crew.answer))

    async def _each(
        self,
        journal: Journal,
        crew: Crew,
        phase: str,
        work: Callable[[Journal, Crew], Awaitable[Judged[Any]]],
    ) -> dict[str, Judged[Any]]:
        """Return what each team made in a phase, by its name; who made nothing is dropped from it.

        Raises:
            ReplyError: no team made anything; says why the first did not.
            BudgetExhausted, ModelError: a team lacked budget or a model, and the others came to their end.
        """
        ended = await all_through(
            [
                self._ended(journal, self._of(crew, team), f"{team_name(team)}/{phase}", work)
                for team in self._teams
            ]
        )
        found: dict[str, Judged[Any]] = {}
        errors: list[ReplyError] = []
        for team, outcome in zip(map(team_name, self._teams), ended, strict=True):
            if isinstance(outcome, ReplyError):
                errors.append(outcome)
                await tell(journal, team, TeamDropped(team=team, phase=phase, reason=outcome.message))
            else:
                found[team] = outcome
        if not found:
            raise errors[0]
        return found

    async def _ended(
        self,
        journal: Journal,
        crew: Crew,
        place: str,
        work: Callable[[Journal, Crew], Awaitable[Judged[Any]]],
    ) -> Judged[Any] | ReplyError:
        try:
            return await journal.branch(place, work, crew)
        except ReplyError as error:
            return error

    async def _all_known(self, journal: Journal, crew: Crew, plan: Plan) -> bool:
        """Whether there is a way that is known through each subtask, so that nothing need be rehearsed."""
        guide = crew.guide
        if guide is None or not crew.goes_known_ways:
            return False
        for subtask in plan.subtasks:
            if not await journal.branch(f"act/{subtask.id}", guide.knows, subtask.goal):
                return False
        return True

    async def _rehearsed(
        self, journal: Journal, crew: Crew, plan: Plan, effects: Effects
    ) -> Mapping[str, Trajectory]:
        """Return what each team would do, by its name: reads are made, what changes the world is not."""
        rehearsal = replace(crew, goes_known_ways=False)
        trajectories = [Trajectory.of(plan) for _ in self._teams]
        pieces = [
            journal.branch(
                f"{team_name(team)}/act",
                partial(_rehearse, trajectory=trajectory, effects=effects),
                replace(self._of(rehearsal, team), executor=Rehearsal(crew.executor)),
            )
            for team, trajectory in zip(self._teams, trajectories, strict=True)
        ]
        await all_through(pieces)
        return dict(zip(map(team_name, self._teams), trajectories, strict=True))


async def _rehearse(journal: Journal, crew: Crew, *, trajectory: Trajectory, effects: Effects) -> None:
    await act(journal, crew, trajectory, effects.copy())
