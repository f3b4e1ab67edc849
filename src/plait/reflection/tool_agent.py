"""The tool agent: chooses one tool and its parameters for the next step (MIRROR, section 3.3).

Its reply can only be one of the tools offered, or `done`. Knows nothing of how a call is executed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plait.agents.gate import Feedback, Judged, Passed, Role, next_attempt, through_gate
from plait.errors import ReplyError
from plait.journal import Journal
from plait.models.callform import ParsedReply, format_call, parse_call
from plait.models.callgrammar import call_grammar
from plait.models.callspec import CallSpec
from plait.models.protocol import Form, FunctionCalling, Grammar, Reply, Request
from plait.reflection.checks import Known, call_problems
from plait.reflection.crew import Crew
from plait.reflection.crew_prompts import Hints
from plait.reflection.doubts import done_doubts, doubts
from plait.reflection.meant import RIGHT
from plait.reflection.memory import ShortTermMemory
from plait.reflection.offer import DONE, MAX_RESULT, Offer, spent
from plait.reflection.searches import mended
from plait.reflection.second_opinion import reached, wanted
from plait.reflection.trajectory import SubtaskRun, Trajectory

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
    goal = moment.run.subtask.goal
    told = await crew.candidates(journal, goal)
    specs = [*await crew.choices(journal, goal), DONE]
    tries = _Tries(journal=journal, crew=crew, moment=moment, told=told, specs=specs)
    role = Role(agent=crew.tool, gate=crew.settings.tool, request=tries.request, read=tries.read)
    return await through_gate(journal, role)


@dataclass(kw_only=True)
class _Tries:
    """The tries of one choice, and what they have shown so far."""

    journal: Journal
    crew: Crew
    moment: Moment
    told: Sequence[CallSpec]
    """The tools that the agent is told of."""
    specs: Sequence[CallSpec]
    """Those it may call, and the end."""
    spent: set[str] = field(default_factory=set[str])
    """Names of tools that no further try may call."""
    opinion: bool | None = None
    """Whether the subtask is done, in the opinion that is asked for once."""

    def request(self, feedback: Feedback | None) -> Request:
        """Return what the agent is asked at the next try."""
        crew, moment = self.crew, self.moment
        gated, tools = crew.settings.tool.enabled, crew.executor.tools
        self.spent.update(spent(feedback, moment.known, tools))
        left = [spec for spec in self.specs if spec.name not in self.spent]
        # The end alone is no choice.
        offer = Offer(left if len(left) > 1 else self.specs, moment.known, tools)
        form = _form(offer.after(feedback) if gated else offer.specs, crew.settings.function_calling, gated)
        hints = Hints(moment.memory.entries, feedback, failed_steps=crew.settings.short_term)
        chat = crew.prompts.tool(crew.told_task, moment.run, moment.trajectory, hints, gated)
        return crew.tool.request([crew.system(self.told), *chat], form, next_attempt(feedback))

    async def read(self, reply: Reply) -> Judged[Choice]:
        """Return the choice that a reply is, with what speaks against it."""
        crew, moment = self.crew, self.moment
        parsed = _parse(reply, self.specs, crew.settings.function_calling)
        choice = _choice(crew, parsed, moment.known)
        gated = crew.settings.tool.enabled
        wrong, doubtful = _objections(crew, choice, moment.known) if gated else ([], [])
        if wanted([*wrong, *doubtful]):
            done = await self._is_done()
            choice, wrong, doubtful = _after(done, choice, moment.run, wrong, doubtful)
        return Judged(
            output=choice,
            shown=format_call(choice.name, choice.arguments),
            critique=parsed.critique,
            score=parsed.score,
            problems=[*wrong, *doubtful],
            fatal=bool(wrong),
        )

    async def _is_done(self) -> bool:
        if self.opinion is None:
            self.opinion = await reached(self.journal, self.crew, self.moment.run)
        return self.opinion


def _choice(crew: Crew, parsed: ParsedReply, known: Known) -> Choice:
    """Return the call that was written, a search mended where that needs no model."""
    name, arguments = parsed.call.name, parsed.call.arguments
    mendings: list[str] = []
    if name != DONE.name and crew.settings.tool.enabled:
        arguments, mendings = mended(crew.executor.tools[name], arguments, known)
    return Choice(
        name=name,
        arguments=arguments,
        thought=parsed.thought,
        critique=parsed.critique,
        score=parsed.score,
        mended=tuple(mendings),
    )


def _after(
    done: bool, choice: Choice, run: SubtaskRun, wrong: list[str], doubtful: list[str]
) -> tuple[Choice, list[str], list[str]]:
    """Return the choice with what speaks against it, after a second opinion whether the subtask is done."""
    if done:
        return _end(choice, run), [], []
    return choice, wrong, [doubt for doubt in doubtful if not wanted([doubt])]


def _end(choice: Choice, run: SubtaskRun) -> Choice:
    """Return the end of a subtask whose agent would have gone on, with its last effect as the result."""
    last = next(step for step in reversed(run.steps) if step.effect and step.ok)
    result = {"result": f"{last.call}: {last.observation}"[:MAX_RESULT]}
    return replace(choice, name=DONE.name, arguments=result, mended=("a second opinion: it is done",))


def _objections(crew: Crew, choice: Choice, known: Known) -> tuple[list[str], list[str]]:
    """Return why a call cannot be made, and what only speaks against it."""
    if choice.done:
        return [], done_doubts(known, crew.executor.tools)
    tool = crew.executor.tools[choice.name]
    wrong = call_problems(tool, choice.arguments, known)
    doubtful = doubts(tool, choice.arguments, known, crew.executor.tools)
    if wrong:  # First things first: to look something up another tool may be needed.
        doubtful = [doubt for doubt in doubtful if not doubt.startswith(RIGHT)]
    return wrong, doubtful


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
