"""Checks of a call that need no model; they come before any judgement.

Knows nothing of tools' meaning. Four things are never let through: an effect that was done already, one that
may have been done, an identifier or an address that comes from nowhere, and the deletion of a record outside
the hours that the task names for it. What `doubts` finds is read from words and may be wrong: the agent is
told, and a call that it insists on is made.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from plait.models.schema import is_identifier, words_in
from plait.reflection.hours import ENDS, hour_limit, outside
from plait.reflection.tables import column
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

DONE_BEFORE = "this was done already and must not be done twice: go on, or call done"
MADE_UP = "is in no result and not in the task: look it up first"
MADE_UP_BESIDE = "is in no result and not in the task; the results have"
SHOWN_IDS = 5
_PLAIN_ID = re.compile(r"[\w-]{1,64}")
LEAVE_IT = "leave it, and call done if no other is left"
MAY_BE_DONE = "nobody knows whether this was done already: look it up, or call done and say so"
_CALLERS_OWN = re.compile(
    r"(?:x|client)_?request_?id|correlation_?id|trace_?id|idempotency_?id", re.IGNORECASE
)
"""Names of identifiers that whoever calls makes up."""
NONE = ("", "0", "-1")
"""Identifiers by which nothing is meant."""
_MOMENTS = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ t]\d{2}:\d{2}(?::\d{2})?)?|\b\d{1,2}:\d{2}(?::\d{2})?")
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_RANGE = re.compile(r"\b(\d{1,18})(?:\s*[-\u2013]\s*| to | through )(\d{1,18})\b")
_ADDRESSES = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_ADDRESS = re.compile(r"^(?:mailto:)?([^@\s:/]+@(?:[\w-]+\.)+(?:[^\W\d_]{2,}|xn--[\w-]+))\.?$", re.IGNORECASE)
"""Of a mailbox: no package with its version, and no repository with its path."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a call may draw on."""

    task: str
    texts: Sequence[str]
    """Task, subtask and all observations so far."""
    notes: str
    """Facts that come with the tools."""
    dates: Mapping[str, date]
    """Dates that the task names, by their words."""
    steps: Sequence[Step]
    """Steps of this subtask."""
    effects: Effects

    @property
    def found_nothing(self) -> bool:
        """Whether no result so far can hold an identifier: nothing was looked up, or nothing was found."""
        vain = sum(step.empty or not step.ok for step in self.steps)
        return vain == len(self.steps) >= len(self.texts[2:])


def call_problems(tool: Tool, arguments: Mapping[str, Any], known: Known) -> list[str]:
    """Return why a call cannot be made, in words for the agent; empty where it can."""
    return [
        *_done_before(tool, arguments, known),
        *_made_up(tool, arguments, known),
        *_out_of_hours(tool, arguments, known),
    ]


def _done_before(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    if tool.effect == "reads":
        return
    if known.effects.has(tool, arguments):
        yield DONE_BEFORE
    elif known.effects.may_have(tool, arguments):
        yield MAY_BE_DONE


def _made_up(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find identifiers and addresses that are in no result and not in the task."""
    heard = "\n".join([*known.texts, known.notes]).lower()
    dateless = _MOMENTS.sub(" ", heard)
    for name, value in arguments.items():
        schema: Mapping[str, Any] = tool.parameters.get("properties", {}).get(name, {})
        if "enum" in schema or value == schema.get("default"):
            continue
        identifies = is_identifier(name) and not _CALLERS_OWN.fullmatch(name)
        for text in strings(value):
            if identifies:
                known_text = _stands_in(text, dateless) or _offered(text, tool, schema)
            else:
                address = _ADDRESS.match(text)
                known_text = address is None or address[1].lower() in heard
            if not known_text:
                beside = ", ".join(_seen(name, known) if identifies else _alike(text, known))
                yield f"{name} {text!r} {f'{MADE_UP_BESIDE} {beside}, or look it up' if beside else MADE_UP}"


def _seen(name: str, known: Known) -> list[str]:
    """Return the values of the column of that name in the latest result that has it, a few at most.

    A plain `id` may be of anything.
    """
    if name.lower() == "id":
        return []
    for text in reversed(known.texts):
        if values := [value for value in column(text, name) if _PLAIN_ID.fullmatch(value)]:
            return list(dict.fromkeys(values))[:SHOWN_IDS]
    return []


def _alike(address: str, known: Known) -> list[str]:
    """Return the addresses heard of that share a word with one that is made up, such as a first name."""
    heard = dict.fromkeys(_ADDRESSES.findall("\n".join(known.texts)))
    words = _words_of(address)
    return [each for each in heard if words & _words_of(each)][:SHOWN_IDS]


def _words_of(address: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", address.lower().partition("@")[0]))


def _stands_in(text: str, heard: str) -> bool:
    """Whether a text has a value: as a whole, and a number also in a range or with other zeros and commas."""
    if text in NONE or re.search(rf"(?<![^\W_]){re.escape(text.lower())}(?![^\W_])", heard):
        return True
    if not _NUMBER.fullmatch(text):
        return False
    number = int(text)
    numbers = {int(run.replace(",", "")) for run in re.findall(r"(?<!\d)\d[\d,]{0,18}", heard)}
    return number in numbers or any(int(low) <= number <= int(high) for low, high in _RANGE.findall(heard))


def _offered(text: str, tool: Tool, schema: Mapping[str, Any]) -> bool:
    """Whether a parameter's description offers a value: `1 = new`, and to a tool that reads `"primary"`."""
    described = str(schema.get("description", ""))
    said = re.escape(text)
    if re.search(rf"(?<!\w){said}\s*(?:=|:|is\b|means\b|for\b)", described) and text.isdecimal():
        return True
    return tool.effect == "reads" and re.search(rf"[`'\"]{said}[`'\"]", described) is not None


def _out_of_hours(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    ends = any(word in ENDS for word in words_in(tool.name.rpartition(".")[2]))
    limit = hour_limit(known.task) if ends and tool.effect != "reads" else None
    if limit is None:
        return
    ids = [text for name, value in arguments.items() if is_identifier(name) for text in strings(value)]
    for id, moment in outside(limit, ids, known.texts[1:]).items():
        why = f"{id} is at {moment[11:16]}, and the task says {limit}"
        yield f"{why}: {LEAVE_IT}"


def strings(value: Any) -> Iterator[str]:
    """Yield every text and every whole number, as text, of a JSON value that is one or a list of them."""
    match value:
        case bool():
            return
        case str() | int():
            yield str(value)
        case list() | tuple():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from strings(item)
        case _:
            return
