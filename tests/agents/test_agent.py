"""An agent: how its requests are drawn, what is recorded of them, and what they cost."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.support.memory_journal import Memory, MemoryJournal

from plait.agents.agent import Agent, ask, reply_from_json, reply_to_json, request_to_json
from plait.errors import BudgetExhausted, TransientModelError
from plait.models.budget import Budget, Limits
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
from plait.models.retry import RetryingModel
from plait.models.scripted import Answer, FunctionModel, ScriptedModel, ServerError

PLENTY = Limits()
BRIEF = Settings(max_tokens=10)
HELLO = (Message(role="system", content="be brief"), Message(role="user", content="hello"))


def agent(script: list[Answer], *, limits: Limits = PLENTY, settings: Settings = BRIEF) -> Agent:
    return Agent(
        role="tester",
        strand="tests",
        model=ScriptedModel(script),
        budget=Budget(limits),
        settings=settings,
    )


def asked(form: Form) -> dict[str, Any]:
    someone = agent([])
    return request_to_json(someone, someone.request(HELLO, form))


def test_the_first_try_is_drawn_as_the_settings_say() -> None:
    settings = Settings(temperature=0.4, max_tokens=99, seed=3, stop=("END",))
    request = agent([], settings=settings).request(HELLO, Text())
    assert request == Request(messages=HELLO, form=Text(), settings=settings)


def test_without_a_seed_further_tries_have_none() -> None:
    request = agent([], settings=Settings(seed=None)).request(HELLO, Text(), attempt=3)
    assert request.settings.seed is None


def test_a_penalty_on_repetition_is_recorded_where_there_is_one() -> None:
    def settings_of(someone: Agent) -> Any:
        return request_to_json(someone, someone.request(HELLO, Text()))["settings"]

    assert "repetition_penalty" not in settings_of(agent([]))
    penalized = agent([], settings=Settings(repetition_penalty=1.1))
    assert settings_of(penalized)["repetition_penalty"] == 1.1


async def test_what_was_asked_and_answered_is_one_recorded_step() -> None:
    memory, someone = Memory(), agent(["hi"])
    request = someone.request(HELLO, Text())
    first = await ask(MemoryJournal(memory), someone, request, "greeting")
    second = await ask(MemoryJournal(memory), someone, request, "greeting")
    assert first == second
    assert first.text == "hi"
    assert memory.kinds == {"run/greeting": "model"}
    assert json.loads(json.dumps(memory.results)) == memory.results


async def test_a_call_is_reserved_before_it_is_made_and_settled_with_what_it_took() -> None:
    budget_during: list[float] = []
    usage = TokenUsage(input_tokens=20, output_tokens=5)

    def answer(_: Request) -> Reply:
        budget_during.append(someone.budget.remaining().calls)
        return Reply(text="hi", usage=usage)

    someone = agent([answer], limits=Limits(calls=3, tokens=1_000))
    await ask(MemoryJournal(Memory()), someone, someone.request(HELLO, Text()), "greeting")
    assert budget_during == [2]
    left = someone.budget.remaining()
    assert (left.calls, left.tokens) == (2, 975)


async def test_a_call_that_does_not_fit_is_not_made() -> None:
    someone = agent([], limits=Limits(tokens=5))
    with pytest.raises(BudgetExhausted):
        await ask(MemoryJournal(Memory()), someone, someone.request(HELLO, Text()), "greeting")


class PricedScript(ScriptedModel):
    """A model whose calls cost a tenth of a dollar at most, and just that."""

    def price(self, usage: TokenUsage) -> float:
        assert usage == TokenUsage(input_tokens=5, output_tokens=10)
        return 0.1


async def test_calls_at_once_cannot_overspend_the_money() -> None:
    paid = Reply(text="hi", usage=TokenUsage(usd=0.1))
    model = PricedScript([paid, paid])
    someone = replace(agent([], limits=Limits(usd=0.25)), model=model)
    request = someone.request(HELLO, Text())
    journal = MemoryJournal(Memory())
    calls = [ask(journal, someone, request, f"greeting-{number}") for number in range(3)]
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results] == [Reply, Reply, BudgetExhausted]
    model.assert_done()
    assert someone.budget.remaining().usd == pytest.approx(0.05)


async def test_a_failed_call_is_not_on_record_and_costs_nothing() -> None:
    memory, someone = Memory(), agent([ServerError(), "hi"], limits=Limits(calls=1))
    request = someone.request(HELLO, Text())
    with pytest.raises(TransientModelError):
        await ask(MemoryJournal(memory), someone, request, "greeting")
    assert memory.results == {}
    assert (await ask(MemoryJournal(memory), someone, request, "greeting")).text == "hi"


def test_free_text_is_recorded_as_its_messages() -> None:
    recorded = asked(Text())
    assert recorded["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hello"},
    ]
    assert (recorded["role"], recorded["strand"], recorded["model"]) == ("tester", "tests", "scripted")


async def never(_: Request) -> str:
    await asyncio.Event().wait()
    raise AssertionError("it waits for ever")


@pytest.mark.parametrize(
    "model",
    [
        FunctionModel(never),
        RetryingModel(FunctionModel(lambda _: TransientModelError("busy", retry_after_seconds=60))),
    ],
)
async def test_a_call_ends_with_the_time_of_the_run_whatever_it_waits_for(model: LanguageModel) -> None:
    someone = replace(agent([], limits=Limits(seconds=0.1)), model=model)
    with pytest.raises(BudgetExhausted, match=r"budget of 0\.1 seconds is used up.*--max-seconds") as caught:
        await ask(MemoryJournal(Memory()), someone, someone.request(HELLO, Text()), "try-1")
    assert caught.value.limit == "seconds"
    assert someone.budget.remaining().calls == PLENTY.calls


async def test_a_time_out_of_the_call_s_own_is_not_the_run_s() -> None:
    someone = replace(agent([]), model=FunctionModel(lambda _: TimeoutError("of the model's own")))
    with pytest.raises(TimeoutError, match="own"):
        await ask(MemoryJournal(Memory()), someone, someone.request(HELLO, Text()), "try-1")


@pytest.mark.parametrize(
    ("form", "kind", "content"),
    [
        (Grammar(gbnf='root ::= "yes"'), "grammar", 'root ::= "yes"'),
        (Typed(schema={"type": "object"}), "typed", '{"type":"object"}'),
        (FunctionCalling(tools=[{"name": "look"}]), "functioncalling", '[{"name":"look"}]'),
    ],
)
def test_what_binds_a_reply_leads_the_recorded_messages(form: Form, kind: str, content: str) -> None:
    recorded = asked(form)
    assert recorded["form"] == {"kind": kind}
    assert recorded["messages"][0] == {"role": "form", "content": content}
    assert [message["role"] for message in recorded["messages"]] == ["form", "system", "user"]


@pytest.mark.parametrize(
    "form", [Typed(schema={"const": "\udce9"}), FunctionCalling(tools=[{"name": "look", "about": "\udce9"}])]
)
async def test_what_binds_a_reply_need_not_be_unicode(form: Form) -> None:
    someone = agent(["yes"])
    reply = await ask(MemoryJournal(Memory()), someone, someone.request(HELLO, form), "try-1")
    assert reply.text == "yes"


def test_a_reply_survives_the_record() -> None:
    reply = Reply(
        text="",
        finish="tool_calls",
        usage=TokenUsage(input_tokens=9, cached_input_tokens=4, output_tokens=2, seconds=0.5, usd=0.01),
        tool_calls=(ToolCall(name="look", arguments={"where": ["here", 1]}),),
    )
    assert reply_from_json(json.loads(json.dumps(reply_to_json(reply)))) == reply
