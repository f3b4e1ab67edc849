"""Dates named in a task, worked out without a model: `December 18` is 2023-12-18.

Small models write dates they know well and get the ones they are asked for wrong. Knows nothing of
tools; what day today is comes from the tools' notes, and where they do not say it nothing is worked out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from plait.reflection.requests import request_of, unquoted

MONTHS: tuple[str, ...] = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS: tuple[str, ...] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_TODAY = re.compile(r"\btoday is\b[^.\d]*(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_MONTH_DAY = re.compile(
    rf"\b({'|'.join(MONTHS)})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}})\b)?", re.IGNORECASE
)
_WEEKDAY = re.compile(rf"\b(\w+\s+)?({'|'.join(DAYS)})\b", re.IGNORECASE)
_NOT_AHEAD = frozenset({"last", "past", "since", "previous", "every", "each"})
"""Words before a weekday that make it another one than the next."""
_PAST = re.compile(r"\b(?:did|got|happened|met|received|sent|was|were|wrote)\b[^.;!?,]*$", re.IGNORECASE)
"""In the clause of a weekday, before it, these words may mean one that is over."""
_RELATIVE = re.compile(r"\b(today|tomorrow|yesterday)\b", re.IGNORECASE)
_LAST_DAYS = re.compile(r"\b(?:last|past) (\d{1,3}) days\b", re.IGNORECASE)
_OFFSETS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_MOVES = r"(?:bring|forward|move|pull|push|put|reschedule|shift|then)\b"
_GAP = rf"(?:(?!{_MOVES}|\w{{3,}}\.\s)[^\s;!?]+ ){{0,10}}?"
"""Words of one order and one sentence."""
_SPAN = r"(?:minutes?|hours?|days?|weeks?)"
_ORDERED = r"(?:(?:^|[.!?;:,] |\b(?:please|you|to|and|or) )(?:postpone|delay))"
"""Not "because of a delay", nor what somebody delayed."""
_LATER = re.compile(
    rf"\b(?:push\w* {_GAP}back|put {_GAP}off|{_SPAN} later|later(?= by))\b|{_ORDERED}\b", re.IGNORECASE
)
_EARLIER = re.compile(
    rf"\b((?:bring|pull)\w* {_GAP}forward|{_SPAN} (?:earlier|sooner)|(?:earlier|sooner)(?= by\b))\b",
    re.IGNORECASE,
)
_EITHER_WAY = re.compile(r"\b(?:(?P<later>later)|earlier|sooner)\b", re.IGNORECASE)
"""Anywhere else these may tell of another time: "as I said earlier"."""
_AMOUNT = re.compile(
    r"\b(?P<by>by )?(?P<number>half an|an?|one|two|three|\d+(?:\.\d+)?)[ -]"
    r"(?P<unit>minute|hour|day|week)s?\b(?P<than> later| earlier| sooner)?",
    re.IGNORECASE,
)
_NUMBERS = {"a": 1.0, "an": 1.0, "one": 1.0, "half an": 0.5, "two": 2.0, "three": 3.0}
_UNITS = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?")
"""A day and a time as tools write them."""


@dataclass(frozen=True, kw_only=True)
class Shift:
    """By how much the task moves something in time."""

    words: str
    """As the task says it."""
    by: timedelta
    """Above 0: later."""

    def moved(self, moment: str, times: int = 1) -> str:
        """Return a moment after it was moved, written as it was; empty where it is no moment."""
        separator = "T" if "T" in moment else " "
        timespec = "seconds" if moment.count(":") > 1 else "minutes"
        try:
            return (datetime.fromisoformat(moment) + times * self.by).isoformat(separator, timespec)
        except (ValueError, OverflowError):
            return ""


def named_dates(text: str, notes: str) -> Mapping[str, date]:
    """Return the dates that `text` names, by their words; empty where `notes` do not say today's."""
    today = today_of(notes)
    return {} if today is None else dict(_found(unquoted(request_of(text)), today))


def dates_by(notes: str) -> Callable[[str], date | None]:
    """Return what works a date out from its words on the day that `notes` say it is."""
    return lambda words: next(iter(named_dates(words, notes).values()), None)


def named_shift(text: str) -> Shift | None:
    """Return by how much `text` moves something, or None where it does not say so in clear words."""
    told = unquoted(text).strip()
    later, earlier = bool(_LATER.search(told)), bool(_EARLIER.search(told))
    amounts = [found for found in _AMOUNT.finditer(told) if found["by"] or found["than"]]
    against = any(bool(found["later"]) is not later for found in _EITHER_WAY.finditer(told))
    if len(amounts) != 1 or later == earlier or against:
        return None
    number, unit = amounts[0]["number"].lower(), amounts[0]["unit"].lower()
    try:
        by = (_NUMBERS.get(number) or float(number)) * _UNITS[unit]
    except OverflowError:
        return None
    words = amounts[0][0].removeprefix("by ").removesuffix(amounts[0]["than"] or "")
    return Shift(words=f"{words} {'later' if later else 'earlier'}", by=by if later else -by)


def today_of(notes: str) -> date | None:
    """Return the day that the tools' notes say it is, or None."""
    found = _TODAY.search(notes)
    return date.fromisoformat(found[1]) if found else None


def dates_text(dates: Mapping[str, date]) -> str:
    """Return the dates as a line for a prompt; empty where there are none."""
    if not dates:
        return ""
    facts = (f"{words} is {day.isoformat()}, a {DAYS[day.weekday()].title()}" for words, day in dates.items())
    return f"({'; '.join(facts)})"


def _found(text: str, today: date) -> Iterator[tuple[str, date]]:
    for match in _MONTH_DAY.finditer(text):
        month, number = MONTHS.index(match[1].lower()) + 1, int(match[2])
        day = _day(int(match[3]), month, number) if match[3] else _nearest(month, number, today)
        if day is not None:
            yield match[0], day
    for match in _WEEKDAY.finditer(text):
        if (match[1] or "").strip().lower() in _NOT_AHEAD or _PAST.search(text[: match.start(2)]):
            continue
        ahead = (DAYS.index(match[2].lower()) - today.weekday() - 1) % 7 + 1
        yield match[2], today + timedelta(days=ahead)
    for match in _LAST_DAYS.finditer(text):
        yield f"the first of the {match[0]}", today - timedelta(days=int(match[1]))
    for match in _RELATIVE.finditer(text):
        yield match[0], today + timedelta(days=_OFFSETS[match[1].lower()])


def _nearest(month: int, day: int, today: date) -> date | None:
    """Return the day of that month nearest to today; None where there is no such day."""
    years = (today.year - 1, today.year, today.year + 1)
    days = [found for year in years if (found := _day(year, month, day)) is not None]
    return min(days, key=lambda found: abs(found - today), default=None)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
