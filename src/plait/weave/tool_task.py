"""A tool task: in rounds a plan is made, acted on and answered, by one crew or by those of several teams."""

from plait.agents.agent import Agent
from plait.errors import UserError
from plait.experience.exploitation.recall import Recollection
from plait.journal import Journal
from plait.reflection.crew import Crew
from plait.reflection.crew_prompts import CrewPrompts
from plait.reflection.dates import dates_by
from plait.reflection.offer import DONE
from plait.reflection.phases import OneCrew
from plait.reflection.rounds import Progress, solve_in_rounds
from plait.task import TOOLS, Status, Task
from plait.teams.ensemble import Ensemble
from plait.weave.guide import ExperienceGuide
from plait.weave.references import references_of_tools
from plait.weave.tool_meetings import PlanQuality, tool_domain
from plait.weave.tool_teams import ToolTeams
from plait.weave.workshop import Outcome, Workshop


class ToolTask:
    """One tool task under way."""

    def __init__(self, task: Task, workshop: Workshop) -> None:
        """Put the crew together.

        Raises:
            UserError: a tool has a name that is taken.
        """
        self._crew = _crew(task, workshop)
        # One team meets nobody.
        several = workshop.teams.teams > 1
        self._phases = ToolTeams(_ensemble(self._crew, workshop)) if several else OneCrew()
        self._progress = Progress()

    async def run(self, journal: Journal) -> None:
        """Solve the task in rounds.

        Raises:
            BudgetExhausted: a limit is reached; `outcome` has the best so far.
            NeedsDecision, ModelError: as `run_task`.
        """
        await solve_in_rounds(journal, self._crew, self._progress, self._phases)

    def outcome(self, *, exhausted: str = "") -> Outcome:
        """Return how it ended; `exhausted` says which limit ended it."""
        progress = self._progress
        status: Status = "budget_exhausted" if exhausted else "succeeded" if progress.passed else "failed"
        message = exhausted or ("" if progress.passed else _why(progress))
        return Outcome(status=status, message=message, answer=progress.answer, score=progress.score)


def _crew(task: Task, workshop: Workshop) -> Crew:
    if any(tool.name == DONE.name for tool in workshop.tools):
        raise UserError(f"a tool is called {DONE.name!r}, which is how an agent ends a subtask: rename it")

    def agent(role: str) -> Agent:
        return Agent(
            role=role,
            strand="reflection",
            model=workshop.model,
            budget=workshop.budget,
            settings=workshop.settings,
        )

    return Crew(
        task=task.text,
        notes=workshop.notes,
        tools=workshop.tools,
        embedder=workshop.embedder,
        executor=workshop.executor,
        planner=agent("planner"),
        tool=agent("tool"),
        answer=agent("answer"),
        settings=workshop.reflection,
        prompts=CrewPrompts(workshop.prompts),
        returns=task.returns,
        check=workshop.check,
        guide=_guide(workshop),
    )


def _ensemble(crew: Crew, workshop: Workshop) -> Ensemble:
    return Ensemble(
        task=crew.task,
        domain=tool_domain(PlanQuality(crew)),
        settings=workshop.teams,
        gate=workshop.gate,
        model=workshop.model,
        budget=workshop.budget,
        sampling=workshop.settings,
        prompts=workshop.prompts,
    )


def _guide(workshop: Workshop) -> ExperienceGuide | None:
    """Return what knows the ways that earlier runs went, or None."""
    if workshop.memory is None:
        return None
    recollection = Recollection(
        memory=workshop.memory,
        name=workshop.memory_name,
        situation=workshop.situation,
        domain=TOOLS,
        tools={tool.name: tool for tool in workshop.tools},
        date_of=dates_by(workshop.notes),
    )
    return ExperienceGuide(
        recollection=recollection,
        references=references_of_tools(workshop),
        walks=workshop.recalls.execution,
    )


def _why(progress: Progress) -> str:
    trajectory = progress.trajectory
    if trajectory is None:
        return f"no usable plan in {progress.rounds} rounds"
    for run in trajectory.runs.values():
        if run.status == "failed" and not run.replaced:
            return f"subtask {run.subtask.id} failed: {run.result}"
    weakness = f": {progress.weakness}" if progress.weakness else ""
    return f"no answer passed in {progress.rounds} rounds{weakness}"
