"""Every provider without an endpoint of the usual kind (Anthropic, Google, Bedrock, ...), by pydantic-ai.

Knows nothing of retries or runs. pydantic-ai is an extra and slow to import, so it is imported when a
model is named that needs it, and not before; only its direct requests are used.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from plait.errors import ModelError, RequestRefused, TransientModelError, UserError
from plait.models.failures import REFUSED_STATUS, complaint_in, mask, one_line
from plait.models.prices import Prices
from plait.models.protocol import (
    Finish,
    FunctionCalling,
    Message,
    Reply,
    Request,
    Settings,
    TokenUsage,
    ToolCall,
    Typed,
)
from plait.models.wire import schema_prompt, wire_names

if TYPE_CHECKING:
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

COMMON_PROVIDERS = (
    "anthropic",
    "azure",
    "bedrock",
    "cohere",
    "deepseek",
    "google",
    "groq",
    "huggingface",
    "mistral",
    "openrouter",
    "together",
    "xai",
)
"""The providers that messages name; pydantic-ai knows more."""


def provider_model(name: str) -> ProviderModel:
    """Return the model that pydantic-ai knows as `provider:model`.

    Raises:
        UserError: the extra is missing, the provider unknown, or its key not set.
    """
    provider = name.partition(":")[0]
    try:
        from pydantic_ai.models import infer_model
    except ImportError as error:
        raise UserError(f"Model {name!r} needs an extra: pip install 'plait[providers]'") from error
    try:
        model = infer_model(name)
    except ImportError as error:
        found = re.search(r"pip install \"?([\w\-\[\]]+)", str(error))
        package = found[1] if found else "plait[providers]"
        raise UserError(f"Model {name!r} needs a package: pip install '{package}'") from error
    # What a provider's own library raises for a missing region or account is not ours to list.
    except Exception as error:
        raise _cannot_set_up(name, provider, str(error)) from error
    return ProviderModel(name, model)


def _cannot_set_up(name: str, provider: str, reason: str) -> UserError:
    if reason.startswith("Unknown model"):
        known = ", ".join(("local", "openai", "ollama", "vllm", "lmstudio", "llamacpp", *COMMON_PROVIDERS))
        return UserError(
            f"Unknown provider {provider!r} in model {name!r}; known are {known}. "
            "For any other compatible endpoint give --base-url."
        )
    variable = re.search(r"Set the `([A-Z][A-Z0-9_]+)`", reason)
    if variable:
        return UserError(f"Model {name!r} needs a key: set {variable[1]} in the environment.")
    return UserError(f"Model {name!r} cannot be set up: {mask(one_line(reason), None)}")


class ProviderModel:
    """A language model behind pydantic-ai."""

    takes_grammar = False

    def __init__(self, name: str, model: Model) -> None:
        """Wrap a model of pydantic-ai under the name that the user gave."""
        self.name = name
        self._model = model
        self._prices = Prices(model.model_name, model.base_url or "", model.system)
        self._entered = False

    def price(self, usage: TokenUsage) -> float:
        """Return what such a call costs; see `price_of`."""
        return self._prices.usd(usage)

    async def complete(self, request: Request) -> Reply:
        """Answer one request; see `LanguageModel.complete`."""
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import AgentRunError, UserError

        if not self._entered:
            self._entered = True
            await self._model.__aenter__()
        messages = list(request.messages)
        parameters = _parameters(request, messages, self._model)
        started = time.perf_counter()
        try:
            response = await model_request(
                self._model,
                _history(messages),
                model_settings=_settings(request.settings),
                model_request_parameters=parameters,
            )
        except AgentRunError as error:
            raise _translated(error, self.name) from error
        except UserError as error:
            raise ModelError(
                f"Model {self.name!r} cannot take the request: {one_line(str(error))}"
            ) from error
        return _reply(response, request, time.perf_counter() - started)

    async def aclose(self) -> None:
        """Let go of the provider's connections; safe to call twice."""
        if self._entered:
            self._entered = False
            await self._model.__aexit__(None, None, None)


def _settings(settings: Settings) -> ModelSettings:
    asked: ModelSettings = {"max_tokens": settings.max_tokens, "temperature": settings.temperature}
    if settings.seed is not None:
        asked["seed"] = settings.seed
    if settings.stop:
        asked["stop_sequences"] = list(settings.stop)
    return asked


