"""Dates named in a task, worked out without a model: `December 18` is 2023-12-18.

Small models write dates they know well and get the ones they are asked for wrong. Knows nothing of
tools; what day today is comes from the tools' notes, and where they do not say it nothing is worked out.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

MONTHS: tuple[str, ...] = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
DAYS: tuple[str, ...] = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_TODAY = re.compile(r"\btoday is\b[^.\d]*(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({'|'.join(MONTHS)})\s+(\d{{1,2}})(?:st|nd|rd|th)?\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b({'|'.join(DAYS)})\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(today|tomorrow|yesterday)\b", re.IGNORECASE)
_QUOTED = re.compile(
    r"""(?:(?<=\s)|^)(?:'.*?'|".*?"|\u201c.*?\u201d|\u2018.*?\u2019)(?=[\s.,;:!?]|$)""", re.DOTALL
)
_OFFSETS = {"yesterday": -1, "today": 0, "tomorrow": 1}


def named_dates(text: str, notes: str) -> Mapping[str, date]:
    """Return the dates that `text` names, by their words; empty where `notes` do not say today's."""
    today = today_of(notes)
    return {} if today is None else dict(_found(unquoted(text), today))


def today_of(notes: str) -> date | None:
    """Return the day that the tools' notes say it is, or None."""
    found = _TODAY.search(notes)
    return date.fromisoformat(found[1]) if found else None


def unquoted(text: str) -> str:
    """Return a text without what it quotes: words to be used as they are, not to be understood."""
    return _QUOTED.sub(" ", text)


def dates_text(dates: Mapping[str, date]) -> str:
    """Return the dates as a line for a prompt; empty where there are none."""
    if not dates:
        return ""
    facts = (f"{words} is {day.isoformat()}, a {DAYS[day.weekday()].title()}" for words, day in dates.items())
    return f"({'; '.join(facts)})"


def _found(text: str, today: date) -> Iterator[tuple[str, date]]:
    for match in _MONTH_DAY.finditer(text):
        day = _nearest(MONTHS.index(match[1].lower()) + 1, int(match[2]), today)
        if day is not None:
            yield match[0], day
    for match in _WEEKDAY.finditer(text):
        ahead = (DAYS.index(match[1].lower()) - today.weekday() - 1) % 7 + 1
        yield match[0], today + timedelta(days=ahead)
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
