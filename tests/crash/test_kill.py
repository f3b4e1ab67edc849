"""Runs killed at random moments go on: no finished call again, no effect twice, the same result."""

import json
import os
import random
import signal
import subprocess
import time
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.support import notebook
from tests.support.child import plait_run, run_id_of
from tests.support.commands import Commands, Said, records, runs

from plait.events import EffectIntended, StepRecorded
from plait.runtime.history import INTENDED

RUNS = 6
SEED = 2026
FEWEST_LINES, MOST_LINES = 2, 26
"""Of the plain display, before a run is killed; a whole run has more."""


def start_and_kill(base_url: str, notebook_file: Path, number: int) -> str:
    """Run the task, kill it a random moment after one of its lines, and return its id."""
    generator = random.Random(SEED + number)
    # Each run stands for itself: none is a reference for the next.
    with plait_run(base_url, notebook_file, None, "--no-experience") as child:
        assert child.stderr is not None
        run_id = run_id_of(child.stderr.readline())
        for _ in range(generator.randint(FEWEST_LINES, MOST_LINES) - 1):
            child.stderr.readline()
        time.sleep(generator.random() * 0.04)
        child.kill()
        child.stderr.read()
    assert child.returncode == -9
    return run_id


def doubtful(run_id: str) -> list[int]:
    """Return the lines whose writing was intended and has no result."""
    found = {record.path: record.event for record in records(run_id)}
    return [
        event.args["arguments"]["number"]
        for path, event in found.items()
        if isinstance(event, EffectIntended) and path.removesuffix(INTENDED) not in found
    ]


def resumed(plait: Commands, run_id: str, notebook_file: Path) -> Said:
    """Take a run to its end as its user would: look at the world where an effect is in doubt."""
    said = plait("resume", run_id, "--json")
    if said.status != 4:
        return said
    assert "effect in doubt" in said.json["message"]
    (number,) = doubtful(run_id)
    done = number in notebook.lines(notebook_file)
    return plait("resume", run_id, "--json", "--assume-done" if done else "--retry")


