"""Shows how far a long transfer is: a bar on a terminal, plain lines elsewhere.

Knows nothing of what is transferred. Writes to standard error, so that results stay readable by programs.
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import rich.progress

MEBIBYTE = 1 << 20
WORTH_A_LINE_BYTES = 4 * MEBIBYTE


class TransferProgress(Protocol):
    """Is told how far a transfer is."""

    def start(self, label: str, total_bytes: int, done_bytes: int) -> None:
        """Begin a transfer of which some may be there already."""
        ...

    def advance(self, done_bytes: int) -> None:
        """Say how much is there now."""
        ...

    def note(self, text: str) -> None:
        """Say something in one line."""
        ...


class PlainProgress:
    """One line at the start and at every tenth."""

    def __init__(self) -> None:
        self._label = ""
        self._total = 1
        self._tenths = 0

    def start(self, label: str, total_bytes: int, done_bytes: int) -> None:
        again = label == self._label
        self._label, self._total = label, max(total_bytes, 1)
        self._tenths = done_bytes * 10 // self._total
        if again or total_bytes < WORTH_A_LINE_BYTES:
            return
        have = f", {done_bytes / MEBIBYTE:.0f} MiB of it here already" if done_bytes else ""
        self.note(f"{label}: {total_bytes / MEBIBYTE:.0f} MiB{have}")

    def advance(self, done_bytes: int) -> None:
        tenths = done_bytes * 10 // self._total
        if tenths > self._tenths and self._total >= WORTH_A_LINE_BYTES:
            self._tenths = tenths
            self.note(f"{self._label}: {tenths * 10}%")

    def note(self, text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


@contextmanager
def terminal_progress() -> Generator[TransferProgress]:
    """Yield a progress that suits standard error."""
    if not sys.stderr.isatty():
        yield PlainProgress()
        return
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(binary_units=True),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bars:
        yield _Bars(bars)


class _Bars:
    def __init__(self, bars: "rich.progress.Progress") -> None:
        self._bars = bars
        self._task: rich.progress.TaskID | None = None

    def start(self, label: str, total_bytes: int, done_bytes: int) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
        self._task = self._bars.add_task(label, total=total_bytes, completed=done_bytes)

    def advance(self, done_bytes: int) -> None:
        if self._task is not None:
            self._bars.update(self._task, completed=done_bytes)

    def note(self, text: str) -> None:
        self._bars.console.print(text, highlight=False)
