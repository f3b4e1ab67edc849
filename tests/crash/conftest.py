"""What tests of crashes use: commands as processes, and an endpoint that outlives them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.commands import Commands

ROOT = Path(__file__).parents[2]
LATENCY_SECONDS = 0.03


@pytest.fixture
def plait(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Commands in this process, with a notebook to write into."""
    file = tmp_path / "notebook.txt"
    monkeypatch.setenv("NOTEBOOK", str(file))
    return Commands(capsys, file)


@pytest.fixture
def endpoint() -> Iterator[str]:
    """The address of an endpoint in a process of its own, which solves the notebook's task."""
    options = ["--latency", str(LATENCY_SECONDS), "--respond", "tests.support.notebook:respond"]
    command = [sys.executable, "-m", "tests.support.endpoint", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()
