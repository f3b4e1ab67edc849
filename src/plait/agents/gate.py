"""The gate every reply passes before it is acted on (MIRROR, section 3.4).

One mechanism for every role: the reply is read and checked without a model first, then its own score,
which came in the same generation, is held against the threshold. Knows nothing of what the roles do:
how a reply is asked for, read and checked is given as functions.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from plait.agents.agent import Agent, ask
from plait.errors import ReplyError
from plait.events import Gated
from plait.journal import Journal
from plait.models.protocol import Reply, Request

Output = TypeVar("Output")
CUT = "the reply was cut at"
NO_USABLE_REPLY = "no usable reply"
CIRCLED = "the reply said the same over and over: say each thing once, and end"
GateVerdict: TypeAlias = Literal["passed", "revised", "forced", "closed", "failed"]


@dataclass(frozen=True, kw_only=True)
class GateSettings:
    """How strict one role's gate is."""

    threshold: float
    """0-10; a score at or above it passes."""
    revisions: int = 2
    """How often a reply is asked again at most."""
    enabled: bool = True
    """Off: the agent gives no critique and no score, and what can be read passes."""
    revises: bool = True
    """Off: a weak score is not revised in place but closes the round (the answer agent)."""
    unscored_passes: bool = False
    """On: a reply is not asked again only because it has no score."""


@dataclass(frozen=True, kw_only=True)
class Judged(Generic[Output]):
    """A reply that was read: its output and what the agent thinks of it."""

    output: Output
    shown: Any
    """The output as JSON, for the log."""
    critique: str = ""
    score: float | None = None
    problems: Sequence[str] = ()
    """What the checks found; a reply with any is not let through while tries are left."""
    fatal: bool = False
    """A problem that makes the output useless: it is never let through."""
    astray: bool = False
    """It mends nothing of the try before, which will not get better by asking once more."""


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """What the next try is shown of the one before, which it replaces."""

    attempt: int
    reply: str
    problems: Sequence[str]
    critique: str
    score: float | None
    shown: Any = None
    """The output as JSON, where the reply could be read."""


def next_attempt(feedback: Feedback | None) -> int:
    """Return the number of the try that follows, from 1."""
    return 1 if feedback is None else feedback.attempt + 1


@dataclass(frozen=True, kw_only=True)
class Passed(Generic[Output]):
    """What left the gate."""

    judged: Judged[Output]
    attempts: int
    refused: Sequence[str]
    """The tries before, each with what was wrong with it."""
    forced: bool
    """Below the threshold, and let through because the tries were used up."""


@dataclass(frozen=True, kw_only=True)
class Role(Generic[Output]):
    """How one role is asked and read at its gate."""

    agent: Agent
    gate: GateSettings
    request: Callable[[Feedback | None], Request]
    """The request of the next try; feedback is None on the first."""
    read: Callable[[Reply], Awaitable[Judged[Output]]]
    """Raises ReplyError with a text the model can use."""
    salvages: bool = False
    """On: what a reply said before it went in circles is used where no try gives anything better."""


async def through_gate(journal: Journal, role: Role[Output]) -> Passed[Output]:
    """Ask until a reply passes, at most `1 + revisions` times; then the best-scored one passes.

    A reply that passes at once costs one model call.

    Raises:
        ReplyError: no try gave anything that can be used.
        BudgetExhausted, ModelError: as `ask`.
    """
    best: Judged[Output] | None = None
    taken = 0
    feedback: Feedback | None = None
    refused: list[str] = []
    last = role.gate.revisions + 1
    for attempt in range(1, last + 1):
        reply = await ask(journal, role.agent, role.request(feedback), f"try-{attempt}")
        judged, refusal = await _read(role, reply)
        # The same reply again will not get better by asking once more.
        stuck = (
            feedback is not None and judged is not None and (judged.astray or judged.shown == feedback.shown)
        )
        if judged is not None and not judged.fatal and _better(judged, best):
            best, taken = judged, attempt
        verdict = _verdict(role.gate, judged, stuck or attempt == last, best)
        gated = _gated(role, attempt, judged, refusal, verdict)
        journal.emit(replace(gated, taken=taken) if verdict == "forced" else gated)
        if verdict == "failed":
            raise ReplyError(
                f"{NO_USABLE_REPLY} of the {role.agent.role} agent in {attempt} tries: {refusal}"
            )
        if verdict != "revised":
            assert best is not None
            chosen = judged if verdict == "passed" and judged is not None else best
            return Passed(judged=chosen, attempts=attempt, refused=refused, forced=verdict == "forced")
        feedback = _feedback(attempt, reply, judged, refusal)
        refused.append(f"{feedback.shown or 'a reply'}: {refusal or feedback.critique or 'scored too low'}")
    raise AssertionError("the last try always decides")


async def _read(role: Role[Output], reply: Reply) -> tuple[Judged[Output] | None, str]:
    """Return what could be read, or None and why not."""
    if reply.finish == "length":
        return None, f"{CUT} {reply.usage.output_tokens} tokens: be much shorter"
    circled = reply.finish == "repetition"
    if circled and not role.salvages:
        return None, CIRCLED
    try:
        judged = await role.read(reply)
    except ReplyError as error:
        return None, f"{CIRCLED}; {error.message}" if circled else error.message
    if circled:
        judged = replace(judged, problems=[*judged.problems, CIRCLED])
    return judged, "; ".join(judged.problems)


def _better(judged: Judged[Output], best: Judged[Output] | None) -> bool:
    """Whether `judged` beats `best`: fewer problems first, then the higher score; a later one wins a tie."""
    if best is None:
        return True
    return (-len(judged.problems), judged.score or 0.0) >= (-len(best.problems), best.score or 0.0)


def _verdict(
    gate: GateSettings, judged: Judged[Output] | None, last: bool, best: Judged[Output] | None
) -> GateVerdict:
    """Decide about one try: passed, revised, forced, closed or failed."""
    if judged is not None and not judged.problems:
        if not gate.enabled or _enough(gate, judged.score):
            return "passed"
        if not gate.revises:
            return "closed"
    if not last:
        return "revised"
    return "failed" if best is None else "forced"


def _enough(gate: GateSettings, score: float | None) -> bool:
    return (score is None and gate.unscored_passes) or (score or 0.0) >= gate.threshold


def _gated(
    role: Role[Output], attempt: int, judged: Judged[Output] | None, refusal: str, verdict: GateVerdict
) -> Gated:
    return Gated(
        role=role.agent.role,
        attempt=attempt,
        score=judged.score if judged else None,
        threshold=role.gate.threshold,
        critique=judged.critique if judged else "",
        problems=list(judged.problems) if judged else [refusal],
        verdict=verdict,
        output=judged.shown if judged else None,
    )


def _feedback(attempt: int, reply: Reply, judged: Judged[Output] | None, refusal: str) -> Feedback:
    return Feedback(
        attempt=attempt,
        reply=reply.text,
        problems=list(judged.problems) if judged else [refusal],
        critique=judged.critique if judged else "",
        score=judged.score if judged else None,
        shown=judged.shown if judged else None,
    )
