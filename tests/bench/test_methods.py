"""Methods: every baseline works on the same tools and log, and ends in good order."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.bench.office_tasks import DELETE, DONE, OPTIONS, RIGHT

from plait.bench.ablation import Table, entries_of
from plait.bench.methods.method import Means
from plait.bench.methods.strands import STRANDS, with_only
from plait.bench.methods.tools import METHODS
from plait.bench.workbench import judge
from plait.events import RunFinished, StepRecorded
from plait.models.scripted import ScriptedModel
from plait.paths import runs_folder
from plait.runtime.log import RunLog

SCRIPTS = {
    "react": [RIGHT, DONE],
    "reflexion": [RIGHT, DONE, "no", "Delete nothing more.", RIGHT, DONE, "yes"],
    "plan-and-execute": ["1. Delete the first meeting", RIGHT, DONE, "answer: It is deleted."],
}


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


@pytest.mark.parametrize("method", SCRIPTS)
async def test_a_baseline_solves_a_task_on_the_tables_of_its_run(method: str, log: RunLog) -> None:
    async with ScriptedModel(SCRIPTS[method]) as model:
        means = Means(options=OPTIONS, log=log, model=model)
        assert await METHODS[method].solve(DELETE, "r1", means) == "succeeded"
    assert judge(runs_folder() / "r1", DELETE.gold, error=False).correct
    steps = [record.event for record in log.records("r1") if isinstance(record.event, StepRecorded)]
    assert [step.step for step in steps].count("effect") == 1
    assert [step.step for step in steps].count("model") == len(SCRIPTS[method])
    assert [run.status for run in log.runs()] == ["succeeded"]


@pytest.mark.parametrize("method", SCRIPTS)
@pytest.mark.parametrize("calls", [1, 3])
async def test_a_reached_budget_ends_a_baseline_in_good_order(method: str, calls: int, log: RunLog) -> None:
    script = SCRIPTS[method] if method != "react" else [RIGHT] * 2 + ["calendar.search_events()"]
    async with ScriptedModel(script[:calls]) as model:
        means = Means(options=replace(OPTIONS, max_calls=calls), log=log, model=model)
        assert await METHODS[method].solve(DELETE, "r1", means) == "budget_exhausted"
    ended = log.records("r1")[-1].event
    assert isinstance(ended, RunFinished)
    assert (ended.status, ended.result) == ("budget_exhausted", {"answer": ""})


@pytest.mark.parametrize("method", SCRIPTS)
async def test_a_baseline_whose_replies_cannot_be_read_fails(method: str, log: RunLog) -> None:
    tries = 6 if method == "plan-and-execute" else 3
    async with ScriptedModel(["I do not know."] * tries) as model:
        means = Means(options=OPTIONS, log=log, model=model)
        assert await METHODS[method].solve(DELETE, "r1", means) == "failed"


@pytest.mark.parametrize("strand", STRANDS)
def test_a_strand_alone_is_the_line_of_that_name_in_the_table_of_strands(strand: str) -> None:
    (line,) = (entry for entry in entries_of(Table.strands, OPTIONS) if entry.label == strand)
    assert with_only(OPTIONS, {strand}) == line.options
    reflects = line.options.reflection().tool.enabled
    assert (line.options.teams > 1, reflects, line.options.experience) == (
        strand == "teams",
        strand == "reflection",
        strand == "experience",
    )
