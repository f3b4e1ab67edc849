"""Bounds on times and days, as text: what the office's searches compare with.

Knows nothing of tables. Bounds are inclusive; a cell that is no time lies outside every bound.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """From `low` to `high`, both inclusive, None for no bound."""

    low: datetime | None
    high: datetime | None
    by_day: bool

    def admit(self, cell: str) -> bool:
        """Whether the time written in a cell lies within the bounds."""
        if self.low is None and self.high is None:
            return True
        moment = _moment(cell, by_day=self.by_day)
        if moment is None:
            return False
        return (self.low is None or self.low <= moment) and (self.high is None or moment <= self.high)


def bounds(by_day: bool, **named: str | None) -> Bounds | str:
    """Read two bounds, the lower first, given by the name of their parameter.

    Returns:
        The bounds, or a message for the agent where one is no time.
    """
    moments: list[datetime | None] = []
    for name, text in named.items():
        moment = _moment(text, by_day=by_day) if text else None
        if text and moment is None:
            form = "YYYY-MM-DD" if by_day else "YYYY-MM-DD HH:MM:SS"
            return f"{name} must be written as {form}, not {text!r}."
        moments.append(moment)
    low, high = moments
    return Bounds(low=low, high=high, by_day=by_day)


def _moment(text: str, *, by_day: bool) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip()).replace(tzinfo=None)
    except ValueError:
        return None
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) if by_day else moment
