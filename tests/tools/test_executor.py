"""Calls are checked, approved, recorded, shared and bounded."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from plait.errors import LogError, NeedsDecision, ToolError
from plait.events import ApprovalDecided
from plait.tools import executor as executor_module
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import IN_DOUBT, UNKNOWN_RESULT, Executor, Observation
from plait.tools.tool import Effect, OutcomeUnknown, Tool


def make(
    run: Callable[[Mapping[str, Any]], Awaitable[Any]],
    *,
    name: str = "box.put",
    effect: Effect = "reads",
    timeout_seconds: float = 30,
    limit: int = 4000,
) -> Tool:
    return Tool(
        name=name,
        description="",
        parameters={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        effect=effect,
        run=run,
        source="test",
        timeout_seconds=timeout_seconds,
        observation_characters=limit,
    )


class Crash(BaseException):
    """What no tool's failure is: the end of the process, as it were."""


class Counting:
    """A tool's work that counts its calls and answers `{n: calls}`."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, arguments: Mapping[str, Any]) -> Any:
        self.calls += 1
        await asyncio.sleep(0)
        return {"n": arguments["n"], "calls": self.calls}


YES = ApprovalPolicy(yes=True)


async def test_a_read_is_recorded_and_answered_from_its_record(journal: Any) -> None:
    work = Counting()
    first = await Executor([make(work)], ApprovalPolicy()).execute(journal, "step-1", "box.put", {"n": 1})
    assert (first.text, first.ok, first.cut, first.effect) == ('{"n": 1, "calls": 1}', True, False, "reads")
    assert journal.kinds == {"run/step-1": "tool"}
    again = await Executor([make(work)], ApprovalPolicy()).execute(
        journal.resumed(), "step-1", "box.put", {"n": 1}
    )
    assert again == first
    assert work.calls == 1


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("box.putt", {"n": 1}, "there is no tool 'box.putt'; did you mean: box.put?"),
        ("box.put", {}, "wrong arguments for box.put: 'n' is a required property"),
        ("box.put", {"n": "x"}, "wrong arguments for box.put: n: 'x' is not of type 'integer'"),
        ("box.put", {"n": 1, "m": 2}, "box.put has no parameter 'm'; its parameters: n"),
    ],
)
async def test_a_call_that_cannot_be_made_costs_no_step(
    journal: Any, name: str, arguments: dict[str, Any], said: str
) -> None:
    executor = Executor([make(Counting(), effect="changes")], ApprovalPolicy())
    observation = await executor.execute(journal, "s", name, arguments)
    assert (observation.text, observation.ok) == (said, False)
    assert journal.records == {}


async def test_failures_of_a_tool_become_observations(journal: Any) -> None:
    async def refuse(_: Mapping[str, Any]) -> Any:
        raise ToolError("no such box")

    async def crash(_: Mapping[str, Any]) -> Any:
        raise ValueError("bad\nthing")

    async def hang(_: Mapping[str, Any]) -> Any:
        await asyncio.Event().wait()

    async def late(_: Mapping[str, Any]) -> Any:
        raise TimeoutError("upstream")

    async def odd(_: Mapping[str, Any]) -> Any:
        return {1, 2}

    expected = {
        refuse: "no such box",
        crash: "t: ValueError: bad thing",
        hang: "t gave no result within 0.01 seconds",
        late: "t: TimeoutError: upstream",
        odd: "the tool returned a set, which is neither text nor JSON",
    }
    for work, text in expected.items():
        seconds = 0.01 if work is hang else 30
        executor = Executor([make(work, name="t", timeout_seconds=seconds)], ApprovalPolicy())
        observation = await executor.execute(journal, work.__name__, "t", {"n": 1})
        assert (observation.text, observation.ok) == (text, False)
        assert journal.records[f"run/{work.__name__}"]["ok"] is False


async def test_a_tool_that_cancels_itself_is_a_tool_that_failed(journal: Any) -> None:
    async def give_up(_: Mapping[str, Any]) -> Any:
        raise asyncio.CancelledError

    async def wait_in_vain(_: Mapping[str, Any]) -> Any:
        waited_for = asyncio.ensure_future(asyncio.Event().wait())
        waited_for.cancel()
        return await waited_for

    for work in (give_up, wait_in_vain):
        for effect in ("reads", "changes"):
            executor = Executor([make(work, name="t", effect=effect)], YES)
            observation = await executor.execute(journal, f"{work.__name__}-{effect}", "t", {"n": 1})
            assert not observation.ok
            assert observation.text.startswith("t was cancelled from within and gave no result")


async def test_a_cancelled_run_cancels_its_tools(journal: Any) -> None:
    begun, ended = asyncio.Event(), list[str]()

    async def hang(_: Mapping[str, Any]) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tool")

    executor = Executor([make(hang)], YES)
    call = asyncio.ensure_future(executor.execute(journal, "s", "box.put", {"n": 1}))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert ended == ["tool"]
    assert journal.records == {}


async def test_a_long_result_is_cut_and_says_so(journal: Any) -> None:
    async def long(_: Mapping[str, Any]) -> Any:
        return "ab\0\ud800" + "c" * 96

    observation = await Executor([make(long, limit=10)], YES).execute(journal, "s", "box.put", {"n": 1})
    assert observation.cut
    assert observation.text == "ab\ufffd?" + "c" * 6 + "\n[cut: 90 of 100 characters left out]"


async def test_equal_reads_are_made_once_until_an_effect(journal: Any) -> None:
    read, write = Counting(), Counting()
    executor = Executor([make(read, name="look"), make(write, effect="changes")], YES)
    both = await asyncio.gather(*(executor.execute(journal, f"r{i}", "look", {"n": 1}) for i in range(8)))
    assert read.calls == 1
    assert {observation.text for observation in both} == {'{"n": 1, "calls": 1}'}
    assert [journal.records[f"run/r{i}"]["shared"] for i in range(8)] == [False] + [True] * 7
    await executor.execute(journal, "other", "look", {"n": 2})
    await executor.execute(journal, "write", "box.put", {"n": 1})
    after = await executor.execute(journal, "r-after", "look", {"n": 1})
    assert after.text == '{"n": 1, "calls": 3}'


async def test_a_read_that_overlaps_an_effect_is_not_shared_with_later_ones(journal: Any) -> None:
    going, gate = asyncio.Event(), asyncio.Event()
    answers = iter(["before", "after"])

    async def look(_: Mapping[str, Any]) -> Any:
        answer = next(answers)
        if answer == "before":
            going.set()
            await gate.wait()
        return answer

    executor = Executor([make(look, name="look"), make(Counting(), effect="changes")], YES)
    early = asyncio.create_task(executor.execute(journal, "early", "look", {"n": 1}))
    await going.wait()
    await executor.execute(journal, "write", "box.put", {"n": 1})
    assert (await executor.execute(journal, "late", "look", {"n": 1})).text == "after"
    gate.set()
    assert (await early).text == "before"
    assert (await executor.execute(journal, "later", "look", {"n": 1})).text == "after"


async def test_a_failed_read_is_tried_again_and_a_cancelled_one_is_taken_over(journal: Any) -> None:
    outcomes = iter([ToolError("busy"), None, None])
    going, gate = asyncio.Event(), asyncio.Event()

    async def look(_: Mapping[str, Any]) -> Any:
        outcome = next(outcomes)
        if outcome is not None:
            raise outcome
        going.set()
        await gate.wait()
        return "fine"

    executor = Executor([make(look, name="look")], YES)
    assert not (await executor.execute(journal, "a", "look", {"n": 1})).ok
    owner = asyncio.create_task(executor.execute(journal, "b", "look", {"n": 1}))
    await going.wait()
    waiter = asyncio.create_task(executor.execute(journal, "c", "look", {"n": 1}))
    await asyncio.sleep(0)
    owner.cancel()
    gate.set()
    with pytest.raises(asyncio.CancelledError):
        await owner
    assert (await waiter).text == "fine"
    assert "run/b" not in journal.records


async def test_effects_run_one_at_a_time_and_are_asked_about_once(journal: Any) -> None:
    inside = 0
    asked: list[int] = []

    async def write(_: Mapping[str, Any]) -> Any:
        nonlocal inside
        inside += 1
        assert inside == 1
        await asyncio.sleep(0)
        inside -= 1
        return "written"

    async def ask(_: Tool, arguments: Mapping[str, Any]) -> bool:
        asked.append(arguments["n"])
        return arguments["n"] != 2

    def executor() -> Executor:
        return Executor([make(write, effect="changes")], ApprovalPolicy(ask=ask))

    first = executor()
    observations = await asyncio.gather(
        *(first.execute(journal, f"s{n}", "box.put", {"n": n}) for n in range(4))
    )
    assert [(o.text, o.ok) for o in observations] == [
        ("written", True),
        ("written", True),
        ("not done: the user refused this call of box.put; do not repeat it", False),
        ("written", True),
    ]
    assert first.effects_done == 3
    assert sorted(asked) == [0, 1, 2, 3]
    assert journal.kinds["run/s1"] == "effect"
    assert "run/s2" not in journal.kinds
    decisions = [event for event in journal.events if isinstance(event, ApprovalDecided)]
    assert [(e.arguments["n"], e.allowed, e.by) for e in decisions] == [
        (0, True, "user"),
        (1, True, "user"),
        (2, False, "user"),
        (3, True, "user"),
    ]
    second, resumed = executor(), journal.resumed()
    for n in range(4):
        assert await second.execute(resumed, f"s{n}", "box.put", {"n": n}) == observations[n]
    assert second.effects_done == 3
    assert len(asked) == 4


async def test_nobody_to_ask_stops_the_run_and_leaves_nothing_behind(journal: Any) -> None:
    work = Counting()
    executor = Executor([make(work, effect="changes")], ApprovalPolicy())
    with pytest.raises(NeedsDecision) as caught:
        await executor.execute(journal, "s", "box.put", {"n": 1})
    assert caught.value.path == "run/s-approval"
    assert "--yes" in caught.value.message
    assert "--allow 'box.put'" in caught.value.message
    assert (work.calls, journal.records) == (0, {})
    later = await Executor([make(work, effect="changes")], YES).execute(
        journal.resumed(), "s", "box.put", {"n": 1}
    )
    assert later.ok


async def test_dry_run_says_what_would_be_done(journal: Any) -> None:
    work, read = Counting(), Counting()
    executor = Executor(
        [make(work, effect="changes"), make(read, name="look")], ApprovalPolicy(yes=True, dry_run=True)
    )
    observation = await executor.execute(journal, "s", "box.put", {"n": 1})
    assert observation.ok
    assert observation.text == 'dry run: box.put({"n":1}) would be done now; nothing was changed'
    await executor.execute(journal, "r", "look", {"n": 1})
    assert (work.calls, read.calls, executor.effects_done) == (0, 1, 0)


async def test_a_denied_read_is_not_made(journal: Any) -> None:
    work = Counting()
    executor = Executor([make(work)], ApprovalPolicy(yes=True, deny=["box.*"]))
    observation = await executor.execute(journal, "s", "box.put", {"n": 1})
    assert not observation.ok
    assert "--deny" in observation.text
    assert work.calls == 0


async def test_the_limit_of_effects_holds_for_calls_at_once_and_after_resume(journal: Any) -> None:
    work = Counting()

    def executor() -> Executor:
        return Executor([make(work, effect="changes")], ApprovalPolicy(yes=True, max_effects=2))

    first = executor()
    observations = await asyncio.gather(
        *(first.execute(journal, f"s{n}", "box.put", {"n": n}) for n in range(4))
    )
    assert [o.ok for o in observations] == [True, True, False, False]
    second, resumed = executor(), journal.resumed()
    assert (await second.execute(resumed, "s0", "box.put", {"n": 0})).ok
    assert (await second.execute(resumed, "s1", "box.put", {"n": 1})).ok
    assert not (await second.execute(resumed, "s9", "box.put", {"n": 9})).ok
    assert work.calls == 2


async def test_an_effect_under_way_when_its_run_is_cancelled_is_done_and_recorded(journal: Any) -> None:
    started, enough = asyncio.Event(), asyncio.Event()

    async def write(_: Mapping[str, Any]) -> Any:
        started.set()
        await enough.wait()
        return "written"

    executor = Executor([make(write, effect="changes")], YES)
    running = asyncio.create_task(executor.execute(journal, "s", "box.put", {"n": 1}))
    await started.wait()
    running.cancel()
    await asyncio.sleep(0)
    assert not running.done()
    enough.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert journal.records["run/s"]["text"] == "written"


async def test_a_second_cancellation_ends_an_effect_at_once(journal: Any) -> None:
    started, ended = asyncio.Event(), list[str]()

    async def write(_: Mapping[str, Any]) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("tool")

    executor = Executor([make(write, effect="changes")], YES)
    running = asyncio.create_task(executor.execute(journal, "s", "box.put", {"n": 1}))
    await started.wait()
    for _ in range(2):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended == ["tool"]
    assert "run/s" not in journal.records


async def test_an_effect_in_doubt_is_not_repeated(journal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "GRACE_SECONDS", 0.01)
    started = asyncio.Event()

    async def write(_: Mapping[str, Any]) -> Any:
        started.set()
        await asyncio.Event().wait()

    running = asyncio.create_task(
        Executor([make(write, effect="changes")], YES).execute(journal, "s", "box.put", {"n": 1})
    )
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    resumed = journal.resumed()
    with pytest.raises(NeedsDecision):
        await Executor([make(write, effect="changes")], YES).execute(resumed, "s", "box.put", {"n": 1})
    resumed.records["run/s"] = None
    settled = await Executor([make(write, effect="changes")], YES).execute(resumed, "s", "box.put", {"n": 1})
    assert (settled.text, settled.ok) == (UNKNOWN_RESULT, True)


async def test_an_effect_that_timed_out_ends_sharing_of_reads(journal: Any) -> None:
    async def write(_: Mapping[str, Any]) -> Any:
        await asyncio.Event().wait()

    read = Counting()
    executor = Executor([make(write, effect="changes", timeout_seconds=0.01), make(read, name="look")], YES)
    observation = await executor.execute(journal, "s", "box.put", {"n": 1})
    assert observation.text.endswith("it may or may not have taken effect: look before you try again")
    for n in range(3):
        await executor.execute(journal, f"r{n}", "look", {"n": 1})
    assert read.calls == 3


async def never(_: Mapping[str, Any]) -> Any:
    await asyncio.Event().wait()


async def stubborn(_: Mapping[str, Any]) -> Any:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError as error:
        raise ToolError("the connection was closed") from error


async def lost(_: Mapping[str, Any]) -> Any:
    raise OutcomeUnknown("the server stopped")


async def impatient(_: Mapping[str, Any]) -> Any:
    raise TimeoutError("no answer")


async def cancelled(_: Mapping[str, Any]) -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize("work", [never, stubborn, lost, impatient, cancelled])
async def test_an_effect_without_an_answer_is_of_unknown_outcome(journal: Any, work: Any) -> None:
    tools = [
        make(work, name="write", effect="changes", timeout_seconds=0.05),
        make(work, name="look", timeout_seconds=0.05),
    ]
    effect = await Executor(tools, YES).execute(journal, "effect", "write", {"n": 1})
    assert (effect.ok, effect.unknown, effect.text.endswith(IN_DOUBT)) == (False, True, True)
    again = await Executor(tools, YES).execute(journal.resumed(), "effect", "write", {"n": 1})
    assert again == effect
    read = await Executor(tools, YES).execute(journal, "read", "look", {"n": 1})
    assert (read.ok, read.unknown, IN_DOUBT in read.text) == (False, False, False)


async def test_an_effect_that_failed_or_was_recorded_without_that_field_is_not_in_doubt(journal: Any) -> None:
    async def fail(_: Mapping[str, Any]) -> Any:
        raise ToolError("no such row")

    executor = Executor([make(fail, effect="changes")], YES)
    failed = await executor.execute(journal, "s", "box.put", {"n": 1})
    assert failed == Observation(text="no such row", ok=False, effect="changes")
    journal.records["run/old"] = {"ok": False, "text": "no", "cut": False, "shared": False}
    assert not (await executor.execute(journal, "old", "box.put", {"n": 1})).unknown


@pytest.mark.parametrize(
    ("first", "then", "text", "by"),
    [
        (YES, ApprovalPolicy(yes=True, deny=["box.*"]), "not done: box.put is denied", "--deny"),
        (YES, ApprovalPolicy(yes=True, max_effects=0), "not done: the limit of 0 effects", "--max-effects"),
        (YES, ApprovalPolicy(), "not done: --yes allowed box.put and was taken back", "--yes"),
        (YES, ApprovalPolicy(yes=True, dry_run=True), "dry run: box.put", "--dry-run"),
        (ApprovalPolicy(allow=["box.put"]), YES, "", ""),
    ],
)
async def test_what_is_said_on_resuming_beats_a_leave_on_record(
    journal: Any, first: ApprovalPolicy, then: ApprovalPolicy, text: str, by: str
) -> None:
    async def interrupted(_: Mapping[str, Any]) -> Any:
        raise Crash

    with pytest.raises(Crash):
        await Executor([make(interrupted, effect="changes")], first).execute(
            journal, "s", "box.put", {"n": 1}
        )
    resumed = journal.resumed()
    resumed.kinds.clear()  # As after `resume --retry`: the effect is to be done again.
    work = Counting()
    executor = Executor([make(work, effect="changes")], then)
    observation = await executor.execute(resumed, "s", "box.put", {"n": 1})
    assert observation.text.startswith(text)
    assert work.calls == executor.effects_done == (0 if by else 1)
    assert [event.by for event in resumed.events if not event.allowed] == ([by] if by else [])
    again = Executor([make(work, effect="changes")], YES)
    assert await again.execute(resumed.resumed(), "s", "box.put", {"n": 1}) == observation
    assert again.effects_done == executor.effects_done


async def test_what_is_denied_on_resuming_keeps_the_results_on_record(journal: Any) -> None:
    work = Counting()
    tools = [make(work, name="write", effect="changes"), make(work, name="look")]
    kept = [await Executor(tools, YES).execute(journal, name, name, {"n": 1}) for name in ("write", "look")]
    denying = Executor(tools, ApprovalPolicy(deny=["*"]))
    resumed = journal.resumed()
    assert [await denying.execute(resumed, name, name, {"n": 1}) for name in ("write", "look")] == kept
    assert not (await denying.execute(resumed, "look-again", "look", {"n": 2})).ok
    assert work.calls == 2


async def test_an_effect_whose_result_cannot_be_told_is_done_all_the_same(journal: Any) -> None:
    async def answer(_: Mapping[str, Any]) -> Any:
        return object()

    tools = [make(answer, name="write", effect="changes"), make(answer, name="look")]
    executor = Executor(tools, YES)
    done = await executor.execute(journal, "s1", "write", {"n": 1})
    assert done.ok
    assert done.text == "Done, but the tool returned a object, which is neither text nor JSON"
    assert not (await executor.execute(journal, "s2", "look", {"n": 1})).ok


@pytest.mark.parametrize("damaged", [5, [], {}, {"text": "written"}])
async def test_a_result_on_record_that_cannot_be_read_is_one_line(journal: Any, damaged: Any) -> None:
    async def write(_: Mapping[str, Any]) -> Any:
        return "written"

    executor = Executor([make(write, effect="changes")], YES)
    await executor.execute(journal, "s", "box.put", {"n": 1})
    for place in ("run/s", "run/s-approval"):
        resumed = journal.resumed()
        resumed.records[place] = damaged
        with pytest.raises(LogError, match=rf"the result on record of step '{place}' cannot be read"):
            await Executor([make(write, effect="changes")], YES).execute(resumed, "s", "box.put", {"n": 1})
