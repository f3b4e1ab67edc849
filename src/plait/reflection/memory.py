"""The two memories of inter-reflection (MIRROR, section 3.5).

Short-term memory belongs to one subtask: failed calls and the agent's own critiques; cleared when the
subtask succeeds. Long-term memory belongs to one task: whole rounds that did not do; cleared when the
task ends. Knows nothing of who reads them.
"""

from collections.abc import Sequence

from plait.events import MemoryCleared, MemoryWritten
from plait.journal import Journal

SHORT_TERM_ENTRIES = 6
"""Shown at most, the latest; older failures of one subtask say nothing new."""
LONG_TERM_ROUNDS = 3
ENTRY_CHARACTERS = 300


class ShortTermMemory:
    """Failures and critiques of one subtask."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._entries: list[str] = []

    @property
    def entries(self) -> Sequence[str]:
        """The latest entries, oldest first."""
        return self._entries[-SHORT_TERM_ENTRIES:]

    def write(self, journal: Journal, entry: str) -> None:
        """Remember what went wrong; nothing happens where the memory is off."""
        short = entry if len(entry) <= ENTRY_CHARACTERS else entry[: ENTRY_CHARACTERS - 1] + "…"
        if self._enabled and short not in self._entries:
            self._entries.append(short)
            journal.emit(MemoryWritten(memory="short_term", entry=short))

    def clear(self, journal: Journal) -> None:
        """Forget all, after the subtask succeeded."""
        if self._entries:
            journal.emit(MemoryCleared(memory="short_term", entries=len(self._entries)))
            self._entries.clear()


class LongTermMemory:
    """Whole rounds of one task that failed or gave a weak answer."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._entries: list[str] = []

    @property
    def entries(self) -> Sequence[str]:
        """The latest rounds, oldest first."""
        return self._entries[-LONG_TERM_ROUNDS:]

    def write(self, journal: Journal, trajectory: str) -> None:
        """Remember a round: its plan, calls, results, critiques and answer as text."""
        if self._enabled:
            self._entries.append(trajectory)
            journal.emit(MemoryWritten(memory="long_term", entry=trajectory))

    def clear(self, journal: Journal) -> None:
        """Forget all, when the task ends."""
        if self._entries:
            journal.emit(MemoryCleared(memory="long_term", entries=len(self._entries)))
            self._entries.clear()
