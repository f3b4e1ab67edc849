"""Choosing slots, and how large an engine may be."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from plait.errors import UserError
from plait.models import machine, sizing
from plait.models.gguf import ModelShape
from plait.models.slots import Slots, shared_length

GIB = 1 << 30
SMALL = ModelShape(file_bytes=GIB // 2, trained_context=32768, bytes_per_token=12288)
MIDDLE = ModelShape(file_bytes=GIB, trained_context=32768, bytes_per_token=28672)


@pytest.mark.parametrize(
    ("one", "other", "length"),
    [("", "", 0), ("a", "", 0), ("abc", "abd", 2), ("abc", "abc", 3), ("abc", "abcdef", 3), ("x", "y", 0)],
)
def test_shared_length(one: str, other: str, length: int) -> None:
    assert shared_length(one, other) == shared_length(other, one) == length


async def use(slots: Slots, text: str, saved: int = 0) -> int:
    async with slots.hold(text, lambda: saved) as slot:
        slot.text = text
        return slot.id


async def test_a_conversation_comes_back_to_its_slot() -> None:
    slots = Slots(4)
    planner = await use(slots, "planner rules; task")
    tools = await use(slots, "tool rules; step 1")
    assert await use(slots, "planner rules; task; answer") == planner
    assert await use(slots, "tool rules; step 2") == tools


async def test_the_longest_unused_is_overwritten_first() -> None:
    slots = Slots(2)
    old = await use(slots, "a" * 100)
    await use(slots, "b" * 100)
    for text in ("c", "d"):
        await use(slots, "b" * 100 + text)
    assert await use(slots, "z" * 50) == old


async def test_a_saved_beginning_spares_another_conversation() -> None:
    slots = Slots(2)
    first = await use(slots, "rules" * 100 + "conversation one " * 20)
    assert await use(slots, "rules" * 100 + "another one", saved=500) != first


async def test_who_waits_first_is_served_first() -> None:
    slots, order = Slots(1), list[int]()

    async def work(number: int) -> None:
        async with slots.hold("text", lambda: 0):
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*[work(number) for number in range(5)])
    assert order == [0, 1, 2, 3, 4]


async def test_a_waiter_that_gives_up_keeps_no_slot() -> None:
    slots = Slots(1)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(slots.hold("text", lambda: 0))
        waiting = asyncio.create_task(use(slots, "other"))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert await asyncio.wait_for(use(slots, "third"), 1) == 0


async def test_a_waiter_cancelled_just_as_it_is_served_keeps_no_slot() -> None:
    slots = Slots(1)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(slots.hold("text", lambda: 0))
        waiting = asyncio.create_task(use(slots, "other"))
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert await asyncio.wait_for(use(slots, "third"), 1) == 0


def test_slots_fill_the_stated_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ENGINE_MEMORY", "4GiB")
    assert sizing.engine_size("m", MIDDLE).slots == 8
    monkeypatch.setenv("PLAIT_ENGINE_MEMORY", "2.5 G")
    size = sizing.engine_size("m", MIDDLE)
    assert size.slots == 3
    assert size.memory_bytes <= 2.5 * GIB


def test_with_little_memory_the_context_shrinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ENGINE_MEMORY", "1800M")
    size = sizing.engine_size("m", MIDDLE)
    assert size.slots == 1
    assert 2048 <= size.context_tokens < 8192
    assert size.memory_bytes <= 1800 << 20


def test_too_little_memory_says_how_much_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ENGINE_MEMORY", "1G")
    with pytest.raises(UserError, match=r"'m' needs 1\.7 GiB .* may take 1\.0 GiB; set PLAIT_ENGINE_MEMORY"):
        sizing.engine_size("m", MIDDLE)


def test_context_and_threads_as_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ENGINE_MEMORY", "8G")
    monkeypatch.setenv("PLAIT_ENGINE_CONTEXT", "16384")
    monkeypatch.setenv("PLAIT_ENGINE_THREADS", "3")
    monkeypatch.setenv("PLAIT_ENGINE_SLOTS", "2")
    size = sizing.engine_size("m", SMALL)
    assert (size.slots, size.context_tokens, size.threads) == (2, 16384, 3)


def test_no_more_context_than_the_model_was_trained_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_ENGINE_MEMORY", "8G")
    shape = ModelShape(file_bytes=GIB, trained_context=1024, bytes_per_token=1000)
    assert sizing.engine_size("m", shape).context_tokens == 1024


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PLAIT_ENGINE_MEMORY", "much"),
        ("PLAIT_ENGINE_MEMORY", "-1G"),
        ("PLAIT_ENGINE_MEMORY", "0"),
        ("PLAIT_ENGINE_CONTEXT", "10"),
        ("PLAIT_ENGINE_SLOTS", "0"),
        ("PLAIT_ENGINE_THREADS", "-2"),
    ],
)
def test_a_setting_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UserError, match=f"{variable}='{value}'"):
        sizing.engine_size("m", SMALL)


def test_a_containers_limits_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_CONTROL_GROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(4)))
    assert machine.threads() == 4
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    assert machine.threads() == 1
    assert machine.available_memory_bytes() == 2000000
    # Files that were read stay in memory until somebody needs it.
    (tmp_path / "memory.stat").write_text(
        "anon 300000\nfile 600000\ninactive_file 400000\nactive_file 200000\n"
    )
    assert machine.available_memory_bytes() == 2600000
    (tmp_path / "memory.max").write_text("max\n")
    assert machine.available_memory_bytes() > 2000000
