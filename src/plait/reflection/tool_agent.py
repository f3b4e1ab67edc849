"""The tool agent: chooses one tool and its parameters for the next step (MIRROR, section 3.3).

Its reply can only be one of the tools offered, or `done`. Knows nothing of how a call is executed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plait.agents.gate import Feedback, Judged, Passed, Role, next_attempt, through_gate
from plait.errors import ReplyError
from plait.journal import Journal
from plait.models.callform import ParsedReply, format_call, parse_call
from plait.models.callgrammar import call_grammar
from plait.models.callspec import CallSpec
from plait.models.protocol import Form, FunctionCalling, Grammar, Reply, Request
from plait.reflection.checks import DONE_BEFORE, MADE_UP, Known, call_problems
from plait.reflection.crew import Crew
from plait.reflection.crew_prompts import Hints
from plait.reflection.doubts import ANSWERED, FOUND_NOTHING, WITHIN_EMPTY, WITHIN_SHOWN, done_doubts, doubts
from plait.reflection.meant import FIRST, MEANT, NOTHING_ABOUT, RIGHT
from plait.reflection.memory import ShortTermMemory
from plait.reflection.phrases import makes_one, of_several
from plait.reflection.searches import mended
from plait.reflection.second_opinion import reached, wanted
from plait.reflection.trajectory import SubtaskRun, Trajectory
from plait.tools.tool import Tool

MAX_RESULT = 300
LOOKED = (ANSWERED, FOUND_NOTHING, WITHIN_EMPTY, WITHIN_SHOWN)
"""How a doubt begins about a look around that tells nothing new."""
DONE = CallSpec(
    name="done",
    description="the subtask is finished; result says in one sentence what came out, with ids",
    parameters={
        "type": "object",
        "properties": {"result": {"type": "string", "maxLength": MAX_RESULT}},
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
        self.spent.update(_spent(feedback, moment.known, tools))
        left = [spec for spec in self.specs if spec.name not in self.spent]
        # The end alone is no choice.
        offer = _offer(left if len(left) > 1 else self.specs, feedback, moment.known, tools)
        form = _form(offer, crew.settings.function_calling, gated)
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


def _offer(
    specs: Sequence[CallSpec], feedback: Feedback | None, known: Known, tools: Mapping[str, Tool]
) -> Sequence[CallSpec]:
    """Return what the next try may call.

    Where an effect is done already: that tool, the end, or, where several are wanted, other changes. Where a
    check knows which tool is meant: that one, the end, or what finds what it takes. Where it knows what seems
    right: that tool, or the one it names. Where another one comes first: that one. Where nothing was found
    yet that the task is about: what changes nothing. Where one new thing is wanted, and a look around tells
    nothing new: what was not looked at, or changes something. Where the very search or a wider one found
    nothing before: another tool.
    """
    if feedback is None:
        return specs
    chosen = str(feedback.shown).partition("(")[0]
    if _one(feedback, DONE_BEFORE):
        others = _unused(specs, tools, known, reads=False) if of_several(known.task) else ()
        return [spec for spec in specs if spec.name in (chosen, DONE.name) or spec in others]
    if meant := _one(feedback, MEANT):
        named = _named(specs, meant, MEANT)
        finding = _of_effect(specs, tools, reads=True) if known.found_nothing else ()
        return [spec for spec in specs if spec in named or spec in finding]
    if right := _one(feedback, RIGHT):
        fitting = [spec for spec in specs if spec.name == chosen or f"{RIGHT} {spec.name}:" in right]
        return fitting or specs  # Without a grammar a model may have chosen what was not on offer.
    if _one(feedback, NOTHING_ABOUT):
        return _of_effect(specs, tools, reads=True)
    if first := _one(feedback, FIRST):
        return _named(specs, first, FIRST)
    if _one(feedback, *LOOKED) and _only_makes(known):
        others = _of_effect(specs, tools, reads=False)
        return [spec for spec in specs if spec in others or spec in _unused(specs, tools, known, reads=True)]
    if _one(feedback, FOUND_NOTHING, WITHIN_EMPTY):
        return [spec for spec in specs if spec.name != chosen]
    return specs


def _one(feedback: Feedback, *beginnings: str) -> str:
    """Return the first problem that begins so; empty where there is none."""
    return next((problem for problem in feedback.problems if problem.startswith(beginnings)), "")


def _named(specs: Sequence[CallSpec], problem: str, beginning: str) -> Sequence[CallSpec]:
    """Return the tool that a problem names, and the end."""
    fitting = [spec for spec in specs if f"{beginning} {spec.name}:" in problem]
    return [*fitting, *(spec for spec in specs if spec.name == DONE.name)] if fitting else specs


def _unused(
    specs: Sequence[CallSpec], tools: Mapping[str, Tool], known: Known, *, reads: bool
) -> Sequence[CallSpec]:
    """Return the tools that read, or those that change something, and were not called yet."""
    used = {step.tool for step in (*known.steps, *known.effects.done)}
    fitting = {name for name, tool in tools.items() if (tool.effect == "reads") is reads}
    return [spec for spec in specs if spec.name in fitting - used]


def _of_effect(specs: Sequence[CallSpec], tools: Mapping[str, Tool], *, reads: bool) -> Sequence[CallSpec]:
    """Return the tools that read, or those that change something, and the end; which alone is no choice."""
    others = {name for name, tool in tools.items() if (tool.effect == "reads") is not reads}
    left = [spec for spec in specs if spec.name not in others]
    return left if len(left) > 1 else specs


def _only_makes(known: Known) -> bool:
    """Whether the one new thing that the task wants is yet to be made, and what was looked up is there."""
    found = any(step.ok and not step.empty and not step.effect for step in known.steps)
    return found and not known.effects.done and makes_one(known.task)


def _spent(feedback: Feedback | None, known: Known, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Yield the tool that no other try of this step may call, as small models insist.

    One whose answered call was just chosen again: its result is there to be used. One that was called with
    something made up while nothing is found yet that it could be called with.
    """
    if feedback is None:
        return
    chosen = str(feedback.shown).partition("(")[0]
    reads = chosen in tools and tools[chosen].effect == "reads"
    if reads and any(problem.startswith((ANSWERED, WITHIN_SHOWN)) for problem in feedback.problems):
        yield chosen
    if known.found_nothing and any(problem.endswith(MADE_UP) for problem in feedback.problems):
        yield chosen


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
