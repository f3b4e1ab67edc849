"""The adapter to pydantic-ai, with pydantic-ai's own test models."""

import json
import sys
from typing import Any

import pytest
from pydantic_ai import exceptions as theirs
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage

from plait.errors import ModelError, RequestRefused, TransientModelError, UserError
from plait.models.protocol import FunctionCalling, Message, Request, Settings, TokenUsage, ToolCall, Typed
from plait.models.providers import ProviderModel, provider_model

SCHEMA = {"type": "object", "properties": {"x": {"type": "string", "maxLength": 9}}, "required": ["x"]}
HELLO = (
    Message(role="system", content="be kind"),
    Message(role="user", content="one"),
    Message(role="assistant", content="two"),
    Message(role="user", content="three"),
)
TOOLS = ({"name": "calendar.search", "description": "Search.", "parameters": SCHEMA},)


class Provider:
    """A provider that answers with given parts, and keeps what it was asked."""

    def __init__(self, *parts: Any, fails: Exception | None = None, **response: Any) -> None:
        self.messages: list[ModelMessage] = []
        self.asked: list[AgentInfo] = []
        self._parts, self._fails, self._response = parts, fails, response

    def model(self, **profile: Any) -> ProviderModel:
        return ProviderModel("test:model", FunctionModel(self._answer, profile=profile))  # pyright: ignore[reportArgumentType]

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.messages, self.asked = messages, [info]
        if self._fails:
            raise self._fails
        return ModelResponse(parts=list(self._parts), **self._response)


class Paid(FunctionModel):
    """A model that a provider with known prices would serve."""

    @property
    def system(self) -> str:
        return "openai"


def test_the_price_of_a_known_model_is_known_before_it_is_asked() -> None:
    usage = TokenUsage(input_tokens=1000, output_tokens=1000)

    def answer(_: list[ModelMessage], __: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[])

    paid = ProviderModel("openai:gpt-4o-mini", Paid(answer, model_name="gpt-4o-mini"))
    assert 0 < paid.price(usage) < 0.01
    assert Provider().model().price(usage) == 0.0


async def test_messages_settings_and_usage_go_through() -> None:
    usage = RequestUsage(input_tokens=50, cache_read_tokens=30, output_tokens=4)
    provider = Provider(TextPart(content="four"), usage=usage)
    model = provider.model()
    settings = Settings(temperature=0.5, max_tokens=9, seed=3, stop=("END",))
    reply = await model.complete(Request(messages=HELLO, settings=settings))
    await model.aclose()
    await model.aclose()
    assert (reply.text, reply.finish) == ("four", "stop")
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens, reply.usage.output_tokens) == (
        50,
        30,
        4,
    )
    shape = [
        (type(message) is ModelRequest, [getattr(part, "content", None) for part in message.parts])
        for message in provider.messages
    ]
    assert shape == [(True, ["be kind", "one"]), (False, ["two"]), (True, ["three"])]
    assert provider.asked[0].model_settings == {
        "temperature": 0.5,
        "max_tokens": 9,
        "seed": 3,
        "stop_sequences": ["END"],
    }


async def test_a_typed_reply_is_an_output_schema_where_the_provider_has_them() -> None:
    provider = Provider(TextPart(content='{"x": "1"}'))
    model = provider.model(supports_json_schema_output=True)
    reply = await model.complete(Request(messages=HELLO, form=Typed(schema=SCHEMA, name="plan")))
    wanted = provider.asked[0].model_request_parameters
    assert (reply.text, wanted.output_mode) == ('{"x": "1"}', "native")
    assert wanted.output_object is not None
    assert wanted.output_object.json_schema == SCHEMA


async def test_a_typed_reply_is_else_a_tool_call() -> None:
    provider = Provider(ToolCallPart(tool_name="plan", args={"x": "1"}))
    reply = await provider.model().complete(Request(messages=HELLO, form=Typed(schema=SCHEMA, name="plan")))
    assert json.loads(reply.text) == {"x": "1"}
    assert (reply.finish, reply.tool_calls) == ("stop", ())
    assert [tool.name for tool in provider.asked[0].output_tools] == ["plan"]
    assert not provider.asked[0].allow_text_output


