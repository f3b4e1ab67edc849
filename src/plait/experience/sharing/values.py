"""Invented values in place of the real ones of a goal, so that what was learned can be given away.

Names, e-mail addresses, dates, quoted texts and long numbers are replaced by harmless ones of the same kind
in the same places. The masked key of the goal stays what it was, and its slots still align with those of
other goals, so that whoever is given it recalls it as its owner did. Beyond the paper (ICE). The same goal
always gives the same stand-ins. Knows nothing of records or files.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date, timedelta

from plait.errors import UserError
from plait.experience.words.goals import Span, key_of, masked

NAMES = (
    "robin", "casey", "devon", "avery", "quinn", "rowan", "emery", "harper", "dakota", "skyler", "finley",
    "jordan", "taylor", "kendall", "lennox", "marlow", "tatum", "linden", "hollis", "arden",
)  # fmt: skip
FIRST_DAY = date(2024, 3, 14)
"""Days above 12 read one way only, and a year makes a day the same whatever today is."""
LONG_NUMBER = 4
"""Digits from which a number may tell who or what is meant; a shorter one is a duration or a count."""
SHORTEST_KNOWN = 3
"""Characters of a value that is looked for in other texts too."""

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"\d{1,2}:\d{2}")
_RELATIVE = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|tonight", re.I)
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip


class StandIns:
    """The stand-ins of one record; equal values get equal ones, different values different ones."""

    def __init__(self, goal: str) -> None:
        """Choose a stand-in for every value of a goal.

        Raises:
            UserError: without its values the goal would be taken for another one.
        """
        words = {word.casefold() for word in re.findall(r"\w+", goal)}
        self._names: Iterator[str] = iter([name for name in NAMES if name not in words])
        self._days = 0
        self._numbers = 0
        self._quotes = 0
        self._given: dict[str, str] = {}
        self.goal = self._said_otherwise(goal)

    @property
    def given(self) -> Mapping[str, str]:
        """The stand-in of every value that has another, as each stood in a text."""
        return {value: instead for value, instead in self._given.items() if value != instead}

    def in_text(self, text: str) -> str:
        """Return another text of the same record without its values and without those of the goal."""
        pieces: list[str] = []
        at = 0
        for span in masked(text).spans:
            pieces += [self._without_known(text[at : span.start]), self._elsewhere(span)]
            at = span.end
        return "".join([*pieces, self._without_known(text[at:])])

    def day(self, words: str) -> date:
        """Return the day that words of the goal as it is told now mean, if today is the first of its days."""
        if match := re.fullmatch(r"(\w+) (\d+), (\d+)", words):
            return date(int(match[3]), _MONTHS.index(match[1]) + 1, int(match[2]))
        return date.fromisoformat(words) if _ISO.fullmatch(words) else FIRST_DAY

    def _elsewhere(self, span: Span) -> str:
        """Return what stands for a value of another text, which may say one of the goal in another case."""
        known = {value.casefold(): instead for value, instead in self.given.items()}
        instead = known.get(span.text.casefold())
        return self._instead(span, span.kind) if instead is None else _in_case_of(span.text, instead)

    def _said_otherwise(self, goal: str) -> str:
        spans = masked(goal).spans
        # A value that is also quoted is named like the value: both are one to whoever compares goals.
        kinds = {span.text: span.kind for span in spans}
        kinds |= {span.text: span.kind for span in spans if span.kind != "quoted"}
        said = self._replaced(goal, spans, kinds)
        if not _says_the_same(goal, said, [self._given[span.text] for span in spans]):
            # "Cancel it on Fridays": such a word tells nothing about anybody.
            relative = [span.text for span in spans if _RELATIVE.fullmatch(span.text)]
            self._given |= {text: text for text in relative}
            said = self._replaced(goal, spans, kinds)
        if not _says_the_same(goal, said, [self._given[span.text] for span in spans]):
            raise UserError("its goal cannot be told without its values")
        if self._known_in(said):
            raise UserError("its goal says a name or text once more where it is taken for plain words")
        return said

    def _replaced(self, goal: str, spans: Collection[Span], kinds: Mapping[str, str]) -> str:
        pieces: list[str] = []
        at = 0
        for span in spans:
            pieces += [goal[at : span.start], self._instead(span, kinds[span.text])]
            at = span.end
        return "".join([*pieces, goal[at:]])

    def _instead(self, span: Span, kind: str) -> str:
        if span.text not in self._given:
            self._given[span.text] = span.text if kind == "time" else self._invented(span.text, kind)
        return self._given[span.text]

    def _invented(self, text: str, kind: str) -> str:
        match kind:
            case "email":
                return f"{self._name()}@example.com"
            case "date":
                day = FIRST_DAY + timedelta(days=self._days)
                self._days += 1
                written = f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"
                return day.isoformat() if _ISO.fullmatch(text) else written
            case "number":
                return self._number(text)
            case "quoted":
                return self._quoted(text)
            case _:
                names = [self._name() for _ in text.split()]
                return " ".join(name.title() if text[:1].isupper() else name for name in names)

    def _name(self) -> str:
        name = next(self._names, "")
        if not name:
            raise UserError("its goal has more names than can be replaced")
        return name

    def _number(self, text: str) -> str:
        digits = sum(character.isdecimal() for character in text)
        if digits < LONG_NUMBER:
            return text
        self._numbers += 1
        return str(10 ** (digits - 1) + self._numbers)

    def _quoted(self, text: str) -> str:
        """Return a text of the same kind: with a day or a time where there was one, digits for digits."""
        if text.strip().isdecimal():
            return self._number(text.strip())
        self._quotes += 1
        day = f" {FIRST_DAY.isoformat()}" if re.search(_ISO, text) else ""
        clock = " 10:30" if _CLOCK.search(text) else ""
        return f"Sample text {self._quotes}{day}{clock}"

    def _without_known(self, text: str) -> str:
        """Replace the values of the goal where a text says them in another place."""
        known = {value.casefold(): instead for value, instead in self.given.items()}
        if (pattern := self._known()) is None:
            return text
        return pattern.sub(lambda match: _in_case_of(match[0], known[match[0].casefold()]), text)

    def _known_in(self, text: str) -> bool:
        pattern = self._known()
        return pattern is not None and pattern.search(text) is not None

    def _known(self) -> re.Pattern[str] | None:
        """Return a pattern of all values of the goal that have another in their place."""
        long = [value for value in self.given if len(value) >= SHORTEST_KNOWN]
        if not long:
            return None
        values = "|".join(re.escape(value) for value in sorted(long, key=len, reverse=True))
        return re.compile(rf"(?<![^\W_])(?:{values})(?![^\W_])", re.IGNORECASE)


def _in_case_of(text: str, instead: str) -> str:
    if text.islower():
        return instead.lower()
    return instead.capitalize() if text[:1].isupper() and instead.islower() else instead


def _says_the_same(goal: str, other: str, values: Collection[str]) -> bool:
    """Whether two goals have one key, and the other the very values that were put into it."""
    one, two = masked(goal).spans, masked(other).spans
    same = [(span.kind, value) for span, value in zip(one, values, strict=True)]
    return key_of(goal) == key_of(other) and same == [(span.kind, span.text) for span in two]
