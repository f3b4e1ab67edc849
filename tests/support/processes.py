"""Looks at this machine, its processes and files, for tests of what gets out and what outlives a run."""

import asyncio
import contextlib
import os
import subprocess
import sys
from pathlib import Path


def existing(*paths: object) -> list[str]:
    """Return those of the paths at which there is something."""
    return [str(path) for path in paths if os.path.lexists(str(path))]


def start_python(*arguments: str) -> "subprocess.Popen[bytes]":
    """Start a Python of ours beside the test, which ends it."""
    return subprocess.Popen([sys.executable, *arguments])


def running(mark: str) -> list[int]:
    """Return the processes whose command line holds a mark."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


async def until_gone(mark: str) -> None:
    """Wait until no such process is there; the test's own time-out ends it otherwise."""
    while running(mark):
        await asyncio.sleep(0.02)


async def until_there(mark: str) -> None:
    """Wait until such a process is there."""
    while not running(mark):
        await asyncio.sleep(0.02)
