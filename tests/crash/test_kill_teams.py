"""Runs of teams that are killed go on: no finished call again, the same result."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash.conftest import LATENCY_SECONDS, ROOT
from tests.crash.test_kill import requests_of
from tests.support import studio
from tests.support.child import MAIN, run_id_of
from tests.support.commands import Commands

CALLS = 17
"""Of a run of three teams."""
SEED = 2027
MOST_LINES = 50


@pytest.fixture
def studio_endpoint() -> Iterator[str]:
    """The address of an endpoint in a process of its own, which replies to the studio's teams."""
    options = ["--latency", str(LATENCY_SECONDS), "--respond", "tests.support.studio:respond"]
    command = [sys.executable, "-m", "tests.support.endpoint", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def start_and_kill(base_url: str, folder: Path, number: int) -> str:
    """Start three teams, kill them a random moment after one of their lines, and return the run's id."""
    generator = random.Random(SEED + number)
    where = ["--base-url", base_url, "--model", "m", "--domain", studio.DOMAIN, "--out", str(folder)]
    command = [*MAIN, "run", studio.TASK, *where, "--teams", "3"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        run_id = run_id_of(child.stderr.readline())
        for _ in range(generator.randint(1, MOST_LINES)):
            child.stderr.readline()
        time.sleep(generator.random() * LATENCY_SECONDS)
        child.kill()
        child.stderr.read()
    assert child.returncode == -9
    return run_id


@pytest.mark.parametrize("number", range(4))
def test_teams_that_were_killed_go_on(number: int, plait: Commands, studio_endpoint: str, tmp_path: Path):
    folder = tmp_path / "made"
    run_id = start_and_kill(studio_endpoint, folder, number)
    said = plait("resume", run_id, "--json")
    assert said.status == 0
    assert said.json["answer"] == "The note, PLANNED, with DETAIL, POLISHED."
    assert (folder / "note.md").read_text() == said.json["answer"] + "\n"
    # Three calls, one of each team, may have been under way when the run was killed.
    assert CALLS <= requests_of(studio_endpoint) <= CALLS + 3
    assert said.json["usage"]["model_calls"] == CALLS
    assert json.loads(plait("replay", run_id).out) == said.json
