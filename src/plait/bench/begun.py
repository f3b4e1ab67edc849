"""Which runs were begun for tasks that are not finished: a benchmark that was killed takes them up.

Knows nothing of how a task is solved.
"""

from collections.abc import Collection
from pathlib import Path

from plait.bench.methods.method import on_record
from plait.runner import new_run_id
from plait.runtime.log import RunLog
from plait.runtime.report import ending

OVER = ("succeeded", "failed", "budget_exhausted")
"""How a run ends that has come to its end by itself."""


class Begun:
    """The runs that were begun for the tasks of a file of finished ones, in a file beside it."""

    def __init__(self, file: Path, log: RunLog, finished: Collection[str]) -> None:
        """Read what was begun; the runs `finished` have a line in `file`, which is made if need be."""
        self._beside = file.with_suffix(".begun")
        if not file.exists():
            self._beside.unlink(missing_ok=True)  # Who takes the results away wants to begin anew.
            file.touch()
        there = {run.run_id for run in log.runs()}.difference(finished)
        self._open: dict[int, str] = {}
        for line in self._beside.read_text(encoding="utf-8").splitlines() if self._beside.exists() else ():
            index, _, run_id = line.partition(" ")
            if index.isdecimal() and run_id in there:
                self._open[int(index)] = run_id

    def take_up(self, index: int) -> str:
        """Return the run that was begun for a task, once; empty where none was."""
        return self._open.pop(index, "")

    def anew(self, index: int) -> str:
        """Return a new run for a task, which is noted before it begins."""
        run_id = new_run_id()
        with self._beside.open("a", encoding="utf-8") as lines:
            lines.write(f"{index} {run_id}\n")
        return run_id


def status_on_record(log: RunLog, run_id: str) -> str:
    """Return how a run came to its end; empty where it did not yet, or was never begun."""
    if not on_record(log, run_id):
        return ""
    ended = ending(log.records(run_id))
    return ended.status if ended is not None and ended.status in OVER else ""


def seconds_on_record(log: RunLog, run_id: str) -> float:
    """Return how long all processes have worked on a run."""
    return next((run.seconds for run in log.runs() if run.run_id == run_id), 0.0)
