"""The planner: splits the task into subtasks (MIRROR, section 3.3).

Knows nothing of how subtasks are worked on.
"""

from collections.abc import Sequence

from plait.agents.gate import Feedback, Judged, Role, next_attempt, through_gate
from plait.agents.remarks import lines_grammar, split_remarks
from plait.errors import ReplyError
from plait.events import Noted, PlanMade
from plait.journal import Journal
from plait.models.protocol import Grammar, Reply, Request
from plait.reflection.crew import Crew
from plait.reflection.guide import Advice
from plait.reflection.plan import (
    MAXIMUM_SUBTASKS,
    MILESTONE,
    Plan,
    Subtask,
    plan_line,
    plan_problems,
    read_plan,
    splits_one_thing,
)
from plait.reflection.references import advice_for, copied_values, references_text

ONE_THING = "the task asks for one thing, so it is its own plan"


async def make_plan(journal: Journal, crew: Crew, lessons: Sequence[str], number: int) -> Judged[Plan]:
    """Return a plan that passed the planner's gate; where no try gives one, the task itself is the plan.

    Args:
        journal: The place of this round's plan.
        crew: The agents.
        lessons: Long-term memory: earlier rounds as text.
        number: Number of the round, for the log.
    """
    gate = crew.settings.planner
    line = plan_line(brackets="(" in crew.task)
    form = Grammar(gbnf=lines_grammar(line, MAXIMUM_SUBTASKS, remarks=gate.enabled))
    specs = await crew.candidates(journal, crew.task)
    advice = await advice_for(journal, crew.guide, crew.task)
    references = references_text(advice)

    def request(feedback: Feedback | None) -> Request:
        prompt = crew.prompts.planner(crew.task, lessons, feedback, gate.enabled, references)
        return crew.planner.request(crew.messages(specs, prompt), form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[Plan]:
        return _judged(journal, crew, advice, reply)

    try:
        passed = await through_gate(journal, Role(agent=crew.planner, gate=gate, request=request, read=read))
        judged = passed.judged
    except ReplyError as error:
        journal.emit(Noted(text=f"{error.message}; the task itself is the plan"))
        return whole_task(journal, crew.task, number)
    journal.emit(PlanMade(round=number, subtasks=judged.output.as_json()))
    return judged


def whole_task(journal: Journal, task: str, number: int) -> Judged[Plan]:
    """Make the task itself the plan of round `number`; asks no model."""
    plan = _task_itself(task)
    journal.emit(PlanMade(round=number, subtasks=plan.as_json()))
    return Judged(output=plan, shown=plan.as_json())


def _judged(journal: Journal, crew: Crew, advice: Advice, reply: Reply) -> Judged[Plan]:
    """Read a plan; without the planner's gate whatever can be read passes."""
    remarked = split_remarks(reply.text)
    plan = _read(crew, remarked.body)
    problems, useless = list[str](), False
    if crew.settings.planner.enabled:
        if splits_one_thing(plan, crew.task):
            journal.emit(Noted(text=ONE_THING))
            plan = _task_itself(crew.task)
        problems, useless = plan_problems(plan, crew.task, crew.prompts.planner_text())
        copied = copied_values([subtask.goal for subtask in plan.subtasks], advice, crew.task)
        problems += [f"{goal!r} is of another task" for goal in copied]
        useless = useless or bool(copied)
    return Judged(
        output=plan,
        shown=plan.as_json(),
        critique=remarked.critique,
        score=remarked.score,
        problems=problems,
        fatal=useless,
    )


def merged_plan(crew: Crew, lines: Sequence[str]) -> tuple[Plan, Sequence[str]]:
    """Read a plan that was made of several, and say what is wrong with it.

    Args:
        crew: The agents.
        lines: Of the plan, as `written` gives them.

    Raises:
        ReplyError: it is no plan, or of no use.
    """
    plan = _read(crew, "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))
    if not crew.settings.planner.enabled:
        return plan, ()
    if splits_one_thing(plan, crew.task):
        return _task_itself(crew.task), ()
    problems, useless = plan_problems(plan, crew.task, crew.prompts.planner_text())
    if useless:
        raise ReplyError("; ".join(problems))
    return plan, problems


def _read(crew: Crew, text: str) -> Plan:
    milestones = MILESTONE.strip() not in crew.task
    return read_plan(text, milestones=milestones, tools=crew.executor.tools)


def _task_itself(task: str) -> Plan:
    return Plan(subtasks=[Subtask(id="1", goal=" ".join(task.split()))])
