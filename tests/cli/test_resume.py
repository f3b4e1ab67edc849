"""`plait resume`: a run goes on where it stopped, and only then."""

from pathlib import Path

import pytest
from tests.support import notebook
from tests.support.commands import Commands, records, runs
from tests.support.endpoint import fails, says
from tests.support.served import served

from plait.events import RunResumed


def test_a_run_that_succeeded_is_shown_again_and_not_touched(plait: Commands):
    said, _ = plait.solve("--yes", "--json")
    run_id = said.json["run_id"]
    before = records(run_id)
    again = plait("resume", run_id, "--json")
    assert (again.status, again.out) == (0, said.out)
    assert records(run_id) == before


def test_a_higher_limit_takes_a_run_to_its_end(plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        short = plait.run(endpoint.base_url, "--yes", "--json", "--max-calls", "5").json
        again = plait("resume", short["run_id"], "--json")
        assert (again.status, endpoint.requests) == (3, 5)
        done = plait("resume", short["run_id"], "--json", "--max-calls", "20")
        assert endpoint.requests == notebook.MODEL_CALLS
    assert (done.status, done.json["answer"]) == (0, notebook.ANSWER)
    assert done.json["usage"]["model_calls"] == notebook.MODEL_CALLS
    assert plait.lines == list(notebook.WRITES)


def test_a_run_that_waits_for_approval_goes_on_with_yes(plait: Commands):
    with served(respond=notebook.respond) as endpoint:
        assert plait.run(endpoint.base_url).status == 4
        asked = endpoint.requests
        said = plait("resume", runs()[0].run_id[:-2], "--yes")
        assert endpoint.requests == notebook.MODEL_CALLS
    assert asked == 2
    assert (said.status, said.out) == (0, notebook.ANSWER + "\n")
    assert plait.lines == list(notebook.WRITES)


def test_an_endpoint_that_moved(plait: Commands):
    with served([says(notebook.reply("")), fails(400, "no more")]) as endpoint:
        assert plait.run(endpoint.base_url, "--yes").status == 1
    with served(respond=notebook.respond) as endpoint:
        said = plait("resume", runs()[0].run_id, "--base-url", endpoint.base_url)
        assert (said.status, endpoint.requests) == (0, notebook.MODEL_CALLS - 1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--max-calls", "-3"], "--max-calls must be a positive finite number, not -3"),
        (["--max-effects", "-1"], "--max-effects must be 0 or more, not -1"),
        (["--retry", "--assume-done"], "--retry and --assume-done exclude each other"),
        (["--retry"], "has no effect in doubt"),
    ],
)
def test_what_cannot_be_leaves_the_run_as_it_was(plait: Commands, arguments: list[str], line: str):
    said, _ = plait.solve("--json")
    before = records(said.json["run_id"])
    refused = plait("resume", said.json["run_id"], *arguments)
    assert refused.status == 2
    assert line in refused.last
    assert [r.event for r in records(said.json["run_id"]) if isinstance(r.event, RunResumed)] == []
    assert records(said.json["run_id"]) == before


def test_prompts_that_are_gone_are_not_replaced_by_others(plait: Commands, tmp_path: Path):
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    with served(respond=notebook.respond) as endpoint:
        short = plait.run(endpoint.base_url, "--yes", "--json", "--max-calls=5", f"--prompts={prompts}")
        run_id = short.json["run_id"]
        before = records(run_id)
        prompts.rmdir()
        for command in (["resume"], ["fork", "--from", "round-1/answer"]):
            refused = plait(command[0], run_id, *command[1:], "--max-calls", "20")
            assert refused.status == 2
            assert f"--prompts {str(prompts)!r} is no folder" in refused.last
        assert (records(run_id), len(runs()), endpoint.requests) == (before, 1, 5)
        prompts.mkdir()
        assert plait("resume", run_id, "--max-calls", "20").status == 0
        prompts.rmdir()
        assert "is no folder: put it back" in plait("replay", run_id).last


def test_an_unknown_run(plait: Commands):
    said = plait("resume", "nowhere", "--json")
    assert (said.status, said.out) == (2, "")
    assert "nowhere" in said.err
    assert said.err.count("\n") == 1


def test_tools_that_are_gone(plait: Commands, monkeypatch: pytest.MonkeyPatch, tmp_path: object):
    with served(respond=notebook.respond) as endpoint:
        run_id = plait.run(endpoint.base_url, "--json").json["run_id"]
        monkeypatch.setattr(notebook, "__file__", "elsewhere")
        monkeypatch.setattr("plait.tools.modules.tag_of", lambda value: getattr(value, "nothing", None))
        said = plait("resume", run_id, "--yes")
    assert said.status == 2
    assert "no tools found" in said.last
