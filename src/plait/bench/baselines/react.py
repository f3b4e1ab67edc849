"""ReAct (Yao et al., 2022): one agent that alternates a thought, a call and an observation.

The plain baseline: same model, tools, reply form and log as every other method, no plan, no critique,
no memory beyond its own history. A reply that cannot be read is asked again with the error in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, GateSettings, Judged, Role, through_gate
from plait.agents.prompting import fill, load
from plait.events import LoopBroken
from plait.journal import Journal
from plait.models.callform import (
    Call,
    CallSpec,
    call_grammar,
    format_call,
    parse_call,
    signature,
)
from plait.models.protocol import Grammar, Message, Reply, Request
from plait.reflection.dates import dates_text, named_dates
from plait.reflection.tool_agent import DONE
from plait.reflection.trajectory import OLD_CHARACTERS, SHOWN_CHARACTERS
from plait.tools.executor import Executor
from plait.tools.tool import Tool

PACKAGE = "plait.bench.baselines"
STEPS = 16
LOOP_LIMIT = 2
"""The same turn with the same observation this often before ends the run."""
NO_GATE = GateSettings(threshold=0, enabled=False)


@dataclass(frozen=True, kw_only=True)
class ReactTask:
    """What the baseline works with."""

    task: str
    notes: str
    tools: Sequence[Tool]
    executor: Executor
    agent: Agent


async def react(journal: Journal, work: ReactTask) -> str:
    """Solve a task and return the answer; empty where the steps were used up.

    Raises:
        ReplyError: no readable call in the tries of one step.
        BudgetExhausted: the budget is used up.
    """
    specs = [
        *(CallSpec(name=t.name, description=t.description, parameters=t.parameters) for t in work.tools),
        DONE,
    ]
    history: list[str] = []
    for number in range(1, STEPS + 1):
        thought = await journal.branch(f"step-{number}", _think, (work, specs, tuple(history)))
        if thought.call.name == DONE.name:
            return str(thought.call.arguments["result"])
        observation = await journal.branch(f"step-{number}/act", _act, (work, thought.call))
        turn = f"{thought.text}\n<result>\n{observation}\n</result>"
        if history[-LOOP_LIMIT:] == [turn] * LOOP_LIMIT:
            journal.emit(LoopBroken(call=thought.text, times=LOOP_LIMIT + 1))
            return ""
        history.append(turn)
    return ""


@dataclass(frozen=True, kw_only=True)
class Thought:
    """A thought with the call that follows it."""

    text: str
    call: Call


async def _think(journal: Journal, given: tuple[ReactTask, Sequence[CallSpec], Sequence[str]]) -> Thought:
    work, specs, history = given
    tools = "\n".join(signature(spec, details=True) for spec in specs)
    shared = fill(load(PACKAGE, "react_shared"), notes=work.notes, tools=tools)
    facts = dates_text(named_dates(work.task, work.notes))
    prompt = fill(
        load(PACKAGE, "react"), task=f"{work.task}\n{facts}".strip(), history="\n".join(_recent(history))
    )
    form = Grammar(gbnf=call_grammar(specs, critique=False, score=False, thought=True))

    def request(feedback: Feedback | None) -> Request:
        error = f"\n# error in the last reply: {'; '.join(feedback.problems)}" if feedback else ""
        messages = [
            Message(role="system", content=shared),
            Message(role="user", content=prompt + error),
        ]
        return work.agent.request(messages, form, feedback.attempt + 1 if feedback else 1)

    async def read(reply: Reply) -> Judged[Thought]:
        parsed = parse_call(reply.text, specs)
        call = format_call(parsed.call.name, parsed.call.arguments)
        text = f"# thought: {parsed.thought}\n{call}"
        return Judged(output=Thought(text=text, call=parsed.call), shown=text)

    role = Role(agent=work.agent, gate=NO_GATE, request=request, read=read)
    return (await through_gate(journal, role)).judged.output


def _recent(history: Sequence[str]) -> list[str]:
    """Return the turns that fit an engine's context, the older ones cut short."""
    long = sum(map(len, history)) > SHOWN_CHARACTERS
    return [turn[:OLD_CHARACTERS] if long and turn is not history[-1] else turn for turn in history]


async def _act(journal: Journal, given: tuple[ReactTask, Call]) -> str:
    work, call = given
    return (await work.executor.execute(journal, "call", call.name, call.arguments)).text
