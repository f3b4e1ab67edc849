"""Checks of a call that need no model; they come before any judgement.

Knows nothing of tools' meaning: an identifier or an address must come from somewhere, a call that
failed or was answered is not repeated, an effect is not done twice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from plait.models.callform import format_call
from plait.reflection.dates import today_of, unquoted
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

FOUND_NOTHING = "this very call was made before and found nothing: search with other or fewer words"
ANSWERED = "this very call was made before and its result is above: use it now, or call done"

SHOWN_LEFT = 5
_TIME_WORDS = re.compile(
    r"\b(\d{4}-\d{2}|days?|weeks?|months?|years?|hours?|today|tonight|tomorrow|yesterday|future|upcoming|"
    r"next|past|overdue|due|ago|since|until|recent|before|after|morning|afternoon|evening)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(all|any|every|each|both|them|those|their|and|then|also|meetings|events|emails|e-mails|tasks)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(r"\b(next|future|upcoming|coming)\b", re.IGNORECASE)
_LOWER = re.compile(r"(^|_)(min|start|from|since|after)$", re.IGNORECASE)
_UPPER = re.compile(r"max|end|until|before|_to$", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(^|_)id$", re.IGNORECASE)
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ADDRESS = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a call may draw on."""

    task: str
    texts: Sequence[str]
    """Task and all observations so far."""
    notes: str
    """Facts that come with the tools."""
    dates: Mapping[str, date]
    """Dates that the task names, by their words."""
    steps: Sequence[Step]
    """Steps of this subtask."""
    effects: Effects


def call_problems(tool: Tool, arguments: Mapping[str, Any], known: Known) -> list[str]:
    """Return what is wrong with a call, in words for the agent; empty where nothing is."""
    problems = [*_repeated(tool.name, arguments, known), *_made_up(tool, arguments, known)]
    return [*problems, *_wrong_dates(tool, arguments, known)]


def done_problems(known: Known) -> list[str]:
    """Return why a subtask should not be ended yet: nothing was found, and only one search was tried."""
    searches = {step.call for step in known.steps if not step.effect and step.ok}
    if len(searches) == 1 and known.steps[-1].empty:
        return [
            "one search that found nothing does not show that there is nothing: search once more with"
            " fewer or wider parameters (leave out what is not needed)"
        ]
    return []


def finished_by(known: Known) -> Step | None:
    """Return the effect that reached the task, where an agent that only looks again is taken to be done.

    A task that speaks of one thing is reached by the first effect; after it small models look again
    and then change the next thing too. Where the task speaks of several, nothing is concluded.
    """
    done = [step for step in known.steps if step.effect and step.ok]
    return done[-1] if done and not _SEVERAL.search(unquoted(known.task)) else None


def mended(tool: Tool, arguments: Mapping[str, Any], known: Known) -> tuple[dict[str, Any], list[str]]:
    """Mend what needs no judgement in a search, and say what; effects are never touched.

    Where the task asks for what is ahead and names no date, today is the lower bound. Left out are
    empty texts, words that fit everything the tool can find, a date given as words, and dates where the
    task names no time.
    """
    required = tool.parameters.get("required", ())
    if tool.effect != "reads":
        return dict(arguments), []
    seen = "\n".join(known.texts)
    timeless = not known.dates and not _TIME_WORDS.search(unquoted(known.task))
    kept: dict[str, Any] = {}
    left_out: list[str] = []
    for name, value in arguments.items():
        needless = (
            value == ""
            or (_is_dated(value) and timeless and value[:10] not in seen)
            or (_is_words(value) and (_fits_everything(tool, value) or _only_dates(value, known.dates)))
        )
        if needless and name not in required:
            left_out.append(f"{name}={value!r}")
        else:
            kept[name] = value
    mended_by = [f"left out {', '.join(left_out)}"] if kept and left_out else []
    bounded = _from_today(tool, kept or dict(arguments), known)
    added = [f"added {name}={bounded[name]!r}" for name in bounded if name not in arguments]
    return bounded, [*mended_by, *added]


