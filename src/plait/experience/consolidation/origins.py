"""Where an argument of a call came from: the goal, an earlier result, or nowhere that can be told.

Beyond the paper, whose agent fills in every parameter (ICE, section 3.2). Knows nothing of the order in
which calls are kept or pruned; `compile` asks it about one argument at a time.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from plait.experience.consolidation.goal_words import GoalWords, Said
from plait.experience.pipelines.pipeline import Composition, Constant, FromResult, Unknown, WhichRow
from plait.experience.pipelines.results import (
    MOST_TRIFLE,
    WHOLE,
    cell_text,
    first_of,
    in_order,
    last_of,
)
from plait.experience.words.derive import minutes_between
from plait.models.schema import is_identifier, properties_of, resolve

MOST_FIXED = 60
"""Characters around the values in a text that was put together."""
MOST_EXAMPLE = 200
"""Characters of a value whose origin is not known: it is shown, never used."""
_JOINT = r"""[^\s"'()\[\],:;!?]"""
"""What stands beside a value where that is only a part of something else."""
_AMOUNT = re.compile(r"(?<![\w.])(?:PT)?((?:0|[1-9]\d{0,8})(?:\.\d{1,9})?)(?!\d)")
_DAYTIME = re.compile(r"\d{4}-\d\d-\d\d(?:[ T][\d:.]+)?")
_CLOCK = re.compile(r"(\d{1,3}):(\d\d)(?::\d\d)?")
_COUNT = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")

Simple: TypeAlias = Constant | Said | FromResult


@dataclass(frozen=True, kw_only=True)
class Compound:
    """A value that was put together, as `pipeline.Composed` has it."""

    how: Composition
    parts: Sequence[Simple]


Origin: TypeAlias = Simple | Compound | Unknown


def drawn_from(where: Origin) -> list[FromResult]:
    """Return the fields of results that a value came from."""
    parts = where.parts if isinstance(where, Compound) else (where,)
    return [part for part in parts if isinstance(part, FromResult)]


@dataclass(frozen=True, kw_only=True)
class EarlierResult:
    """The result of an earlier call."""

    node: str
    rows: Sequence[Mapping[str, str]]
    whole: bool
    """Whether these are all rows that there were."""


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One argument of a call."""

    name: str
    value: Any
    schema: Mapping[str, Any]
    """What the tool says of it."""
    effect: bool
    """Whether the call changes the world."""

    @property
    def may_be_constant(self) -> bool:
        """An effect must never be done again to the very thing it was done to before."""
        return not (self.effect and is_identifier(self.name))


def parameter(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return what a tool's schema says of one parameter."""
    return resolve(properties_of(schema).get(name, {}), schema)


def offered(schema: Mapping[str, Any]) -> list[Any]:
    """Return the values that a parameter's schema names itself."""
    return [*schema.get("enum", ()), *(schema[key] for key in ("default", "const") if key in schema)]


def origin(argument: Argument, words: GoalWords, sources: Sequence[EarlierResult]) -> Origin:
    """Return where an argument came from; what can be told from the goal is not looked for elsewhere."""
    value = argument.value
    if value is None or isinstance(value, bool):
        return _constant(argument)
    text = cell_text(value) if isinstance(value, str | int | float) else ""
    if said := words.standing(text):
        return said
    if value in ("", [], {}) or ("default" in argument.schema and value == argument.schema["default"]):
        return _constant(argument)
    if said := words.worked_out(text, surely=True):
        return said
    choice = value in offered(argument.schema)
    result = _result(argument, text, words, sources)
    moves = _moves(text, words, sources)
    if result and moves:
        return _unknown(
            value
        )  # Such as the end of a meeting, or its start and the length that the goal says.
    # One of a few words stands in many results by chance.
    if result and (not choice or (result.field == argument.name and result.row == "only")):
        return result
    if choice:
        return _constant(argument)
    if is_identifier(argument.name):
        return _unknown(value)
    if said := words.worked_out(text):
        return said
    if moves:
        return _moved(moves) or _unknown(value)
    made = words.from_today(text)
    if made is None and isinstance(value, str):
        made = joined(text, words, sources)
    return made or _unknown(value)


@dataclass(frozen=True, kw_only=True)
class _Move:
    """One way in which a time may be that of a result, moved by a length of time that the goal says."""

    where: Compound
    row: Mapping[str, str]
    """That the time is of."""
    minutes: int
    """By how many; not negative."""


def _moves(text: str, words: GoalWords, sources: Sequence[EarlierResult]) -> list[_Move]:
    """Return all ways in which a value may be a time of a result that was moved as the goal says."""
    found: dict[tuple[str, str, str], _Move] = {}
    for source in reversed(sources):
        for field in columns(source.rows, ""):
            for row in source.rows:
                minutes = minutes_between(row.get(field, ""), text)
                said = words.length(abs(minutes)) if minutes else None
                if minutes and said:
                    holders = [other for other in source.rows if other.get(field) == row[field]]
                    time = FromResult(node=source.node, field=field, row=_row(source, holders, words))
                    where = Compound(how="later" if minutes > 0 else "earlier", parts=(time, said))
                    found[source.node, field, row[field]] = _Move(where=where, row=row, minutes=abs(minutes))
    return list(found.values())


def _moved(moves: Sequence[_Move]) -> Compound | None:
    """Return the one way in which a time was moved; None where it may be chance.

    It may where there are several, and where the result says the same length: half an hour after a start may
    be the end of a meeting of half an hour.
    """
    if len(moves) != 1 or any(_says_length(cell, moves[0].minutes) for cell in moves[0].row.values()):
        return None
    return moves[0].where


def _says_length(cell: str, minutes: int) -> bool:
    """Whether a number in a cell, but one of a time of a day, is so many seconds, minutes or hours."""
    lengths = (60 * minutes, minutes, minutes / 60)
    clock = _CLOCK.fullmatch(cell.strip())
    if clock and int(clock[1]) * 60 + int(clock[2]) == minutes:
        return True
    numbers = _AMOUNT.findall(_DAYTIME.sub(" ", cell))
    return any(abs(float(number) - length) < 0.01 for number in numbers for length in lengths)


def joined(text: str, words: GoalWords, sources: Sequence[EarlierResult]) -> Compound | None:
    """Return a fixed text around one or two values of the goal or of results, such as `Re: <subject>`."""
    if not MOST_TRIFLE < len(text) <= MOST_EXAMPLE or "@" in text:
        return None  # A name is no part of an address that can be told from it.
    found = _longest(text, words, sources)
    if found is None:
        return None
    at, value, part = found
    parts: list[Simple] = [part]
    before, after = text[:at], text[at + len(value) :]
    others = [(left, _longest(left, words, sources), left is before) for left in (before, after)]
    for left, other, first in sorted(others, key=lambda one: -len(one[1][1]) if one[1] else 0)[:1]:
        if other is not None:
            start, second, more = other
            inner = [Constant(value=left[:start]), more, Constant(value=left[start + len(second) :])]
            parts = [*inner, part] if first else [part, *inner]
            before, after = ("", after) if first else (before, "")
    whole: list[Simple] = [Constant(value=before), *parts, Constant(value=after)]
    kept = [one for one in whole if one != Constant(value="")]
    fixed = [str(one.value) for one in kept if isinstance(one, Constant)]
    if len(kept) < 2 or sum(map(len, fixed)) > MOST_FIXED or any(words.may_say(one) for one in fixed):
        return None
    return Compound(how="text", parts=tuple(kept))


def _longest(
    text: str, words: GoalWords, sources: Sequence[EarlierResult]
) -> tuple[int, str, Said | FromResult] | None:
    """Return the longest value of the goal or of a result that stands in a text as whole words, and where."""
    found: list[tuple[str, Said | FromResult]] = [(said.value, said) for said in words.values()]
    for source in reversed(sources):
        for field in columns(source.rows, ""):
            for row in source.rows:
                cell = row.get(field, "")
                if MOST_TRIFLE < len(cell) <= len(text) and cell in text and not _COUNT.fullmatch(cell):
                    holders = [other for other in source.rows if other.get(field) == cell]
                    which = _row(source, holders, words)
                    found.append((cell, FromResult(node=source.node, field=field, row=which)))
    for value, part in sorted(found, key=lambda one: -len(one[0])):
        if place := re.search(rf"(?<!{_JOINT}){re.escape(value)}(?!{_JOINT})", text):
            return place.start(), value, part
    return None


def columns(rows: Sequence[Mapping[str, str]], name: str) -> list[str]:
    """Return the fields of some rows, those first from which an argument of that name is likely filled."""
    fields = dict.fromkeys(field for row in rows for field in row)
    return sorted(fields, key=lambda field: (field != name, not is_identifier(field)))


def _constant(argument: Argument) -> Origin:
    return Constant(value=argument.value) if argument.may_be_constant else _unknown(argument.value)


def _unknown(value: Any) -> Unknown:
    if isinstance(value, int | float | None):
        return Unknown(example=value)
    return Unknown(example=cell_text(value)[:MOST_EXAMPLE])


def _result(
    argument: Argument, text: str, words: GoalWords, sources: Sequence[EarlierResult]
) -> FromResult | None:
    """Return the field of the latest result that holds a value."""
    for source in reversed(sources):
        for field in columns(source.rows, argument.name):
            holders = [row for row in source.rows if row.get(field) == text]
            if holders and _is_likely(text, field, argument.name):
                return FromResult(node=source.node, field=field, row=_row(source, holders, words))
    return None


def _is_likely(text: str, field: str, name: str) -> bool:
    """Whether a value stands in a field by more than chance: a short text or a count stands in many."""
    if is_identifier(field) or field == name:
        return bool(text)
    return len(text) > 1 and (field == WHOLE or not _COUNT.fullmatch(text))


def _row(source: EarlierResult, holders: Sequence[Mapping[str, str]], words: GoalWords) -> WhichRow:
    """Return which row is meant by the words of the goal; not known where they do not say it."""
    rows = source.rows
    if not source.whole or len(holders) != 1:
        return "undecided"
    if len(rows) == 1:
        return "only"
    end = words.end if in_order(rows) else None
    if end == "first" and first_of(rows) is holders[0]:
        return "first"
    return "last" if end == "last" and last_of(rows) is holders[0] else "undecided"
