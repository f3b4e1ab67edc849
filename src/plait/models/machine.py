"""What this machine offers the embedded engine: memory and processors, as far as this process may use them.

Knows nothing of models. A container's limits count, where the system tells them.
"""

import os
from pathlib import Path

GIB = 1 << 30
UNKNOWN_MEMORY_BYTES = 8 * GIB
_CONTROL_GROUP = Path("/sys/fs/cgroup")
_FILE_CACHE = ("active_file", "inactive_file")
"""What a control group counts as used though it is given back as soon as somebody needs it."""


def available_memory_bytes() -> int:
    """Return how much memory can still be taken without swapping."""
    free = [_meminfo_bytes(), _control_group_bytes()]
    known = [amount for amount in free if amount is not None]
    return min(known) if known else _physical_bytes()


def threads() -> int:
    """Return how many threads can really run at once."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS and Windows have no affinity
        count = os.cpu_count() or 1
    quota, period = _words("cpu.max", 2)
    if quota.isdigit() and period.isdigit() and int(period) > 0:
        # One thread too many and llama.cpp's threads wait for each other at every layer.
        count = min(count, max(1, int(quota) // int(period)))
    return count if count <= 4 else count // 2  # beyond small machines, two threads share a core


def _meminfo_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _control_group_bytes() -> int | None:
    (limit,), (used,) = _words("memory.max", 1), _words("memory.current", 1)
    if not (limit.isdigit() and used.isdigit()):
        return None
    return max(0, int(limit) - max(0, int(used) - _file_cache_bytes()))


def _file_cache_bytes() -> int:
    amounts = [line.split() for line in _text("memory.stat").splitlines()]
    return sum(int(words[1]) for words in amounts if words[0] in _FILE_CACHE)


def _words(name: str, count: int) -> list[str]:
    return (_text(name).split() + [""] * count)[:count]


def _text(name: str) -> str:
    try:
        return (_CONTROL_GROUP / name).read_text(encoding="ascii")
    except OSError:
        return ""


def _physical_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN_MEMORY_BYTES
