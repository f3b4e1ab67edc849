"""The Chat Completions client against an endpoint that behaves well, badly, or not at all."""

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.support.endpoint import (
    Answer,
    Endpoint,
    answers,
    closes,
    completion,
    fails,
    half_a_body,
    hangs,
    rate_limited,
    says,
    says_raw,
)

from plait.errors import ModelError, RequestRefused, TransientModelError, UserError
from plait.models.chat import ChatModel
from plait.models.protocol import FunctionCalling, Grammar, Message, Request, Settings, ToolCall, Typed
from plait.models.wire import Capabilities

SCHEMA = {"type": "object", "properties": {"x": {"type": "string", "maxLength": 9}}, "required": ["x"]}
HELLO = (Message(role="system", content="be kind"), Message(role="user", content="hello"))
TOOLS = (
    {"name": "calendar.search", "description": "Search.", "parameters": SCHEMA},
    {"name": "calendar__search", "description": "Another.", "parameters": SCHEMA},
)


def model_at(endpoint: Endpoint, **options: Any) -> ChatModel:
    return ChatModel("my:model", endpoint.base_url, "model", **options)


async def ask(endpoint: Endpoint, request: Request = Request(messages=HELLO), **options: Any) -> Any:  # noqa: B008
    model = model_at(endpoint, **options)
    try:
        return await model.complete(request)
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    ("penalty", "takes", "sent"),
    [(1.1, True, {"repeat_penalty": 1.1, "repeat_last_n": 256}), (1.0, True, {}), (1.1, False, {})],
)
async def test_a_repetition_penalty_goes_only_where_it_is_taken(
    penalty: float, takes: bool, sent: dict[str, Any]
) -> None:
    request = Request(messages=HELLO, settings=Settings(repetition_penalty=penalty))
    async with Endpoint([says("good day")]) as endpoint:
        await ask(endpoint, request, capabilities=Capabilities(repetition_penalty=takes))
    body = endpoint.bodies[0]
    assert {name: body[name] for name in body if name.startswith("repeat")} == sent


async def test_a_text_goes_there_and_back() -> None:
    usage = {
        "prompt_tokens": 40,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 30},
    }
    async with Endpoint([says("good day", usage=usage)]) as endpoint:
        settings = Settings(temperature=0.5, max_tokens=33, seed=7, stop=("END",))
        reply = await ask(endpoint, Request(messages=HELLO, settings=settings), api_key="secret-key")
    assert (reply.text, reply.finish, reply.tool_calls) == ("good day", "stop", ())
    used = reply.usage
    assert (used.input_tokens, used.cached_input_tokens, used.output_tokens, used.usd) == (40, 30, 7, 0.0)
    assert used.seconds > 0
    assert endpoint.bodies == [
        {
            "model": "model",
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "hello"},
            ],
            "max_tokens": 33,
            "temperature": 0.5,
            "seed": 7,
            "stop": ["END"],
        }
    ]
    assert endpoint.headers[0]["Authorization"] == "Bearer secret-key"


async def test_text_that_is_not_unicode_is_sent_all_the_same() -> None:
    async with Endpoint() as endpoint:
        await ask(endpoint, Request(messages=(Message(role="user", content="caf\udce9 ä"),)))
    assert endpoint.bodies[0]["messages"][0]["content"] == "caf? ä"


async def test_the_query_of_an_address_is_kept() -> None:
    queries: list[str] = []

    async def notes(request: web.Request) -> web.StreamResponse:
        queries.append(request.query_string)
        return await says("ok")(request)

    async with Endpoint([notes]) as endpoint:
        model = ChatModel("m", f"{endpoint.base_url}/?api-version=2", "m")
        await model.complete(Request(messages=HELLO))
        await model.aclose()
    assert queries == ["api-version=2"]


