"""The public models for tests."""

import asyncio
import json
from typing import Any

import pytest

from plait.errors import ModelError, TransientModelError
from plait.models.protocol import Message, Reply, Request, TokenUsage, Typed
from plait.models.scripted import (
    Answer,
    CutAtLimit,
    Empty,
    FunctionModel,
    HalfJson,
    RateLimited,
    ScriptedModel,
    ScriptStep,
    ServerError,
    Slow,
    UnexpectedRequest,
    WrongTypes,
)


def asked(text: str, form: Any = None) -> Request:
    messages = (Message(role="system", content="You are a tester."), Message(role="user", content=text))
    return Request(messages=messages) if form is None else Request(messages=messages, form=form)


async def test_steps_answer_in_order_and_requests_are_kept() -> None:
    async def later(request: Request) -> str:
        await asyncio.sleep(0)
        return f"{len(request.messages)} messages"

    whole = Reply(text="whole", usage=TokenUsage(input_tokens=1))
    async with ScriptedModel(["text", whole, lambda r: r.messages[-1].content.upper(), later]) as model:
        replies = [await model.complete(asked(text)) for text in ("a", "b", "c", "d")]
    assert [reply.text for reply in replies] == ["text", "whole", "C", "2 messages"]
    assert replies[1] is whole
    assert [request.messages[-1].content for request in model.requests] == ["a", "b", "c", "d"]


async def test_a_matcher_gives_each_agent_its_own_reply() -> None:
    steps = [
        ScriptStep("plan", when="planner"),
        ScriptStep("act", when=lambda request: request.messages[-1].content.endswith("actor")),
        "anyone",
    ]
    async with ScriptedModel(steps) as model:
        texts = [(await model.complete(asked(who))).text for who in ("the actor", "whoever", "the planner")]
    assert texts == ["act", "anyone", "plan"]


async def test_an_unexpected_request_fails_now_and_at_the_end() -> None:
    model = ScriptedModel([ScriptStep("plan", when="planner")])
    with pytest.raises(UnexpectedRequest, match=r"request 1 of scripted fits none of the 1 steps.*the actor"):
        await model.complete(asked("the actor"))
    await model.complete(asked("the planner"))
    with pytest.raises(UnexpectedRequest, match="the actor"):
        model.assert_done()


async def test_unused_steps_fail_unless_the_test_failed_before() -> None:
    with pytest.raises(AssertionError, match=r"1 steps of scripted were not used:\n.*never asked"):
        async with ScriptedModel(["never asked"]):
            pass
    with pytest.raises(ZeroDivisionError):
        async with ScriptedModel(["never asked"]):
            raise ZeroDivisionError


@pytest.mark.parametrize(
    ("step", "text", "finish"),
    [
        (HalfJson(text='{"a": 1}'), '{"a"', "stop"),
        (Empty(), "", "stop"),
        (Slow(seconds=0.0, reply="at last"), "at last", "stop"),
        (CutAtLimit(text="and on"), "and on", "length"),
    ],
)
async def test_bad_replies(step: Answer, text: str, finish: str) -> None:
    reply = await ScriptedModel([step]).complete(asked("go"))
    assert (reply.text, reply.finish) == (text, finish)


async def test_wrong_types_has_the_asked_fields() -> None:
    schema = {"type": "object", "properties": {"goal": {"type": "string"}, "score": {"type": "number"}}}
    reply = await ScriptedModel([WrongTypes()]).complete(asked("go", Typed(schema=schema)))
    assert json.loads(reply.text) == {"goal": [None], "score": [None]}


@pytest.mark.parametrize(
    ("step", "kind", "wait"),
    [
        (RateLimited(retry_after=2.0), TransientModelError, 2.0),
        (ServerError(), TransientModelError, None),
        (ModelError("dead"), ModelError, None),
    ],
)
async def test_failures_are_raised(step: Answer, kind: type[ModelError], wait: float | None) -> None:
    with pytest.raises(kind) as caught:
        await ScriptedModel([step]).complete(asked("go"))
    assert getattr(caught.value, "retry_after_seconds", None) == wait


async def test_usage_is_plausible() -> None:
    reply = await FunctionModel(lambda request: "x" * 40).complete(asked("y" * 23))
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (10, 10)


async def test_a_function_may_misbehave_and_its_requests_are_kept() -> None:
    model = FunctionModel(lambda request: Empty(), name="mine", takes_grammar=True)
    assert (await model.complete(asked("go"))).text == ""
    assert (model.name, model.takes_grammar, len(model.requests)) == ("mine", True, 1)


async def test_an_answer_of_no_known_kind_is_a_mistake_of_the_test() -> None:
    with pytest.raises(TypeError, match="3 is no answer"):
        await FunctionModel(lambda request: 3).complete(asked("go"))
