"""Searches mended without a model: what needs no judgement is left out, added, or made wider.

Only calls that read are touched, never effects. Small models give every parameter a value; a word that
fits everything, or a date nobody named, finds nothing. Knows nothing of tools' meaning.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from plait.models.schema import words_in
from plait.reflection.checks import Known
from plait.reflection.dates import ISO_DAY, today_of
from plait.reflection.phrases import ahead, becomes, names_time, things_named
from plait.reflection.trajectory import Step
from plait.tools.tool import Tool

_LOWER = re.compile(r"(^|_)(min|start|from|since|after)$", re.IGNORECASE)
_UPPER = frozenset({"max", "end", "until", "before"})
_KIND = re.compile(
    r"(?<=\w)\s+(meeting|event|appointment|e-?mail|message|task|document|file|note|contact|customer|record)s?$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"^q$|query|text|word|search|term|name|title|subject|topic|phrase", re.IGNORECASE)
_CODE = re.compile(r"sql|code|path|file|url|regex|pattern", re.IGNORECASE)
_PLAIN_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?)?")
_HOUR = re.compile(r"\s+(?:after|at|before|by|from|until)\s+\d{1,2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?$")
_OF_TIME = re.compile(r"date|day|time|due|when", re.IGNORECASE)


def mended(tool: Tool, arguments: Mapping[str, Any], known: Known) -> tuple[dict[str, Any], list[str]]:
    """Mend the arguments of a search, and say what was mended.

    Where the task means what is ahead of the kind that the tool finds and names no date, today is the lower
    bound. Left out are empty texts, words to look for that fit everything the tool can find, a date given as
    words, dates where the task names no time, and what a thing is only to be called afterwards. What else
    the task says or a list of values allows stays.
    """
    if tool.effect != "reads":
        return dict(arguments), []
    kept = {
        name: value
        for name, value in arguments.items()
        if not _needless(tool, name, value, known) and not _said_by_bounds(tool, name, arguments)
    }
    left_out = [f"{name}={value!r}" for name, value in arguments.items() if name not in kept]
    if not kept:
        kept, left_out = dict(arguments), []
    bounded = _from_today(tool, kept, known)
    added = [f"added {name}={bounded[name]!r}" for name in bounded if name not in kept]
    return bounded, [*([f"left out {', '.join(left_out)}"] if left_out else []), *added]


def wider(step: Step, known: Known) -> dict[str, Any] | None:
    """Return the arguments with which a search that found nothing is made once more, or None.

    Given up are a bound in time that the task does not set, for what is next or in the future the upper one,
    and a last word that only says what kind of thing is meant: a meeting need not be called one.
    """
    less = dict(step.arguments)
    if not known.dates and ahead(known.task):
        less = {name: v for name, v in less.items() if not (_is_dated(v) and _is_upper(name))}
    less = {name: _bare(name, value) for name, value in less.items()}
    return less if less and less != step.arguments else None


def within(arguments: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a search can find nothing that the other did not: the same, with bounds in time no wider."""
    mine, theirs = _bounds(arguments), _bounds(other)
    if _timeless(arguments) != _timeless(other) or not theirs.keys() <= mine.keys():
        return False
    return all(_no_wider(name, mine[name], theirs[name]) for name in theirs)


def alike(arguments: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two searches look for the same things, at whatever times."""
    return arguments == other or (bool(_timeless(arguments)) and _timeless(arguments) == _timeless(other))


def _needless(tool: Tool, name: str, value: Any, known: Known) -> bool:
    schema: Mapping[str, Any] = tool.parameters.get("properties", {}).get(name, {})
    if name in _required(tool) or "enum" in schema or not isinstance(value, str):
        return False
    if value == "":
        return True
    if _is_dated(value):
        # Without a day to reckon from nothing is known about dates.
        timeless = today_of(known.notes) is not None and not known.dates and not names_time(known.task)
        return timeless and value[:10] not in "\n".join(known.texts)
    everything = _is_words(name) and _fits_everything(tool, value)
    return everything or _only_date(value, known) or becomes(known.task, value)


def _said_by_bounds(tool: Tool, name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether words to search for are only the day that both bounds of the search say too."""
    value = arguments[name]
    if not isinstance(value, str) or not ISO_DAY.fullmatch(value.strip()) or name in _required(tool):
        return False
    bounds = [other for other in arguments if str(arguments[other]).startswith(value.strip())]
    both = any(map(_LOWER.search, bounds)) and any(map(_is_upper, bounds))
    return both and not _is_bound(name) and _OF_TIME.search(name) is None


def _no_wider(name: str, mine: str, theirs: str) -> bool:
    """Whether a bound in time leaves no more than another of its name; moments in two spellings may."""
    if len(mine) != len(theirs) or not (_PLAIN_MOMENT.fullmatch(mine) and _PLAIN_MOMENT.fullmatch(theirs)):
        return mine == theirs
    mine, theirs = mine.replace("T", " "), theirs.replace("T", " ")
    return mine >= theirs if _LOWER.search(name) else mine <= theirs


def _is_upper(name: str) -> bool:
    """Whether a parameter is an upper bound, such as `time_max`, `endDate` or `to`."""
    words = words_in(name)
    return not _UPPER.isdisjoint(words) or words[-1:] == ["to"]


def _bounds(arguments: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in arguments.items() if _is_bound(name) and _is_dated(value)}


def _timeless(arguments: Mapping[str, Any]) -> dict[str, Any]:
    bounds = _bounds(arguments)
    return {name: value for name, value in arguments.items() if name not in bounds}


def _is_bound(name: str) -> bool:
    return _LOWER.search(name) is not None or _is_upper(name)


def _required(tool: Tool) -> Sequence[str]:
    return tool.parameters.get("required", ())


def _from_today(tool: Tool, arguments: dict[str, Any], known: Known) -> dict[str, Any]:
    """Return the arguments with today as the lower bound where only what is ahead is asked for."""
    today = today_of(known.notes)
    finds = things_named(tool.name.rpartition(".")[2].replace("_", " "))
    if today is None or known.dates or finds.isdisjoint(ahead(known.task)):
        return arguments
    properties: Mapping[str, Mapping[str, Any]] = tool.parameters.get("properties", {})
    lower = [name for name in properties if _LOWER.search(name)]
    if len(lower) != 1 or lower[0] in arguments:
        return arguments
    time = " 00:00:00" if "HH:MM:SS" in properties[lower[0]].get("description", "") else ""
    return {**arguments, lower[0]: f"{today.isoformat()}{time}"}


def _bare(name: str, value: Any) -> Any:
    """Return words to look for without a last one that only says what kind of thing is meant."""
    return _KIND.sub("", value) if isinstance(value, str) and _is_words(name) else value


def _is_words(name: str) -> bool:
    """Whether a parameter is one for words to look for, not a choice such as a status, nor code."""
    return _WORDS.search(name) is not None and _CODE.search(name) is None


def _is_dated(value: Any) -> bool:
    return isinstance(value, str) and ISO_DAY.match(value) is not None


def _only_date(value: str, known: Known) -> bool:
    """Whether a text says nothing but a date of the task, with an hour or without."""
    lowered = _HOUR.sub("", value.lower().strip()).removeprefix("on ")
    return any(lowered in (words.lower(), day.isoformat()) for words, day in known.dates.items())


def _fits_everything(tool: Tool, text: str) -> bool:
    """Whether words only say what the tool is about: `meeting` in a search for meetings."""
    about = set(_words(tool.description))
    about |= {word.removesuffix("s") for word in about}
    words = _words(text)
    return bool(words) and all(word in about for word in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]{3,}", text.lower())
