"""What a program finds around it, and what is told of how it ended; the same with and without a sandbox.

Knows nothing of how programs are confined. Nothing of the user's own environment is taken over.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from plait.tools.sandbox import display
from plait.tools.sandbox.interpreter import interpreter
from plait.tools.sandbox.launch import UNFIT
from plait.tools.sandbox.orders import Orders, nameless_file
from plait.tools.sandbox.ran import NotReady, Ran, SandboxError, UnfitProgram
from plait.tools.sandbox.supervise import ProcessEnd

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(home: str, temporary: str) -> Mapping[str, str]:
    """Return all the variables that a program sees."""
    return {
        "PATH": f"{Path(interpreter()).parent}:{SYSTEM_PATH}",
        "HOME": home,
        "TMPDIR": temporary,
        "USER": "plait",
        "LOGNAME": "plait",
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        # Libraries for numbers start a thread for every processor, each with memory of its own.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        **display.ENVIRONMENT,
    }


@dataclass(kw_only=True)
class Ready:
    """The pipe on which the launcher says that the command is about to run."""

    ours: int
    theirs: int
    _said: bool = False

    def is_said(self) -> bool:
        """Whether the launcher said it; only then was the command run."""
        if not self._said:
            with suppress(BlockingIOError):
                self._said = bool(os.read(self.ours, 1))
        return self._said


@contextmanager
def ready_pipe() -> Generator[Ready]:
    """Open the launcher's pipe for one run."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    try:
        yield Ready(ours=ours, theirs=theirs)
    finally:
        os.close(ours)
        os.close(theirs)


@contextmanager
def nameless_files(*contents: bytes) -> Generator[tuple[int, ...]]:
    """Open files that have no name, for one run."""
    opened: list[int] = []
    try:
        opened += (nameless_file(content) for content in contents)
        yield tuple(opened)
    finally:
        for descriptor in opened:
            os.close(descriptor)


def display_for(files: Mapping[str, str]) -> str:
    """Return the program of a virtual display where these files need one; empty where none is there."""
    return display.display_server() if display.wants_display(files) else ""


def told(ended: ProcessEnd, ready: Ready, orders: Orders) -> Ran:
    """Return what is told of a run.

    Raises:
        SandboxError: the command was not run, because something before it failed.
    """
    stderr = ended.stderr.decode(errors="replace")
    if not ready.is_said():
        raise _not_run(ended, last_line(stderr), orders.limits.wall_seconds)
    status = None
    if not ended.stopped_by:
        status = ended.returncode if ended.returncode >= 0 else 128 - ended.returncode
    return Ran(
        exit_status=status,
        stdout=ended.stdout.decode(errors="replace"),
        stderr=stderr,
        stopped_by=ended.stopped_by,
        seconds=ended.seconds,
        lacked_display=display.lacked_display(status, stderr),
    )


def _not_run(ended: ProcessEnd, said: str, seconds: float) -> SandboxError:
    """Return why the command was not reached; all that was `said` is our launcher's or bubblewrap's."""
    what = "the program was not run"
    if ended.stopped_by == "wall_seconds":
        return NotReady(f"{what}: it was not ready within {seconds:g} seconds", "try again when less runs")
    if said.startswith(UNFIT):
        return UnfitProgram(f"{what}: {said}", "give its files other names, or leave some of them out")
    return SandboxError(f"{what}: {said}", "see what `plait doctor` says")


def last_line(text: str) -> str:
    """Return the last line of what a program said when it failed."""
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing"
