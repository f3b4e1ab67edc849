"""`plait run` with a settings file: told once, on record, and not read again."""

import os
from pathlib import Path

import pytest
from tests.support import notebook
from tests.support.commands import Commands, records, runs
from tests.support.served import served

from plait.events import Noted, RunStarted
from plait.runtime.report import options_on_record


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def notes(run_id: str) -> list[str]:
    return [record.event.text for record in records(run_id) if isinstance(record.event, Noted)]


def test_a_named_file_is_told_once_and_on_record(plait: Commands, folder: Path):
    text = (
        f'tools = ["{notebook.SOURCE}"]\nallow = ["write_*"]\nmodel = "m"\nrounds = 2\nno-experience = true'
    )
    (folder / "mine.toml").write_text(text)
    with served(respond=notebook.respond) as endpoint:
        where = ("--settings", "mine.toml", "--base-url", endpoint.base_url)
        said = plait("run", notebook.TASK, *where, "--rounds", "3")
    assert said.status == 0
    assert plait.lines == list(notebook.WRITES)
    [run] = runs()
    told = [line for line in notes(run.run_id) if line.startswith("from ")]
    assert len(told) == 1
    assert all(word in told[0] for word in ("model m", "allow write_*", "no-experience"))
    assert "rounds" not in told[0]
    assert said.err.count("no-experience") == 1
    options = options_on_record(records(run.run_id))
    assert (options["rounds"], options["without"]) == (3, ["experience"])


def test_the_file_is_not_read_again(plait: Commands, folder: Path):
    file = folder / "plait.toml"
    file.write_text("no-experience = true\nmax-calls = 5")
    with served(respond=notebook.respond) as endpoint:
        assert plait.run(endpoint.base_url, "--yes").status == 3
        file.write_text("no = such option")
        [run] = runs()
        assert plait("resume", run.run_id, "--max-calls", "50").status == 0
        assert plait("replay", run.run_id).status == 0
    options = options_on_record(records(run.run_id))
    assert (options["max_calls"], options["without"]) == (50, ["experience"])
    started = [record.event for record in records(run.run_id) if isinstance(record.event, RunStarted)]
    assert started[0].options["max_calls"] == 5


def test_a_flag_takes_back_what_the_file_switched_off(plait: Commands, folder: Path):
    (folder / "plait.toml").write_text("no-experience = true\ndry-run = true")
    said, _ = plait.solve("--yes", "--experience", "--no-dry-run")
    assert said.status == 0
    options = options_on_record(records(runs()[0].run_id))
    assert (list(options["without"]), options["dry_run"]) == ([], False)
    assert "from plait.toml" not in said.err


def test_a_folder_of_somebody_else_permits_nothing(plait: Commands, folder: Path):
    (folder / "plait.toml").write_text("yes = true")
    inside = folder / "src"
    inside.mkdir()
    os.chdir(inside)
    with served(respond=notebook.respond) as endpoint:
        said = plait.run(endpoint.base_url)
        assert (said.status, endpoint.requests) == (2, 0)
        assert "was found, not named, so it cannot set yes" in said.last
        assert plait.run(endpoint.base_url, "--no-settings").status == 4
        assert plait.lines == []
        assert plait.run(endpoint.base_url, "--settings", str(folder / "plait.toml")).status == 0
    assert plait.lines == list(notebook.WRITES)


def test_what_does_not_fit_is_a_line_and_leaves_no_run(plait: Commands, folder: Path):
    (folder / "plait.toml").write_text("seed = 1\nteems = 3")
    said, requests = plait.solve()
    assert (said.status, requests, list(runs())) == (2, 0, [])
    assert said.err.count("\n") == 1
    assert "plait.toml', line 2: teems is no option; did you mean teams?" in said.err
    assert plait("run", "x", "--settings", "a.toml", "--no-settings").status == 2


def test_the_doctor_tells_which_file_is_in_force(plait: Commands, folder: Path):
    checks = {check["name"]: check for check in plait("doctor", "--json").json["checks"]}
    assert checks["settings"]["state"] == "ok"
    (folder / "plait.toml").write_text('domain = "story"\nteams = 3')
    checks = {check["name"]: check for check in plait("doctor", "--json").json["checks"]}
    assert checks["settings"]["found"] == "from plait.toml: domain story, teams 3"
    (folder / "plait.toml").write_text("teams = 'three'")
    checks = {check["name"]: check for check in plait("doctor", "--json").json["checks"]}
    assert checks["settings"]["state"] == "broken"
    assert "must be a whole number" in checks["settings"]["found"]


def test_each_strand_is_switched_off_by_one_flag(plait: Commands, folder: Path):
    off = ("--no-teams", "--no-reflection", "--no-experience")
    said, _ = plait.solve("--yes", *off)
    assert said.status == 0
    (folder / "plait.toml").write_text("teams = 2\n" + "\n".join(f"{each[2:]} = true" for each in off[1:]))
    assert plait.solve("--yes", "--no-teams")[0].status == 0
    for run in runs():
        options = options_on_record(records(run.run_id))
        assert (options["teams"], options["without"]) == (1, ["reflection", "experience"])
    assert plait("run", "x", "--no-teams", "--teams", "2", "--no-settings").status == 2
