"""The live display of a run: an observer of records that draws its story in the terminal.

Knows nothing of how a run works. It never raises into the run: what fails in it ends the drawing with a
line that says so, and the run goes on.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from types import TracebackType
from typing import IO, Any, TextIO, cast

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment, Segments

from plait.cli.awaiting import awaited
from plait.cli.lines import STATUS_STYLES, Detail, line
from plait.cli.plain import PlainDisplay
from plait.cli.story import RUNNING, Story
from plait.cli.teams_tree import teams_picture
from plait.cli.telling import tell
from plait.cli.tree import footer, header, run_tree
from plait.cli.words import seconds_text
from plait.errors import UserError
from plait.events import PromptPart, Record

FRAMES_PER_SECOND = 5
"""Enough for a spinner; each frame costs time that a local model could use."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
MORE_AWAITED = 2
"""How many things awaited at once are named; the others are counted."""


def make_display(
    earlier: Iterable[Record] = (), *, stream: TextIO | None = None
) -> "LiveDisplay | PlainDisplay":
    """Return the live display where the stream is a capable terminal, else plain lines.

    Args:
        earlier: What is on record already, for a run that is resumed.
        stream: Where to show it; by default standard error, so that the answer alone is on standard output.
    """
    target = stream or sys.stderr
    if is_live(target):
        return LiveDisplay(earlier, console=Console(file=target))
    return PlainDisplay(earlier, stream=target)


def is_live(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can be drawn on, and the user did not ask for plain text."""
    if any(os.environ.get(name) for name in ("NO_COLOR", "CI")) or os.environ.get("TERM") in (
        "dumb",
        "unknown",
    ):
        return False
    encoding = (getattr(stream, "encoding", "") or "").lower().replace("-", "")
    return stream.isatty() and encoding.startswith("utf")


class LiveDisplay:
    """Draws a run as a tree that changes while the run goes on; its last state stays on the screen."""

    def __init__(
        self,
        earlier: Iterable[Record] = (),
        *,
        console: Console | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._records = [record for record in earlier if not isinstance(record.event, PromptPart)]
        self._console = console or Console(file=sys.stderr)
        self._console.file = cast("TextIO", _Screen(self._console.file))
        self._clock = clock
        self._lock = Lock()
        self._picture = _Picture()
        self._live = Live(
            console=self._console,
            get_renderable=lambda: self,
            refresh_per_second=FRAMES_PER_SECOND,
            redirect_stdout=False,
            vertical_overflow="visible",
        )

    def __enter__(self) -> "LiveDisplay":
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._picture.last = True
        # A run that what the user gave keeps from beginning is not kept: its id would lead nowhere.
        self._live.transient = isinstance(error, UserError) and not self._picture.has_begun
        self._live.stop()

    def __call__(self, record: Record) -> None:
        """Take a new record; it is drawn with the next frame."""
        if not isinstance(record.event, PromptPart):
            with self._lock:
                self._records.append(record)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Leave the terminal to a question, and draw again after it."""
        self._live.transient = True
        self._live.stop()
        try:
            yield
        finally:
            self._live.transient = False
            self._live.start(refresh=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw one frame."""
        try:
            yield from self._frame(console, options)
        except Exception as error:  # A flaw in drawing must not end a run that is paid for.
            flaw = f"{type(error).__name__}: {error}"
            yield line(("the display failed, the run goes on (plait show tells it):", "red"), flaw)

    def _frame(self, console: Console, options: ConsoleOptions) -> list[RenderableType]:
        with self._lock:
            records = list(self._records)
        story, lines = self._picture.draw(console, options, records)
        frame: list[RenderableType] = [Segments(lines)]
        usage = story.usage
        if story.status == RUNNING and not self._picture.last:
            usage = replace(usage, seconds=usage.seconds + max(0.0, self._clock() - story.since))
            frame.append(line((self._turning(), "cyan"), self._awaited(story)))
        else:
            style = STATUS_STYLES.get(story.status, "bold red")
            status = "stopped" if story.status == RUNNING else story.status.replace("_", " ")
            frame.append(line((status, style), str((story.result or {}).get("message", ""))))
        return [*frame, footer(usage)]

    def _awaited(self, story: Story) -> str:
        now = self._clock()
        # Nothing was awaited while no process had the run.
        waits = [(what, max(0.0, now - max(since, story.taken_up))) for what, since in awaited(story)]
        waiting = [f"{what} · {seconds_text(seconds)}" for what, seconds in waits]
        more = len(waiting) - MORE_AWAITED
        return ", ".join(waiting[:MORE_AWAITED]) + (f" and {more} more" if more > 0 else "")

    def _turning(self) -> str:
        return SPINNER[int(self._clock() * FRAMES_PER_SECOND) % len(SPINNER)]


class _Screen:
    """A stream that falls silent when its terminal is gone; rich would end the process."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._gone = False

    def write(self, text: str) -> int:
        return self._try(lambda: self._stream.write(text))

    def flush(self) -> None:
        self._try(self._stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _try(self, act: Callable[[], Any]) -> Any:
        if self._gone:
            return 0
        try:
            return act()
        except (OSError, ValueError):  # Hung up, or closed; the run goes on, unseen.
            self._gone = True
            return 0


class _Picture:
    """The part of a frame that changes only with new records, kept between frames."""

    def __init__(self) -> None:
        self.last = False
        """The final state: everything is drawn, whatever the height of the terminal."""
        self._key: tuple[int, int, int, bool] | None = None
        self._story = tell(())
        self._lines: list[Segment] = []

    @property
    def has_begun(self) -> bool:
        """Whether more was drawn than how the run begins."""
        return bool(self._story.rounds) or self._story.teams is not None

    def draw(
        self, console: Console, options: ConsoleOptions, records: list[Record]
    ) -> tuple[Story, list[Segment]]:
        """Return the story and its lines, with as much detail as the terminal has room for."""
        key = (len(records), options.max_width, console.height, self.last)
        if key != self._key:
            self._story = tell(records)
            lines = _fitting(console, options, self._story, None if self.last else console.height - 4)
            self._lines = [segment for line in lines for segment in (*line, Segment.line())]
            self._key = key
        return self._story, self._lines


def _picture(story: Story, detail: Detail, width: int) -> RenderableType:
    """Return what happens in a run: teams side by side, or the rounds of a tool task."""
    tree = run_tree(story, detail)
    return tree if story.teams is None else Group(teams_picture(story.teams, detail, width), tree)


def _fitting(
    console: Console, options: ConsoleOptions, story: Story, height: int | None
) -> list[list[Segment]]:
    """Return header and tree as lines, at most `height` of them; the latest are kept."""
    wide = options.update(height=None)
    heads = [console.render_lines(text, wide, pad=False) for text in header(story)]
    top = [row for rows in heads for row in rows]
    if height is not None and len(top) >= height:
        top = [rows[0] for rows in heads]
    room = None if height is None else max(1, height - len(top))
    tree: list[list[Segment]] = []
    for detail in sorted(Detail, reverse=True):
        tree = console.render_lines(_picture(story, detail, wide.max_width), wide, pad=False)
        if room is None or len(tree) <= room:
            return top + tree
    return top + tree[-(room or 1) :]
