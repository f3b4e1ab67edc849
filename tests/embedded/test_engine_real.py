"""The embedded engine with real weights: the small model, a few dozen tokens."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from plait.errors import UserError
from plait.models import catalogue
from plait.models.embeddings import local_embedder
from plait.models.engine import local_model, stop_engines
from plait.models.fetch import pull
from plait.models.progress import terminal_progress
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
    Typed,
)
from plait.paths import log_folder, prefixes_folder

pytestmark = pytest.mark.embedded
NAME = "local:qwen2.5-coder-0.5b"
RULES = (
    "You answer in one short line. " + "Read the question, think of its parts, and say what is asked. " * 8
)
PREFIX_TOKENS = 100
"""Fewer than RULES has."""
WEATHER = {
    "name": "weather.get",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


@pytest.fixture
async def model() -> AsyncIterator[LanguageModel]:
    # Before the tests look at what is printed: the first run of all fetches the weights.
    with terminal_progress() as progress:
        await asyncio.to_thread(pull, catalogue.find_chat_model(NAME.removeprefix("local:")), progress)
    used = local_model(NAME)
    yield used
    await used.aclose()
    stop_engines()


async def answer(model: LanguageModel, text: str, form: Form | None = None, max_tokens: int = 24) -> Reply:
    messages = [Message(role="system", content=RULES), Message(role="user", content=text)]
    settings = Settings(temperature=0.0, max_tokens=max_tokens)
    return await model.complete(Request(messages=messages, form=form or Text(), settings=settings))


async def test_forms_hold_and_prefixes_last(model: LanguageModel, capfd: pytest.CaptureFixture[str]) -> None:
    first = await answer(model, "Is 7 an odd number?", Grammar(gbnf='root ::= "yes" | "no"'))
    assert first.text in ("yes", "no")
    assert first.usage.cached_input_tokens < PREFIX_TOKENS

    typed = await answer(
        model,
        "How many days has a week?",
        Typed(schema={"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}),
    )
    assert isinstance(orjson.loads(typed.text)["days"], int)
    assert typed.usage.cached_input_tokens > PREFIX_TOKENS

    called = await answer(model, "What is the weather in Rome?", FunctionCalling(tools=[WEATHER]), 60)
    assert called.tool_calls[0].name == "weather.get"
    assert called.tool_calls[0].arguments.keys() == {"city"}

    cut = await answer(model, "Count from 1 to 100.", max_tokens=5)
    assert (cut.finish, cut.usage.output_tokens) == ("length", 5)

    stop_engines()
    warm = await answer(model, "Is 8 an odd number?", Grammar(gbnf='root ::= "yes" | "no"'))
    assert warm.usage.cached_input_tokens > PREFIX_TOKENS
    assert list(prefixes_folder().glob("*.state"))
    assert capfd.readouterr() == ("", "")
    assert (log_folder() / "engine-qwen2.5-coder-0.5b.log").stat().st_size > 0


async def test_a_call_that_is_given_up_frees_the_engine(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_ENGINE_SLOTS", "1")
    call = asyncio.create_task(answer(model, "Write a long story.", max_tokens=4000))
    while not call.done() and not list(prefixes_folder().glob("*.state")):
        await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    # With one slot, this call waits for as long as the engine goes on with the other.
    async with asyncio.timeout(30):
        assert (await answer(model, "Say hello.", max_tokens=3)).usage.output_tokens > 0


async def test_damaged_weights_are_one_line(tmp_path: Path) -> None:
    whole = catalogue.find_model(NAME).file
    damaged = tmp_path / "damaged.gguf"
    with whole.open("rb") as weights:
        damaged.write_bytes(weights.read(20 << 20))
    catalogue.add_model("cut-short", damaged)
    try:
        with pytest.raises(UserError, match="is damaged") as caught:
            await answer(local_model("cut-short"), "hello")
        assert "plait models rm cut-short" in caught.value.message
    finally:
        catalogue.remove_model(catalogue.find_model("cut-short"))


async def test_paraphrases_are_nearer_than_other_matters() -> None:
    one, same, other = await local_embedder().embed(
        ["Cancel the next meeting with Dana", "Delete my upcoming appointment with Dana", "Stock prices fell"]
    )
    assert sum(a * b for a, b in zip(one, same, strict=True)) > 0.6
    assert sum(a * b for a, b in zip(one, other, strict=True)) < 0.3
