"""The user's own oracle: a command that says whether a result is right.

Knows nothing of agents. It overrules what a run thinks of itself.
"""

import asyncio
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from plait.errors import UserError

CHECK_TIMEOUT_SECONDS = 120.0
OUTPUT_CHARACTERS = 1_000
ANSWER_BYTES = 100_000
LINGER_SECONDS = 0.2
"""What a command left running is not waited for longer than this, once its status is known."""
_TAIL_BYTES = 4 * OUTPUT_CHARACTERS
_READ_BYTES = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the oracle said."""

    right: bool
    output: str
    """The end of what it printed."""


Check: TypeAlias = Callable[[str], Awaitable[Verdict]]
"""Takes the answer as text."""


def command_check(command: str, folder: Path, *, timeout_seconds: float = CHECK_TIMEOUT_SECONDS) -> Check:
    """Return a check that runs `command` in `folder`; status 0 means right.

    The answer is on standard input, and its first 100 kB are in PLAIT_ANSWER. A command that takes
    longer than `timeout_seconds` is killed and says wrong. The check raises UserError where the command
    cannot be started.
    """

    async def check(answer: str) -> Verdict:
        given = answer.replace("\0", "").encode(errors="replace")
        with _Tail() as tail:
            process = await _started(command, folder, given, tail)
            try:
                async with asyncio.timeout(timeout_seconds):
                    status = await process.wait()
            except BaseException as error:
                # All of it, not only the shell that started it.
                _kill(process)
                await process.wait()
                if not isinstance(error, TimeoutError):
                    raise
                return Verdict(right=False, output=f"no verdict within {timeout_seconds:g} seconds")
            if not await tail.ended(LINGER_SECONDS):
                _kill(process)
            return Verdict(right=status == 0, output=tail.text())

    return check


async def _started(command: str, folder: Path, given: bytes, tail: "_Tail") -> asyncio.subprocess.Process:
    environment = {**os.environ, "PLAIT_ANSWER": given[:ANSWER_BYTES].decode(errors="ignore")}
    # A file instead of a pipe: a command that does not read its input cannot keep us waiting.
    try:
        with tempfile.TemporaryFile() as file:
            file.write(given)
            file.seek(0)
            process = await asyncio.create_subprocess_shell(
                command,
                cwd=folder,
                env=environment,
                stdin=file,
                stdout=tail.writer,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        raise UserError(f"--check {command!r} cannot be started: {error.strerror}") from error
    tail.read()
    return process


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class _Tail:
    """The end of what a command prints; all of it is read, so that the command never waits for us."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._bytes = b""
        self._ended = asyncio.Event()

    def __enter__(self) -> "_Tail":
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self._reader)
        self._close_writer()

    def read(self) -> None:
        """Begin to read, when the command has the other end."""
        self._close_writer()
        asyncio.get_running_loop().add_reader(self._reader, self._take)

    async def ended(self, seconds: float) -> bool:
        """Wait for the end of the output; False if something still holds it open after that time."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()

    def text(self) -> str:
        """Return the end of the output."""
        return self._bytes.decode(errors="replace").strip()[-OUTPUT_CHARACTERS:]

    def _take(self) -> None:
        taken = os.read(self._reader, _READ_BYTES)
        self._bytes = (self._bytes + taken)[-_TAIL_BYTES:]
        if not taken:
            asyncio.get_running_loop().remove_reader(self._reader)
            self._ended.set()

    def _close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1
