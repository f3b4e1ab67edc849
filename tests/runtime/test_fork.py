"""A fork answers from the copied steps and goes on anew from the chosen one."""

from typing import Any

import pytest
from tests.runtime.script import Step, chat, never, prompt_of

from plait.errors import NeedsDecision, UserError
from plait.events import Noted, RunStarted
from plait.journal import Journal
from plait.runtime import prompts
from plait.runtime.fork import fork
from plait.runtime.log import RunLog
from plait.runtime.replay import Replay, ReplayMiss


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
    assert prompt_of(log.records("r2"), prompts.parts(chat("plan")["messages"])[-1].id)
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


def asked(text: str, *, model: str, seed: int, gbnf: str = "") -> dict[str, Any]:
    """Return the arguments of a model call as an agent records them."""
    form = [{"role": "form", "content": gbnf}] if gbnf else []
    return {
        "role": "planner",
        "model": model,
        "form": {"kind": "grammar" if gbnf else "text"},
        "settings": {"temperature": 0.2, "seed": seed},
        "messages": [*form, {"role": "user", "content": text}],
    }


@pytest.mark.parametrize("effect", [True, False])
async def test_a_copied_call_answers_whichever_model_is_asked(log: RunLog, effect: bool) -> None:
    journal = await log.start("r1", "task", {})
    await journal.call("plan", Step("plan"), asked("plan", model="m", seed=0), kind="model")
    long = asked("call\n\n" * 200, model="m", seed=0, gbnf="root ::= a\n\n" * 40)
    await journal.call("call", Step("call"), long, kind="model")
    if effect:
        await journal.call("do", Step("done"), {}, kind="effect")
    await journal.call("answer", Step("answer"), asked("answer", model="m", seed=0), kind="model")
    await journal.finish("succeeded", {})

    journal = await fork(log, "r1", "r2", "answer", {})
    other = {**asked("call\n\n" * 200, model="n", seed=9, gbnf="root ::= b")}
    assert await journal.call("plan", never(), asked("plan", model="n", seed=9), kind="model") == "plan"
    await journal.close()
    journal = await log.resume("r2")
    assert await journal.call("plan", never(), asked("plan", model="n", seed=9), kind="model") == "plan"
    assert await journal.call("call", never(), other, kind="model") == "call"
    await journal.call("answer", Step("new"), asked("answer", model="n", seed=9), kind="model")
    await journal.close()

    replay = Replay(log.records("r2"))
    assert await replay.call("call", never(), other, kind="model") == "call"
    with pytest.raises(ReplayMiss, match="another prompt"):
        await replay.call("answer", never(), asked("answer", model="m", seed=0), kind="model")


async def test_what_a_fork_asked_itself_answers_for_its_own_model_alone(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    await journal.call("plan", Step("plan"), asked("plan", model="m", seed=0), kind="model")
    await journal.call("answer", Step("answer"), asked("answer", model="m", seed=0), kind="model")
    await journal.finish("succeeded", {})

    journal = await fork(log, "r1", "r2", "answer", {})
    await journal.call("plan", Step("edited"), asked("edited", model="m", seed=0), kind="model")
    await journal.close()

    journal = await log.resume("r2")
    again = await journal.call("plan", Step("anew"), asked("edited", model="n", seed=0), kind="model")
    assert again == "anew"


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
