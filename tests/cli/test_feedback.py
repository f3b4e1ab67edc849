"""`plait feedback`: what the user's own verdict does to what a run taught."""

import asyncio
from collections.abc import Mapping

import pytest
from tests.cli.recorded import put_run
from tests.cli.sample_run import finished
from tests.runtime.records import pipeline

from plait.cli.app import run
from plait.experience.record import ExperienceStatus
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


def statuses() -> dict[str, str]:
    async def find() -> dict[str, str]:
        log = RunLog.open()
        try:
            return {record.id: record.status for record in await ExperienceStore(log).find()}
        finally:
            await log.close()

    return asyncio.run(find())


def said(verdict: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Say what the result of the run is; return the line that tells what that did."""
    assert run(["feedback", RUN, verdict]) == 0
    noted, _, done = capsys.readouterr().out.partition("\n")
    assert noted == f"Noted: the result of run {RUN} is {verdict}."
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
