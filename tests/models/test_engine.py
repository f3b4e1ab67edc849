"""Local models in the embedded engine, with a child process that stands for llama.cpp."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plait.errors import ModelError, TransientModelError, UserError
from plait.models import catalogue, engine, llama
from plait.models.engine import local_model, stop_engines
from plait.models.engine_wire import CIRCLING_CHARACTERS, is_circling, without_circles
from plait.models.protocol import FunctionCalling, Grammar, LanguageModel, Message, Request
from plait.paths import prefixes_folder

from . import fake_engine
from .model_files import flip, small_gguf

RULES = "You are the tool agent. Rules: " + "choose one tool and give its parameters. " * 10
OTHER_RULES = "You are the planner. Rules: " + "split the task, and say why in one line. " * 10
WEATHER = {"name": "weather.get", "description": "w", "parameters": {"type": "object", "properties": {}}}


class Told:
    """What the engine was asked, in order."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, key: str) -> list[Any]:
        lines = self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else []
        return [said[key] for said in map(json.loads, lines) if key in said]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Told:
    file = tmp_path / "told"
    monkeypatch.setenv("FAKE_ENGINE_TOLD", str(file))
    monkeypatch.setattr(llama, "engine_process", SimpleNamespace(__file__=fake_engine.__file__))
    monkeypatch.setattr(llama, "require_engine", lambda: "1.0")
    monkeypatch.setattr(engine, "require_engine", lambda: "1.0")
    monkeypatch.setenv("PLAIT_ENGINE_SLOTS", "4")
    (tmp_path / "mine.gguf").write_bytes(small_gguf())
    catalogue.add_model("mine", tmp_path / "mine.gguf")
    return Told(file)


@pytest.fixture
async def model(told: Told) -> AsyncIterator[LanguageModel]:
    used = local_model("local:mine")
    yield used
    await used.aclose()
    stop_engines()


def ask(text: str, rules: str = RULES, form: Any = None) -> Request:
    messages = [Message(role="system", content=rules), Message(role="user", content=text)]
    return Request(messages=messages, **({"form": form} if form else {}))


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_all_calls_of_a_process_share_one_engine(model: LanguageModel, told: Told) -> None:
    another = local_model("mine")
    replies = await asyncio.gather(*[used.complete(ask("hello")) for used in (model, another, model)])
    await another.aclose()
    assert [reply.text for reply in replies] == ["done"] * 3
    assert len(told("started")) == 1


async def test_nothing_starts_before_the_first_call(model: LanguageModel, told: Told) -> None:
    assert model.takes_grammar
    assert model.name == "local:mine"
    assert told("started") == []


