"""How a value was worked out of the words of a goal, so that it can be worked out of other words.

A value often has several ways to have come about: 15:30 may be said as `3:30` because all hours before 8 are
meant for the afternoon, or all before 9. All ways that fit are kept, and a new value is only given where they
agree; each further success leaves fewer. Beyond the paper, whose agent fills in every parameter (ICE, section
3.2). Knows nothing of pipelines.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from itertools import product

from plait.experience.words.goals import Span

DateOf = Callable[[str], date | None]
"""Works a date out from its words, such as `December 13` or `today`; None where it cannot."""

MOST_WAYS = 64
"""Of one value."""
MOST_DAYS = 31
"""Of a date that is told from today and from no word of the goal."""
MOST_COUNTED = 3_660
"""Days that a goal may count back from today."""
AFTERNOONS = (0, 6, 7, 8, 9)
"""Hours before which an hour without `am` or `pm` may be meant for the afternoon; 0: none is."""
FACTORS = tuple(map(Fraction, (1, 60, 3600, 24, 7, 1000, "1/60")))
"""By which a number may differ from how it was said: 2 hours are 120 minutes, 90 minutes 1.5 hours."""
DAY_SIZES = (1, 7)
"""Days of what is counted back from today: days, weeks."""
KNOWN_WAY = re.compile(
    r"text|lower|lines|number\*\d{1,9}(?:/[1-9]\d{0,8})?|time<\d|(?:day|today[+-]\d{1,3}|back\*\d)(?: at<\d)?"
)
TEXTS: Mapping[str, Callable[[str], str]] = {
    "text": lambda said: said,
    "lower": str.lower,
    "lines": lambda said: said.replace("\\n", "\n"),
}
"""Ways to take a text over; who types a goal writes the end of a line as `\\n`."""
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = {word: float(number) for number, word in enumerate(_NUMBERS, start=1)}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?:[ T](?P<hour>\d\d):(?P<minute>\d\d)(?::\d\d)?)?")
_TIME = re.compile(r"(?P<hour>\d\d?):(?P<minute>\d\d)(?::\d\d)?")
_NUMBER = re.compile(r"(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?")
_SAID_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?::\d\d)?\s?(?P<half>[ap])?(?:\.?m\b\.?)?(?:\s?o.clock)?",
    re.IGNORECASE,
)
_WHOLE_DAY = ("", "00:00", "23:59")


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way in which a value may have come about."""

    how: str
    """Its name, such as `day at<8`: the day that one span says, at the time that another says."""
    spans: tuple[int, ...] = ()
    """The values of the goal that it needs, by their places among them; none: what day it is says it."""


def ways(value: str, spans: Sequence[Span], named: DateOf) -> tuple[Way, ...]:
    """Return the ways in which a value may follow from values of a goal or, where none do, from today.

    Where some are sure, only they are returned: the others explain less.

    Args:
        value: As it went into a call.
        spans: The values that the goal says.
        named: Knows what day it was.
    """
    fitting = [
        way
        for way in _candidates(value, spans)
        if worked(way, [spans[place].text for place in way.spans], value, named) == value
    ]
    said = [way for way in fitting if not way.how.startswith("today")] or fitting
    # A time of day that the goal says is no part of the call's form.
    return (tuple(way for way in said if is_sure(way, value)) or tuple(said))[:MOST_WAYS]


def is_sure(way: Way, example: str) -> bool:
    """Whether one success shows that a value is worked out this way: nothing in it was chosen by an agent."""
    how = way.how
    if how.startswith("today") and how != "today+0":
        return False
    moment = _MOMENT.fullmatch(example)
    if moment is None or "at<" in how:
        return True
    clock = f"{moment['hour']}:{moment['minute']}" if moment["hour"] else ""
    return clock in _WHOLE_DAY


def worked(way: Way, words: Sequence[str], example: str, named: DateOf) -> str | None:
    """Work a value out.

    Args:
        way: One that fitted the example.
        words: The values of the goal that it needs, as they are said.
        example: A value that was worked out in this way; its form is kept.
        named: Knows what day it is.

    Returns:
        None where the words are of another kind than this way takes.
    """
    kind, _, rule = way.how.partition(" ")
    if len(words) != (not kind.startswith("today")) + bool(rule):
        return None
    if kind in TEXTS:
        return TEXTS[kind](words[0])
    if kind.startswith("number*"):
        return _counted(words[0], Fraction(kind.removeprefix("number*")))
    if kind.startswith("time"):
        return _with_time(example, words[0], int(kind.removeprefix("time<")))
    day = _day(kind, words, named)
    if day is None:
        return None
    moved = _DAY.sub(day.isoformat(), example, count=1)
    return _with_time(moved, words[-1], int(rule.removeprefix("at<"))) if rule else moved


