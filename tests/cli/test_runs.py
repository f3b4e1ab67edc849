"""`plait runs` lists runs newest first and removes them with their files."""

import io
import json
import sqlite3
from pathlib import Path

import pytest
from tests.support.terminal import at_a_terminal

from plait.cli.app import run
from plait.paths import database_file, runs_folder
from plait.runtime.log import RunLog

from .recorded import put_run
from .sample_run import finished, killed


@pytest.fixture
def two_runs() -> None:
    put_run("aaa111", killed())
    put_run("bbb222", finished())


def _folder(run_id: str) -> Path:
    folder = runs_folder() / run_id
    folder.mkdir(parents=True)
    (folder / "calendar.csv").write_text("x", encoding="utf-8")
    return folder


def _left() -> list[str]:
    log = RunLog.open()
    found = [found.run_id for found in log.runs()]
    log.close_now()
    return found


@pytest.mark.usefixtures("two_runs")
def test_runs_are_listed_newest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs"]) == 0
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "age", "status", "domain", "time", "calls", "task"]
    assert first.split()[:5] == ["bbb222", "just", "now", "succeeded", "tools"]
    assert float(first.split()[5]) < 60
    assert second.split()[:4] == ["aaa111", "just", "now", "interrupted"]
    assert first.split()[7] == "11"
    assert first.endswith("tell her that I am ill today.")


@pytest.mark.usefixtures("two_runs")
def test_runs_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(item["run_id"], item["status"], item["model_calls"]) for item in shown] == [
        ("bbb222", "succeeded", 11),
        ("aaa111", "interrupted", 7),
    ]


@pytest.mark.usefixtures("two_runs")
def test_a_run_whose_records_cannot_be_read_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect(database_file()) as connection:
        connection.execute("UPDATE records SET data = '{' WHERE run_id = 'bbb222'")
    connection.close()
    assert run(["runs"]) == 0
    _, first, second = capsys.readouterr().out.splitlines()
    assert (first.split()[0], first.split().count("?")) == ("bbb222", 2)
    assert second.split()[0] == "aaa111"
    assert run(["runs", "--json"]) == 0
    assert [each["model_calls"] for each in json.loads(capsys.readouterr().out)] == [None, 7]


@pytest.mark.usefixtures("two_runs")
def test_a_limit_keeps_the_newest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "--json", "--limit", "1"]) == 0
    assert [item["run_id"] for item in json.loads(capsys.readouterr().out)] == ["bbb222"]
    assert run(["runs", "--limit", "0"]) == 2


def test_no_runs_say_how_to_start_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs"]) == 0
    assert capsys.readouterr().out.startswith("There are no runs yet.")
    assert run(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.usefixtures("two_runs")
def test_removal_takes_records_and_files_of_the_named_runs_only(capsys: pytest.CaptureFixture[str]) -> None:
    gone, kept = _folder("aaa111"), _folder("bbb222")
    assert run(["runs", "rm", "aaa", "aaa111", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed run aaa111.\n"
    assert _left() == ["bbb222"]
    assert not gone.exists()
    assert (kept / "calendar.csv").exists()


@pytest.mark.usefixtures("two_runs")
def test_without_a_terminal_removal_needs_yes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "rm", "aaa111", "bbb222"]) == 2
    assert capsys.readouterr().err == "plait: removing 2 runs cannot be undone: add --yes to do it\n"
    assert _left() == ["bbb222", "aaa111"]


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize(("answer", "left"), [("y\n", ["bbb222"]), ("n\n", ["bbb222", "aaa111"])])
def test_on_a_terminal_removal_asks(answer: str, left: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with at_a_terminal(monkeypatch, answer, early="y\n"):
        assert run(["runs", "rm", "aaa111"]) == 0
    assert _left() == left


@pytest.mark.usefixtures("two_runs")
@pytest.mark.parametrize("stream", ["stdin", "stderr"])
def test_removal_asks_nothing_that_is_not_seen(stream: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with at_a_terminal(monkeypatch), monkeypatch.context() as patch:
        patch.setattr(f"sys.{stream}", None if stream == "stdin" else io.StringIO())
        assert run(["runs", "rm", "aaa111"]) == 2
    assert _left() == ["bbb222", "aaa111"]


@pytest.mark.usefixtures("two_runs")
def test_nothing_is_removed_where_one_run_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["runs", "rm", "aaa111", "zzz", "--yes"]) == 2
    assert "there is no run 'zzz'" in capsys.readouterr().err
    assert _left() == ["bbb222", "aaa111"]
