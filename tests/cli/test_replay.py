"""`plait replay`: the same result to the byte, from the log alone."""

import json
from pathlib import Path

import pytest
from tests.support import notebook
from tests.support.commands import Commands
from tests.support.served import served


@pytest.mark.parametrize(
    "flags",
    [
        ["--yes"],
        ["--yes", "--check", "false", "--rounds", "2"],
        ["--yes", "--deny", "read_*", "--rounds", "1"],
        ["--dry-run"],
        ["--yes", "--max-effects", "1", "--no-reflection"],
    ],
)
def test_a_run_replays_to_the_byte(plait: Commands, flags: list[str]):
    said, _ = plait.solve("--json", *flags)
    written = plait.lines
    replayed = plait("replay", said.json["run_id"])
    assert (replayed.status, replayed.err) == (0, "")
    assert json.loads(replayed.out) == said.json
    assert plait("replay", said.json["run_id"]).out == replayed.out
    assert plait.lines == written


def test_a_run_that_was_resumed_judged_and_forked_replays(plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        run_id = plait.run(endpoint.base_url, "--json").json["run_id"]
        done = plait("resume", run_id, "--yes", "--json")
        fork = plait("fork", run_id, "--from", "round-1/answer", "--json")
    assert plait("feedback", run_id, "right").status == 0
    assert json.loads(plait("replay", run_id).out) == done.json
    assert json.loads(plait("replay", fork.json["run_id"]).out) == fork.json


def test_an_input_file_need_not_be_there_any_more(plait: Commands, tmp_path: Path):
    facts = tmp_path / "facts.txt"
    facts.write_text("a fact")
    said, _ = plait.solve("--yes", "--json", "--file", str(facts))
    facts.unlink()
    assert json.loads(plait("replay", said.json["run_id"]).out) == said.json


@pytest.mark.parametrize("flags", [["--max-calls", "3", "--yes"], []])
def test_a_run_that_has_not_ended_by_itself_has_nothing_to_replay(plait: Commands, flags: list[str]):
    said, _ = plait.solve("--json", *flags)
    replayed = plait("replay", said.json["run_id"])
    assert replayed.status == 2
    assert "has not come to its own end" in replayed.last