async def test_a_stable_beginning_is_read_once_by_many_at_once(
    model: LanguageModel, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ENGINE", "slow")
    replies = await asyncio.gather(*[model.complete(ask(f"subtask {number}")) for number in range(6)])
    assert len(told("read")) == 1
    fresh = [reply.usage.input_tokens - reply.usage.cached_input_tokens for reply in replies]
    assert sum(count > len(RULES) for count in fresh) == 1


async def test_agents_in_turn_do_not_evict_one_another(model: LanguageModel, told: Told) -> None:
    for round_number in range(3):
        for rules in (RULES, OTHER_RULES):
            reply = await model.complete(ask(f"step {round_number}", rules))
            fresh = reply.usage.input_tokens - reply.usage.cached_input_tokens
            assert round_number == 0 or fresh < 20
    assert len(told("read")) == 2


async def test_a_new_process_starts_warm(model: LanguageModel, told: Told) -> None:
    await model.complete(ask("first"))
    stop_engines()
    reply = await model.complete(ask("second"))
    assert len(told("started")) == 2
    assert len(told("read")) == 1
    assert reply.usage.cached_input_tokens > len(RULES)


async def test_text_that_is_not_unicode_is_read_all_the_same(model: LanguageModel, told: Told) -> None:
    for rules in (RULES, f"{RULES} caf\udce9", RULES):
        assert (await model.complete(ask("na\udcefve", rules))).text == "done"
    odd = FunctionCalling(tools=[{**WEATHER, "description": "caf\udce9"}])
    assert (await model.complete(ask("call", form=odd))).tool_calls[0].name == "weather.get"
    assert told("chat") == ["na?ve"] * 3 + ["call"]


async def test_a_folder_that_cannot_be_made_is_one_line(model: LanguageModel) -> None:
    prefixes_folder().touch()
    with pytest.raises(UserError, match="prefixes' cannot be made: File exists; set PLAIT_HOME"):
        await model.complete(ask("hello"))


async def test_damaged_and_lost_states_are_read_anew(model: LanguageModel, told: Told) -> None:
    await model.complete(ask("first"))
    stop_engines()
    (state,) = prefixes_folder().glob("*.state")
    state.write_bytes(b"damaged")
    assert (await model.complete(ask("second"))).text == "done"
    assert len(told("read")) == 2
    (state,) = prefixes_folder().glob("*.state")
    state.unlink()
    busy = [model.complete(ask(f"elsewhere {number}")) for number in range(4)]
    assert [reply.text for reply in await asyncio.gather(*busy)] == ["done"] * 4


async def test_a_call_that_is_given_up_is_given_up_by_the_engine(model: LanguageModel, told: Told) -> None:
    call = asyncio.create_task(model.complete(ask("forever")))
    await until(lambda: "forever" in told("chat"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await until(lambda: told("gave_up"))
    assert (await model.complete(ask("hello"))).text == "done"


async def test_a_reply_that_goes_in_circles_is_broken_off(model: LanguageModel, told: Told) -> None:
    reply = await model.complete(ask("in circles"))
    assert reply.finish == "repetition"
    await until(lambda: told("gave_up"))
    assert reply.text.startswith("0 1 2 ")
    assert reply.text.rstrip().endswith("98 99 again")
    assert CIRCLING_CHARACTERS < (reply.usage.output_tokens - 100) * len("again ") < 2 * CIRCLING_CHARACTERS
    assert reply.usage.input_tokens > len(RULES)
    assert (await model.complete(ask("hello"))).text == "done"


def circling(period: int, rounds: float) -> str:
    line = "".join(chr(ord("a") + place % 26) + str(place) for place in range(period))[: period - 1] + "\n"
    return "Once upon a time.\n" + (line * 100)[: int(period * rounds)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (circling(20, 31.9), True),
        (circling(20, 29.9), False),
        (circling(400, 3.5), True),
        (circling(400, 2.9), False),
        ("=" * 700, True),
        ("=" * 500, False),
        ("".join(f"row {number}: 0 0 0 0 0 0 0 0\n" for number in range(100)), False),
        ("", False),
        ("short", False),
    ],
)
def test_a_text_circles_when_its_end_is_what_it_was_rounds_before(text: str, found: bool) -> None:
    assert is_circling(text) is found
    if not found:
        assert without_circles(text) == text


@pytest.mark.parametrize(("period", "rounds"), [(20, 31.9), (400, 3.5), (700, 3.1)])
def test_one_round_is_left_of_circles(period: int, rounds: float) -> None:
    assert without_circles(circling(period, rounds)).rstrip() == circling(period, 1).rstrip()


async def test_a_dead_engine_is_a_passing_fault_and_starts_again(model: LanguageModel, told: Told) -> None:
    with pytest.raises(TransientModelError, match=r"ended unexpectedly .*engine-mine\.log"):
        await model.complete(ask("die"))
    assert (await model.complete(ask("hello"))).text == "done"
    assert len(told("started")) == 2


async def test_a_reply_that_breaks_off_is_a_passing_fault(model: LanguageModel) -> None:
    with pytest.raises(TransientModelError, match="broke off"):
        await model.complete(ask("break off"))


async def test_a_prompt_that_is_too_long_says_what_to_set(model: LanguageModel) -> None:
    with pytest.raises(ModelError, match=r"9 tokens.*context of 8; set PLAIT_ENGINE_CONTEXT") as caught:
        await model.complete(ask("too long"))
    assert not isinstance(caught.value, TransientModelError)


async def test_forms_reach_the_engine(model: LanguageModel, told: Told) -> None:
    await model.complete(ask("hello", form=Grammar(gbnf='root ::= "a"')))
    reply = await model.complete(ask("weather?", form=FunctionCalling(tools=[WEATHER])))
    assert told("body")[0]["grammar"] == 'root ::= "a"'
    (call,) = reply.tool_calls
    assert (call.name, call.arguments, reply.finish) == ("weather.get", {"city": "Rome"}, "tool_calls")


@pytest.mark.parametrize(("set_by_user", "given"), [("", "1000"), ("7", "7")])
async def test_engine_threads_wait_briefly_unless_the_user_says_how_long(
    model: LanguageModel, told: Told, monkeypatch: pytest.MonkeyPatch, set_by_user: str, given: str
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    if set_by_user:
        monkeypatch.setenv("GOMP_SPINCOUNT", set_by_user)
    await model.complete(ask("hello"))
    assert told("spin_count") == [given]


async def test_engines_end_with_stop(model: LanguageModel, told: Told) -> None:
    await model.complete(ask("hello"))
    (process,) = told("started")
    assert is_alive(process)
    stop_engines()
    assert not is_alive(process)


async def test_an_engine_that_nobody_holds_ends_after_a_while(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_engines", llama.Engines(keep_seconds=0.05))
    used = local_model("mine")
    await used.complete(ask("hello"))
    (process,) = told("started")
    await used.aclose()
    await until(lambda: not is_alive(process))
    assert (await used.complete(ask("hello"))).text == "done"
    await used.aclose()
    stop_engines()


async def test_what_was_released_before_it_was_taken_again_stops_nothing(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending: list[Callable[[], None]] = []

    class Timer:
        def __init__(self, _: float, stop: Callable[[Path], None], given: list[Path]) -> None:
            self.daemon, self._stop = False, lambda: stop(*given)

        def start(self) -> None:
            pending.append(self._stop)

        def cancel(self) -> None:
            pending.remove(self._stop)

    monkeypatch.setattr(llama.threading, "Timer", Timer)
    monkeypatch.setattr(engine, "_engines", llama.Engines(keep_seconds=60))
    for _ in range(2):
        used = local_model("mine")
        await used.complete(ask("hello"))
        await used.aclose()
    assert len(pending) == 1
    assert len(told("started")) == 1
    pending[0]()
    assert not is_alive(*told("started"))


@pytest.mark.parametrize(("how", "said"), [("refuse", "is damaged"), ("die", "GiB are free.*signal 9")])
async def test_a_failed_load_is_one_line(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch, how: str, said: str
) -> None:
    monkeypatch.setenv("FAKE_ENGINE", how)
    with pytest.raises(UserError, match=said) as caught:
        await model.complete(ask("hello"))
    assert "\n" not in caught.value.message
    monkeypatch.delenv("FAKE_ENGINE")
    assert (await model.complete(ask("hello"))).text == "done"


async def test_a_damaged_header_is_said_without_starting(told: Told, tmp_path: Path) -> None:
    (tmp_path / "headless.gguf").write_bytes(b"GGUF and no more")
    catalogue.add_model("headless", tmp_path / "headless.gguf")
    model = local_model("local:headless")
    with pytest.raises(UserError, match=r"headless\.gguf' is damaged: its GGUF header"):
        await model.complete(ask("hello"))
    await model.aclose()
    assert told("started") == []


async def test_weights_that_were_damaged_since_are_not_loaded(
    model: LanguageModel, told: Told, tmp_path: Path
) -> None:
    file = tmp_path / "mine.gguf"
    whole = small_gguf()
    flip(file, len(whole) // 2)
    with pytest.raises(
        UserError, match=r"'mine' is damaged: .*mine\.gguf'.*`plait models rm mine`"
    ) as caught:
        await model.complete(ask("hello"))
    assert "\n" not in caught.value.message
    assert told("started") == []
    file.write_bytes(whole)
    assert (await model.complete(ask("hello"))).text == "done"


def test_an_unknown_model_is_refused_at_once() -> None:
    with pytest.raises(UserError, match="no local model 'nothing'"):
        local_model("local:nothing")
