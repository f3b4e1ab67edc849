"""A limit on money that cannot bind is not promised, and that is said once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from tests.support import notebook

from plait.cli.words import limits_text
from plait.errors import UserError
from plait.events import Noted, RunStarted
from plait.models.protocol import TokenUsage
from plait.models.scripted import FunctionModel
from plait.outfit.hands import Hands
from plait.outfit.pricing import check_model, pricing_notes
from plait.replaying import replay
from plait.runner import fork, resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options

LINE = "no price is known for model {!r}, so --max-usd does not bind"


class Paid(FunctionModel):
    def price(self, usage: TokenUsage) -> float:
        return usage.output_tokens * 1e-6


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ("m", {"base_url": "https://models.invalid/v1"}, True),
        ("m", {"base_url": "http://127.0.0.1:9/v1"}, False),
        ("m", {"base_url": "http://127.0.0.1:9/v1", "max_usd": 2.0}, True),
        ("ollama:qwen3", {}, False),
        ("local:qwen2.5-coder-0.5b", {}, False),
        ("local:qwen2.5-coder-0.5b", {"max_usd": 2.0}, True),
    ],
)
def test_no_price_is_said_where_that_may_be_a_surprise(model: str, more: dict[str, Any], said: bool) -> None:
    options = Options(model=model, **more)
    options = options.changed(asyncio.run(check_model(options, Hands())))
    assert options.unpriced
    assert list(pricing_notes(options, Hands())) == ([LINE.format(model)] if said else [])
    assert "$" not in limits_text(options.as_json())
    assert "calls" in limits_text(options.as_json())


def test_a_known_price_binds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    options = Options(model="openai:gpt-4o", max_usd=2.0)
    options = options.changed(asyncio.run(check_model(options, Hands())))
    assert not options.unpriced
    assert pricing_notes(options, Hands()) == ()
    assert "$2.00" in limits_text(options.as_json())


async def test_it_is_noted_with_the_run_and_does_not_disturb_a_replay(log: RunLog) -> None:
    tools = [notebook.read_page]
    free = Hands(tools=tools, model=FunctionModel(lambda _: "no call at all"), log=log)
    first = await start("read a page", Options(max_usd=2.0, max_calls=1), free)
    records = log.records(first.run_id)
    assert isinstance(records[0].event, RunStarted)
    assert records[0].event.options["unpriced"]
    assert notes(log, first.run_id) == [LINE.format("function")]
    result = await resume(first.run_id, free, changes={"max_calls": 99})
    assert result.status == "failed"
    assert notes(log, first.run_id) == [LINE.format("function")]
    await replay(result.run_id, log.records(result.run_id))

    paid = replace(free, model=Paid(lambda _: "no call at all"))
    forked = await fork(first.run_id, "round-1", {"max_calls": 1}, paid)
    started = log.records(forked.run_id)[0].event
    assert isinstance(started, RunStarted)
    assert not started.options["unpriced"]


async def test_it_is_noted_again_when_a_run_goes_on_with_another_model_or_limit(log: RunLog) -> None:
    paid = Hands(tools=[notebook.read_page], model=Paid(lambda _: "no call at all", name="dear"), log=log)
    first = await start("read a page", Options(max_usd=2.0, max_calls=1), paid)
    assert notes(log, first.run_id) == []
    free = replace(paid, model=FunctionModel(lambda _: "no call at all", name="free"))
    shown: list[str] = []
    watched = replace(free, on_event=lambda r: isinstance(r.event, Noted) and shown.append(r.event.text))
    await resume(first.run_id, watched, changes={"max_calls": 2})
    assert shown == notes(log, first.run_id) == [LINE.format("free")]
    await resume(first.run_id, free, changes={"max_calls": 3})
    assert notes(log, first.run_id) == [LINE.format("free")]
    result = await resume(first.run_id, free, changes={"max_calls": 99, "max_usd": 3.0})
    assert notes(log, first.run_id) == [LINE.format("free")] * 2
    await replay(result.run_id, log.records(result.run_id))


def notes(log: RunLog, run_id: str) -> list[str]:
    texts = [r.event.text for r in log.records(run_id) if isinstance(r.event, Noted)]
    return [text for text in texts if text.startswith("no price")]


def test_a_model_that_cannot_be_is_refused() -> None:
    with pytest.raises(UserError, match="names no provider"):
        asyncio.run(check_model(Options(model="nobody"), Hands()))
