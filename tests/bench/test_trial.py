"""Trials: each task once, judged by its tables, a line for each, and the figures of all."""

import asyncio
import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.bench.office_tasks import DELETE, DONE, LEAVE, OPTIONS, RIGHT, WRONG
from tests.support import shelf

from plait.bench.benchmarks.workbench import WORKBENCH
from plait.bench.methods.method import Means, Method
from plait.bench.trial import Trial, Work, read_trials, run_trials
from plait.bench.workbench import WorkbenchTask
from plait.errors import ModelError, UserError
from plait.events import Record
from plait.models.protocol import LanguageModel, Reply, Request, TokenUsage
from plait.models.scripted import FunctionModel, ScriptedModel
from plait.runtime.log import RunLog
from plait.runtime.options import Options

USAGE = TokenUsage(input_tokens=100, cached_input_tokens=60, output_tokens=10)


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the waiting for the disk: what survives a power cut is not looked at here."""

    def leave(descriptor: int) -> None:
        return None

    monkeypatch.setattr(os, "fsync", leave)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "trials.jsonl"


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def cut_short(file: Path) -> None:
    """Leave the file as a process does that is killed while it writes a line."""
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole + whole[:40], encoding="utf-8")


def saying(*texts: str) -> ScriptedModel:
    return ScriptedModel([Reply(text=text, usage=USAGE) for text in texts])


async def trials(
    file: Path,
    model: LanguageModel,
    *tasks: tuple[int, WorkbenchTask],
    method: str = "react",
    options: Options = OPTIONS,
    again: bool = False,
) -> tuple[list[Trial], list[Trial]]:
    """Return all trials of the file, and those that were told as new."""
    told: list[Trial] = []
    log = RunLog.open()
    try:
        means = Means(options=options, log=log, model=model)
        work = Work(
            benchmark=WORKBENCH, method=WORKBENCH.methods[method], means=means, file=file, again=again
        )
        done = await run_trials(tasks, work, lambda trial, left: told.append(trial))
    finally:
        await log.close()
    return done, told


def measures_of(trial: Trial) -> tuple[float, ...]:
    return tuple(trial.measures[name] for name in ("right", "side_effects", "gold_changes"))


async def test_a_solved_task_is_right_counted_and_a_line_of_the_file(file: Path) -> None:
    async with saying(RIGHT, DONE) as model:
        done, told = await trials(file, model, (7, DELETE))
    [trial] = done
    assert told == done == read_trials(file)
    assert [json.loads(line) for line in lines_of(file)] == [trial.as_json()]
    assert (trial.index, trial.query, trial.status) == (7, DELETE.query, "succeeded")
    assert measures_of(trial) == (
        True,
        False,
        True,
    )
    assert (trial.model_calls, trial.tool_calls) == (2, 1)
    assert (trial.input_tokens, trial.cached_input_tokens, trial.output_tokens) == (200, 120, 20)
    log = RunLog.open()
    assert [run.run_id for run in log.runs()] == [trial.run_id]
    await log.close()


async def test_tasks_do_not_wait_while_the_records_of_another_are_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: list[str] = []
    read = RunLog.records

    def noted(log: RunLog, run_id: str) -> list[Record]:
        readers.append(threading.current_thread().name)
        return read(log, run_id)

    monkeypatch.setattr(RunLog, "records", noted)
    async with saying(RIGHT, DONE) as model:
        await trials(file, model, (7, DELETE))
    assert readers
    assert threading.current_thread().name not in readers


async def test_a_task_with_a_line_is_not_run_again(file: Path) -> None:
    async with saying(RIGHT, DONE) as model:
        before, _ = await trials(file, model, (7, DELETE))
    async with saying(DONE) as model:
        done, told = await trials(file, model, (7, DELETE), (21, LEAVE))
    assert [trial.index for trial in done] == [7, 21]
    assert (done[:1], done[1:]) == (before, told)
    assert read_trials(file) == done


REMARKS = "\n# critique: fine\n# score: 10"
LOOK = 'calendar.search_events(time_min="2023-12-13 00:00:00", time_max="2023-12-13 23:59:59")'
AS_PLAIT = [
    f"1. {DELETE.query}{REMARKS}",
    *(f"# thought: So.\n{call}{REMARKS}" for call in (LOOK, RIGHT, DONE)),
    f"It is deleted.{REMARKS}",
]


@pytest.mark.parametrize(("method", "said"), [("react", [RIGHT, DONE]), ("reflection", AS_PLAIT)])
async def test_a_task_that_was_under_way_is_taken_up_where_it_stopped(
    file: Path, method: str, said: list[str]
) -> None:
    waiting, before = asyncio.Event(), len(said) // 2
    asked, left = said[:before], said[before:]

    async def hang(request: Request) -> str:
        if not asked:
            waiting.set()
            await asyncio.Event().wait()
        return asked.pop(0)

    async with asyncio.timeout(20):
        under_way = asyncio.create_task(trials(file, FunctionModel(hang), (7, DELETE), method=method))
        await waiting.wait()
        under_way.cancel()
        with pytest.raises(asyncio.CancelledError):
            await under_way
    async with ScriptedModel(left, name="function") as model:
        [trial], _ = await trials(file, model, (7, DELETE), method=method)
    assert (trial.status, trial.model_calls) == ("succeeded", len(said))
    assert trial.measures["right"]
    log = RunLog.open()
    assert [run.run_id for run in log.runs()] == [trial.run_id]
    await log.close()


async def test_who_takes_the_results_away_begins_anew(file: Path) -> None:
    async with saying(RIGHT, DONE, RIGHT, DONE) as model:
        [first], _ = await trials(file, model, (7, DELETE))
        await asyncio.to_thread(file.unlink)
        [second], _ = await trials(file, model, (7, DELETE))
    assert first.run_id != second.run_id


async def test_a_run_that_was_over_before_its_line_was_written_is_only_judged(file: Path) -> None:
    async with saying(RIGHT, DONE) as model:
        [first], _ = await trials(file, model, (7, DELETE))
        await asyncio.to_thread(file.write_text, "", encoding="utf-8")
        [second], _ = await trials(file, model, (7, DELETE))
    assert replace(first, seconds=0) == replace(second, seconds=0)


async def test_who_changes_something_else_has_side_effects(file: Path) -> None:
    async with saying(WRONG, DONE) as model:
        [trial], _ = await trials(file, model, (0, DELETE))
    assert trial.status == "succeeded"
    assert (trial.measures["right"], trial.measures["side_effects"]) == (False, True)


async def test_where_nothing_is_to_be_done_doing_nothing_is_right(file: Path) -> None:
    async with saying(DONE) as model:
        [trial], _ = await trials(file, model, (0, LEAVE))
    assert measures_of(trial) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize("method", ["react", "plait"])
async def test_an_error_is_never_right_and_ends_its_own_task_only(file: Path, method: str) -> None:
    async with ScriptedModel([ModelError("it broke"), ModelError("again")]) as model:
        done, _ = await trials(file, model, (0, LEAVE), (1, LEAVE), method=method)
    assert [trial.status for trial in done] == ["error: it broke", "error: again"]
    assert [trial.measures["right"] for trial in done] == [False, False]


@pytest.mark.parametrize("method", ["react", "plait"])
async def test_options_that_cannot_be_used_end_all_and_cost_no_task_its_turn(file: Path, method: str) -> None:
    nowhere = replace(OPTIONS, tools=("no.such.module",))
    async with saying() as model:
        with pytest.raises(UserError, match=r"no\.such\.module"):
            await trials(file, model, (0, LEAVE), (1, LEAVE), method=method, options=nowhere)
    assert read_trials(file) == []


async def test_plait_solves_tasks_as_its_command_does(file: Path) -> None:
    async with saying("1. Delete the first meeting\n# critique: As asked.\n# score: 10") as model:
        options = replace(OPTIONS, tools=(shelf.SOURCE,), max_calls=1)
        [trial], _ = await trials(file, model, (0, DELETE), method="plait", options=options)
    assert trial.status == "budget_exhausted"
    assert (trial.measures["right"], trial.measures["side_effects"]) == (False, False)
    assert (trial.model_calls, trial.tool_calls) == (1, 0)


def test_without_a_file_there_are_no_trials(file: Path) -> None:
    assert read_trials(file) == []


async def test_a_line_that_was_being_written_is_taken_out_and_its_task_run_again(file: Path) -> None:
    async with saying(RIGHT, DONE, DONE) as model:
        await trials(file, model, (7, DELETE))
        cut_short(file)
        before = lines_of(file)
        assert [trial.index for trial in read_trials(file)] == [7]
        assert lines_of(file) == before  # Who only reads it may be reading what is being written.
        done, told = await trials(file, model, (7, DELETE), (21, LEAVE))
    assert [trial.index for trial in told] == [21]
    assert read_trials(file) == done


def test_a_file_of_something_else_is_refused(file: Path) -> None:
    file.write_text('{"index": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match="no finished task"):
        read_trials(file)


async def test_a_file_in_which_something_was_not_measured_is_refused(file: Path) -> None:
    async with saying(DONE) as model:
        await trials(file, model, (0, LEAVE))
    assert read_trials(file, ["right"])[0].measures["right"] is True
    with pytest.raises(UserError, match="no finished task"):
        read_trials(file, ["right", "quality"])


async def test_what_an_error_ended_is_run_again_where_that_is_asked(file: Path) -> None:
    async with ScriptedModel([ModelError("it broke"), Reply(text=DONE, usage=USAGE)]) as model:
        [broke], _ = await trials(file, model, (0, LEAVE))
        [still], told = await trials(file, model, (0, LEAVE))
        assert (broke.broke, still, told) == (True, broke, [])
        [mended], told = await trials(file, model, (0, LEAVE), again=True)
    assert (mended.measures["right"], mended.broke, told) == (True, False, [mended])


async def test_tasks_are_under_way_at_once_and_told_in_their_order(file: Path) -> None:
    under_way, most = 0, 0

    async def wait(task: WorkbenchTask, run_id: str, means: Means) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01 if task is DELETE else 0)
        under_way -= 1
        return "succeeded"

    log = RunLog.open()
    method = Method(solve=wait, about="", reads=frozenset())
    means = Means(options=OPTIONS, log=log, model=None)
    tasks = [(0, DELETE), (1, LEAVE), (2, LEAVE), (3, LEAVE)]
    work = Work(benchmark=WORKBENCH, method=method, means=means, file=file, at_once=2)
    done = await run_trials(tasks, work, lambda trial, left: None)
    await log.close()
    assert most == 2
    assert [trial.index for trial in done] == [0, 1, 2, 3]
    assert [trial.index for trial in read_trials(file)] != [0, 1, 2, 3]
