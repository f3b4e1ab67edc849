"""A step is done once; what changed is done anew, but never behind the back of an effect."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.runtime.script import Step, chat, never, prompt_of

from plait.errors import LogError, NeedsDecision, UserError
from plait.events import (
    EffectIntended,
    ModelRetried,
    Noted,
    PromptPart,
    Record,
    RoundStarted,
    StepDiverged,
    StepRecorded,
)
from plait.journal import Journal
from plait.runtime.log import RunLog

CALL = {"tool": "email.send", "arguments": {"to": "dana"}}


def of_type(log: RunLog, kind: str) -> list[Record]:
    return [record for record in log.records("r1") if record.event.kind == kind]


async def test_a_recorded_step_is_answered(log: RunLog) -> None:
    step = Step({"text": "hi", "rows": ({"z": 1, "a": None},)})
    first = await log.start("r1", "task", {})
    live = await first.call("ask", step, chat("hello"), kind="model")
    await first.close()

    second = await log.resume("r1")
    recorded = await second.call("ask", never(), chat("hello"), kind="model")

    assert live == recorded == {"text": "hi", "rows": [{"z": 1, "a": None}]}
    assert list(recorded["rows"][0]) == ["z", "a"]  # type: ignore[index,call-overload]
    assert step.runs == 1
    assert (first.recalled("ask"), second.recalled("ask")) == (False, True)


async def test_order_and_concurrency_do_not_matter(log: RunLog) -> None:
    async def work(journal: Journal, number: int) -> Any:
        return await journal.call("step", Step(number), {"n": number})

    first = await log.start("r1", "task", {})
    await asyncio.gather(*(first.branch(f"team-{n}", work, n) for n in range(20)))
    await first.close()

    second = await log.resume("r1")
    for number in reversed(range(20)):
        assert await second.branch(f"team-{number}", work, number) == number
    assert all(second.recalled(f"team-{number}/step") for number in range(20))


async def test_prompts_are_stored_in_parts_and_restored(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    shared = "\n\n".join("fact " * 60 for _ in range(5))
    await journal.call("one", Step(), chat(shared, "a"), kind="model")
    await journal.call("two", Step(), chat(shared, "b"), kind="model")

    records = log.records("r1")
    steps = [record.event for record in records if isinstance(record.event, StepRecorded)]

    assert [set(step.args) for step in steps] == [{"model", "prompt"}] * 2
    assert prompt_of(records, steps[1].args["prompt"]) == chat(shared, "b")["messages"]
    texts = [record.event.text for record in records if isinstance(record.event, PromptPart)]
    assert sum(map(len, texts)) == len(shared) + 2


async def test_a_changed_prompt_is_done_anew_where_nothing_rests_on_it(log: RunLog) -> None:
    first = await log.start("r1", "task", {})
    await first.call("ask", Step("old"), chat("a"), kind="model")
    await first.close()

    second = await log.resume("r1")
    assert await second.call("ask", Step("new"), chat("b"), kind="model") == "new"
    await second.close()

    third = await log.resume("r1")
    assert await third.call("ask", never(), chat("b"), kind="model") == "new"
    diverged = of_type(log, "step_diverged")
    assert [type(record.event) for record in diverged] == [StepDiverged]
    assert [record.revision for record in of_type(log, "step_recorded")] == [0, 1]


async def test_a_changed_prompt_before_an_effect_stops(log: RunLog) -> None:
    first = await log.start("r1", "task", {})
    await first.call("ask", Step("old"), chat("a"), kind="model")
    await first.call("send", Step(), CALL, kind="effect")
    await first.close()

    second = await log.resume("r1")
    with pytest.raises(NeedsDecision, match=r"'run/ask' .*`plait fork r1 --from run/ask`") as error:
        await second.call("ask", never(), chat("b"), kind="model")
    assert error.value.path == "run/ask"
    assert await second.call("send", never(), CALL, kind="effect") == "done"


async def test_changed_arguments_of_an_effect_stop(log: RunLog) -> None:
    first = await log.start("r1", "task", {})
    await first.call("send", Step(), CALL, kind="effect")
    await first.close()

    second = await log.resume("r1")
    with pytest.raises(NeedsDecision, match="other arguments"):
        await second.call("send", never(), {**CALL, "arguments": {"to": "eve"}}, kind="effect")


async def test_effects_after_a_divergence_do_not_stop_the_same_process(log: RunLog) -> None:
    first = await log.start("r1", "task", {})
    await first.call("one", Step(), {"n": 1})
    await first.call("two", Step(), {"n": 1})
    await first.close()

    second = await log.resume("r1")
    await second.call("one", Step(), {"n": 2})
    await second.call("send", Step(), CALL, kind="effect")
    assert await second.call("two", Step("anew"), {"n": 2}) == "anew"


async def test_an_effect_is_intended_on_record_before_it_is_done(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})

    async def send(_: Mapping[str, Any]) -> str:
        intents = await asyncio.to_thread(of_type, log, "effect_intended")
        return f"{len(intents)} intended: {intents[0].event.args == CALL}"  # type: ignore[union-attr]

    assert await journal.call("send", send, CALL, kind="effect") == "1 intended: True"


async def doubtful(log: RunLog) -> None:
    """Leave a run whose effect was begun and has no result."""
    journal = await log.start("r1", "task", {})
    with pytest.raises(ConnectionError):
        await journal.call("send", Step(error=ConnectionError()), CALL, kind="effect")
    await journal.close()


async def test_an_effect_in_doubt_stops(log: RunLog) -> None:
    await doubtful(log)
    journal = await log.resume("r1")

    with pytest.raises(NeedsDecision, match=r"email\.send with \{\"to\":\"dana\"\}.*--retry") as error:
        await journal.call("send", never(), CALL, kind="effect")
    assert error.value.path == "run/send"


async def test_a_failed_effect_is_in_doubt_in_the_same_process_too(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    with pytest.raises(ConnectionError):
        await journal.call("send", Step(error=ConnectionError()), CALL, kind="effect")

    with pytest.raises(NeedsDecision, match="in doubt"):
        await journal.call("send", never(), CALL, kind="effect")


async def test_retry_is_used_up_by_one_try(log: RunLog) -> None:
    await doubtful(log)
    second = await log.resume("r1", decision="retry")
    with pytest.raises(ConnectionError):
        await second.call("send", Step(error=ConnectionError()), CALL, kind="effect")
    await second.close()

    third = await log.resume("r1")
    with pytest.raises(NeedsDecision, match="in doubt"):
        await third.call("send", never(), CALL, kind="effect")
    await third.close()

    fourth = await log.resume("r1", decision="retry")
    assert await fourth.call("send", Step("sent"), CALL, kind="effect") == "sent"
    assert [type(record.event) for record in of_type(log, "effect_intended")] == [EffectIntended] * 3


async def test_a_decision_outlives_a_crash_before_it_is_used(log: RunLog) -> None:
    await doubtful(log)
    await (await log.resume("r1", decision="retry")).close()

    journal = await log.resume("r1")
    assert await journal.call("send", Step("sent"), CALL, kind="effect") == "sent"


async def test_assumed_effects_are_never_done(log: RunLog) -> None:
    await doubtful(log)
    second = await log.resume("r1", decision="assume-done")
    assert await second.call("send", never(), CALL, kind="effect") is None
    await second.close()

    third = await log.resume("r1")
    assert await third.call("send", never(), CALL, kind="effect") is None
    step = of_type(log, "step_recorded")[0].event
    assert isinstance(step, StepRecorded)
    assert step.assumed


async def test_a_decision_about_other_arguments_does_not_count(log: RunLog) -> None:
    await doubtful(log)
    journal = await log.resume("r1", decision="retry")

    with pytest.raises(NeedsDecision, match="other arguments"):
        await journal.call("send", never(), {**CALL, "arguments": {"to": "eve"}}, kind="effect")


async def test_a_decision_with_nothing_to_decide_is_refused(log: RunLog) -> None:
    await (await log.start("r1", "task", {})).close()

    with pytest.raises(UserError, match="no effect in doubt"):
        await log.resume("r1", decision="retry")
    await (await log.resume("r1")).close()  # The refusal did not keep the run.


async def test_exceptions_are_not_recorded(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    with pytest.raises(ZeroDivisionError):
        await journal.call("ask", Step(error=ZeroDivisionError()), {})

    assert await journal.call("ask", Step("fine"), {}) == "fine"


async def test_cancellation_passes_and_leaves_the_step_to_be_done(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})

    async def forever(_: object) -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(journal.call("ask", forever, {}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await journal.call("ask", Step("fine"), {}) == "fine"


async def test_cancellation_while_a_result_is_written_loses_nothing(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    ran = asyncio.Event()

    async def quick(_: object) -> str:
        ran.set()
        return "fine"

    task = asyncio.create_task(journal.call("ask", quick, {}))
    await ran.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await journal.call("next", Step("fine"), {}) == "fine"
    await journal.close()
    assert [record.path for record in of_type(log, "step_recorded")] == ["run/ask", "run/next"]


async def test_one_name_for_two_steps_is_a_mistake(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    await journal.call("ask", Step(), {})

    with pytest.raises(RuntimeError, match="'run/ask' was called twice"):
        await journal.call("ask", never(), {})


@pytest.mark.parametrize("name", ["", "step!1"])
async def test_names_that_would_collide_are_refused(log: RunLog, name: str) -> None:
    journal = await log.start("r1", "task", {})

    with pytest.raises(ValueError, match="cannot name"):
        await journal.call(name, never(), {})


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}])
async def test_a_result_that_is_not_json_is_refused(log: RunLog, value: Any) -> None:
    journal = await log.start("r1", "task", {})

    with pytest.raises(LogError, match="'run/ask': its result is not JSON"):
        await journal.call("ask", Step(value), {})
    with pytest.raises(LogError, match="'run/ask-again': its arguments are not JSON"):
        await journal.call("ask-again", never(), {"value": value})


async def test_equal_events_are_kept_once(log: RunLog) -> None:
    for text in ("same", "other"):
        journal = await (log.start("r1", "task", {}) if text == "same" else log.resume("r1"))
        journal.emit(RoundStarted(round=1))
        journal.emit(Noted(text=text))
        await journal.close()

    records = [record for record in log.records("r1") if "!run_" not in record.path]

    assert [(record.path, record.revision, record.event) for record in records] == [
        ("run!0", 0, RoundStarted(round=1)),
        ("run!1", 0, Noted(text="same")),
        ("run!1", 1, Noted(text="other")),
    ]


async def test_passing_events_do_not_shift_the_others(log: RunLog) -> None:
    retried = ModelRetried(reason="429", attempt=1, delay_seconds=0.1)
    first = await log.start("r1", "task", {})
    first.emit(retried)
    first.emit(retried)
    first.emit(RoundStarted(round=1))
    await first.close()

    second = await log.resume("r1")
    second.emit(RoundStarted(round=1))
    second.emit(ModelRetried(reason="500", attempt=1, delay_seconds=0.2))
    await second.close()

    assert [record.path for record in of_type(log, "round_started")] == ["run!0"]
    assert len(of_type(log, "model_retried")) == 3


async def test_observers_see_new_records_only(log: RunLog) -> None:
    first = await log.start("r1", "task", {})
    seen: list[Record] = []
    first.observe(seen.append)
    await first.call("ask", Step(), {"n": 1})
    first.emit(Noted(text="hello"))
    await first.close()
    assert seen == log.records("r1")[1:]

    second = await log.resume("r1")
    again: list[Record] = []
    second.observe(again.append)
    await second.call("ask", never(), {"n": 1})
    second.emit(Noted(text="hello"))
    assert again == []