def moved_by(time: str, minutes: str, *, back: bool = False) -> str | None:
    """Return a time so many minutes later, or earlier, in the form that it has; None where it is none.

    Args:
        time: A day with a time of day.
        minutes: A whole number from 0.
        back: Earlier instead of later.
    """
    found = _MOMENT.fullmatch(time)
    if found is None or not found["hour"] or not re.fullmatch(r"[0-9]{1,6}", minutes):
        return None
    try:
        moved = datetime.fromisoformat(time) + timedelta(minutes=int(minutes) * (-1 if back else 1))
    except (ValueError, OverflowError):
        return None
    return moved.isoformat(sep=time[10], timespec="seconds" if time.count(":") > 1 else "minutes")


def minutes_between(time: str, other: str) -> int | None:
    """Return how many minutes after a time another one of the same form is; None where no number says it."""
    if not all((found := _MOMENT.fullmatch(one)) and found["hour"] for one in (time, other)):
        return None
    try:
        between = datetime.fromisoformat(other) - datetime.fromisoformat(time)
    except ValueError:
        return None
    minutes = int(between.total_seconds() // 60)
    return minutes if moved_by(time, str(abs(minutes)), back=minutes < 0) == other else None


def _candidates(value: str, spans: Sequence[Span]) -> Iterator[Way]:
    for place, span in enumerate(spans):
        # What is the text itself is not looked at further.
        yield from (Way(how=how, spans=(place,)) for how in TEXTS if value != span.text or how == "text")
    times = [place for place, span in enumerate(spans) if span.kind in ("time", "number")]
    if moment := _MOMENT.fullmatch(value):
        days = [Way(how="day", spans=(place,)) for place, span in enumerate(spans) if span.kind == "date"]
        days += [Way(how=f"back*{size}", spans=(place,)) for place in times for size in DAY_SIZES]
        days += [Way(how=f"today{offset:+}") for offset in range(-MOST_DAYS, MOST_DAYS + 1)]
        yield from days
        if moment["hour"]:
            for day, time, hour in product(days, times, AFTERNOONS):
                if time not in day.spans:
                    yield Way(how=f"{day.how} at<{hour}", spans=(*day.spans, time))
    elif _TIME.fullmatch(value):
        yield from (Way(how=f"time<{hour}", spans=(place,)) for place in times for hour in AFTERNOONS)
    elif _NUMBER.fullmatch(value):
        yield from (Way(how=f"number*{by}", spans=(place,)) for place in times for by in FACTORS)


def _day(kind: str, words: Sequence[str], named: DateOf) -> date | None:
    if kind == "day":
        return named(words[0])
    today = named("today")
    if kind.startswith("today"):
        offset: float | None = int(kind.removeprefix("today"))
    else:
        number = number_of(words[0])
        offset = None if number is None else -number * int(kind.removeprefix("back*"))
    if today is None or offset is None or offset != int(offset) or abs(offset) > MOST_COUNTED:
        return None
    return today + timedelta(days=int(offset))


def _counted(said: str, factor: Fraction) -> str | None:
    """Return so many times a number, to the sixth decimal and without zeros at its end."""
    number = number_of(said)
    if number is None:
        return None
    whole, decimals = divmod(round(Fraction(str(number)) * factor * 1_000_000), 1_000_000)
    return f"{whole}.{decimals:06}".rstrip("0").rstrip(".")


def number_of(said: str) -> float | None:
    """Return the number that a text says; None where it says none."""
    lowered = said.casefold()
    if _NUMBER.fullmatch(lowered):
        return float(lowered)
    return 0.5 if lowered.startswith("half a") else _WORDS.get(lowered)


def _with_time(example: str, said: str, afternoon: int) -> str | None:
    """Return an example with another time of day; None where no time is said."""
    if said.casefold() in ("noon", "midday"):
        hour, minute = 12, 0
    else:
        found = _SAID_TIME.fullmatch(said.strip())
        if found is None:
            return None
        hour, minute = int(found["hour"]), int(found["minute"] or 0)
        half = (found["half"] or "").casefold()
        if (half == "p" and hour < 12) or (not half and 0 < hour < afternoon):
            hour += 12
        elif half == "a" and hour == 12:
            hour = 0
    if hour > 23 or minute > 59:
        return None
    return _TIME.sub(lambda old: f"{hour:02}:{minute:02}{':00' if old[0].count(':') > 1 else ''}", example, 1)
