"""An agent: a role, a model and how its replies are drawn; asking it is one recorded step.

Knows nothing of what the roles do. `ask` is the only place where a strand reaches a model: it
reserves the budget before the call and the journal records the reply before it is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from plait.errors import LogError
from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget
from plait.models.encoding import encoded
from plait.models.estimate import estimate
from plait.models.prices import price_of
from plait.models.protocol import (
    Form,
    FunctionCalling,
    Grammar,
    LanguageModel,
    Message,
    Reply,
    Request,
    Settings,
    Text,
    TokenUsage,
    ToolCall,
    Typed,
)

ROUND_WARMTH = 0.15
"""Added to the temperature per further round."""
SEEDS_PER_ROUND = 1_000
RETRY_WARMTH = 0.3
"""Added to the temperature per further try, so that a refused reply is not drawn again."""


@dataclass(frozen=True, kw_only=True)
class Agent:
    """Who is asked: the same role with the same model and settings throughout a run."""

    role: str
    strand: str
    model: LanguageModel
    budget: Budget
    settings: Settings

    def at_round(self, number: int) -> "Agent":
        """Return the agent of round `number`, from 1: with seeds of its own, and warmer."""
        seed = None if self.settings.seed is None else self.settings.seed + SEEDS_PER_ROUND * (number - 1)
        temperature = warmer(self.settings.temperature, ROUND_WARMTH * (number - 1))
        return replace(self, settings=replace(self.settings, seed=seed, temperature=temperature))

    def request(self, messages: Sequence[Message], form: Form, attempt: int = 1) -> Request:
        """Return the request of try number `attempt`, from 1; further tries are drawn warmer."""
        settings = self.settings
        seed = None if settings.seed is None else settings.seed + attempt - 1
        temperature = warmer(settings.temperature, RETRY_WARMTH * (attempt - 1))
        return Request(
            messages=messages, form=form, settings=replace(settings, seed=seed, temperature=temperature)
        )


def warmer(temperature: float, by: float) -> float:
    """Return a higher temperature, at most 1 unless the user set a higher one."""
    return max(temperature, min(1.0, temperature + by))


async def ask(journal: Journal, agent: Agent, request: Request, name: str) -> Reply:
    """Ask `agent` and return its reply, recorded as step `name`.

    Raises:
        BudgetExhausted: the call does not fit what is left, or the time is over before it ends.
        ModelError: the model cannot answer.
        LogError: the reply on record cannot be read.
    """

    async def complete(_: JSONObject) -> JSON:
        most = estimate(request)
        tokens, usd = most.input_tokens + most.output_tokens, price_of(agent.model, most)
        budget = agent.budget
        # A call with all its retries must not outlast the run's time.
        async with budget.in_time(), budget.reserve(tokens=tokens, usd=usd) as reservation:
            reply = await agent.model.complete(request)
            reservation.settle(reply.usage)
        return reply_to_json(reply)

    result = await journal.call(name, complete, request_to_json(agent, request), kind="model")
    try:
        reply = reply_from_json(cast("Mapping[str, Any]", result))
    except (KeyError, TypeError, AttributeError) as error:
        place = f"{journal.path}/{name}"
        raise LogError(
            f"the reply on record of step {place!r} cannot be read: {str(result)[:80]!r}"
        ) from error
    if journal.recalled(name):
        # A part of the run that was resumed has spent what its steps on record cost.
        agent.budget.recall(reply.usage)
    return reply


def request_to_json(agent: Agent, request: Request) -> dict[str, JSON]:
    """Return a request as it is recorded.

    The form leads the messages as one of its own, of role `form`: like the rest of a prompt it is then
    stored once, however many requests begin with it.
    """
    settings, form = request.settings, request.form
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    if (content := _form_text(form)) is not None:
        messages.insert(0, {"role": "form", "content": content})
    return {
        "role": agent.role,
        "strand": agent.strand,
        "model": agent.model.name,
        "form": {"kind": type(form).__name__.lower()},
        "settings": _settings_to_json(settings),
        "messages": messages,
    }


def _settings_to_json(settings: Settings) -> dict[str, JSON]:
    shown: dict[str, JSON] = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "seed": settings.seed,
        "stop": list(settings.stop),
    }
    # Left out where there is none, so that a record from before it existed still answers.
    if settings.repetition_penalty != 1.0:
        shown["repetition_penalty"] = settings.repetition_penalty
    return shown


def _form_text(form: Form) -> str | None:
    """Return what constrains a reply, as text; None for free text."""
    match form:
        case Text():
            return None
        case Grammar():
            return form.gbnf
        case Typed():
            return encoded(form.schema).decode()
        case FunctionCalling():
            return encoded(list(form.tools)).decode()


def reply_to_json(reply: Reply) -> dict[str, JSON]:
    """Return a reply as it is recorded."""
    usage = reply.usage
    return {
        "text": reply.text,
        "finish": reply.finish,
        "usage": {
            "input_tokens": usage.input_tokens,
            "cached_input_tokens": usage.cached_input_tokens,
            "output_tokens": usage.output_tokens,
            "seconds": usage.seconds,
            "usd": usage.usd,
        },
        "tool_calls": [{"name": call.name, "arguments": call.arguments} for call in reply.tool_calls],
    }


def reply_from_json(value: Mapping[str, Any]) -> Reply:
    """Return the reply that `reply_to_json` gave."""
    return Reply(
        text=value["text"],
        finish=value["finish"],
        usage=TokenUsage(**value["usage"]),
        tool_calls=tuple(ToolCall(**call) for call in value["tool_calls"]),
    )
