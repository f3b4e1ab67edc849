"""How a leaf of a plan ends: done, claimed, in circles, given up, or done in an earlier round already.

Knows nothing of how its steps are chosen and made.
"""

from plait.events import SubtaskFinished
from plait.journal import Journal
from plait.reflection import milestones
from plait.reflection.crew import Crew
from plait.reflection.memory import ShortTermMemory
from plait.reflection.phrases import of_several
from plait.reflection.second_opinion import holds, reached
from plait.reflection.trajectory import Step, SubtaskRun

SEARCHES_ENOUGH = 2
"""Different searches that found nothing, after which there is taken to be nothing."""
NOT_REACHED = "a second opinion: its milestone is not reached"


async def done_before(journal: Journal, crew: Crew, run: SubtaskRun, memory: ShortTermMemory) -> None:
    """End a leaf of one thing that an earlier round did, in a second opinion: only its answer was weak."""
    if not run.carried or not _changed(run) or of_several(run.subtask.goal) or crew.check is not None:
        return  # What a user's check says wrong is to be mended.

    async def place(branch: Journal, _: None) -> bool:
        return await reached(branch, crew, run)

    if crew.settings.tool.enabled and await journal.branch("before", place, None):
        end(journal, run, memory, "succeeded", run.result or _done_by(run))


def end(journal: Journal, run: SubtaskRun, memory: ShortTermMemory, status: str, result: str) -> None:
    """Finish a subtask; short-term memory is cleared by success and by nothing else."""
    run.status = "succeeded" if status == "succeeded" else "failed"
    run.result = result
    if run.status == "succeeded":
        memory.clear(journal)
    journal.emit(SubtaskFinished(id=run.subtask.id, status=run.status, result=result))


async def give_up(journal: Journal, crew: Crew, run: SubtaskRun, memory: ShortTermMemory, why: str) -> None:
    """End a subtask whose agent has no call to offer that can be made, or is out of steps.

    Where it changed something, it may be done all the same: a second opinion says so.
    """
    if _changed(run) and crew.settings.tool.enabled and await reached(journal, crew, run):
        return end(journal, run, memory, "succeeded", _done_by(run))
    return end(journal, run, memory, "failed", why)


async def break_off(
    journal: Journal, crew: Crew, run: SubtaskRun, memory: ShortTermMemory, number: int
) -> None:
    """End a subtask whose agent makes the same call with the same result again.

    Where the call found something, or different searches found nothing, there may just be nothing left
    to do: the results stand, and the answer agent judges them. Not so where something is to be changed, and
    was not, though there was something.
    """
    last = run.steps[-1]
    empty = {step.call for step in run.steps if step.empty}
    result = ""
    undone = milestones.changes_nothing(run.subtask.goal, run.steps, crew.executor.tools)
    if last.ok and not last.empty and not undone:
        result = f"no further step after {last.call}"
    elif last.empty and len(empty) >= SEARCHES_ENOUGH and not (undone and _found(run)):
        result = f"{len(empty)} searches found nothing to act on"
    if not result:
        return end(journal, run, memory, "failed", f"{last.call} brings the same again and again")
    run.doubted = True  # It goes in circles, so it does not hear of it first.
    return await claimed(journal, crew, run, memory, result, number)


async def claimed(
    journal: Journal, crew: Crew, run: SubtaskRun, memory: ShortTermMemory, result: str, number: int
) -> None:
    """End a leaf that is said to be done; who is not believed hears of it once and goes on."""
    if await _shown(journal, crew, run, result, number):
        return end(journal, run, memory, "succeeded", result)
    if run.doubted:
        return end(journal, run, memory, "failed", f"{NOT_REACHED}: {run.subtask.milestone}")
    run.doubted = True
    return memory.write(journal, f"{NOT_REACHED}, so it is not done: {run.subtask.milestone}")


async def _shown(journal: Journal, crew: Crew, run: SubtaskRun, claim: str, number: int) -> bool:
    """Whether a leaf that is said to be done is: by what was done, else in a second opinion.

    Without a milestone, or with the tool agent's gate off, its agent is believed.
    """
    if not run.subtask.milestone or not crew.settings.tool.enabled:
        return True
    if milestones.shown(run.subtask.goal, run.steps, crew.executor.tools):
        return True

    async def place(branch: Journal, _: None) -> bool:
        return await holds(branch, crew, run, claim)

    return await journal.branch(f"step-{number}", place, None)


def _done_by(run: SubtaskRun) -> str:
    return f"a second opinion: done by {_changed(run)[-1].call}"


def _found(run: SubtaskRun) -> bool:
    """Whether the tool that found nothing last found something before."""
    tool = run.steps[-1].tool
    return any(step.tool == tool and step.ok and not step.empty for step in run.steps)


def _changed(run: SubtaskRun) -> list[Step]:
    return [step for step in run.steps if step.effect and step.ok]
