"""Saved prefix states: what a model has read of a stable prompt beginning, kept on disk.

Knows nothing of HTTP or slots. The engine writes and reads the states in `folder`; here they are named,
checked, bounded and, when damaged, removed. A state that cannot be used costs time, never a run.
"""

import asyncio
import hashlib
import os
import shutil
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

DEFAULT_LIMIT_BYTES = 1 << 30
_STALE_SECONDS = 3600.0
_CHUNK_BYTES = 1 << 20
_SPARE_BYTES = 64 << 20


def prefix_key(engine: str, prefix: str) -> str:
    """Name a prefix as read by one engine: model file, version and settings are in `engine`."""
    return hashlib.sha256(f"{engine}\0{prefix}".encode(errors="replace")).hexdigest()[:32]


class PrefixFolder:
    """The states on disk, shared by all processes and models."""

    def __init__(self, folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        self.folder = folder
        self._limit_bytes = limit_bytes

    def find(self, key: str) -> str | None:
        """Return the file name of a whole state, and count it as used now; remove it where it is damaged."""
        for file in self._files(f"{key}-*.state"):
            if file.name == self._name(key, file):
                with suppress(OSError):
                    os.utime(file)
                return file.name
            self.remove(file.name)
        return None

    def part_name(self, key: str) -> str:
        """Return the name under which the engine writes a state before it is published."""
        return f"{key}-{os.getpid()}-{threading.get_ident()}.part"

    def publish(self, key: str, part: str) -> str | None:
        """Give a written state its final name, then remove the least recently used beyond the limit.

        Returns:
            The final file name, or None where the state is too large to keep or already gone.
        """
        written = self.folder / part
        name = self._name(key, written)
        if name is None or written.stat().st_size > self._limit_bytes:
            self.remove(part)
            return None
        written.replace(self.folder / name)
        self.trim()
        return name

    def remove(self, name: str) -> None:
        """Remove a state; it may be gone already."""
        with suppress(OSError):
            (self.folder / name).unlink()

    def trim(self) -> None:
        """Remove what a killed process left half written, and the oldest states beyond the limit."""
        now = time.time()
        for file in self._files("*.part"):
            with suppress(OSError):
                if now - file.stat().st_mtime > _STALE_SECONDS:
                    file.unlink()
        found: list[tuple[float, int, Path]] = []
        for file in self._files("*.state"):
            with suppress(OSError):
                status = file.stat()
                found.append((status.st_mtime, status.st_size, file))
        total = sum(size for _, size, _ in found)
        for _, size, file in sorted(found):
            if total <= self._limit_bytes:
                break
            self.remove(file.name)
            total -= size

    def has_room(self, state_bytes: int) -> bool:
        """Return whether the disk can take a state without becoming full."""
        try:
            free = shutil.disk_usage(self.folder).free
        except OSError:
            return False
        return free > 2 * state_bytes + _SPARE_BYTES

    def _files(self, pattern: str) -> Iterator[Path]:
        return iter(sorted(self.folder.glob(pattern)))

    @staticmethod
    def _name(key: str, file: Path) -> str | None:
        """Name a state after its content, so that any damage shows as a wrong name."""
        checksum, size = 0, 0
        try:
            with file.open("rb") as opened:
                while chunk := opened.read(_CHUNK_BYTES):
                    checksum, size = zlib.crc32(chunk, checksum), size + len(chunk)
        except OSError:
            return None
        return f"{key}-{checksum:08x}-{size}.state"


@dataclass(frozen=True, kw_only=True)
class Turn:
    """The right to read a prefix for everybody who waits for it."""

    finish: Callable[[], None]


class Turns:
    """Lets one call read a prefix while the others that begin with it wait, instead of all reading it."""

    def __init__(self) -> None:
        self._reading: dict[str, Future[None]] = {}
        self._lock = threading.Lock()

    async def take(self, key: str, settled: Callable[[], bool]) -> Turn | None:
        """Return a turn, which must be finished, or None as soon as `settled()` says it is not needed."""
        while True:
            with self._lock:
                if settled():
                    return None
                reading = self._reading.get(key)
                if reading is None:
                    self._reading[key] = Future()
                    return Turn(finish=lambda: self._finish(key))
            # A waiter that is cancelled must not cancel the others' wait.
            await asyncio.shield(asyncio.wrap_future(reading))

    def _finish(self, key: str) -> None:
        with self._lock:
            reading = self._reading.pop(key, None)
        if reading is not None and not reading.done():
            reading.set_result(None)
