"""A model that cannot be reached or talks nonsense: one line, and a run that goes on later."""

import socket
from collections.abc import Sequence

import pytest
from tests.support import notebook
from tests.support.commands import Commands, runs
from tests.support.endpoint import Answer, closes, fails, half_a_body, rate_limited, says, says_raw
from tests.support.served import served

from plait.models import retry


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for nothing between attempts."""
    monkeypatch.setattr(retry, "BASE_SECONDS", 0.0)


def stops_and_goes_on(plait: Commands, script: Sequence[Answer], said_of_it: str) -> None:
    """Run against an endpoint that answers the first call well and then badly, then against a good one."""
    with served([says(notebook.reply("")), *script], respond=notebook.respond) as endpoint:
        stopped = plait.run(endpoint.base_url, "--yes", "--json")
        assert (stopped.status, stopped.err.count("\n")) == (1, 1)
        assert stopped.err.startswith("plait: ")
        assert said_of_it in stopped.err
        assert endpoint.base_url in stopped.err
        assert f"plait resume {stopped.json['run_id']}" in stopped.err
        assert stopped.json["status"] == "failed"
        assert stopped.json["usage"]["model_calls"] == 1
        assert [run.status for run in runs()] == ["interrupted"]
    with served(respond=notebook.respond) as endpoint:
        done = plait("resume", stopped.json["run_id"], "--json", "--base-url", endpoint.base_url)
        assert (done.status, endpoint.requests) == (0, notebook.MODEL_CALLS - 1)
    assert done.json["answer"] == notebook.ANSWER


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        ([rate_limited("0")] * 5, "rate limited (HTTP 429)"),
        ([rate_limited("3600")], "it asks to wait 3600 s"),
        ([half_a_body] * 5, "broke off in the middle of its answer"),
        ([closes] * 5, "lost the connection"),
        ([fails(500, "boom")] * 5, "boom"),
        ([fails(401, "bad key")], "PLAIT_API_KEY"),
        ([fails(404, "no such model")], "was not found (HTTP 404)"),
        ([says_raw(b"<html>", "text/html")], "answered with a web page"),
        ([says_raw(b'{"half": ')] * 5, "what is not JSON"),
        ([says_raw(b"[]")] * 5, "no Chat Completions reply"),
    ],
)
def test_an_endpoint_that_fails(answers: list[Answer], line: str, plait: Commands):
    stops_and_goes_on(plait, answers, line)


def test_faults_that_pass_are_told_and_lived_with(plait: Commands):
    script = [rate_limited("0"), half_a_body, closes, fails(503)]
    with served(script, respond=notebook.respond) as endpoint:
        said = plait.run(endpoint.base_url, "--yes")
        assert endpoint.requests == notebook.MODEL_CALLS + len(script)
    assert (said.status, said.out) == (0, notebook.ANSWER + "\n")
    assert "429" in said.err


def test_a_dead_endpoint(plait: Commands):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    said = plait.run(url, "--yes")
    assert said.status == 1
    assert f"{url} cannot be reached" in said.last
    assert f"plait resume {runs()[0].run_id}" in said.last
    with served(respond=notebook.respond) as endpoint:
        assert plait("resume", runs()[0].run_id, "--base-url", endpoint.base_url).status == 0


@pytest.mark.parametrize("text", ["", "{", "write_line(number=", "Certainly! I will do that.", "# score: 10"])
def test_replies_that_say_nothing_end_the_run_in_good_order(text: str, plait: Commands):
    with served([says(notebook.reply(""))], respond=lambda _: text) as endpoint:
        said = plait.run(endpoint.base_url, "--yes", "--json", "--rounds", "1")
    assert said.status == 1
    assert said.json["status"] == "failed"
    assert said.json["message"]
    assert plait.lines == []


def test_replies_that_are_cut_are_asked_again(plait: Commands):
    cut = says("1. and on and on", finish="length")
    with served([cut], respond=notebook.respond) as endpoint:
        said = plait.run(endpoint.base_url, "--yes", "--json")
        assert endpoint.requests == notebook.MODEL_CALLS + 1
    assert said.json["reflection"]["gates"]["planner"]["revised"] == 1
