"""The weave: where the strands work together, and where one task is run.

The story of a run, in the order in which it happens:

1. **Recall** (experience). What earlier runs taught is looked up by the goal. Where a pipeline fits all of
   it, that is walked and no agent plans (`guide`). Else the plans of similar tasks, and warnings, go into
   the first prompts (`references`).
2. **Plan, act, answer** (a tool task, `tool_task`), in rounds (reflection): the planner splits the task;
   each subtask goes the way of a pipeline, or its agent acts call by call; where one fails the plan is
   mended; the answer agent writes. A weak answer goes into long-term memory and starts the next round.
3. With several **teams** (`tool_teams`) each of them plans, and the plans meet and merge (`tool_meetings`);
   each rehearses, and one acts on what most would do (`agreement`); each answers, and the answers meet.
4. **What is to be made** (`team_task`), a program or a story, has a chain of phases of its own, which teams
   work through side by side; they meet at key phases, prune, group, merge and hand back.
5. **Every reply** of every agent passes its gate before anything is done with it.
6. **The end.** Also where the budget is used up there is an outcome, with the best so far. Where a model
   cannot be reached, or the user must decide, there is none: the run stops, and is taken up from there. What
   a run teaches is not learned here but in `outfit` (`learning`), where strands meet too, by `carrying`.

Each strand can be switched off and the others go on. Knows nothing of databases, terminals or how models and
tools are found: all that comes in a `Workshop`.
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
