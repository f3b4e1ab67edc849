"""Looks at running processes from outside: how many there are, and what they hold.

Reads /proc and changes nothing; knows nothing of limits. Where there is no /proc every answer is the least.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def family(root: int) -> list[int]:
    """Return a process and all its descendants."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        process = waiting.pop()
        found.append(process)
        # A process may end while it is looked at.
        with suppress(OSError):
            waiting += map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return found


def memory_bytes(processes: Iterable[int], enough: int) -> int:
    """Return what processes hold in memory together; exact only where it may be more than `enough`."""
    processes = list(processes)
    at_most = sum(_resident(process) for process in processes)
    return at_most if at_most <= enough else sum(_proportional(process) for process in processes)


def _resident(process: int) -> int:
    """Return what a process holds, shared pages counted whole."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _proportional(process: int) -> int:
    """Return what a process holds, a shared page divided among those who share it."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(process)


def files_on(process: int, mount: str) -> int:
    """Return how many files there are on a file system that only a process and its family see."""
    try:
        # Opened once: a path looked up twice may lead to two file systems while mounts are being made.
        theirs = os.open(f"/proc/{process}/root{mount}", os.O_PATH)
    except OSError:
        return 0
    try:
        if os.fstat(theirs).st_dev == os.stat(mount).st_dev:
            return 0
        status = os.fstatvfs(theirs)
        return status.f_files - status.f_ffree
    except OSError:
        return 0
    finally:
        os.close(theirs)


def folder_bytes(folder: str, most_files: int) -> int:
    """Return what the files in a folder take on disk; looks at no more than `most_files`."""
    total = count = 0
    waiting = [folder]
    while waiting and count < most_files:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def threads_of(user: int) -> int:
    """Return how many threads run for a user on this machine; the kernel counts threads as processes."""
    count = 0
    with suppress(OSError):
        for entry in os.scandir("/proc"):
            with suppress(OSError):
                if entry.name.isdigit() and entry.stat().st_uid == user:
                    count += len(os.listdir(f"{entry.path}/task"))
    return count
