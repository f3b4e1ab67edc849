"""What the words of a goal tell about a call: values that stand in it, or that were worked out from it.

Beyond the paper, whose agent fills in every parameter (ICE, section 3.2). Knows nothing of tools or results.
Where the words leave a doubt nothing is told: a value that is asked for costs a call, a wrong one harm.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from plait.experience.pipelines.results import MOST_TRIFLE
from plait.experience.words.derive import DateOf, Way, number_of, ways
from plait.experience.words.goals import Span, masked

MOST_SAID = 200
"""Characters of the goal that a value is worked out from."""
_EARLY = re.compile(r"\b(?:first|next|earliest|soonest|oldest)\b")
_LATE = re.compile(r"\b(?:last|latest|newest|most recent)\b")
_CONDITION = re.compile(
    r"(?<!know )\bif\b(?! possible| necessary| needed| you (?:can|could|would))"
    r"|\b(?:unless|whether|otherwise|in case|depending on)\b"
)
_UNIT = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|quarters?|years?)\b"
_DAYS = r"(?:days?|weeks?|months?|quarters?|years?)\b"
_LENGTH = re.compile(r"[\s-]*(min(?:ute)?s?|h(?:ou)?rs?)\b", re.IGNORECASE)
_UNIT_MINUTES = {"m": 1, "h": 60}
_PERIOD = re.compile(rf"\b(?:first|next|last)\s+(?:(?:\w+\s+)?{_UNIT}|<(?:date|time|number)>)")
"""As in `last week`, `next Tuesday` and `last 3 emails`: none of them means one end of a list."""
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?")
_CLOCK = re.compile(r"(\d\d?):(\d\d)(?::\d\d)?")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,9})?")
_HOUR = re.compile(r"(?<![\d.])(\d{1,2})(?:[:.](\d\d))?(?![\d.])")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_PARTS = re.compile(r"\b(?:morning|afternoon|evening|night|lunch)", re.IGNORECASE)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = {"half": 0.5, **{word: float(number) for number, word in enumerate(_NUMBERS, start=1)}}
_COUNTED = re.compile(
    rf"\d|\b(?:{'|'.join((*_NUMBERS, *_WEEKDAYS, *_MONTHS))}|half|noon|midnight|today|tomorrow|tonight"
    r"|yesterday|mondays?|tues|tuesdays?|wednesdays?|thurs|thursdays?|fridays?|saturdays?|sundays?"
    r"|january|february|march|april|june|july|august|sept|september|october|november|december)\b"
)
"""Numbers, months and days, however they are said."""
_FACTORS = (1, 60, 3600, 24, 7, 100, 1000, 1_000_000, 1 / 60, 0.01)
"""By which a number may differ from how it was said: 2 hours are 120 minutes."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A value that the goal says."""

    text: str
    """How the goal says it; empty where what day it was says it."""
    value: str


