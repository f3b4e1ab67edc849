"""ReAct (Yao et al., 2022): one agent that alternates a thought, a call and an observation.

The plain baseline: same model, tools, reply form and log as every other method, no plan, no critique,
no memory beyond its own history. A reply that cannot be read is asked again with the error in its place.
Its loop is an `episode`, of which the other baselines are made too.
"""

import operator
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

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
from plait.reflection.offer import DONE
from plait.reflection.trajectory import Step, observations
from plait.tools.executor import Executor
from plait.tools.tool import Tool

PACKAGE = "plait.bench.baselines"
STEPS = 16
LOOP_LIMIT = 2
"""The same turn with the same observation this often before ends the run."""
NO_GATE = GateSettings(threshold=0, enabled=False)

Output = TypeVar("Output")
Ending = Literal["done", "circle", "steps"]
"""How an episode ended: the agent said so, it went in a circle, or its steps were used up."""


@dataclass(frozen=True, kw_only=True)
class ReactTask:
    """What a baseline works with."""

    task: str
    notes: str
    tools: Sequence[Tool]
    executor: Executor
    agent: Agent


@dataclass(frozen=True, kw_only=True)
class Thought:
    """A thought with the call that follows it."""

    text: str
    call: Call


Act: TypeAlias = Callable[[Journal, tuple[ReactTask, Thought]], Awaitable[Step]]
"""Makes a call and says what it brought."""


async def act(journal: Journal, given: tuple[ReactTask, Thought]) -> Step:
    """Make the call of a thought.

    Raises:
        NeedsDecision, LogError: as `Executor.execute`.
    """
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
        unknown=observation.unknown,
    )


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What bounds an episode."""

    steps: int = STEPS
    """Replies at most, the one that says `done` among them."""
    repeats: int = LOOP_LIMIT
    """So many turns just before that are the same as this one end it."""
    same: Callable[[Step, Step], bool] = operator.eq
    """Whether two turns are the same."""
    act: Act = act


@dataclass(frozen=True, kw_only=True)
class Episode:
    """How an episode went."""

    steps: Sequence[Step]
    ending: Ending
    chat: Sequence[Message]
    """The prompt and all turns."""
    result: str = ""
    """What `done` was called with; empty where it was not."""


async def react(journal: Journal, work: ReactTask) -> str:
    """Solve a task and return the answer; empty where the steps were used up.

    Raises:
        ReplyError: no readable call in the tries of one step.
        BudgetExhausted: the budget is used up.
    """
    return (await episode(journal, work, opening(work, told(work)), Rules())).result


async def episode(journal: Journal, work: ReactTask, prompt: Sequence[Message], rules: Rules) -> Episode:
    """Alternate thoughts, calls and observations until the agent is done or the rules end it.

    Raises:
        ReplyError: no readable call in the tries of one step.
        BudgetExhausted: the budget is used up.
    """
    steps: list[Step] = []
    for number in range(1, rules.steps + 1):
        chat = _turns(prompt, steps)
        thought = await journal.branch(f"step-{number}", _think, (work, chat))
        if thought.call.name == DONE.name:
            call = format_call(DONE.name, thought.call.arguments)
            chat.append(Message(role="assistant", content=f"# thought: {thought.text}\n{call}"))
            result = str(thought.call.arguments["result"])
            return Episode(steps=steps, ending="done", chat=chat, result=result)
        step = await journal.branch(f"step-{number}/act", rules.act, (work, thought))
        before = steps[-rules.repeats :]
        steps.append(step)
        if len(before) == rules.repeats and all(rules.same(other, step) for other in before):
            journal.emit(LoopBroken(call=step.call, times=rules.repeats + 1))
            return Episode(steps=steps, ending="circle", chat=_turns(prompt, steps))
    return Episode(steps=steps, ending="steps", chat=_turns(prompt, steps))


def told(work: ReactTask) -> str:
    """Return the task with the dates that it names, worked out."""
    return f"{work.task}\n{dates_text(named_dates(work.task, work.notes))}".strip()


def system(work: ReactTask) -> Message:
    """Return what all prompts of a task begin with: the notes and the tools."""
    tools = "\n".join(signature(spec, details=True) for spec in _specs(work))
    return Message(role="system", content=fill(load(PACKAGE, "react_shared"), notes=work.notes, tools=tools))


def opening(work: ReactTask, task: str) -> list[Message]:
    """Return the prompt of an episode that is to do `task`."""
    return [system(work), Message(role="user", content=fill(load(PACKAGE, "react"), task=task))]


async def readable(
    journal: Journal,
    agent: Agent,
    chat: Sequence[Message],
    form: Grammar,
    read: Callable[[str], Judged[Output]],
) -> Output:
    """Ask until a reply can be read, the error of the last try at the end of the prompt.

    Raises:
        ReplyError: no try gave anything that `read` takes.
        BudgetExhausted, ModelError: as `ask`.
    """

    def request(feedback: Feedback | None) -> Request:
        error = f"\nError in the last reply: {'; '.join(feedback.problems)}" if feedback else ""
        last = Message(role=chat[-1].role, content=chat[-1].content + error)
        return agent.request([*chat[:-1], last], form, next_attempt(feedback))

    async def judged(reply: Reply) -> Judged[Output]:
        return read(reply.text)

    role = Role(agent=agent, gate=NO_GATE, request=request, read=judged)
    return (await through_gate(journal, role)).judged.output


def _specs(work: ReactTask) -> list[CallSpec]:
    tools = [
        CallSpec(name=tool.name, description=tool.description, parameters=tool.parameters)
        for tool in work.tools
    ]
    return [*tools, DONE]


async def _think(journal: Journal, given: tuple[ReactTask, Sequence[Message]]) -> Thought:
    work, chat = given
    specs = _specs(work)

    def read(text: str) -> Judged[Thought]:
        parsed = parse_call(text, specs)
        shown = format_call(parsed.call.name, parsed.call.arguments)
        return Judged(output=Thought(text=parsed.thought, call=parsed.call), shown=shown)

    form = Grammar(gbnf=call_grammar(specs, critique=False, score=False, thought=True))
    return await readable(journal, work.agent, chat, form, read)


def _turns(prompt: Sequence[Message], steps: Sequence[Step]) -> list[Message]:
    """Return a prompt and every turn so far with its observation."""
    chat = list(prompt)
    for step, text in zip(steps, observations(steps), strict=True):
        chat.append(Message(role="assistant", content=f"# thought: {step.thought}\n{step.call}"))
        chat.append(Message(role="user", content=f"<result>\n{text}\n</result>"))
    return chat
