"""Teams on a tool task: each plans, plans meet; each rehearses, one acts; each answers, answers meet.

Where teams (Croto) and reflection (MIRROR) are joined: plan, act, answer is the chain of a tool task, and
plan and answer are its key phases. Knows nothing of rounds.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from plait.agents.agent import Agent
from plait.agents.gate import Judged, Passed
from plait.errors import ReplyError, RequestRefused
from plait.events import PlanMade, TeamDropped, TeamStarted
from plait.journal import JSON, Journal, JSONObject
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
from plait.teams.stall import Stalled
from plait.tools.rehearsal import Rehearsal
from plait.weave.agreement import AgreedGuide, agreed, trails_of
from plait.weave.tool_meetings import CHAIN, meet_on_answers, meet_on_plans

Result = TypeVar("Result")
LOSSES = (ReplyError, RequestRefused, Stalled)
"""What a team is dropped for, and the others go on."""
ATTENDANCE = "attendance"
"""The step that records who came to the end of a phase, below the phase's name."""


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

        async def rehearsed(branch: Journal, own: Crew) -> Trajectory:
            own = replace(own, executor=Rehearsal(crew.executor), goes_known_ways=False)
            found = Trajectory.of(trajectory.plan)
            await act(branch, own, found, effects.copy())
            return found

        found = await self._each(journal, crew, "act", rehearsed)
        choice = agreed(found, crew.executor.tools)
        await tell(journal, "act", choice)
        guide = AgreedGuide(trails=trails_of(found[choice.by]), own=crew.guide, walks=crew.goes_known_ways)
        number = [*map(team_name, self._teams)].index(choice.by) + 1
        acting = replace(self._of(crew, number), guide=guide, goes_known_ways=True)
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
        self, journal: Journal, crew: Crew, phase: str, work: Callable[[Journal, Crew], Awaitable[Result]]
    ) -> dict[str, Result]:
        """Return what each team made in a phase, by its name; who made nothing is dropped from it.

        Raises:
            ReplyError, RequestRefused, Stalled: no team made anything; why the first did not.
            BudgetExhausted, ModelError: a team lacked budget or a model, and the others came to their end.
        """
        heard = self._ensemble.pulse.heard(journal)
        ended = await all_through(
            [
                self._ended(heard, self._of(crew, team), f"{team_name(team)}/{phase}", work)
                for team in self._teams
            ]
        )
        outcomes = dict(zip(map(team_name, self._teams), ended, strict=True))
        for team, outcome in outcomes.items():
            if isinstance(outcome, LOSSES):
                await tell(journal, team, TeamDropped(team=team, phase=phase, reason=outcome.message))
        present = await self._present(journal, phase, outcomes)
        found = {
            team: outcome
            for team, outcome in outcomes.items()
            if team in present and not isinstance(outcome, LOSSES)
        }
        if not found:
            raise _first_loss(outcomes)
        return found

    async def _present(self, journal: Journal, phase: str, outcomes: Mapping[str, Any]) -> Sequence[str]:
        """Return who came to the end of a phase, as it is on record: a run that is taken up goes on with
        these, whoever may do better by then."""

        async def look(_: JSONObject) -> JSON:
            there = [team for team, outcome in outcomes.items() if not isinstance(outcome, LOSSES)]
            if not there:
                raise _first_loss(outcomes)  # Not on record: who takes the run up tries again with all teams.
            return there

        return cast("list[str]", await journal.call(f"{phase}/{ATTENDANCE}", look, {"teams": [*outcomes]}))

    async def _ended(
        self, journal: Journal, crew: Crew, place: str, work: Callable[[Journal, Crew], Awaitable[Result]]
    ) -> Result | ReplyError | RequestRefused | Stalled:
        try:
            async with self._ensemble.pulse.bounded(self._ensemble.settings.stall_seconds):
                return await journal.branch(place, work, crew)
        except LOSSES as error:
            return error

    async def _all_known(self, journal: Journal, crew: Crew, plan: Plan) -> bool:
        """Whether there is a way that is known through each subtask, so that nothing need be rehearsed."""
        guide, task = crew.guide, " ".join(crew.task.split())
        if guide is None or not crew.goes_known_ways:
            return False

        async def known(branch: Journal, goal: str) -> bool:
            return await guide.knows(branch, goal, task)

        for subtask in plan.subtasks:
            if not await journal.branch(f"act/{subtask.id}", known, subtask.goal):
                return False
        return True


def _first_loss(outcomes: Mapping[str, Any]) -> ReplyError | RequestRefused | Stalled:
    return next(each for each in outcomes.values() if isinstance(each, LOSSES))
