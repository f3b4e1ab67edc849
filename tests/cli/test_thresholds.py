"""A threshold from a percentile: a number once the run has started, on record and told."""

import asyncio

import pytest
from tests.support import notebook
from tests.support.commands import Commands, records, runs
from tests.support.served import served

from plait.events import Gated, Noted
from plait.runtime.log import RunLog
from plait.runtime.report import options_on_record

TOLD = "planner threshold 7.0 (85th percentile of 20 recorded scores)"


async def scored(count: int, model: str = "m") -> None:
    """Put a run on record whose plans had the scores 5 and, a quarter of them, 7."""
    log = RunLog.open()
    journal = await log.start(f"scored-{model}", "t", {"model": model})
    for number in range(count):
        journal.emit(
            Gated(
                role="planner",
                attempt=number + 1,
                score=7.0 if number % 4 == 0 else 5.0,
                threshold=9,
                critique="",
                problems=(),
                verdict="passed",
                output="",
            )
        )
    await journal.finish("succeeded", {})
    await journal.close()
    await log.close()


def noted(run_id: str) -> list[str]:
    return [record.event.text for record in records(run_id) if isinstance(record.event, Noted)]


def test_a_percentile_is_told_and_its_number_recorded(plait: Commands):
    asyncio.run(scored(20))
    said, calls = plait.solve("--yes", "--planner-threshold", "p85", "--tool-threshold", "3")
    assert (said.status, calls) == (0, notebook.MODEL_CALLS)
    assert TOLD in said.err
    run_id = runs()[0].run_id
    recorded = options_on_record(records(run_id))
    assert (recorded["planner_threshold"], recorded["tool_threshold"]) == (7.0, 3.0)
    assert TOLD in noted(run_id)


def test_a_fork_takes_percentiles_too(plait: Commands):
    asyncio.run(scored(20))
    with served(respond=notebook.respond) as endpoint:
        old = plait.run(endpoint.base_url, "--yes", "--json").json["run_id"]
        new = plait("fork", old, "--from", "round-1/answer", "--planner-threshold", "p1", "--json")
    run_id = new.json["run_id"]
    assert options_on_record(records(run_id))["planner_threshold"] == 5.0
    assert "planner threshold 5.0 (1st percentile of 21 recorded scores)" in noted(run_id)


@pytest.mark.parametrize(("count", "model"), [(19, "m"), (40, "another")])
def test_with_too_few_scores_no_run_begins(plait: Commands, count: int, model: str):
    asyncio.run(scored(count, model))
    before = len(runs())
    said, calls = plait.solve("--yes", "--planner-threshold", "p85")
    assert (said.status, calls, len(runs())) == (2, 0, before)
    assert "needs at least 20 recorded scores of the planner" in said.last


def test_a_threshold_that_is_none(plait: Commands):
    said = plait("run", "task", "--answer-threshold", "p100")
    assert said.status == 2
    assert "--answer-threshold must be a score from 0 to 10 or a percentile from p1 to p99" in said.last
