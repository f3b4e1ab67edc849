"""Plan and execute: a plan in numbered steps, each done by a ReAct loop, and revised on the way.

Plan-and-Solve (Wang et al., 2023, arXiv 2305.04091, section 2: first understand the task and devise a
plan, then carry it out step by step) in the form with tools that is widely used: a planner writes
the steps, an executor does one after another and sees what came out of those before, and after each one
a replanner may revise what is left, or give the final answer.

Deviations. The paper prompts for plan and solution in one reply, without tools. Here everything is
bounded: 8 steps a plan, 8 replies a step and 3 plans that replace what was left. After those the
replanner is asked only once more, at the end and for the answer. A planner that gives no plan in its
tries leaves the task itself as the one step.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plait.agents.gate import Judged
from plait.agents.prompting import fill, load
from plait.agents.remarks import lines_grammar, remarked_grammar
from plait.bench.baselines.react import (
    PACKAGE,
    Episode,
    ReactTask,
    Rules,
    episode,
    opening,
    readable,
    system,
    told,
)
from plait.errors import ReplyError
from plait.events import Noted, PlanMade, SubtaskFinished, SubtaskStarted
from plait.journal import Journal
from plait.models.protocol import Grammar, Message
from plait.reflection.trajectory import one_line

PLAN_STEPS = 8
REPLANNINGS = 3
STEP_REPLIES = 8
"""Replies of the executor for one step, the one that says `done` among them."""
STEP_CHARACTERS = 240
RESULT_CHARACTERS = 300
"""Shown of what came out of a step."""
ANSWER_CHARACTERS = 1_000
STEP_LINE = r'[1-9] ". " [^\x00-\x20\x7F] [^\x00-\x1F\x7F]{1,239}'
ANSWER_LINE = r'"answer: " [^\x00-\x20\x7F] [^\x00-\x1F\x7F]{0,399}'
ANSWER = "If the task is done, or cannot be done, reply with one line: answer: and what came out."
ANSWER_ONLY = "Nothing more is done. Reply with one line: answer: and what came out of the task."
REVISE = (
    f"Otherwise reply only with the steps still to be done, {PLAN_STEPS} numbered lines at most: those that"
    " are left, changed as far as the results ask for it. Leave out what is done."
)

_STEP = re.compile(r"^[-*#\s]*\d{1,3}[.):]\s+(\S.*)$", re.MULTILINE)
_ANSWER = re.compile(r"[\W_]*(?:final )?answer[\s*]*:[\s*]*(\S.*)", re.IGNORECASE | re.DOTALL)

Plan = tuple[str, ...]
"""Steps in the order of doing."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """A step that was carried out."""

    step: str
    result: str
    """On one line, ready for a prompt."""
    changes: Sequence[str]
    """Calls that took effect in it."""


async def plan_execute(journal: Journal, work: ReactTask) -> str:
    """Solve a task step by step and return the answer.

    Raises:
        ReplyError: no readable call, or neither plan nor answer of the replanner, in the tries of a reply.
        BudgetExhausted: the budget is used up.
    """
    left = await journal.branch("round-1/plan", _plan, work)
    await journal.branch("round-1", _announce, (left, 1))
    past: list[Past] = []
    plan, position = 1, 0
    while left:
        position += 1
        place = f"round-{plan}/subtask-{position}"
        past.append(await journal.branch(place, _execute, (work, str(position), left[0], tuple(past))))
        left = left[1:]
        revisable = plan <= REPLANNINGS
        if left and not revisable:
            continue
        outcome = await journal.branch(f"{place}/replan", _replan, (work, tuple(past), left, revisable))
        if isinstance(outcome, str):
            return outcome
        if outcome != left:
            plan, position = plan + 1, 0
            await journal.branch(f"round-{plan}", _announce, (outcome, plan))
        left = outcome
    return ""


async def _plan(journal: Journal, work: ReactTask) -> Plan:
    """Return the first plan: at most `PLAN_STEPS` steps, and at least one."""
    task = fill(load(PACKAGE, "plan"), task=told(work), most=str(PLAN_STEPS))
    form = Grammar(gbnf=lines_grammar(STEP_LINE, PLAN_STEPS, remarks=False))

    def read(text: str) -> Judged[Plan]:
        plan = _steps(text)
        return Judged(output=plan, shown=list(plan))

    planner = replace(work.agent, role="planner")
    try:
        return await readable(journal, planner, [system(work), _user(task)], form, read)
    except ReplyError as error:
        journal.emit(Noted(text=f"{error.message}; the task itself is the plan"))
        return (" ".join(work.task.split()),)


async def _execute(journal: Journal, given: tuple[ReactTask, str, str, Sequence[Past]]) -> Past:
    """Do one step, the subtask of an id, with a ReAct loop of its own."""
    work, id, step, past = given
    journal.emit(SubtaskStarted(id=id, goal=step))
    text = fill(load(PACKAGE, "plan_step"), step=step, task=told(work), past=_past_text(past))
    agent = replace(work.agent, role="executor")
    done = await episode(journal, replace(work, agent=agent), opening(work, text), Rules(steps=STEP_REPLIES))
    changes = [
        f"{each.call} (may have taken effect)" if each.unknown else each.call
        for each in done.steps
        if each.effect and (each.ok or each.unknown)
    ]
    result = _outcome(done)
    status = "succeeded" if done.ending == "done" else "failed"
    journal.emit(SubtaskFinished(id=id, status=status, result=result))
    return Past(step=step, result=result, changes=changes)


async def _replan(journal: Journal, given: tuple[ReactTask, Sequence[Past], Plan, bool]) -> Plan | str:
    """Return what is left to be done, or the final answer; only an answer where nothing may be revised."""
    work, past, left, revisable = given
    prompt = fill(
        load(PACKAGE, "replan"),
        task=told(work),
        past=_past_text(past),
        left=_numbered(left) or "none",
        wanted=f"{ANSWER} {REVISE}" if revisable else ANSWER_ONLY,
    )

    def read(text: str) -> Judged[Plan | str]:
        if found := _ANSWER.match(text):
            answer = found[1].strip()[:ANSWER_CHARACTERS]
            return Judged(output=answer, shown=answer)
        if not revisable:
            raise ReplyError("there is no answer: reply with one line that begins with answer:")
        plan = _steps(text)
        return Judged(output=plan, shown=list(plan))

    replanner = replace(work.agent, role="replanner")
    return await readable(journal, replanner, [system(work), _user(prompt)], _form(revisable), read)


def _form(revisable: bool) -> Grammar:
    if not revisable:
        return Grammar(gbnf=lines_grammar(ANSWER_LINE, 1, remarks=False))
    body = f'answer | step ("\\n" step){{0,{PLAN_STEPS - 1}}}'
    rules = [f"answer ::= {ANSWER_LINE}", f"step ::= {STEP_LINE}"]
    return Grammar(gbnf=remarked_grammar(body, rules, remarks=False))


def _steps(text: str) -> Plan:
    """Read numbered lines; those beyond `PLAN_STEPS` are left to the replanner.

    Raises:
        ReplyError: there are none.
    """
    steps = [found.strip()[:STEP_CHARACTERS] for found in _STEP.findall(text)]
    if not steps:
        raise ReplyError("there is no step: write numbered lines such as `1. what to do`")
    return tuple(steps[:PLAN_STEPS])


def _outcome(done: Episode) -> str:
    """Return what came out of a step as one line; a result of a tool that stands in for it delimited."""
    if done.ending == "done":
        return one_line(done.result)[:RESULT_CHARACTERS]
    last = done.steps[-1]
    shown = f"{last.call} -> <result>{one_line(last.observation)[:RESULT_CHARACTERS]}</result>"
    return f"not finished after {len(done.steps)} calls; the last was {shown}"


def _past_text(past: Sequence[Past]) -> str:
    lines: list[str] = []
    for number, each in enumerate(past, 1):
        lines.append(f"{number}. {each.step}\n   result: {each.result}")
        lines += [f"   took effect: {call}" for call in each.changes]
    return "\n".join(lines) or "none"


def _numbered(plan: Plan) -> str:
    return "\n".join(f"{number}. {step}" for number, step in enumerate(plan, 1))


async def _announce(journal: Journal, given: tuple[Plan, int]) -> None:
    """Tell of a plan, each in a round of its own."""
    plan, number = given
    subtasks = [
        {"id": str(position), "goal": step, "depends_on": [str(position - 1)] if position > 1 else []}
        for position, step in enumerate(plan, 1)
    ]
    journal.emit(PlanMade(round=number, subtasks=subtasks))


def _user(text: str) -> Message:
    return Message(role="user", content=text)