async def test_a_typed_reply_is_else_asked_for_in_words() -> None:
    provider = Provider(TextPart(content='{"x": "1"}'))
    model = provider.model(supports_tools=False)
    await model.complete(Request(messages=HELLO, form=Typed(schema=SCHEMA)))
    last = str(getattr(provider.messages[-1].parts[0], "content", ""))
    assert last.startswith("three\n\nReply with one JSON object")


async def test_pydantic_ais_own_test_model_fills_a_schema() -> None:
    model = ProviderModel("test:model", TestModel())
    reply = await model.complete(Request(messages=HELLO, form=Typed(schema=SCHEMA)))
    assert json.loads(reply.text) == {"x": "a"}


async def test_function_calling_maps_names_there_and_back() -> None:
    provider = Provider(ToolCallPart(tool_name="calendar__search", args='{"x": "1"}'))
    reply = await provider.model().complete(Request(messages=HELLO, form=FunctionCalling(tools=TOOLS)))
    assert [tool.name for tool in provider.asked[0].function_tools] == ["calendar__search"]
    assert reply.finish == "tool_calls"
    assert reply.tool_calls == (ToolCall(name="calendar.search", arguments={"x": "1"}),)


async def test_a_call_whose_arguments_are_no_json_comes_back_as_text() -> None:
    provider = Provider(ToolCallPart(tool_name="calendar__search", args='{"x": '))
    reply = await provider.model().complete(Request(messages=HELLO, form=FunctionCalling(tools=TOOLS)))
    assert (reply.text, reply.tool_calls) == ('calendar.search({"x": )', ())


async def test_a_reply_cut_at_the_limit_says_so() -> None:
    provider = Provider(TextPart(content="on and on"), finish_reason="length")
    assert (await provider.model().complete(Request(messages=HELLO))).finish == "length"


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (
            theirs.ModelRateLimitError("m", "slow down", body={"message": "slow"}),
            TransientModelError,
            "slow",
        ),
        (theirs.ModelServerError("m", "boom"), TransientModelError, "boom"),
        (theirs.ModelConnectionError("m", "reset"), TransientModelError, "cannot be reached: reset"),
        (theirs.ModelQuotaExceededError("m", "no credit"), ModelError, "no credit"),
        (
            theirs.ModelAuthenticationError("m", "bad sk-abcdefgh1234"),
            ModelError,
            r"bad \*\*\*. Check TEST_API_KEY",
        ),
        (theirs.ModelNotFoundError("m", "no\nsuch model"), ModelError, "no such model"),
        (theirs.UnexpectedModelBehavior("gibberish"), TransientModelError, "gibberish"),
        (theirs.UserError("no tools here"), ModelError, "no tools here"),
        (theirs.ModelHTTPError(400, "m", {"message": "too long"}), RequestRefused, "too long"),
        (theirs.ModelHTTPError(402, "m", {"message": "pay first"}), ModelError, "pay first"),
    ],
)
async def test_errors_are_translated(error: Exception, kind: type[ModelError], words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        await Provider(fails=error).model().complete(Request(messages=HELLO))
    assert type(caught.value) is kind
    assert caught.value.message.startswith("Model 'test:model'")
    assert "\n" not in caught.value.message


async def test_retry_after_is_kept() -> None:
    error = theirs.ModelRateLimitError("m", "slow", retry_after=7.0)
    with pytest.raises(TransientModelError) as caught:
        await Provider(fails=error).model().complete(Request(messages=HELLO))
    assert caught.value.retry_after_seconds == 7.0


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai.models", None)
    with pytest.raises(UserError, match=r"pip install 'plait\[providers\]'"):
        provider_model("anthropic:claude")


def test_a_missing_package_of_a_provider_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(UserError, match=r"pip install 'pydantic-ai-slim\[bedrock\]'"):
        provider_model("bedrock:model")


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    with pytest.raises(UserError, match="'deepseek:deepseek-chat' needs a key: set DEEPSEEK_API_KEY"):
        provider_model("deepseek:deepseek-chat")


def test_an_unknown_provider_is_told_what_is_known() -> None:
    with pytest.raises(UserError, match=r"Unknown provider 'nonsense'.*local, openai,.*anthropic"):
        provider_model("nonsense:model")
