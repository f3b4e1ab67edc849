"""Runs programs without a sandbox, for a user who asked for it: limits and a folder of its own, no isolation.

A program can read and change whatever the user can, and use the network. Knows nothing of bubblewrap.
"""

import os
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from plait.tools.sandbox.interpreter import interpreter
from plait.tools.sandbox.orders import LAUNCHER, Orders
from plait.tools.sandbox.ran import DEFAULT_LIMITS, ProgramLimits, Ran, Runner, SandboxError, StoppedBy
from plait.tools.sandbox.supervise import Start, supervise
from plait.tools.sandbox.surroundings import (
    Ready,
    display_for,
    environment,
    nameless_files,
    ready_pipe,
    told,
)
from plait.tools.sandbox.watch import folder_bytes, threads_of

MOST_FILES = 20_000


class Unconfined:
    """Runs a command as the user, in a fresh folder, with an empty environment."""

    async def run(
        self,
        command: Sequence[str],
        files: Mapping[str, str],
        *,
        stdin: str = "",
        limits: ProgramLimits = DEFAULT_LIMITS,
    ) -> Ran:
        """Run a command on a copy of the files, as `Runner` says."""
        with _prepared(command, files, limits) as (start, ready, orders):
            try:
                ended = await supervise(start, stdin.encode(errors="replace"), limits)
            except OSError as error:
                raise SandboxError(
                    f"{interpreter()!r} cannot be started: {error.strerror}", "install Python anew"
                ) from error
            return told(ended, ready, orders)


@contextmanager
def _prepared(
    command: Sequence[str], files: Mapping[str, str], limits: ProgramLimits
) -> Generator[tuple[Start, Ready, Orders]]:
    """Make everything for one run, and clear it away after."""
    with _folder() as root, ready_pipe() as ready:
        orders = Orders(
            command=command,
            files=files,
            limits=limits,
            folder=str(Path(root, "program")),
            home=str(Path(root, "home")),
            ready=ready.theirs,
            most_processes=_most_processes(limits),
            display=display_for(files),
            dies_with=os.getpid() if sys.platform == "linux" else 0,
        )
        with nameless_files(orders.packed()) as (descriptor,):
            start = Start(
                command=[interpreter(), "-I", "-S", "-c", LAUNCHER, str(descriptor)],
                environment=environment(orders.home, root),
                pass_fds=(descriptor, ready.theirs),
                spare_processes=0,
                look=partial(_look, root, limits),
            )
            yield start, ready, orders


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="plait-", ignore_cleanup_errors=True)


def _look(root: str, limits: ProgramLimits, _: Sequence[int]) -> StoppedBy:
    return "disk_bytes" if folder_bytes(root, MOST_FILES) > limits.disk_bytes else ""


def _most_processes(limits: ProgramLimits) -> int | None:
    """Return how many processes the user may have: those that run already, and the program's."""
    already = threads_of(os.getuid())
    return already + limits.processes if already else None


def unconfined() -> Runner:
    """Return a runner that protects nothing, for a caller whose user asked for it in so many words."""
    return Unconfined()
