"""What counts as a stall, and what only takes long."""

import asyncio

import pytest
from tests.support.memory_journal import Memory, MemoryJournal

from plait.events import Noted
from plait.journal import JSON, Journal, JSONObject
from plait.teams.stall import Pulse, Stalled

LIMIT = 0.2


async def nap(args: JSONObject) -> JSON:
    await asyncio.sleep(float(str(args["seconds"])))
    return "slept"


async def test_long_work_whose_steps_end_is_no_stall() -> None:
    memory = Memory()

    async def inner(branch: Journal, _: None) -> None:
        for number in range(3):
            await branch.call(f"step-{number}", nap, {"seconds": LIMIT / 2})
        branch.emit(Noted(text="done"))

    pulse = Pulse()
    journal = pulse.heard(MemoryJournal(memory))
    async with pulse.bounded(LIMIT):
        assert journal.path == "run"
        await journal.branch("inner", inner, None)
    assert list(memory.results) == [f"run/inner/step-{number}" for number in range(3)]
    assert memory.events == [("run/inner", Noted(text="done"))]


async def test_a_step_that_does_not_end_is_a_stall_and_is_cancelled() -> None:
    memory = Memory()

    async def work() -> None:
        pulse = Pulse()
        journal = pulse.heard(MemoryJournal(memory))
        async with pulse.bounded(LIMIT):
            await journal.call("quick", nap, {"seconds": 0})
            await journal.call("slow", nap, {"seconds": 30})

    with pytest.raises(Stalled, match=r"no step ended for 0\.2 seconds"):
        await work()
    assert list(memory.results) == ["run/quick"]


async def test_work_that_waits_its_turn_while_others_go_on_is_no_stall() -> None:
    pulse, turn = Pulse(), asyncio.Semaphore(1)
    journal = pulse.heard(MemoryJournal(Memory()))

    async def serve(args: JSONObject) -> JSON:
        async with turn:
            return await nap(args)

    async def work(number: int) -> JSON:
        async with pulse.bounded(LIMIT):
            return await journal.call(f"step-{number}", serve, {"seconds": LIMIT / 3})

    assert await asyncio.gather(*(work(number) for number in range(6))) == ["slept"] * 6


async def test_when_nobody_goes_on_all_that_is_under_way_has_stalled() -> None:
    pulse = Pulse()
    journal = pulse.heard(MemoryJournal(Memory()))

    async def work(number: int) -> None:
        async with pulse.bounded(LIMIT):
            await journal.call(f"step-{number}", nap, {"seconds": 30})

    ended = await asyncio.gather(work(1), work(2), return_exceptions=True)
    assert [type(each) for each in ended] == [Stalled, Stalled]


async def test_a_time_out_of_the_work_itself_is_no_stall() -> None:
    with pytest.raises(TimeoutError):
        async with Pulse().bounded(LIMIT):
            raise TimeoutError


async def test_cancellation_passes() -> None:
    async def work() -> None:
        async with Pulse().bounded(30):
            await MemoryJournal(Memory()).call("slow", nap, {"seconds": 30})

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