def lasting(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a result says of the task, without names, places and times."""
    usage = {"model_calls": result["usage"]["model_calls"], "tool_calls": result["usage"]["tool_calls"]}
    kept = ("status", "answer", "score", "plan", "reflection", "experience", "message")
    return {**{name: result[name] for name in kept}, **usage}


def requests_of(base_url: str) -> int:
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats") as answer:
        return json.load(answer)["requests"]


@pytest.mark.timeout(60)
def test_killed_runs_come_to_the_end_of_runs_that_were_not(
    plait: Commands, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files = [tmp_path / f"notebook-{number}" for number in range(RUNS)]
    with ThreadPoolExecutor(RUNS) as pool:
        killed = list(pool.map(start_and_kill, [endpoint] * RUNS, files, range(RUNS)))
    assert {run.status for run in runs()} == {"interrupted"}
    before = {run_id: requests_before(run_id) for run_id in killed}

    results: list[Any] = []
    for run_id, file in zip(killed, files, strict=True):
        monkeypatch.setenv("NOTEBOOK", str(file))
        said = resumed(plait, run_id, file)
        assert said.status == 0, said.err
        assert notebook.lines(file) == list(notebook.WRITES)
        replayed = plait("replay", run_id)
        assert json.loads(replayed.out) == said.json
        assert plait("replay", run_id).out == replayed.out
        results.append(said.json)
    # One call of each run may have been under way when it was killed.
    assert RUNS * notebook.MODEL_CALLS <= requests_of(endpoint) <= RUNS * (notebook.MODEL_CALLS + 1)
    assert len(set(before.values())) > 1

    monkeypatch.setenv("NOTEBOOK", str(tmp_path / "whole"))
    whole = plait.run(endpoint, "--yes", "--json", "--no-experience").json
    assert [lasting(result) for result in results] == [lasting(whole)] * RUNS


def requests_before(run_id: str) -> int:
    """Return how many model calls are on record."""
    steps = [r.event for r in records(run_id) if isinstance(r.event, StepRecorded)]
    return sum(step.step == "model" for step in steps)


@pytest.mark.parametrize(("moment", "flag"), [("before 3", "--retry"), ("after 3", "--assume-done")])
def test_a_run_killed_within_an_effect_waits_for_a_decision(
    moment: str, flag: str, plait: Commands, endpoint: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NOTEBOOK_FATAL", moment)
    with plait_run(endpoint, plait.notebook) as child:
        child.communicate()
    assert child.returncode == -9
    monkeypatch.delenv("NOTEBOOK_FATAL")
    run_id = runs()[0].run_id
    assert doubtful(run_id) == [3]
    said = plait("resume", run_id)
    assert (said.status, said.out) == (4, "")
    assert f"plait resume {run_id} --retry" in said.err
    said = plait("resume", run_id, "--json", flag)
    assert (said.status, said.json["answer"]) == (0, notebook.ANSWER)
    assert plait.lines == list(notebook.WRITES)
    assert requests_of(endpoint) == notebook.MODEL_CALLS
    assert json.loads(plait("replay", run_id).out) == said.json


def test_two_runs_at_once_on_a_database_that_is_not_there_yet(plait: Commands, endpoint: str, tmp_path: Path):
    files = [tmp_path / "one", tmp_path / "two"]
    children = [plait_run(endpoint, file) for file in files]
    for child in children:
        out, err = child.communicate()
        assert (child.returncode, out) == (0, notebook.ANSWER + "\n"), err
    assert [notebook.lines(file) for file in files] == [list(notebook.WRITES)] * 2
    assert [run.status for run in runs()] == ["succeeded"] * 2


def test_a_run_that_goes_on_is_left_alone(plait: Commands, endpoint: str, tmp_path: Path):
    with plait_run(endpoint, tmp_path / "one") as child:
        assert child.stderr is not None
        run_id = run_id_of(child.stderr.readline())
        for command in (["resume", run_id], ["runs", "rm", run_id, "--yes"]):
            said = plait(*command)
            assert said.status == 2
            assert f"run {run_id!r} is running in process {child.pid}" in said.last
        out, _ = child.communicate()
    assert (child.returncode, out) == (0, notebook.ANSWER + "\n")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupted_run_ends_in_good_order(
    name: str, plait: Commands, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "one"
    with plait_run(endpoint, file) as child:
        assert child.stderr is not None
        run_id = run_id_of(child.stderr.readline())
        wait_for(child, "write_line(number=3)")
        child.send_signal(getattr(signal, name))
        out, err = child.communicate()
    assert (child.returncode, out) == (130, "")
    assert err.splitlines()[-1] == f"plait: cancelled; go on with: plait resume {run_id}"
    assert "Traceback" not in err
    assert [(run.status, run.live) for run in runs()] == [("cancelled", False)]
    monkeypatch.setenv("NOTEBOOK", str(file))
    said = resumed(plait, run_id, file)
    assert (said.status, said.json["answer"]) == (0, notebook.ANSWER)
    assert notebook.lines(file) == list(notebook.WRITES)


def test_a_question_can_be_interrupted(plait: Commands, endpoint: str):
    master, slave = os.openpty()
    with plait_run(endpoint, plait.notebook, slave) as child:
        os.close(slave)
        said = ""
        while "[y/n]: " not in said:
            said += os.read(master, 4096).decode()
        child.send_signal(signal.SIGINT)
        # Once nobody holds the other end of a terminal, reading it is an error on Linux.
        with suppress(OSError):
            while more := os.read(master, 4096).decode():
                said += more
    os.close(master)
    assert child.returncode == 130
    assert "plait: cancelled; go on with: plait resume " in said.splitlines()[-1]
    assert plait.lines == []


def wait_for(child: "subprocess.Popen[str]", words: str) -> None:
    """Read lines of the display until one has these words."""
    assert child.stderr is not None
    assert any(words in line for line in child.stderr)
