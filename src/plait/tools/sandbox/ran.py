"""The values of the sandbox: what a program may use, how it ended, and the error when it cannot be run.

Knows nothing of how a program is confined or started.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from plait.errors import PlaitError

KIB = 1 << 10
MIB = 1 << 20

StoppedBy: TypeAlias = Literal[
    "", "wall_seconds", "cpu_seconds", "memory_bytes", "processes", "output_bytes", "disk_bytes"
]
"""The limit that ended a program, by its name in `ProgramLimits`; empty when it ended by itself."""


class SandboxError(PlaitError):
    """Code was not run, because it could not be run as asked: nothing is ever run with less protection."""

    def __init__(self, found: str, mend: str) -> None:
        super().__init__(f"{found}; {mend}")
        self.found = found
        """What is wrong, and where."""
        self.mend = mend
        """What to do about it."""


class UnfitProgram(SandboxError):
    """The program's own files cannot be laid out: too many, or names that exclude each other."""


class NotReady(SandboxError):
    """The program was not reached in time: on a busy machine the next try may do better."""


@dataclass(frozen=True, kw_only=True)
class ProgramLimits:
    """What one run of a program may use at most."""

    wall_seconds: float = 10
    cpu_seconds: int = 10
    """Processor time of each process."""
    memory_bytes: int = 512 * MIB
    """Of all processes together; one process that asks for more is refused it."""
    processes: int = 32
    """Processes and threads at the same time."""
    output_bytes: int = 64 * KIB
    """Of standard output, and again of standard error; a program that writes more is stopped."""
    disk_bytes: int = 64 * MIB
    """Of everything the program writes, its own files, home and temporary files together."""


DEFAULT_LIMITS = ProgramLimits()


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a program ended."""

    exit_status: int | None
    """As a shell gives it, 128 + the number of a signal; None if the program was stopped by a limit."""
    stdout: str
    """Cut at `ProgramLimits.output_bytes`; bytes that are not UTF-8 are replaced."""
    stderr: str
    """As stdout."""
    stopped_by: StoppedBy
    seconds: float
    """By the clock, from before the sandbox was made until everything in it had ended."""
    lacked_display: bool = False
    """The program failed because it wants a window and there is no display: no fault of its own."""


class Runner(Protocol):
    """Runs a command on files of its own, which it cannot leave behind."""

    async def run(
        self,
        command: Sequence[str],
        files: Mapping[str, str],
        *,
        stdin: str = "",
        limits: ProgramLimits = DEFAULT_LIMITS,
    ) -> Ran:
        """Write `files` (relative path to text) into a fresh folder, and run `command` in it.

        Everything the command started has ended, and its files are gone, when this returns or is cancelled.

        Raises:
            SandboxError: the command could not be started as asked; it was not run. It is an `UnfitProgram`
                where that is due to the files, and `NotReady` where it took too long.
        """
        ...
