"""The weave: the one place where the strands meet, and where one task is run.

Knows nothing of databases, terminals or how models and tools are found: all that comes in a
`Workshop`. Read it to know what a run does.
"""

from plait.errors import BudgetExhausted
from plait.events import BudgetReached
from plait.journal import Journal
from plait.task import Task
from plait.weave.team_task import TeamTask
from plait.weave.tool_task import ToolTask
from plait.weave.workshop import Outcome, Workshop


async def run_task(journal: Journal, task: Task, workshop: Workshop) -> Outcome:
    """Run one task and end in good order, also when the budget is used up.

    A tool task goes plan, act, answer, in rounds (reflection). What is to be made (a program, a story) is
    made by teams, which meet at key phases; every reply of theirs passes its gate.

    Raises:
        UserError: something the user gave does not fit the task.
        NeedsDecision: the user must decide about an effect.
        ModelError: the model cannot be reached; the run can be resumed.
    """
    work = ToolTask(task, workshop) if workshop.making is None else TeamTask(task, workshop, workshop.making)
    try:
        await work.run(journal)
    except BudgetExhausted as error:
        journal.emit(BudgetReached(limit=error.limit, message=error.message))
        return work.outcome(exhausted=error.message)
    return work.outcome()
