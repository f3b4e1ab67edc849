"""`plait run`: a task is solved, shown and bounded; what stops it is said, and its result printed."""

import asyncio
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.support import notebook
from tests.support.commands import Commands, records, runs
from tests.support.served import served
from tests.support.terminal import at_a_terminal

from plait.carrying import bare
from plait.cli import running
from plait.events import ApprovalDecided
from plait.task import Status

KEYS = {
    "run_id",
    "status",
    "domain",
    "answer",
    "score",
    "message",
    "artifacts",
    "usage",
    "plan",
    "teams",
    "reflection",
    "experience",
}


def test_a_task_is_solved_and_shown(plait: Commands):
    said, requests = plait.solve("--yes")
    assert (said.status, said.out) == (0, notebook.ANSWER + "\n")
    assert requests == notebook.MODEL_CALLS
    assert plait.lines == list(notebook.WRITES)
    assert "200 calls" in said.err.splitlines()[1]
    assert [run.status for run in runs()] == ["succeeded"]


def test_json_is_one_object_and_nothing_else(plait: Commands):
    said, _ = plait.solve("--yes", "--json")
    assert said.err == ""
    assert said.out.count("\n") == 1
    assert said.json.keys() == KEYS
    assert said.json["status"] == "succeeded"
    assert said.json["answer"] == notebook.ANSWER
    assert said.json["usage"]["model_calls"] == notebook.MODEL_CALLS
    assert said.json["usage"]["tool_calls"] == 7
    assert [(item["id"], item["status"]) for item in said.json["plan"]] == [
        ("1", "succeeded"),
        ("2", "succeeded"),
    ]
    assert said.json["reflection"]["gates"]["tool"] == {"passed": 9, "revised": 0, "forced": 0}
    assert said.json["experience"]["subtasks"] == 2


def test_a_dry_run_reads_and_changes_nothing(plait: Commands):
    said, _ = plait.solve("--dry-run", "--yes", "--json")
    assert said.status == 0
    assert plait.lines == []
    assert said.json["usage"]["tool_calls"] == 3


def test_an_effect_that_nobody_allowed_needs_a_decision(plait: Commands):
    said, _ = plait.solve("--json")
    assert said.status == 4
    assert said.json["status"] == "needs_decision"
    assert "--allow 'write_line'" in said.json["message"]
    assert plait.lines == []


def test_effects_are_allowed_by_name(plait: Commands):
    said, _ = plait.solve("--allow", "write_*")
    assert said.status == 0
    assert plait.lines == list(notebook.WRITES)


@pytest.mark.parametrize(
    ("flags", "by", "written"),
    [(["--deny", "write_line"], "--deny", []), (["--max-effects", "2"], "--max-effects", [1, 3])],
)
def test_what_is_refused_is_not_done(plait: Commands, flags: list[str], by: str, written: list[int]):
    said, _ = plait.solve("--yes", "--json", "--rounds", "1", *flags)
    assert plait.lines == written
    decisions = [r.event for r in records(said.json["run_id"]) if isinstance(r.event, ApprovalDecided)]
    assert by in {decision.by for decision in decisions if not decision.allowed}


@pytest.mark.parametrize(("command", "status"), [("true", 0), ("grep -q something-else", 1)])
def test_the_check_overrules_the_agents(plait: Commands, command: str, status: int):
    said, _ = plait.solve("--yes", "--json", "--rounds", "1", "--check", command)
    assert said.status == status
    assert said.json["score"] == 10
    assert said.json["answer"] == notebook.ANSWER


def test_an_answer_of_a_type(plait: Commands, tmp_path: Path):
    schema = tmp_path / "answer.json"
    schema.write_text(json.dumps({"type": "object", "properties": {"lines": {"type": "integer"}}}))

    def respond(body: dict[str, object]) -> str:
        text = notebook.respond(body)
        if not text.startswith(notebook.ANSWER):
            return text
        return json.dumps({"output": {"answer": {"lines": 4}}, "critique": "Right.", "score": 9})

    with served(respond=respond) as endpoint:
        said = plait.run(endpoint.base_url, "--yes", "--json", "--returns", str(schema))
    assert said.json["answer"] == {"lines": 4}


def test_a_used_up_budget_ends_the_run_in_good_order(plait: Commands):
    said, requests = plait.solve("--yes", "--json", "--max-calls", "5")
    assert (said.status, requests) == (3, 5)
    assert said.json["status"] == "budget_exhausted"
    assert "--max-calls" in said.json["message"]


def test_input_files_are_part_of_the_task(plait: Commands, tmp_path: Path):
    (tmp_path / "facts.txt").write_text("the moon is made of paper")
    with served(respond=notebook.respond) as endpoint:
        plait.run(endpoint.base_url, "--yes", "--file", str(tmp_path / "facts.txt"))
        assert "the moon is made of paper" in str(endpoint.bodies[0]["messages"])


def test_approval_is_asked_on_a_terminal(plait: Commands, monkeypatch: pytest.MonkeyPatch):
    with at_a_terminal(monkeypatch, "what?\n", "y\n", "yes\n", "y\n", "n\n") as terminal:
        plait.solve("--rounds", "1")
    assert terminal.shown.count("Allow write_line(number=1)? [y/n]: ") == 2
    assert plait.lines == [1, 3, 5]


def test_what_was_typed_before_a_question_was_shown_does_not_answer_it(
    plait: Commands, monkeypatch: pytest.MonkeyPatch
):
    with at_a_terminal(monkeypatch, "y\ny\ny\n", early="n\n"):
        plait.solve("--rounds", "1")
    assert plait.lines == [1]


@pytest.mark.parametrize("hidden", ["stdin", "stderr"])
def test_nothing_is_asked_where_the_question_is_not_seen_or_cannot_be_answered(
    plait: Commands, monkeypatch: pytest.MonkeyPatch, hidden: str
):
    with at_a_terminal(monkeypatch) as terminal, monkeypatch.context() as patch:
        # A process that is started without standard input has None in its place.
        patch.setattr(f"sys.{hidden}", None if hidden == "stdin" else io.StringIO())
        said, _ = plait.solve("--rounds", "1")
    assert (said.status, plait.lines, terminal.shown.count("[y/n]")) == (4, [], 0)


@pytest.mark.parametrize(
    ("status", "exit_status", "out", "err"),
    [
        ("succeeded", 0, "Done.\n", "cancelled while it was learned from; its result stands"),
        ("cancelled", 130, "", "cancelled; go on with: plait resume abc"),
    ],
)
def test_what_was_done_before_it_was_cancelled_is_printed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: Status,
    exit_status: int,
    out: str,
    err: str,
):
    async def go(_: Any) -> Any:
        raise asyncio.CancelledError

    result = replace(bare("abc", "tools", status=status, message=""), answer="Done.")
    monkeypatch.setattr(running, "stopped", lambda *_: result)
    with pytest.raises(typer.Exit) as left:
        running.carry_out("abc", go, as_json=False)
    said = capsys.readouterr()
    assert (left.value.exit_code, said.out) == (exit_status, out)
    assert err in said.err