def _parameters(request: Request, messages: list[Message], model: Model) -> ModelRequestParameters:
    """Return what pydantic-ai asks for besides the messages, to which a schema in words may be added."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    match request.form:
        case Typed(schema=schema, name=name):
            if model.profile.get("supports_json_schema_output"):
                wanted = OutputObjectDefinition(json_schema=dict(schema), name=name)
                return ModelRequestParameters(output_mode="native", output_object=wanted)
            if model.profile.get("supports_tools", True):
                tool = ToolDefinition(name=name, parameters_json_schema=dict(schema), kind="output")
                return ModelRequestParameters(
                    output_mode="tool", output_tools=[tool], allow_text_output=False
                )
            last = messages[-1]
            messages[-1] = Message(role=last.role, content=f"{last.content}\n\n{schema_prompt(schema)}")
        case FunctionCalling(tools=tools):
            names = wire_names(tool["name"] for tool in tools)
            offered = [
                ToolDefinition(
                    name=names[tool["name"]],
                    description=tool.get("description"),
                    parameters_json_schema=dict(tool["parameters"]),
                )
                for tool in tools
            ]
            return ModelRequestParameters(function_tools=offered, allow_text_output=False)
        case _:
            pass
    return ModelRequestParameters()


def _history(messages: Sequence[Message]) -> list[ModelMessage]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelRequestPart,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    history: list[ModelMessage] = []
    waiting: list[ModelRequestPart] = []
    for message in messages:
        if message.role != "assistant":
            part = SystemPromptPart if message.role == "system" else UserPromptPart
            waiting.append(part(content=message.content))
            continue
        if waiting:
            history.append(ModelRequest(parts=waiting))
            waiting = []
        history.append(ModelResponse(parts=[TextPart(content=message.content)]))
    if waiting:
        history.append(ModelRequest(parts=waiting))
    return history


def _reply(response: ModelResponse, request: Request, seconds: float) -> Reply:
    from pydantic_ai.messages import TextPart, ToolCallPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    found = [part for part in response.parts if isinstance(part, ToolCallPart)]
    finish: Finish = "length" if response.finish_reason == "length" else "stop"
    calls: tuple[ToolCall, ...] = ()
    if found and isinstance(request.form, Typed):
        text = found[0].args_as_json_str()
    elif found and isinstance(request.form, FunctionCalling):
        names = {wire: name for name, wire in wire_names(tool["name"] for tool in request.form.tools).items()}
        text, calls = _calls(found, names, text)
        finish = "tool_calls" if calls and finish == "stop" else finish
    return Reply(text=text, finish=finish, usage=_usage(response, seconds), tool_calls=calls)


def _calls(
    parts: Sequence[ToolCallPart], names: dict[str, str], text: str
) -> tuple[str, tuple[ToolCall, ...]]:
    """Read the calls; where one is not JSON its raw text is returned, for the agent to show the model."""
    calls: list[ToolCall] = []
    for part in parts:
        name = names.get(part.tool_name) or part.tool_name.replace("__", ".")
        try:
            arguments = part.args_as_dict(raise_if_invalid=True)
        except (ValueError, AssertionError):
            return f"{name}({part.args})", ()
        calls.append(ToolCall(name=name, arguments=arguments))
    return text, tuple(calls)


def _usage(response: ModelResponse, seconds: float) -> TokenUsage:
    try:
        usd = float(response.cost().total_price)
    # No price is known for the model, or the provider did not say which model answered.
    except (LookupError, AssertionError, ValueError):
        usd = 0.0
    usage = response.usage
    return TokenUsage(
        input_tokens=usage.input_tokens or 0,
        cached_input_tokens=usage.cache_read_tokens or 0,
        output_tokens=usage.output_tokens or 0,
        seconds=seconds,
        usd=usd,
    )


def _translated(error: AgentRunError, name: str) -> ModelError:
    from pydantic_ai import exceptions as theirs

    body = getattr(error, "body", None)
    said = mask(complaint_in(body) if body else one_line(error.message), None)
    match error:
        case theirs.ModelAuthenticationError():
            variable = f"{name.partition(':')[0].upper().replace('-', '_')}_API_KEY"
            return ModelError(f"Model {name!r}: the key was refused: {said}. Check {variable}.")
        case theirs.ModelConnectionError():
            return TransientModelError(f"Model {name!r}: its provider cannot be reached: {said}")
        case (
            theirs.ModelRateLimitError()
            | theirs.ModelUnavailableError()
            | theirs.ModelServerError()
            | theirs.ModelRequestTimeout()
        ):
            return TransientModelError(
                f"Model {name!r} failed: {said}", retry_after_seconds=error.retry_after
            )
        case theirs.ContentFilterError():
            return RequestRefused(f"Model {name!r}: the provider withheld the reply: {said}")
        case theirs.UnexpectedModelBehavior():
            return TransientModelError(f"Model {name!r} gave a reply that cannot be read: {said}")
        case _:
            kind = RequestRefused if getattr(error, "status_code", 0) in REFUSED_STATUS else ModelError
            return kind(f"Model {name!r} refused the request: {said}")
