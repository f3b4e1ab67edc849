"""Models for tests, ours and yours: one that answers from a script, one that is a function.

A script is a list of steps. A request takes the first unused step that fits it; a request that none
fits, and a step that nothing used, are failures of the test:

    async with ScriptedModel([
        ScriptStep("a plan", when="You are the planner"),       # only for a prompt with these words
        HalfJson('{"tool": "search"}'),                   # misbehave once
        lambda request: f"seen {len(request.messages)}",  # work it out
    ]) as model:
        ...

Knows nothing of agents: it sees requests and gives replies, with a plausible token usage so that
budgets and ledgers have something to count.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import orjson

from plait.errors import TransientModelError
from plait.models.protocol import Reply, Request, TokenUsage, Typed

CHARACTERS_PER_TOKEN = 4

Plain: TypeAlias = str | Reply | BaseException
"""A text, a whole reply, or what to raise."""


class Misbehaviour(Protocol):
    """A way to answer badly."""

    async def act(self, request: Request) -> Plain: ...


Answer: TypeAlias = Plain | Misbehaviour | Callable[[Request], "Plain | Awaitable[Plain]"]


class UnexpectedRequest(AssertionError):
    """A request that no step of the script fits.

    No PlaitError, so that nothing between the model and the test takes it for a fault to live with.
    """


@dataclass(frozen=True, kw_only=True)
class HalfJson:
    """Break off in the middle of the reply, as if it were whole."""

    text: str = '{"thought": "half", "score": 9}'

    async def act(self, request: Request) -> Plain:
        return self.text[: len(self.text) // 2]


@dataclass(frozen=True, kw_only=True)
class Empty:
    """Answer with nothing."""

    async def act(self, request: Request) -> Plain:
        return ""


@dataclass(frozen=True, kw_only=True)
class WrongTypes:
    """Answer with the asked fields, each of a wrong type."""

    async def act(self, request: Request) -> Plain:
        asked: Mapping[str, Any] = {"reply": {}}
        if isinstance(request.form, Typed):
            asked = request.form.schema.get("properties", asked)
        # Nothing but a null is wrong for every type a reply asks for; a list of it is wrong for null too.
        return orjson.dumps({name: [None] for name in asked}).decode()


@dataclass(frozen=True, kw_only=True)
class RateLimited:
    """Answer 429, and when to come back."""

    retry_after: float | None = None

    async def act(self, request: Request) -> Plain:
        return TransientModelError("scripted: rate limited", retry_after_seconds=self.retry_after)


@dataclass(frozen=True, kw_only=True)
class ServerError:
    """Answer 500."""

    async def act(self, request: Request) -> Plain:
        return TransientModelError("scripted: server error")


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Answer late."""

    seconds: float
    reply: str | Reply = "late"

    async def act(self, request: Request) -> Plain:
        await asyncio.sleep(self.seconds)
        return self.reply


@dataclass(frozen=True, kw_only=True)
class CutAtLimit:
    """Run into the token limit: the text so far, marked as cut."""

    text: str = "and on and on and on"

    async def act(self, request: Request) -> Plain:
        return Reply(text=self.text, finish="length")


@dataclass(frozen=True)
class ScriptStep:
    """An answer, and which requests it is for."""

    answer: Answer
    when: str | Callable[[Request], bool] | None = None
    """Words of the prompt, or a test of the request; None fits every request."""

    def fits(self, request: Request) -> bool:
        """Whether this step is meant for the request."""
        if self.when is None:
            return True
        return self.when in prompt(request) if isinstance(self.when, str) else self.when(request)


class FunctionModel:
    """A model that is a function of the request, sync or async."""

    def __init__(
        self, answer: Callable[[Request], Any], *, name: str = "function", takes_grammar: bool = False
    ) -> None:
        """`answer` returns a text, a Reply, an exception to raise, or a misbehaviour."""
        self.name = name
        self.takes_grammar = takes_grammar
        self.requests: list[Request] = []
        """Every request so far, in the order they came."""
        self._function = answer

    async def complete(self, request: Request) -> Reply:
        """Answer one request."""
        self.requests.append(request)
        return await _answer(self._function, request)

    async def aclose(self) -> None:
        """Nothing to give back."""


class ScriptedModel(FunctionModel):
    """A model that answers from a script and fails on what the script does not foresee."""

    def __init__(
        self, steps: Sequence[Answer | ScriptStep], *, name: str = "scripted", takes_grammar: bool = False
    ) -> None:
        super().__init__(self._next, name=name, takes_grammar=takes_grammar)
        self._steps = [step if isinstance(step, ScriptStep) else ScriptStep(step) for step in steps]
        self._unexpected: list[str] = []

    def assert_done(self) -> None:
        """Raise AssertionError if a step is unused, or a request was unexpected and that went unheard."""
        if self._unexpected:
            raise UnexpectedRequest(self._unexpected[0])
        if self._steps:
            listed = "\n".join(f"  {step!r}" for step in self._steps)
            raise AssertionError(f"{len(self._steps)} steps of {self.name} were not used:\n{listed}")

    async def __aenter__(self) -> "ScriptedModel":
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        await self.aclose()
        if kind is None:
            self.assert_done()

    def _next(self, request: Request) -> Answer:
        for position, step in enumerate(self._steps):
            if step.fits(request):
                return self._steps.pop(position).answer
        number = len(self.requests)
        message = (
            f"request {number} of {self.name} fits none of the {len(self._steps)} steps left; "
            f"its prompt ends: {prompt(request)[-500:]!r}"
        )
        self._unexpected.append(message)
        raise UnexpectedRequest(message)


def prompt(request: Request) -> str:
    """Return all that the model is shown, as one text."""
    return "\n".join(message.content for message in request.messages)


async def _answer(answer: Any, request: Request) -> Reply:
    while not isinstance(answer, str | Reply):
        if isinstance(answer, BaseException):
            raise answer
        if hasattr(answer, "act"):
            answer = await answer.act(request)
        elif callable(answer):
            answer = answer(request)
        elif inspect.isawaitable(answer):
            answer = await answer
        else:
            raise TypeError(f"{answer!r} is no answer: give a text, a Reply, an exception or a function")
    reply = Reply(text=answer) if isinstance(answer, str) else answer
    if reply.usage != TokenUsage():
        return reply
    return replace(
        reply,
        usage=TokenUsage(
            input_tokens=sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN,
            output_tokens=len(reply.text) // CHARACTERS_PER_TOKEN,
        ),
    )
