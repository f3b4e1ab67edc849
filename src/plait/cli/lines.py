"""The lines that pictures of a run are made of: their marks, and how much of a run is drawn.

Knows nothing of what a run is.
"""

from enum import IntEnum

from rich.text import Text

from plait.cli.words import one_line


class Detail(IntEnum):
    """How much of a run is drawn."""

    PLAN = 0
    """Rounds and subtasks."""
    LAST_STEP = 1
    """The last call of what is under way."""
    UNDER_WAY = 2
    """All calls of what is under way; what is finished is folded."""
    LAST_ROUND = 3
    """All of the last round; earlier ones are folded."""
    FULL = 4
    """Everything."""


MARKS = {
    "todo": ("○", "dim"),
    "doing": ("●", "bold cyan"),
    "succeeded": ("✔", "green"),
    "failed": ("✘", "red"),
    "split": ("÷", "yellow"),
    "skipped": ("·", "dim"),
}
STATUS_STYLES = {
    "succeeded": "bold green",
    "running": "bold cyan",
    "cancelled": "yellow",
    "interrupted": "yellow",
}
BAD = "bold red"


def line(*parts: str | tuple[str, str]) -> Text:
    """Return one line that is cut with an ellipsis where the terminal ends."""
    text = Text(no_wrap=True, overflow="ellipsis")
    for part in parts:
        words, style = (part, "") if isinstance(part, str) else part
        if words:
            text.append(" " if text else "").append(one_line(words), style)
    return text