def _from_today(tool: Tool, arguments: dict[str, Any], known: Known) -> dict[str, Any]:
    """Return the arguments with today as the lower bound where only what is ahead is asked for."""
    today = today_of(known.notes)
    if today is None or known.dates or not _AHEAD.search(unquoted(known.task)):
        return arguments
    properties: Mapping[str, Mapping[str, Any]] = tool.parameters.get("properties", {})
    lower = [name for name in properties if _LOWER.search(name)]
    if len(lower) != 1 or lower[0] in arguments:
        return arguments
    time = " 00:00:00" if "HH:MM:SS" in properties[lower[0]].get("description", "") else ""
    return {**arguments, lower[0]: f"{today.isoformat()}{time}"}


def wider(step: Step, known: Known) -> dict[str, Any] | None:
    """Return the arguments with which a search that found nothing is made once more, or None.

    Only a bound in time that the task does not set is given up: for what is next or in the future the
    upper one.
    """
    if known.dates or not _AHEAD.search(unquoted(known.task)):
        return None
    less = {name: v for name, v in step.arguments.items() if not (_is_dated(v) and _UPPER.search(name))}
    return less if less and len(less) < len(step.arguments) else None


def _repeated(name: str, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    call = format_call(name, arguments)
    same = next((step for step in known.steps if step.call == call), None)
    if same is not None and not same.ok:
        yield "this very call failed before: change it, or use another tool"
    elif same is not None and same.empty:
        yield FOUND_NOTHING
    elif same is not None:
        yield ANSWERED + _left(known)
    elif known.effects.has(call):
        yield "this was done already and must not be done twice: go on, or call done"


def _left(known: Known) -> str:
    """Name the ids found that no effect was done to yet, where the task is of several."""
    acted = [step for step in known.steps if step.effect and step.ok]
    found = [step for step in known.steps if not step.effect and step.ok and not step.empty]
    if not acted or not found or not _SEVERAL.search(unquoted(known.task)):
        return ""
    done = {str(value) for step in acted for value in step.arguments.values()}
    left = [value for value in _identifiers(found[-1].observation) if value not in done]
    return f"; not acted on yet: {', '.join(left[:SHOWN_LEFT])}" if left else "; all it found is acted on"


def _identifiers(table: str) -> list[str]:
    """Return the values of the identifier column of a table, as tools' lists of records are shown."""
    header, *rows = [line.split(" | ") for line in table.splitlines()]
    column = next((n for n, name in enumerate(header) if _IDENTIFIER.search(name)), None)
    return [] if column is None else [row[column] for row in rows if len(row) == len(header)]


def _made_up(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find values that must come from somewhere and do not.

    Identifiers and addresses always; of a call that only reads also what it looks for. The text of an
    effect may be the agent's own.
    """
    haystack = "\n".join([*known.texts, known.notes]).lower()
    for name, value in arguments.items():
        if "enum" in tool.parameters.get("properties", {}).get(name, {}):
            continue
        for text in _strings(value):
            must_be_known = _IDENTIFIER.search(name) or _ADDRESS.match(text)
            if must_be_known and text.lower() not in haystack:
                yield f"{name} {text!r} is in no result and not in the task: look it up first"
            elif tool.effect == "reads" and any(word not in haystack for word in _words(text)):
                yield f"{name} {text!r} is not in the task and in no result: use words of the task"


def _wrong_dates(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a search for another day than the one that the task names."""
    days = [day for value in arguments.values() if _is_dated(value) for day in _ISO_DAY.findall(value)]
    texts = "\n".join(known.texts)
    if tool.effect == "reads" and known.dates and days and not any(day in texts for day in days):
        facts = "; ".join(f"{words} is {day.isoformat()}" for words, day in known.dates.items())
        yield f"{days[0]} is not a date of the task: {facts}"


def _is_dated(value: Any) -> bool:
    return isinstance(value, str) and _ISO_DAY.match(value) is not None


def _only_dates(value: str, dates: Mapping[str, date]) -> bool:
    """Whether a text says nothing but a date."""
    lowered = value.lower().strip()
    return any(lowered in (words.lower(), day.isoformat()) for words, day in dates.items())


def _fits_everything(tool: Tool, text: str) -> bool:
    """Whether words only say what the tool is about: `meeting` in a search for meetings."""
    words = _words(text)
    return bool(words) and all(word in tool.description.lower() for word in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]{3,}", text.lower())


def _is_words(value: Any) -> bool:
    return isinstance(value, str) and any(character.isalpha() for character in value)


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _strings(item)
        case _:
            return