class GoalWords:
    """The words of one goal."""

    def __init__(self, goal: str, named: DateOf = lambda _: None) -> None:
        """Take a goal and what knows which day it was."""
        self.goal = goal
        self._named = named
        without_values = masked(goal)
        self._spans = list(without_values.spans)
        self._template = _PERIOD.sub(" ", without_values.text)

    @property
    def end(self) -> Literal["first", "last"] | None:
        """Which end of a result its words mean; None where they name neither, or both."""
        early, late = _EARLY.search(self._template), _LATE.search(self._template)
        if early and late:
            return None
        return "first" if early else "last" if late else None

    @property
    def conditional(self) -> bool:
        """Whether something is to be done only if something else holds."""
        return _CONDITION.search(self._template) is not None

    def standing(self, value: str) -> Said | None:
        """Return where a value stands in the goal as it is, but for case, as whole words."""
        number = _NUMBER.fullmatch(value) is not None
        if len(value) < 2 and not number:
            return None
        # Who types a goal writes the end of a line as `\n`.
        typed = value if value in self.goal else value.replace("\n", "\\n")
        pattern = rf"(?<!\w){re.escape(typed)}(?!\w)"
        for found in re.finditer(pattern, self.goal, re.IGNORECASE):
            said = found[0]
            if said.casefold() == typed.casefold() and not self._is_part(*found.span(), number=number):
                return Said(text=said, value=value)
        return None

    def worked_out(self, value: str, *, surely: bool = False) -> Said | None:
        """Return the span of the goal that a date, a time or a number was worked out from.

        Args:
            value: As it went into a call.
            surely: Only where the span names the very day.
        """
        if moment := _MOMENT.fullmatch(value):
            return self._day(value, moment, surely=surely)
        if surely:
            return None
        if clock := _CLOCK.fullmatch(value):
            return self._over(value, self._clocks(int(clock[1]), int(clock[2])))
        if _NUMBER.fullmatch(value):
            return self._over(value, [span for span in self._spans if _gives(span, float(value))])
        return None

    def from_today(self, value: str) -> Said | None:
        """Return a day that is told from today and by no word; of a time of day only where a day begins or
        ends.
        """
        if _MOMENT.fullmatch(value) is None or not ways(value, (), self._named):
            return None
        return Said(text="", value=value)

    def length(self, minutes: int) -> Said | None:
        """Return the one length of time in the goal that is so many minutes, such as `1.5 hours`, or None."""
        found = [span for span in self._spans if self._minutes(span) == minutes]
        return Said(text=found[0].text, value=str(minutes)) if len(found) == 1 else None

    def values(self) -> list[Said]:
        """Return the values of the goal that are more than a trifle, as they stand in it."""
        texts = [span.text for span in self._spans if span.kind in ("name", "quoted", "email")]
        return [Said(text=text, value=text) for text in texts if len(text) > MOST_TRIFLE]

    def may_say(self, text: str) -> bool:
        """Whether a text holds a value of the goal, a part of a name, or a number, a month or a day, which
        the goal may say in other words.
        """
        lowered = text.casefold()
        if _COUNTED.search(lowered):
            return True
        for span in self._spans:
            words = re.findall(r"\w{3,}", span.text) if span.kind in ("name", "email") else []
            if any(part and part.casefold() in lowered for part in (span.text, *words)):
                return True
        return False

    def ways(self, value: str) -> tuple[Way, ...]:
        """Return the ways in which a value may follow from the goal, or from what day it was."""
        return ways(value, self._spans, self._named)

    def _is_part(self, start: int, end: int, *, number: bool) -> bool:
        """Whether a stretch is cut out of a value of another kind, as 13 of `December 13` is."""
        for span in self._spans:
            if span.start <= start and end <= span.end and (start, end) != (span.start, span.end):
                of_time = span.kind == "time" and re.search(r":|\d ?[ap]\.?m", span.text, re.IGNORECASE)
                if span.kind in ("email", "date") or (number and (of_time or span.kind == "quoted")):
                    return True
        return False

    def _day(self, value: str, moment: re.Match[str], *, surely: bool) -> Said | None:
        try:
            day = date.fromisoformat(moment[1])
        except ValueError:
            return None
        hour, minute = (int(moment[2]), int(moment[3])) if moment[2] else (0, 0)
        days = [day, day - timedelta(days=1)] if moment[2] and (hour, minute) == (0, 0) else [day]
        chosen = [span for span in self._spans if span.kind == "date" and _names(span.text, days)]
        if not chosen and not surely:
            dated = [span for span in self._spans if span.kind == "date"]
            counted = [span for span in self._spans if self._has_unit(span, _DAYS)]
            chosen = [span for span in dated if _is_relative(span.text)] if dated else counted
        if not chosen:
            return None
        if (hour, minute) in ((0, 0), (23, 59)):
            return self._over(value, chosen)
        # A time of day that the goal does not say was worked out from something else, such as a result.
        clocks = self._clocks(hour, minute)
        return self._over(value, [*chosen, *clocks]) if clocks else None

    def _clocks(self, hour: int, minute: int) -> list[Span]:
        """Return the spans that may say a time of day."""
        return [span for span in self._spans if self._says_clock(span, hour, minute)]

    def _says_clock(self, span: Span, hour: int, minute: int) -> bool:
        if span.kind not in ("time", "number") or self._has_unit(span):
            return False
        text = span.text.casefold()
        if "noon" in text and "after" not in text:
            return (hour, minute) == (12, 0)
        if _PARTS.search(text) and not _HOUR.search(text):
            return True
        return any(
            int(found[1]) % 12 == hour % 12 and int(found[2] or 0) == minute for found in _HOUR.finditer(text)
        )

    def _has_unit(self, span: Span, unit: str = _UNIT) -> bool:
        """Whether a span is a length of time, such as `30 minutes`."""
        after = self.goal[span.start : span.end + 12]
        return re.match(rf"[\w.]+[\s-]*{unit}", after, re.IGNORECASE) is not None

    def _minutes(self, span: Span) -> float | None:
        """Return the minutes of a span with a unit after it."""
        if span.kind != "number" or not (unit := _LENGTH.match(self.goal, span.end)):
            return None
        number = number_of(span.text)
        return None if number is None else number * _UNIT_MINUTES[unit[1][0].casefold()]

    def _over(self, value: str, spans: Sequence[Span]) -> Said | None:
        """Return the stretch of the goal that holds all of some spans."""
        if not spans:
            return None
        start, end = min(span.start for span in spans), max(span.end for span in spans)
        return Said(text=self.goal[start:end], value=value) if end - start <= MOST_SAID else None


def _names(text: str, days: Sequence[date]) -> bool:
    """Whether a span of a goal names one of some days, by its date or its weekday."""
    lowered = text.casefold()
    if any(day.isoformat() in lowered for day in days):
        return True
    if re.search(r"\d{4}-\d\d-\d\d", lowered):
        return False
    numbers = {int(number) for number in re.findall(r"(?<![\d.])\d{1,2}(?!\d)", lowered)}
    for day in days:
        weekday = re.search(rf"\b{_WEEKDAYS[day.weekday()]}", lowered)
        month = re.search(rf"\b{_MONTHS[day.month - 1]}", lowered) or day.month in numbers - {day.day}
        if (weekday and not numbers) or (month and day.day in numbers):
            return True
    return False


def _is_relative(text: str) -> bool:
    """Whether a span is told from today, such as `last week` or `tomorrow`, so that any day may be meant."""
    names = "|".join((*_WEEKDAYS, *_MONTHS))  # A day that is named is not told from today.
    if re.search(rf"\d{{4}}-\d\d-\d\d|\d[/.]\d|\b(?:{names})\w*\b", text, re.IGNORECASE):
        return False
    return (
        re.search(rf"{_UNIT}|\b(?:today|tomorrow|yesterday|tonight)\b|^\D+$", text, re.IGNORECASE) is not None
    )


def _gives(span: Span, value: float) -> bool:
    """Whether a number follows from one in a span."""
    if span.kind not in ("number", "time", "date") or (span.kind == "date" and not _is_relative(span.text)):
        return False
    text = span.text.casefold().replace(",", "")
    said = [float(number) for number in re.findall(r"\d{1,15}(?:\.\d{1,9})?", text)]
    said += [_WORDS[word] for word in re.findall(r"[a-z]+", text) if word in _WORDS]
    return any(abs(number * factor - value) < 1e-9 for number in said for factor in _FACTORS)
