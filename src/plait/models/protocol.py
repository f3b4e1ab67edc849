"""What a language model is to Plait: a request goes in, a reply with its usage comes out.

Knows nothing of HTTP, engines, agents or logs. Every model, real or scripted, and every wrapper
(retries, budgets) is a `LanguageModel`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

MessageRole = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "repetition", "tool_calls"]


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a chat."""

    role: MessageRole
    content: str


@dataclass(frozen=True, kw_only=True)
class Text:
    """Any text; fenced replies are text too, read by `models.fenced`."""


@dataclass(frozen=True, kw_only=True)
class Typed:
    """JSON under a schema: constrained where the endpoint can, else a tool call, else prompted."""

    schema: Mapping[str, Any]
    """JSON schema of an object; every string and list in it is bounded."""
    name: str = "reply"


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """Text under a grammar (GBNF), where the endpoint takes one; elsewhere the prompt must do."""

    gbnf: str


@dataclass(frozen=True, kw_only=True)
class FunctionCalling:
    """One call of an offered tool through the provider's own function calling."""

    tools: Sequence[Mapping[str, Any]]
    """Each: name, description, parameters (JSON schema)."""


Form: TypeAlias = Text | Typed | Grammar | FunctionCalling


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a reply is drawn."""

    temperature: float = 0.2
    max_tokens: int = 1024
    seed: int | None = None
    stop: Sequence[str] = ()
    repetition_penalty: float = 1.0
    """Above 1, what was said lately is less likely; models that do not take it go without."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything a model is given for one reply."""

    messages: Sequence[Message]
    form: Form = Text()
    settings: Settings = Settings()


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call the provider's function calling returned."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class TokenUsage:
    """Tokens and time of one call."""

    input_tokens: int = 0
    cached_input_tokens: int = 0
    """Part of `input_tokens` that came from a prefix cache."""
    output_tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    """0 for local models and where no price is known."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered."""

    text: str
    finish: Finish = "stop"
    """`length`: cut at `max_tokens`, and so not to be used; `repetition`: cut where it goes in circles."""
    usage: TokenUsage = TokenUsage()
    tool_calls: Sequence[ToolCall] = ()


class LanguageModel(Protocol):
    """Anything that answers requests."""

    @property
    def name(self) -> str:
        """As the user names it, for instance `local:qwen2.5-coder-1.5b`."""
        ...

    @property
    def takes_grammar(self) -> bool:
        """Whether a `Grammar` form really binds the reply."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            TransientModelError: worth another try.
            ModelError: not worth another try.
        """
        ...

    async def aclose(self) -> None:
        """Give back what it holds; safe to call twice."""
        ...
