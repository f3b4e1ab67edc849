"""Run `plait` commands in the test's own process, and read what they said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support import notebook
from tests.support.served import served

from plait.cli import app
from plait.events import Record
from plait.runtime.log import RunLog, RunSummary


@dataclass(frozen=True, kw_only=True)
class Said:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output."""
        return json.loads(self.out)

    @property
    def last(self) -> str:
        """The last line on standard error."""
        return self.err.splitlines()[-1]


class Commands:
    """Runs commands; those that need a model get a local endpoint that solves the notebook's task."""

    def __init__(self, capsys: pytest.CaptureFixture[str], notebook_file: Path) -> None:
        self._capsys = capsys
        self.notebook = notebook_file

    def __call__(self, *arguments: str) -> Said:
        """Run one command."""
        self._capsys.readouterr()
        status = app.run(arguments)
        out, err = self._capsys.readouterr()
        return Said(status=status, out=out, err=err)

    def run(self, base_url: str, *more: str, task: str = notebook.TASK) -> Said:
        """Run the notebook's task against an endpoint."""
        where = ("--base-url", base_url, "--model", "m", "--tools", notebook.SOURCE)
        return self("run", task, *where, *more)

    def solve(self, *more: str) -> tuple[Said, int]:
        """Run the notebook's task with a model that solves it; also return how often it was asked."""
        with served(respond=notebook.respond) as endpoint:
            return self.run(endpoint.base_url, *more), endpoint.requests

    @property
    def lines(self) -> list[int]:
        """What was really written."""
        return notebook.lines(self.notebook)


def runs() -> Sequence[RunSummary]:
    """Return the runs on record, newest first."""
    log = RunLog.open()
    try:
        return log.runs()
    finally:
        log.close_now()


def records(run_id: str) -> Sequence[Record]:
    """Return everything on record of a run."""
    log = RunLog.open()
    try:
        return log.records(run_id)
    finally:
        log.close_now()