async def test_a_server_error_that_names_a_parameter_is_still_a_server_error() -> None:
    async with Endpoint([fails(500, "unexpected end, 'temperature' sensor not supported")]) as endpoint:
        with pytest.raises(TransientModelError, match="unexpected end"):
            await ask(endpoint)
    assert endpoint.requests == 1


async def test_a_reply_cut_at_the_limit_says_so() -> None:
    async with Endpoint([says("on and on", finish="length")]) as endpoint:
        assert (await ask(endpoint)).finish == "length"


async def test_llama_cpp_timings_stand_in_for_usage_and_extra_fields_are_sent() -> None:
    answer = completion("x", usage=None, timings={"prompt_n": 5, "cache_n": 95, "predicted_n": 3})
    async with Endpoint([answers(answer)]) as endpoint:
        reply = await ask(endpoint, extra={"cache_prompt": True, "id_slot": 2})
    assert (reply.usage.input_tokens, reply.usage.cached_input_tokens, reply.usage.output_tokens) == (
        100,
        95,
        3,
    )
    assert (endpoint.bodies[0]["cache_prompt"], endpoint.bodies[0]["id_slot"]) == (True, 2)


async def test_usage_is_estimated_where_none_is_reported() -> None:
    async with Endpoint([says("eight ch", usage=None)]) as endpoint:
        reply = await ask(endpoint)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (3, 2)


async def test_a_typed_reply_is_held_to_its_schema() -> None:
    async with Endpoint([says('{"x": "1"}')]) as endpoint:
        reply = await ask(endpoint, Request(messages=HELLO, form=Typed(schema=SCHEMA, name="plan")))
    assert reply.text == '{"x": "1"}'
    assert endpoint.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "plan", "schema": SCHEMA, "strict": True},
    }


async def test_a_refused_schema_becomes_a_tool_call_then_words_and_that_is_remembered() -> None:
    request = Request(messages=HELLO, form=Typed(schema=SCHEMA))
    script = [
        fails(400, "This response_format type is unavailable now"),
        fails(400, "tools are not supported"),
        says('{"x": "first"}'),
        says('{"x": "second"}'),
    ]
    async with Endpoint(script) as endpoint:
        model = model_at(endpoint)
        replies = [(await model.complete(request)).text, (await model.complete(request)).text]
        await model.aclose()
    assert replies == ['{"x": "first"}', '{"x": "second"}']
    _, tool, words, again = endpoint.bodies
    assert "response_format" not in tool
    assert tool["tools"][0]["function"]["parameters"] == SCHEMA
    assert tool["tool_choice"] == {"type": "function", "function": {"name": "reply"}}
    assert "tools" not in words
    assert words["messages"][-1]["content"].startswith("hello\n\nReply with one JSON object")
    assert again == words


async def test_a_tool_call_that_stands_for_a_typed_reply_is_its_text() -> None:
    call = {"function": {"name": "reply", "arguments": '{"x": "1"}'}}
    script = [says("", message={"tool_calls": [call]}, finish="tool_calls")]
    async with Endpoint(script) as endpoint:
        form = Typed(schema=SCHEMA)
        reply = await ask(
            endpoint, Request(messages=HELLO, form=form), capabilities=Capabilities(json_schema=False)
        )
    assert (reply.text, reply.finish, reply.tool_calls) == ('{"x": "1"}', "stop", ())


async def test_a_schema_too_rich_for_strict_mode_goes_loose_for_that_schema_only() -> None:
    complaint = "Invalid schema for response_format 'rich': 'required' must hold every key"
    async with Endpoint([fails(400, complaint), says("{}"), says("{}")]) as endpoint:
        model = model_at(endpoint)
        await model.complete(Request(messages=HELLO, form=Typed(schema=SCHEMA, name="rich")))
        await model.complete(Request(messages=HELLO, form=Typed(schema=SCHEMA, name="plain")))
        await model.aclose()
    strict = [body["response_format"]["json_schema"]["strict"] for body in endpoint.bodies]
    assert strict == [True, False, True]


