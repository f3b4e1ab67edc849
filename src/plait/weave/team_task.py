"""What is made by teams: they work through their chains and meet, and one solution is the result.

Knows nothing of tools. Where teams (Croto) and gates (MIRROR) are joined.
"""

from dataclasses import replace

from plait.errors import ReplyError
from plait.experience.exploitation.references import MOST_GOAL, Reminders
from plait.journal import Journal
from plait.task import Status, Task
from plait.teams.chain import Chain
from plait.teams.ensemble import Ensemble, TeamsProgress, Told
from plait.teams.orchestra import run_teams
from plait.teams.solution import Rating, Solution
from plait.weave.references import references_of_making
from plait.weave.workshop import Making, Outcome, Workshop


class TeamTask:
    """One thing in the making."""

    def __init__(self, task: Task, workshop: Workshop, making: Making) -> None:
        self._ensemble = Ensemble(
            task=task.text,
            domain=making.domain,
            settings=making.teams,
            gate=making.gate,
            model=workshop.model,
            budget=workshop.budget,
            sampling=workshop.settings,
            prompts=workshop.prompts,
        )
        self._references = references_of_making(workshop, making)
        self._falls_short = making.falls_short
        self._progress = TeamsProgress()
        self._failure = ""

    async def run(self, journal: Journal) -> None:
        """Let the teams work.

        Raises:
            BudgetExhausted: a limit is reached; `outcome` has the best so far.
            UserError, ModelError: as `run_task`.
        """
        ensemble = self._ensemble
        if self._references is not None and len(ensemble.task) <= MOST_GOAL:
            found = await self._references.find(journal, ensemble.task)
            ensemble = replace(ensemble, told=told_to_phases(ensemble.domain.chain, found))
        try:
            await run_teams(journal, ensemble, self._progress)
        except ReplyError as error:
            self._failure = error.message

    def outcome(self, *, exhausted: str = "") -> Outcome:
        """Return how it ended; `exhausted` says which limit ended it.

        What falls short of the task is handed over too, but as the result of a run that failed.
        """
        progress = self._progress
        short = self._falls_short(progress.rating) if progress.rating else ""
        failure = self._failure or short
        status: Status = "budget_exhausted" if exhausted else "failed" if failure else "succeeded"
        return Outcome(
            status=status,
            message=exhausted or failure,
            answer=answer_of(progress.solution, progress.rating) if progress.solution else None,
            score=progress.rating.quality if progress.rating else None,
            products=progress.products,
        )


def told_to_phases(chain: Chain, found: Reminders) -> dict[str, Told]:
    """Return what each phase is told: the first how a similar task was done, each what went wrong in it."""
    lines = [line for lesson in found.lessons for line in lesson.text.splitlines()]
    told: dict[str, Told] = {}
    for number, phase in enumerate(chain.phases):
        start = f"{phase.name}: "
        warnings = dict.fromkeys(line.removeprefix(start) for line in lines if line.startswith(start))
        reference = "\n\n".join(each.text for each in found.workflows) if number == 0 else ""
        if warnings or reference:
            told[phase.name] = Told(reference=reference, warnings=tuple(warnings))
    return told


def answer_of(solution: Solution, rating: Rating | None) -> str:
    """Return a text as it is; of files, what there is and how good, in a sentence each."""
    if not solution.files:
        return solution.text
    lines = {path: len(content.splitlines()) for path, content in solution.files.items()}
    files = ", ".join(f"{path} ({_counted(count, 'line')})" for path, count in lines.items())
    said = f"{_counted(len(lines), 'file')}, {_counted(sum(lines.values()), 'line')}: {files}."
    return said if rating is None else f"{said} Quality {rating.quality:.2f}."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
