"""The user's own oracle: a command that says whether a result is right.

Knows nothing of agents. It overrules what a run thinks of itself.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from plait.errors import UserError

CHECK_TIMEOUT_SECONDS = 120.0
OUTPUT_CHARACTERS = 1_000
ANSWER_BYTES = 100_000


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
        text = answer.replace("\0", "")
        try:
            process = await asyncio.create_subprocess_shell(
                command,
                cwd=folder,
                env={**os.environ, "PLAIT_ANSWER": text.encode()[:ANSWER_BYTES].decode(errors="ignore")},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UserError(f"--check {command!r} cannot be started: {error.strerror}") from error
        try:
            async with asyncio.timeout(timeout_seconds):
                output, _ = await process.communicate(text.encode())
        except BaseException as error:
            # All of it, not only the shell that started it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            if not isinstance(error, TimeoutError):
                raise
            return Verdict(right=False, output=f"no verdict within {timeout_seconds:g} seconds")
        end = output.decode(errors="replace").strip()[-OUTPUT_CHARACTERS:]
        return Verdict(right=process.returncode == 0, output=end)

    return check
