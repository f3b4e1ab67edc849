"""A recorded run comes out the same from its records alone, or the first difference is named."""

from typing import Any

import pytest
from tests.runtime.script import Step, chat, never

from plait.events import ModelRetried, Noted, RoundStarted
from plait.journal import Journal
from plait.runtime.log import RunLog
from plait.runtime.replay import Replay, ReplayMiss


async def program(journal: Journal, step: Any, text: str = "hello") -> list[Any]:
    """Run a small chain: an answer, an event, a branch with an effect."""

    async def branch(place: Journal, word: str) -> Any:
        place.emit(Noted(text=word))
        return await place.call("send", step, {"word": word}, kind="effect")

    journal.emit(RoundStarted(round=1))
    first = await journal.call("ask", step, chat(text), kind="model")
    return [first, await journal.branch("act", branch, "now")]


async def recorded(log: RunLog) -> list[Any]:
    journal = await log.start("r1", "task", {"a": 1})
    journal.emit(ModelRetried(reason="429", attempt=1, delay_seconds=0.5))
    result = await program(journal, Step({"z": [1.5, None], "a": "ü"}))
    await journal.finish("succeeded", {"answer": result})
    return result


async def test_the_same_comes_out(log: RunLog) -> None:
    result = await recorded(log)
    replay = Replay(log.records("r1"))

    assert await program(replay, never()) == result
    assert (replay.task, replay.options) == ("task", {"a": 1})


async def test_replay_follows_what_was_done_anew(log: RunLog) -> None:
    journal = await log.start("r1", "task", {"a": 1, "b": 1})
    await journal.call("ask", Step("old"), chat("a"), kind="model")
    await journal.close()
    journal = await log.resume("r1", {"b": 2})
    await journal.call("ask", Step("new"), chat("b"), kind="model")
    await journal.close()
    replay = Replay(log.records("r1"))

    assert await replay.call("ask", never(), chat("b"), kind="model") == "new"
    assert replay.options == {"a": 1, "b": 2}


async def test_differences_are_named(log: RunLog) -> None:
    await recorded(log)
    records = log.records("r1")

    with pytest.raises(ReplayMiss, match="'run/ask' is on record with another prompt"):
        await program(Replay(records), never(), "changed")
    with pytest.raises(ReplayMiss, match="'run/more' is not on record"):
        await Replay(records).call("more", never(), {})
    with pytest.raises(ReplayMiss, match=r"'run!0' \(noted\) is not the one on record \(round_started\)"):
        Replay(records).emit(Noted(text="x"))
    replay = Replay(records)
    replay.emit(RoundStarted(round=1))
    with pytest.raises(ReplayMiss, match=r"'run!1' \(noted\) is not on record"):
        replay.emit(Noted(text="x"))
