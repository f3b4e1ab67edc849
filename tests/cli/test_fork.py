"""`plait fork`: a new run goes on from the middle of another, in a folder as it was there."""

from pathlib import Path

import pytest
from tests.support import notebook, shelf
from tests.support.commands import Commands, Said, records, runs
from tests.support.endpoint import Endpoint, fails
from tests.support.served import served

from plait.paths import runs_folder
from plait.runtime.report import options_on_record

PART_TWO = "round-1/subtask-2"
HALF_CALLS = 5
"""Model calls from part two on: three calls, `done` and the answer."""


def on_shelf(plait: Commands, endpoint: Endpoint, *more: str) -> Said:
    where = ("--base-url", endpoint.base_url, "--model", "m", "--tools", shelf.SOURCE)
    return plait("run", notebook.TASK, *where, "--yes", "--json", *more)


def shelf_of(run_id: str) -> list[int]:
    return notebook.lines(runs_folder() / run_id / "shelf.txt")


def test_what_came_before_is_answered_from_the_log(plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        old = plait.run(endpoint.base_url, "--yes", "--json").json
        new = plait("fork", old["run_id"], "--from", PART_TWO, "--json", "--max-calls", str(HALF_CALLS))
        assert endpoint.requests == notebook.MODEL_CALLS + HALF_CALLS
    assert (new.status, new.json["answer"]) == (0, notebook.ANSWER)
    assert new.json["run_id"] != old["run_id"]
    assert new.json["usage"]["seconds"] < 60
    # These tools keep nothing in the folder: what part one wrote is not written again.
    assert plait.lines == [*notebook.WRITES, 5, 7]


def test_the_folder_of_a_fork_is_as_it_was_there(plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        old = on_shelf(plait, endpoint).json["run_id"]
        new = plait("fork", old, "--from", PART_TWO, "--json", "--dry-run").json["run_id"]
        newer = plait("fork", old, "--from", "round-1/plan", "--json", "--dry-run").json["run_id"]
        again = plait("fork", new, "--from", PART_TWO, "--json", "--no-dry-run").json["run_id"]
    assert shelf_of(old) == list(notebook.WRITES)
    assert shelf_of(new) == [1, 3]
    assert shelf_of(newer) == []
    assert shelf_of(again) == list(notebook.WRITES)


def test_what_a_run_did_without_a_fork_can_switch_on(plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        old = plait.run(endpoint.base_url, "--yes", "--json", "--no-gates", "--no-long-term").json["run_id"]
        for flags, without in (
            ([], ["gates", "long-term"]),
            (["--planner-gate"], ["tool-gate", "answer-gate", "phase-gate", "long-term"]),
            (["--reflection"], []),
        ):
            new = plait("fork", old, "--from", "round-1/plan", "--json", *flags).json["run_id"]
            assert options_on_record(records(new))["without"] == without


def test_a_fork_that_stopped_goes_on_with_its_folder_as_it_is(
    plait: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHELF_TRACE", str(tmp_path / "trace"))
    with served(respond=notebook.respond) as endpoint:
        old = on_shelf(plait, endpoint).json["run_id"]
    with served([fails(400, "no")]) as endpoint:
        said = plait("fork", old, "--from", PART_TWO, "--json", "--base-url", endpoint.base_url)
    assert said.status == 1
    assert notebook.lines(tmp_path / "trace") == [*notebook.WRITES, 1, 3]
    with served(respond=notebook.respond) as endpoint:
        assert plait("resume", said.json["run_id"], "--base-url", endpoint.base_url).status == 0
    assert notebook.lines(tmp_path / "trace") == [*notebook.WRITES, 1, 3, 5, 7]
    assert shelf_of(said.json["run_id"]) == list(notebook.WRITES)


def test_a_fork_takes_no_folder_with_something_in_it(plait: Commands, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious").touch()
    with served(respond=notebook.respond) as endpoint:
        old = on_shelf(plait, endpoint).json["run_id"]
        said = plait("fork", old, "--from", PART_TWO, "--out", str(tmp_path / "mine"))
    assert said.status == 2
    assert "is not empty" in said.last
    assert (tmp_path / "mine" / "precious").exists()
    assert [run.run_id for run in runs()] == [old]


def test_a_fork_of_a_run_with_a_folder_of_the_user_s_leaves_that_alone(plait: Commands, tmp_path: Path):
    with served(respond=notebook.respond) as endpoint:
        old = on_shelf(plait, endpoint, "--out", str(tmp_path / "mine")).json["run_id"]
        new = plait("fork", old, "--from", PART_TWO, "--json").json["run_id"]
    assert notebook.lines(tmp_path / "mine" / "shelf.txt") == list(notebook.WRITES)
    assert shelf_of(new) == list(notebook.WRITES)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--from", "round-9"], "no step at or under 'round-9'"),
        (["--from", "round-1", "--temperature", "9"], "--temperature must be between 0 and 2"),
        (["--from", "round-1", "--tools", "missing.py"], "missing.py: there is no such file"),
        (["--from", "round-1", "--file", "missing.txt"], "missing.txt' does not exist"),
    ],
)
def test_what_cannot_be_leaves_no_run_behind(plait: Commands, arguments: list[str], line: str):
    with served(respond=notebook.respond) as endpoint:
        old = plait.run(endpoint.base_url, "--yes", "--json").json["run_id"]
        said = plait("fork", old, *arguments, "--json")
    assert (said.status, said.out) == (2, "")
    assert line in said.last
    assert [run.run_id for run in runs()] == [old]
