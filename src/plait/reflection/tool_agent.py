"""The tool agent: chooses one tool and its parameters for the next step (MIRROR, section 3.3).

Its reply can only be one of the tools offered, or `done`. Knows nothing of how a call is executed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plait.agents.gate import Feedback, Judged, Passed, Role, next_attempt, through_gate
from plait.errors import ReplyError
from plait.journal import Journal
from plait.models.callform import CallSpec, ParsedReply, call_grammar, format_call, parse_call
from plait.models.protocol import Form, FunctionCalling, Grammar, Reply, Request
from plait.reflection.checks import ANSWERED, Known, call_problems, done_problems, finished_by, mended
from plait.reflection.crew import Crew
from plait.reflection.memory import ShortTermMemory
from plait.reflection.trajectory import SubtaskRun, Trajectory
from plait.reflection.wording import Hints

DONE = CallSpec(
    name="done",
    description="the subtask is finished; result says in one sentence what came out, with ids",
    parameters={
        "type": "object",
        "properties": {"result": {"type": "string", "maxLength": 300}},
        "required": ["result"],
        "additionalProperties": False,
    },
)

CRITIQUE, SCORE = "own_critique", "own_score"
"""Parameters that carry them in function calling; a tool may have a `score` of its own."""
REFLECTION_PARAMETERS: Mapping[str, Any] = {
    CRITIQUE: {"type": "string", "maxLength": 200},
    SCORE: {"type": "number", "minimum": 0, "maximum": 10},
}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A chosen call; `done` ends the subtask."""

    name: str
    arguments: Mapping[str, Any]
    thought: str = ""
    critique: str = ""
    score: float | None = None
    mended: Sequence[str] = ()
    """What a check left out of the arguments or added to them."""

    @property
    def done(self) -> bool:
        """Whether the agent says that the subtask is finished."""
        return self.name == DONE.name


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What the tool agent sees when it chooses."""

    run: SubtaskRun
    trajectory: Trajectory
    known: Known
    memory: ShortTermMemory


async def choose(journal: Journal, crew: Crew, moment: Moment) -> Passed[Choice]:
    """Return the next call of a subtask, through the tool agent's gate.

    Raises:
        ReplyError: no try gave a call that can be made.
    """
    offered = await crew.candidates(journal, moment.run.subtask.goal)
    specs = [*await crew.choices(journal, moment.run.subtask.goal), DONE]
    gate = crew.settings.tool

    def request(feedback: Feedback | None) -> Request:
        offer = _without_answered(specs, feedback)
        form = _form(offer, crew.settings.function_calling, gate.enabled)
        hints = Hints(moment.memory.entries, feedback, failed_steps=crew.settings.short_term)
        chat = crew.wording.tool(crew.told_task, moment.run, moment.trajectory, hints, gate.enabled)
        return crew.tool.request([crew.system(offered), *chat], form, next_attempt(feedback))

    async def read(reply: Reply) -> Judged[Choice]:
        parsed = _parse(reply, specs, crew.settings.function_calling)
        choice, problems = _checked(crew, parsed, moment.known)
        return Judged(
            output=choice,
            shown=format_call(choice.name, choice.arguments),
            critique=parsed.critique,
            score=parsed.score,
            problems=problems,
            fatal=bool(problems) and not choice.done,
        )

    return await through_gate(journal, Role(agent=crew.tool, gate=gate, request=request, read=read))


def _checked(crew: Crew, parsed: ParsedReply, known: Known) -> tuple[Choice, list[str]]:
    """Return the call, mended where that needs no model, and what is still wrong with it."""
    name, arguments = parsed.call.name, parsed.call.arguments
    if name == DONE.name:
        choice = Choice(name=name, arguments=arguments, thought=parsed.thought)
        return choice, done_problems(known)
    tool = crew.executor.tools[name]
    kept, mendings = mended(tool, arguments, known)
    choice = Choice(
        name=name,
        arguments=kept,
        thought=parsed.thought,
        critique=parsed.critique,
        score=parsed.score,
        mended=tuple(mendings),
    )
    problems = call_problems(tool, kept, known)
    if problems == [ANSWERED] and (effect := finished_by(known)) is not None:
        ended = Choice(name=DONE.name, arguments={"result": f"{effect.call}: {effect.observation}"})
        return replace(ended, thought=choice.thought, critique=choice.critique, score=choice.score), []
    return choice, problems


def _without_answered(specs: Sequence[CallSpec], feedback: Feedback | None) -> Sequence[CallSpec]:
    """Leave out the tool whose answered call was just chosen again: its result is there to be used."""
    if feedback is None or not any(problem.startswith(ANSWERED) for problem in feedback.problems):
        return specs
    return [spec for spec in specs if not str(feedback.shown).startswith(f"{spec.name}(")]


def _form(specs: Sequence[CallSpec], function_calling: bool, gated: bool) -> Form:
    if function_calling:
        return FunctionCalling(tools=[_function(spec, gated) for spec in specs])
    return Grammar(gbnf=call_grammar(specs, critique=gated, score=gated, thought=True))


def _function(spec: CallSpec, gated: bool) -> dict[str, Any]:
    """Return a tool for function calling; critique and score travel as parameters of the call."""
    parameters = dict(spec.parameters)
    if gated:
        parameters["properties"] = {**spec.parameters.get("properties", {}), **REFLECTION_PARAMETERS}
        parameters["required"] = [*spec.parameters.get("required", []), *REFLECTION_PARAMETERS]
    return {"name": spec.name, "description": spec.description, "parameters": parameters}


def _parse(reply: Reply, specs: Sequence[CallSpec], function_calling: bool) -> ParsedReply:
    if not function_calling:
        return parse_call(reply.text, specs)
    if not reply.tool_calls:
        raise ReplyError("the reply calls no tool: call exactly one")
    call = reply.tool_calls[0]
    arguments = dict(call.arguments)
    critique, score = str(arguments.pop(CRITIQUE, "")), arguments.pop(SCORE, None)
    parsed = parse_call(format_call(call.name, arguments), specs)
    return ParsedReply(
        call=parsed.call, critique=critique, score=float(score) if isinstance(score, int | float) else None
    )