async def test_a_grammar_is_sent_only_where_it_binds() -> None:
    request = Request(messages=HELLO, form=Grammar(gbnf='root ::= "a"'))
    script = [says("b"), says("a"), fails(400, "Unrecognized request argument: grammar"), says("b")]
    async with Endpoint(script) as endpoint:
        assert (await ask(endpoint, request)).text == "b"
        model = model_at(endpoint, capabilities=Capabilities(grammar=True))
        assert model.takes_grammar
        assert (await model.complete(request)).text == "a"
        assert (await model.complete(request)).text == "b"
        assert not model.takes_grammar
        await model.aclose()
    assert ["grammar" in body for body in endpoint.bodies] == [False, True, True, False]


async def test_a_broken_grammar_is_an_error_and_not_given_up_silently() -> None:
    request = Request(messages=HELLO, form=Grammar(gbnf="nonsense"))
    async with Endpoint([fails(400, "failed to parse grammar")]) as endpoint:
        with pytest.raises(ModelError, match="failed to parse grammar"):
            await ask(endpoint, request, capabilities=Capabilities(grammar=True))


async def test_function_calling_maps_names_there_and_back() -> None:
    called = [
        {"function": {"name": "calendar__search", "arguments": '{"x": "1"}'}},
        {"function": {"name": "calendar__search_", "arguments": {"x": "2"}}},
    ]
    script = [says("", message={"content": None, "tool_calls": called}, finish="tool_calls")]
    async with Endpoint(script) as endpoint:
        reply = await ask(endpoint, Request(messages=HELLO, form=FunctionCalling(tools=TOOLS)))
    assert reply.finish == "tool_calls"
    assert reply.tool_calls == (
        ToolCall(name="calendar.search", arguments={"x": "1"}),
        ToolCall(name="calendar__search", arguments={"x": "2"}),
    )
    body = endpoint.bodies[0]
    assert body["tool_choice"] == "required"
    assert [tool["function"]["name"] for tool in body["tools"]] == ["calendar__search", "calendar__search_"]


async def test_a_call_whose_arguments_are_no_json_comes_back_as_text() -> None:
    called = [{"function": {"name": "calendar__search", "arguments": '{"x": '}}]
    async with Endpoint([says("", message={"tool_calls": called})]) as endpoint:
        reply = await ask(endpoint, Request(messages=HELLO, form=FunctionCalling(tools=TOOLS)))
    assert (reply.text, reply.tool_calls) == ('calendar__search({"x": )', ())


async def test_parameters_that_an_endpoint_does_not_know_are_left_out() -> None:
    script = [
        fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        fails(400, "'temperature' does not support 0.2 with this model"),
        says("ok"),
    ]
    async with Endpoint(script) as endpoint:
        assert (await ask(endpoint)).text == "ok"
    last = endpoint.bodies[-1]
    assert last["max_completion_tokens"] == 1024
    assert {"temperature", "max_tokens"}.isdisjoint(last)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (fails(500, "boom"), TransientModelError, "boom"),
        (fails(503, "loading model"), TransientModelError, "loading model"),
        (fails(408), TransientModelError, "HTTP 408"),
        (fails(400, "prompt is\ntoo long"), RequestRefused, "prompt is too long"),
        (
            fails(401, "bad key sk-abcdefgh12345 my-secret"),
            ModelError,
            r"bad key \*\*\* \*\*\*.*PLAIT_API_KEY",
        ),
        (fails(404, "no such model"), ModelError, "no such model.*--base-url"),
        (fails(429, "You exceeded your current quota"), ModelError, "quota"),
        (answers({"detail": "nope"}, status=422), RequestRefused, "nope"),
        (fails(402, "pay first"), ModelError, "pay first"),
        (answers({}, status=307, headers={"Location": "https://b.example/v1"}), ModelError, "b.example"),
        (answers({"error": {"message": "upstream", "code": 502}}), TransientModelError, "upstream"),
        (answers({"error": "out of credit"}), ModelError, "out of credit"),
        (answers({"choices": []}), TransientModelError, "no Chat Completions reply"),
        (
            answers({"choices": [{"message": {"tool_calls": [{"function": "f"}]}}]}),
            TransientModelError,
            "readable",
        ),
        (answers([1]), TransientModelError, "no Chat Completions reply"),
        (says_raw(b'{"choices": ['), TransientModelError, "not JSON"),
        (says_raw(b"<html>hi</html>", "text/html"), ModelError, "web page"),
        (half_a_body, TransientModelError, "middle of its answer"),
        (closes, TransientModelError, "lost the connection"),
        (hangs, TransientModelError, "did not answer within 0.05 s"),
    ],
)
async def test_each_fault_is_one_clear_line(answer: Answer, kind: type[ModelError], words: str) -> None:
    async with Endpoint([answer]) as endpoint:
        with pytest.raises(ModelError, match=words) as caught:
            await ask(endpoint, api_key="my-secret", timeout_seconds=0.05)
    assert type(caught.value) is kind
    assert "\n" not in caught.value.message
    assert "my-secret" not in caught.value.message
    assert endpoint.base_url in caught.value.message


