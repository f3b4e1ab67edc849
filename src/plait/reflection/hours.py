"""Hours that a task names as a limit, and records outside of them: "cancel my meetings before 10:30".

Only where something is to be deleted or cancelled: what is moved may have a limit for its new time. Knows
nothing of tools.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time
from typing import Literal, cast

from plait.reflection.dates import MOMENT, request_of, unquoted

AFTERNOON = 8
"""An hour before this one without `am` or `pm` is meant for the afternoon."""
_ENDS = re.compile(r"\b(?:cancel|delete|remove|drop|get rid of|clear)\b", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?P<side>before|after)\s+(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s?(?:(?P<half>[ap])\.?m\b\.?)?"
    r"(?=\s*(?:[.,;!?]|$)|\s+(?:on|today|tomorrow|this|next|with|and|in|at)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class HourLimit:
    """What begins on the wrong side of an hour is not meant."""

    side: Literal["before", "after"]
    at: time

    def admits(self, moment: time) -> bool:
        """Whether something at this time of day may be meant; on the hour it may."""
        return moment <= self.at if self.side == "before" else moment >= self.at

    def __str__(self) -> str:
        return f"{self.side} {self.at:%H:%M}"


def hour_limit(task: str) -> HourLimit | None:
    """Return the one hour before or after which things are to be deleted; None where there is no such."""
    told = unquoted(request_of(task))
    found = [*_LIMIT.finditer(told)]
    if len(found) != 1 or not _ENDS.search(told):
        return None
    [limit] = found
    hour, minute, half = int(limit["hour"]), int(limit["minute"] or 0), (limit["half"] or "").lower()
    if (half == "p" and hour < 12) or (not half and hour < AFTERNOON):
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    if hour > 23 or minute > 59:
        return None
    side = cast("Literal['before', 'after']", limit["side"].lower())
    return HourLimit(side=side, at=time(hour, minute))


def outside(limit: HourLimit, ids: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
    """Return those records that are known to lie outside, each with its own moment.

    Args:
        limit: Of the task.
        ids: Of the records.
        texts: Results; a record is a row of a table. Of one with several moments nobody knows which counts.
    """
    rows = [line.split(" | ") for text in texts for line in text.splitlines() if " | " in line]
    moments = {
        id: {moment for row in rows if id in row for moment in MOMENT.findall(" | ".join(row))} for id in ids
    }
    return {
        id: next(iter(found))
        for id, found in moments.items()
        if len(found) == 1 and not limit.admits(time.fromisoformat(next(iter(found))[11:]))
    }
