"""The user's own oracle: a command that says whether a result is right.

Knows nothing of agents. It overrules what a run thinks of itself.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

CHECK_TIMEOUT_SECONDS = 120.0
OUTPUT_CHARACTERS = 1_000


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the oracle said."""

    right: bool
    output: str
    """The end of what it printed."""


Check: TypeAlias = Callable[[str], Awaitable[Verdict]]
"""Takes the answer as text."""


def command_check(command: str, folder: Path) -> Check:
    """Return a check that runs `command` in `folder`; status 0 means right.

    The answer is on standard input and in PLAIT_ANSWER. A command that cannot be started or takes
    longer than `CHECK_TIMEOUT_SECONDS` says wrong.
    """

    async def check(answer: str) -> Verdict:
        process = await asyncio.create_subprocess_shell(
            command,
            cwd=folder,
            env={**os.environ, "PLAIT_ANSWER": answer[:100_000]},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(CHECK_TIMEOUT_SECONDS):
                output, _ = await process.communicate(answer.encode())
        except TimeoutError:
            process.kill()
            await process.wait()
            return Verdict(right=False, output=f"no verdict within {CHECK_TIMEOUT_SECONDS:g} seconds")
        text = output.decode(errors="replace").strip()[-OUTPUT_CHARACTERS:]
        return Verdict(right=process.returncode == 0, output=text)

    return check
