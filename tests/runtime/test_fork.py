"""A fork answers from the copied steps and goes on anew from the chosen one."""

import pytest
from tests.runtime.script import Step, chat, never

from plait.errors import NeedsDecision, UserError
from plait.events import Noted, RunStarted
from plait.journal import Journal
from plait.runtime import prompts
from plait.runtime.fork import fork
from plait.runtime.log import RunLog


async def recorded(log: RunLog) -> None:
    async def act(place: Journal, _: None) -> None:
        await place.call("choose", Step("chosen"), chat("choose"), kind="model")
        await place.call("do", Step("done"), {"tool": "t", "arguments": {}}, kind="effect")

    journal = await log.start("r1", "task", {"a": 1, "b": 1})
    journal.emit(Noted(text="old"))
    await journal.call("plan", Step("plan"), chat("plan"), kind="model")
    await journal.branch("act", act, None)
    await journal.call("answer", Step("answer"), chat("answer"), kind="model")
    await journal.finish("succeeded", {})


async def test_steps_before_answer_and_the_rest_is_new(log: RunLog) -> None:
    await recorded(log)

    journal = await fork(log, "r1", "r2", "run/answer", {"b": 2})

    assert (journal.run_id, journal.task, journal.options) == ("r2", "task", {"a": 1, "b": 2})
    assert await journal.call("plan", never(), chat("plan"), kind="model") == "plan"
    assert await journal.call("act/do", never(), {"tool": "t", "arguments": {}}, kind="effect") == "done"
    assert await journal.call("answer", Step("new"), chat("answer"), kind="model") == "new"
    started, *rest = log.records("r2")
    assert isinstance(started.event, RunStarted)
    assert started.event.forked_from == "r1"
    assert not [record for record in rest if record.event.kind in ("noted", "run_finished")]
    assert prompts.messages(log.records("r2"), prompts.parts(chat("plan")["messages"])[-1].id)
    assert len({run.run_id for run in log.runs()}) == 2


@pytest.mark.parametrize("path", ["run/act", "act", "act/choose", "/run/act/"])
async def test_paths_of_branches_and_short_paths(log: RunLog, path: str) -> None:
    await recorded(log)

    journal = await fork(log, "r1", "r2", path, {})

    assert await journal.call("plan", never(), chat("plan"), kind="model") == "plan"
    assert await journal.call("act/choose", Step("new"), chat("other"), kind="model") == "new"


async def test_from_the_root_nothing_is_kept(log: RunLog) -> None:
    await recorded(log)

    journal = await fork(log, "r1", "r2", "run", {})

    assert await journal.call("plan", Step("new"), chat("plan"), kind="model") == "new"


async def test_an_effect_under_way_at_the_cut_keeps_its_result(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})

    async def send(_: object) -> str:
        await journal.call("meanwhile", Step(), {})
        return "sent"

    await journal.call("send", send, {}, kind="effect")
    await journal.close()

    forked = await fork(log, "r1", "r2", "meanwhile", {})

    assert await forked.call("send", never(), {}, kind="effect") == "sent"
    assert await forked.call("meanwhile", Step("new"), {}) == "new"


async def test_a_copied_effect_still_guards_what_it_rests_on(log: RunLog) -> None:
    await recorded(log)
    journal = await fork(log, "r1", "r2", "answer", {})

    with pytest.raises(NeedsDecision, match="plait fork r2 --from run/plan"):
        await journal.call("plan", never(), chat("another plan"), kind="model")


async def test_what_cannot_be_forked(log: RunLog) -> None:
    await recorded(log)
    await log.start("empty", "task", {})

    with pytest.raises(UserError, match=r"no step at or under 'run/anser'; it has, for instance, run/answer"):
        await fork(log, "r1", "r2", "run/anser", {})
    with pytest.raises(UserError, match="no recorded steps"):
        await fork(log, "empty", "r2", "run/answer", {})
    with pytest.raises(UserError, match="no run 'gone'"):
        await fork(log, "gone", "r2", "run/answer", {})
    with pytest.raises(UserError, match="already a run 'r1'"):
        await fork(log, "r1", "r1", "run/answer", {})