async def test_a_rate_limit_tells_when_to_come_back() -> None:
    async with Endpoint([rate_limited("7")]) as endpoint:
        with pytest.raises(TransientModelError, match="rate limited") as caught:
            await ask(endpoint)
    assert caught.value.retry_after_seconds == 7.0


async def test_an_endpoint_that_is_not_there_is_named() -> None:
    async with Endpoint() as endpoint:
        pass
    with pytest.raises(
        TransientModelError, match=r"cannot be reached.*Is it running\? Check --base-url"
    ) as caught:
        await ask(endpoint)
    assert endpoint.base_url in caught.value.message


async def test_models_share_connections_until_the_last_is_closed() -> None:
    async with Endpoint() as endpoint:
        first, second = model_at(endpoint), model_at(endpoint)
        await first.complete(Request(messages=HELLO))
        await first.aclose()
        await second.complete(Request(messages=HELLO))
        await asyncio.gather(first.aclose(), second.aclose(), second.aclose())
        reply = await second.complete(Request(messages=HELLO))
        await second.aclose()
    assert reply.text == "ok"


def test_a_model_can_be_used_in_one_loop_after_another() -> None:
    model: list[ChatModel] = []

    async def once() -> str:
        async with Endpoint() as endpoint:
            model.append(model_at(endpoint))
            reply = await model[-1].complete(Request(messages=HELLO))
            await model[-1].aclose()
            return reply.text

    assert [asyncio.run(once()), asyncio.run(once())] == ["ok", "ok"]


async def test_many_agents_call_at_once() -> None:
    async with Endpoint(latency=0.2) as endpoint:
        model = model_at(endpoint)
        await asyncio.gather(*(model.complete(Request(messages=HELLO)) for _ in range(150)))
        await model.aclose()
    assert (endpoint.requests, endpoint.most_at_once) == (150, 150)


async def test_cancelling_a_call_ends_it() -> None:
    arrived = asyncio.Event()

    async def arrives(request: web.Request) -> web.StreamResponse:
        arrived.set()
        return await hangs(request)

    async with Endpoint([arrives]) as endpoint:
        call = asyncio.create_task(ask(endpoint))
        await arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


@pytest.mark.parametrize("base_url", ["localhost:8080", "ftp://a/v1", "http://", "http://a:99999/v1", ""])
def test_an_address_that_is_none_is_refused(base_url: str) -> None:
    with pytest.raises(UserError, match="no HTTP address"):
        ChatModel("m", base_url, "m")


def test_an_address_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(UserError, match="password") as caught:
        ChatModel("m", "http://me:hunter2@host/v1", "m")
    assert "hunter2" not in caught.value.message
