"""The machine fails: database damaged, disk full, a server of tools gone. One line, nothing recorded lost."""

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support import notebook
from tests.support.commands import Commands, records, runs
from tests.support.served import served

from plait.events import StepRecorded
from plait.paths import database_file, models_folder
from plait.runtime import database
from plait.runtime.log import RunLog

SERVERS = Path(__file__).parents[1] / "tools" / "data" / "servers.py"


@pytest.mark.parametrize("command", [["run", "do it"], ["resume", "x"], ["runs"], ["replay", "x"]])
def test_a_database_that_is_none(command: list[str], plait: Commands):
    database_file().parent.mkdir(parents=True)
    database_file().write_bytes(b"no database at all" * 100)
    said = plait(*command)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("plait: ")
    assert said.err.count("\n") == 1
    assert "damaged or no database" in said.err
    assert "plait resume" not in said.err
    assert database_file().read_bytes().startswith(b"no database")


@pytest.mark.parametrize(
    ("damage", "status"),
    [
        ("data = replace(data, '\"options\":{', '\"options\":[],\"x\":{') WHERE kind = 'run_started'", 1),
        ("data = replace(data, '\"max_calls\":200', '\"max_calls\":\"many\"') WHERE kind = 'run_started'", 2),
        ("data = replace(data, '\"tools\":[', '\"tools\":[7,') WHERE kind = 'run_started'", 2),
        ("data = replace(data, '\"args\":{', '\"args\":null,\"x\":{') WHERE kind = 'step_recorded'", 1),
        ("data = replace(data, '\"result\":{', '\"result\":5,\"x\":{') WHERE kind = 'step_recorded'", 1),
        ("data = replace(data, '\"text\":', '\"txt\":') WHERE path LIKE '%/try-1'", 1),
        ('data = \'{"status":"succeeded","result":{}}\' WHERE kind = \'run_finished\'', 1),
        ("data = '{\"round\":1,\"subtasks\":[5]}' WHERE kind = 'plan_made'", 1),
        ("at = 'x' WHERE kind = 'gated'", 1),
        ("data = x'ff00ff' WHERE kind = 'gated'", 1),
    ],
)
def test_a_damaged_record_is_one_line_and_hides_no_other_run(damage: str, status: int, plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        other = plait.run(endpoint.base_url, "--json").json["run_id"]
        run_id = plait.run(endpoint.base_url, "--yes", "--json").json["run_id"]
        with sqlite3.connect(database_file()) as connection:
            assert connection.execute(f"UPDATE records SET {damage} AND run_id = ?", (run_id,)).rowcount
        connection.close()
        for command in ("show", "replay", "resume"):
            said = plait(command, run_id)
            assert said.status in (0, status), (command, said.err)
            assert said.err.count("\n") <= 1
            # What is not looked at does not matter; a replay looks at everything.
            assert command != "replay" or said.status == status
    listed = plait("runs", "--json")
    assert (listed.status, {each["run_id"] for each in listed.json}) == (0, {run_id, other})
    assert plait("runs").status == 0


def test_a_damaged_list_of_own_models_stops_only_what_needs_it(plait: Commands):
    models_folder().mkdir(parents=True)
    (models_folder() / "added.json").write_text("[5")
    with served(respond=notebook.respond) as endpoint:
        assert plait.run(endpoint.base_url, "--yes", "--json").status == 0
    said = plait("run", "do it", "--model", "local:mine")
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert "added.json', cannot be read" in said.last


def test_a_database_of_another_kind(plait: Commands, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLAIT_DATABASE_URL", "mysql://here/there")
    said = plait("run", "do it")
    assert said.status == 2
    assert "'mysql' are not supported" in said.last


def test_a_database_that_is_not_there(plait: Commands, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PLAIT_DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:9/none")
    said = plait("run", "do it", "--json")
    assert (said.status, said.out) == (1, "")
    assert "cannot be used" in said.last
    assert "secret" not in said.err


def test_a_full_disk(plait: Commands, monkeypatch: pytest.MonkeyPatch):
    configure = database._configure_sqlite  # pyright: ignore[reportPrivateUsage]
    RunLog.open().close_now()
    with sqlite3.connect(database_file()) as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0] + 6
    connection.close()

    def limited(connection: Any, record: object) -> None:
        configure(connection, record)
        connection.execute(f"PRAGMA max_page_count={pages}")

    monkeypatch.setattr(database, "_configure_sqlite", limited)
    with served(respond=notebook.respond) as endpoint:
        said = plait.run(endpoint.base_url, "--yes", "--json")
        asked = endpoint.requests
        assert said.status == 1
        assert "the disk is full: free some space" in said.last
        assert f"plait resume {said.json['run_id']}" in said.last
        assert 0 < asked < notebook.MODEL_CALLS
        pages = 100_000
        kept = [r for r in records(said.json["run_id"]) if isinstance(r.event, StepRecorded)]
        assert kept
        done = plait("resume", said.json["run_id"], "--json", "--retry")
        if done.status == 2:  # No effect was under way when the disk was full.
            done = plait("resume", said.json["run_id"], "--json")
        assert done.json["answer"] == notebook.ANSWER
        assert endpoint.requests <= notebook.MODEL_CALLS + 1


def test_a_damaged_record(plait: Commands):
    said, _ = plait.solve("--json")
    with sqlite3.connect(database_file()) as connection:
        connection.execute("UPDATE records SET data = '{\"half' WHERE kind = 'gated'")
    connection.close()
    for command in (["resume", "--yes"], ["replay"], ["show"]):
        refused = plait(command[0], said.json["run_id"], *command[1:])
        assert refused.status == 1
        assert "cannot be read" in refused.last
        assert "Traceback" not in refused.err
    assert [run.run_id for run in runs()] == [said.json["run_id"]]


def test_a_server_of_tools_that_dies_is_an_observation(plait: Commands, tmp_path: Path):
    configuration = tmp_path / "servers.json"
    server = {"command": sys.executable, "args": [str(SERVERS), "stdio"]}
    configuration.write_text(json.dumps({"mcpServers": {"corner": server}}))

    def respond(body: dict[str, Any]) -> str:
        text = "\n".join(message["content"] for message in body["messages"])
        if "PART-ONE" not in text:
            return "1. PART-ONE is all" + notebook.REMARKS
        if "it is over" in text:
            return "The server is gone." + notebook.REMARKS
        if "corner.add(first=1" in text:
            return 'done(result="it is over")' + notebook.REMARKS
        call = "corner.add(first=1, second=1)" if "corner.die()\n" in text else "corner.die()"
        return call + notebook.REMARKS

    with served(respond=respond) as endpoint:
        where = ("--base-url", endpoint.base_url, "--model", "m", "--tools", str(configuration))
        said = plait("run", "End it", *where, "--yes", "--json")
    assert said.status == 0
    calls = [r.event for r in records(said.json["run_id"]) if isinstance(r.event, StepRecorded)]
    died, after = [step.result for step in calls if step.step in ("tool", "effect")]
    assert not died["ok"]
    assert "corner" in died["text"]
    assert "Traceback" not in said.err
    assert after["text"]
