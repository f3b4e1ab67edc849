"""Which slot of the engine a call runs in: the one where least has to be read again.

Knows nothing of HTTP or files. A slot holds the keys and values of the last text it read; a call that
begins with the same text reads only what is new. Safe to use from several threads and event loops.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class EngineSlot:
    """One of the engine's slots and what it is known to hold."""

    id: int
    text: str = ""
    """All messages of the last call and its reply."""
    used: int = 0
    """When it was last taken, in takes; 0 for never."""
    busy: bool = False


@dataclass(kw_only=True)
class _Wait:
    text: str
    saved: Callable[[], int]
    future: "Future[EngineSlot]" = field(default_factory=lambda: Future[EngineSlot]())


class Slots:
    """The slots of one engine."""

    def __init__(self, count: int) -> None:
        self._slots = [EngineSlot(id=number) for number in range(count)]
        self._waits: deque[_Wait] = deque()
        self._takes = 0
        self._lock = threading.Lock()

    @asynccontextmanager
    async def hold(self, text: str, saved: Callable[[], int]) -> AsyncGenerator[EngineSlot]:
        """Hold the best free slot for a call; the first to wait is the first served.

        Args:
            text: All messages of the call.
            saved: Returns how many characters of `text` any slot could be given from disk.
        """
        wait = _Wait(text=text, saved=saved)
        with self._lock:
            self._waits.append(wait)
            self._serve()
        try:
            slot = await asyncio.wrap_future(wait.future)
        except asyncio.CancelledError:
            self._withdraw(wait)
            raise
        try:
            yield slot
        finally:
            self._free(slot)

    def _withdraw(self, wait: _Wait) -> None:
        with self._lock:
            if wait in self._waits:
                self._waits.remove(wait)
        # The slot may have been given in the moment between the cancellation and this line.
        if wait.future.done() and not wait.future.cancelled():
            self._free(wait.future.result())

    def _free(self, slot: EngineSlot) -> None:
        with self._lock:
            slot.busy = False
            self._serve()

    def _serve(self) -> None:
        while self._waits and any(not slot.busy for slot in self._slots):
            wait = self._waits.popleft()
            if not wait.future.set_running_or_notify_cancel():
                continue
            slot = self._best(wait)
            self._takes += 1
            slot.busy, slot.used = True, self._takes
            wait.future.set_result(slot)

    def _best(self, wait: _Wait) -> EngineSlot:
        saved = wait.saved()
        free = [slot for slot in self._slots if not slot.busy]
        return min(free, key=lambda slot: (self._cost(slot, wait.text, saved), slot.used))

    def _cost(self, slot: EngineSlot, text: str, saved: int) -> float:
        """Characters to read again now, and those lost to a later call, which count less with age."""
        shared = shared_length(slot.text, text)
        again = len(text) - max(shared, saved)
        return again + (len(slot.text) - shared) / (1 + self._takes - slot.used)


def shared_length(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
