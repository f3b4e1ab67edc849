"""`plait feedback`: what the user's own verdict does to what a run taught."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.cli.recorded import put_run
from tests.cli.sample_run import finished
from tests.runtime.records import pipeline

from plait.cli.app import run
from plait.errors import LogError
from plait.events import FeedbackGiven, PipelineEnded
from plait.experience.record import Experience, ExperienceStatus
from plait.outfit.teaching import LEARNED_FROM
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

RUN = "aaa111"
TAUGHT = (
    pipeline("a1", run_id=RUN),
    pipeline("a2", run_id=RUN, status="provisional"),
    pipeline("a3", run_id=RUN, status="provisional", content={LEARNED_FROM: {RUN: "2023-11-30"}}),
    pipeline("a4", run_id=RUN, status="quarantined"),
    pipeline("b1", run_id="another", status="provisional"),
    pipeline("b2", run_id="another", status="suspended"),
)
AS_TAUGHT: Mapping[str, ExperienceStatus] = {record.id: record.status for record in TAUGHT}
SUSPENDED = dict.fromkeys(("a1", "a2", "a3"), "suspended")


@pytest.fixture(autouse=True)
def taught() -> None:
    """Put a run into the log, and what it and another one taught into the memory."""
    put_run(RUN, finished())

    async def keep() -> None:
        log = RunLog.open()
        for record in TAUGHT:
            await ExperienceStore(log).add(record)
        await log.close()

    asyncio.run(keep())


def in_memory(work: Callable[[ExperienceStore], Awaitable[Any]]) -> Any:
    async def done() -> Any:
        log = RunLog.open()
        try:
            return await work(ExperienceStore(log))
        finally:
            await log.close()

    return asyncio.run(done())


def found() -> dict[str, Experience]:
    records = in_memory(lambda store: store.find())
    return {record.id: record for record in records}


def statuses() -> dict[str, str]:
    return {id: record.status for id, record in found().items()}


def said(verdict: str, capsys: pytest.CaptureFixture[str], of: str = RUN) -> str:
    """Say what the result of a run is; return the line that tells what that did."""
    assert run(["feedback", of, verdict]) == 0
    noted, _, done = capsys.readouterr().out.partition("\n")
    assert noted == f"Noted: the result of run {of} is {verdict}."
    return done.strip()


def test_what_a_run_taught_provisionally_is_used_where_its_result_is_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = said("right", capsys)
    assert done == "In use from now on: 1 record that it taught or used; see: plait memory list"
    # One right result does not say which row was meant (a3), nor that a tool's text may be followed (a4).
    assert statuses() == {**AS_TAUGHT, "a2": "active"}
    assert said("right", capsys) == ""


def test_who_takes_wrong_back_has_again_what_it_suspended(capsys: pytest.CaptureFixture[str]) -> None:
    assert said("wrong", capsys).startswith("Suspended 3 records")
    assert statuses() == {**AS_TAUGHT, **SUSPENDED}
    assert said("wrong", capsys) == ""
    assert said("right", capsys).startswith("In use from now on: 3 records")
    assert statuses() == {**AS_TAUGHT, "a2": "active"}
    assert said("wrong", capsys).startswith("Suspended 3 records")
    assert statuses() == {**AS_TAUGHT, **SUSPENDED}


def put_run_that_walked(run_id: str, id: str) -> None:
    """Put a run into the log that used a pipeline."""
    records = finished()
    ended = PipelineEnded(experience=id, calls=1, left="")
    walked = replace(records[-1], path="plan/walked", sequence=records[-1].sequence + 1, event=ended)
    put_run(run_id, [*records, walked])


async def taught_again_and_failed_twice(store: ExperienceStore) -> None:
    again = replace(TAUGHT[0], id="c1", run_id="ccc333", content={"made": "by another"})
    assert (await store.add(again)).id == "a1"
    for _ in range(2):
        await store.used("a1", succeeded=False)


@pytest.mark.parametrize("first_taken_back", [RUN, "bbb222"])
def test_what_two_wrong_runs_used_waits_until_both_are_right(
    capsys: pytest.CaptureFixture[str], first_taken_back: str
) -> None:
    put_run_that_walked("bbb222", "a1")
    said("wrong", capsys)
    assert said("wrong", capsys, "bbb222") == ""
    said("right", capsys, first_taken_back)
    assert statuses()["a1"] == "suspended"
    [then] = {RUN, "bbb222"} - {first_taken_back}
    said("right", capsys, then)
    assert statuses()["a1"] == "active"


def test_what_was_taught_again_and_failed_since_stays_suspended(capsys: pytest.CaptureFixture[str]) -> None:
    said("wrong", capsys)
    in_memory(taught_again_and_failed_twice)
    assert said("wrong", capsys) == ""
    said("right", capsys)
    assert statuses()["a1"] == "suspended"


def test_a_verdict_on_earlier_content_holds_no_later_one_back(capsys: pytest.CaptureFixture[str]) -> None:
    put_run_that_walked("bbb222", "a1")
    said("wrong", capsys)
    again = replace(TAUGHT[0], id="c1", run_id="ccc333", content={"made": "by another"})
    in_memory(lambda store: store.add(again))
    said("wrong", capsys, "bbb222")
    assert statuses()["a1"] == "suspended"
    said("right", capsys, "bbb222")
    assert statuses()["a1"] == "active"


@pytest.mark.parametrize("approved", [False, True])
def test_only_what_the_user_approved_is_approved_when_it_comes_back(
    capsys: pytest.CaptureFixture[str], approved: bool
) -> None:
    if approved:
        in_memory(lambda store: store.change("a1", status="active"))
    said("wrong", capsys)
    said("right", capsys)
    assert (found()["a1"].status, found()["a1"].approved) == ("active", approved)


def verdicts() -> list[str]:
    log = RunLog.open()
    try:
        records = log.records_of_kinds([FeedbackGiven.kind])
        return [record.event.verdict for record in records if isinstance(record.event, FeedbackGiven)]
    finally:
        log.close_now()


async def fails(*_: Any, **__: Any) -> Any:
    raise LogError("the disk is full")


def test_a_verdict_that_was_cut_short_is_done_when_it_is_said_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    change = ExperienceStore.change

    async def fails_for_a2(store: ExperienceStore, id: str, *, status: ExperienceStatus) -> None:
        await (fails() if id == "a2" else change(store, id, status=status))

    with monkeypatch.context() as broken:
        broken.setattr(ExperienceStore, "change", fails_for_a2)
        assert run(["feedback", RUN, "wrong"]) != 0
    capsys.readouterr()
    assert verdicts() == ["wrong"]  # Else nothing would say how what is suspended stood.
    assert said("wrong", capsys).startswith("Suspended 2 records")
    with monkeypatch.context() as broken:
        broken.setattr(ExperienceStore, "add", fails)
        assert run(["feedback", RUN, "right"]) != 0
    capsys.readouterr()
    assert verdicts() == ["wrong", "wrong"]
    said("right", capsys)
    assert statuses() == {**AS_TAUGHT, "a2": "active"}
