"""An agent: a role, a model and how its replies are drawn; asking it is one recorded step.

Knows nothing of what the roles do. `ask` is the only place where a strand reaches a model: it
reserves the budget before the call and the journal records the reply before it is used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget, estimate
from plait.models.protocol import (
    Form,
    LanguageModel,
    Message,
    Reply,
    Request,
    Settings,
    TokenUsage,
    ToolCall,
)

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

    def request(self, messages: Sequence[Message], form: Form, attempt: int = 1) -> Request:
        """Return the request of try number `attempt`, from 1; further tries are drawn warmer."""
        settings = self.settings
        seed = None if settings.seed is None else settings.seed + attempt - 1
        temperature = min(1.0, settings.temperature + RETRY_WARMTH * (attempt - 1))
        return Request(
            messages=messages, form=form, settings=replace(settings, seed=seed, temperature=temperature)
        )


async def ask(journal: Journal, agent: Agent, request: Request, name: str) -> Reply:
    """Ask `agent` and return its reply, recorded as step `name`.

    Raises:
        BudgetExhausted: the call does not fit what is left.
        ModelError: the model cannot answer.
    """

    async def complete(_: JSONObject) -> JSON:
        async with agent.budget.reserve(tokens=estimate(request)) as reservation:
            reply = await agent.model.complete(request)
            reservation.settle(reply.usage)
        return reply_to_json(reply)

    args = {
        "role": agent.role,
        "strand": agent.strand,
        "model": agent.model.name,
        "form": form_to_json(request.form),
        "settings": asdict(request.settings),
        "messages": [asdict(message) for message in request.messages],
    }
    return reply_from_json(cast("Mapping[str, Any]", await journal.call(name, complete, args, kind="model")))


def form_to_json(form: Form) -> dict[str, Any]:
    """Return a form as it is recorded: its kind and what constrains it."""
    return {"kind": type(form).__name__.lower(), **asdict(form)}


def reply_to_json(reply: Reply) -> dict[str, Any]:
    """Return a reply as it is recorded."""
    return asdict(reply)


def reply_from_json(value: Mapping[str, Any]) -> Reply:
    """Return the reply that `reply_to_json` gave."""
    return Reply(
        text=value["text"],
        finish=value["finish"],
        usage=TokenUsage(**value["usage"]),
        tool_calls=tuple(ToolCall(**call) for call in value["tool_calls"]),
    )
