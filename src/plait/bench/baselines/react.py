"""ReAct (Yao et al., 2022): one agent that alternates a thought, a call and an observation.

The plain baseline: same model, tools, reply form and log as every other method, no plan, no critique,
no memory beyond its own history. A reply that cannot be read is asked again with the error in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, GateSettings, Judged, Role, next_attempt, through_gate
from plait.agents.prompting import fill, load
from plait.events import LoopBroken
from plait.journal import Journal
from plait.models.callform import Call, format_call, parse_call
from plait.models.callgrammar import call_grammar
from plait.models.callspec import CallSpec, signature
from plait.models.protocol import Grammar, Message, Reply, Request
from plait.reflection.dates import dates_text, named_dates
from plait.reflection.tool_agent import DONE
from plait.reflection.trajectory import Step, observations
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
    steps: list[Step] = []
    for number in range(1, STEPS + 1):
        thought = await journal.branch(f"step-{number}", _think, (work, specs, tuple(steps)))
        if thought.call.name == DONE.name:
            return str(thought.call.arguments["result"])
        step = await journal.branch(f"step-{number}/act", _act, (work, thought))
        if steps[-LOOP_LIMIT:] == [step] * LOOP_LIMIT:
            journal.emit(LoopBroken(call=step.call, times=LOOP_LIMIT + 1))
            return ""
        steps.append(step)
    return ""


@dataclass(frozen=True, kw_only=True)
class Thought:
    """A thought with the call that follows it."""

    text: str
    call: Call


async def _think(journal: Journal, given: tuple[ReactTask, Sequence[CallSpec], Sequence[Step]]) -> Thought:
    work, specs, steps = given
    chat = _chat(work, specs, steps)
    form = Grammar(gbnf=call_grammar(specs, critique=False, score=False, thought=True))

    def request(feedback: Feedback | None) -> Request:
        error = f"\nError in the last reply: {'; '.join(feedback.problems)}" if feedback else ""
        last = Message(role="user", content=chat[-1].content + error)
        return work.agent.request([*chat[:-1], last], form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[Thought]:
        parsed = parse_call(reply.text, specs)
        shown = format_call(parsed.call.name, parsed.call.arguments)
        return Judged(output=Thought(text=parsed.thought, call=parsed.call), shown=shown)

    role = Role(agent=work.agent, gate=NO_GATE, request=request, read=read)
    return (await through_gate(journal, role)).judged.output


def _chat(work: ReactTask, specs: Sequence[CallSpec], steps: Sequence[Step]) -> list[Message]:
    """Return the prompt: tools, task, and every turn so far with its observation."""
    tools = "\n".join(signature(spec, details=True) for spec in specs)
    shared = fill(load(PACKAGE, "react_shared"), notes=work.notes, tools=tools)
    facts = dates_text(named_dates(work.task, work.notes))
    prompt = fill(load(PACKAGE, "react"), task=f"{work.task}\n{facts}".strip())
    chat = [Message(role="system", content=shared), Message(role="user", content=prompt)]
    for step, text in zip(steps, observations(steps), strict=True):
        chat.append(Message(role="assistant", content=f"# thought: {step.thought}\n{step.call}"))
        chat.append(Message(role="user", content=f"<result>\n{text}\n</result>"))
    return chat


async def _act(journal: Journal, given: tuple[ReactTask, Thought]) -> Step:
    work, thought = given
    name, arguments = thought.call.name, thought.call.arguments
    observation = await work.executor.execute(journal, "call", name, arguments)
    return Step(
        tool=name,
        arguments=arguments,
        thought=thought.text,
        ok=observation.ok,
        observation=observation.text,
        effect=work.executor.tools[name].effect == "changes",
    )
