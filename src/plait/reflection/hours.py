"""Hours that a task names as a limit, and records outside of them: "cancel my meetings before 10:30".

Only where meetings or the like are to be deleted or cancelled: what is moved may have a limit for its new
time, and of other things nobody knows which of their times counts. Knows nothing of tools.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time
from typing import Literal, cast

from plait.reflection.dates import MOMENT
from plait.reflection.phrases import things
from plait.reflection.requests import ASKED, request_of, unquoted

AFTERNOON = 8
"""An hour before this one, said without `am`, `pm` or a leading zero, is of the afternoon."""
ENDS = ("cancel", "clear", "delete", "drop", "remove")
_REQUEST = re.compile(
    rf"(?:^|[.!;]\s+)\W*{ASKED}(?:{'|'.join(ENDS)}|get rid of)\b(?P<what>.*)$", re.IGNORECASE | re.DOTALL
)
_MORE = re.compile(
    r"\b(?:and|but|except|excluding|if|instead|keep|leave|no|none|not|nothing|only|or|then|unless|without)\b"
    r"|n['\u2019]t\b|[.;:!?]\s+\S",
    re.IGNORECASE,
)
"""Words by which a limit may be of something else than of all that is to be deleted."""
_CLOCK = re.compile(r"\b\d{1,2}(?::\d{2}|\s?[ap]\.?m\b)", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?P<side>before|after)\s+"
    r"(?P<said>(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s?(?:(?P<half>[ap])\.?m\b\.?)?)"
    r"(?=\W*$|\s+(?:on|today|tomorrow|this|next|with)\b)",
    re.IGNORECASE,
)
_OF_WHOM = re.compile(r"\b(?:about|from|with)\b", re.IGNORECASE)
_AT_AN_HOUR = re.compile(
    r"\b(?:(?:appointment|booking|call|event|interview|meeting|session|stand-?up|sync|talk|1:1)s?)\b"
    r"|\b(?:everything|what i have)\b",
    re.IGNORECASE,
)
"""What is at an hour by itself, as an order to be cancelled before 5 pm is not."""
_HERE = re.compile(rf"{MOMENT.pattern}(?![:\d+]|\.\d|-\d|\s?[A-Za-z])")
"""A moment that names neither a zone nor a half of the day: one that does may be at another hour here."""
_UNSURE = range(5, AFTERNOON)
"""Hours that with minutes, `6:30`, may be of the morning or of the evening."""
_OPENING = re.compile(r"\W*(?:(?:hi|hello|hey|sorry)\b\W*)?(?:something\b[^.!?;,]*)?\W*", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class HourLimit:
    """What begins on the wrong side of an hour is not meant."""

    side: Literal["before", "after"]
    at: time

    def admits(self, moment: time) -> bool:
        """Whether something at this time of day may be meant; what begins at 3 may be meant by `after 3`."""
        return moment < self.at if self.side == "before" else moment >= self.at

    def admits_moment(self, moment: str) -> bool:
        """The same of a day with a time; what a tool writes need be no time: `24:00`."""
        try:
            return self.admits(time.fromisoformat(moment[11:]))
        except ValueError:
            return True

    def __str__(self) -> str:
        return f"{self.side} {self.at:%H:%M}"


def hour_limit(task: str) -> HourLimit | None:
    """Return the one hour before or after which things are to be deleted; None where that is not sure."""
    request = _REQUEST.search(unquoted(request_of(task)).strip())
    if request is None or _MORE.search(request["what"]):
        return None
    found = [*_LIMIT.finditer(request["what"])]
    if len(found) != 1 or _CLOCK.search(request["what"].replace(found[0]["said"], " ", 1)):
        return None
    [limit] = found
    what = _OF_WHOM.split(request["what"][: limit.start()])[0]
    if not _AT_AN_HOUR.search(what) or things(what) - {"event"}:
        return None
    hour, minute, half = int(limit["hour"]), int(limit["minute"] or 0), (limit["half"] or "").lower()
    bare = not half and not limit["hour"].startswith("0")
    if bare and limit["minute"] is not None and hour in _UNSURE:
        return None
    if (half == "p" and hour < 12) or (bare and hour < AFTERNOON):
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    if hour > 23 or minute > 59 or (half and int(limit["hour"]) > 12):
        return None
    side = cast("Literal['before', 'after']", limit["side"].lower())
    found_limit = HourLimit(side=side, at=time(hour, minute))
    return (
        found_limit if side == "after" or found_limit.at > time.min else None
    )  # Nothing is before midnight.


def only_ends(task: str) -> bool:
    """Whether a task with such an hour wants nothing else: before it comes an excuse at most."""
    told = unquoted(request_of(task)).strip()
    request = _REQUEST.search(told)
    return request is not None and _OPENING.fullmatch(told[: request.start()]) is not None


def outside(limit: HourLimit, ids: Iterable[str], texts: Iterable[str]) -> dict[str, str]:
    """Return those records that are known to lie outside, each with its own moment.

    Args:
        limit: Of the task.
        ids: Of the records.
        texts: Results; a record is a row of a table. Of one with several moments nobody knows which counts.
    """
    rows = [line.split(" | ") for text in texts for line in text.splitlines() if " | " in line]
    moments = {
        id: {moment for row in rows if id in row for moment in _HERE.findall(" | ".join(row))} for id in ids
    }
    alone = {id: next(iter(found)) for id, found in moments.items() if len(found) == 1}
    return {id: moment for id, moment in alone.items() if not limit.admits_moment(moment)}
