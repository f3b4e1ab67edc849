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

from plait.models.schema import is_identifier
from plait.reflection.hours import ENDS, hour_limit, outside
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

DONE_BEFORE = "this was done already and must not be done twice: go on, or call done"
MADE_UP = "is in no result and not in the task: look it up first"
MAY_BE_DONE = "nobody knows whether this was done already: look it up, or call done and say so"
_CALLERS_OWN = re.compile(r"request|correlation|trace|idempotency", re.IGNORECASE)
"""In names of identifiers that whoever calls makes up."""
_ADDRESS = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")


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
    haystack = "\n".join([*known.texts, known.notes]).lower()
    for name, value in arguments.items():
        schema: Mapping[str, Any] = tool.parameters.get("properties", {}).get(name, {})
        if "enum" in schema or value == schema.get("default"):
            continue
        identifies = is_identifier(name) and not _CALLERS_OWN.search(name)
        for text in strings(value):
            must_be_known = identifies or _ADDRESS.match(text)
            if must_be_known and text and not _stands_in(text, haystack) and not _offered(text, schema):
                yield f"{name} {text!r} {MADE_UP}"


def _stands_in(text: str, haystack: str) -> bool:
    """Whether a text has a value, and not only as a part of another one: `11` in `2023-11-30`."""
    return re.search(rf"(?<!\w)(?<!\d-){re.escape(text.lower())}(?!\w)(?!-\d)", haystack) is not None


def _offered(text: str, schema: Mapping[str, Any]) -> bool:
    """Whether a parameter's description names a word as a value: `primary`; ids there are examples."""
    described = str(schema.get("description", "")).lower()
    return not re.search(r"\d", text) and _stands_in(text, described)


def _out_of_hours(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    verb = re.match(r"[A-Za-z][a-z]*", tool.name.rpartition(".")[2])
    ends = verb is not None and verb[0].lower() in ENDS
    limit = hour_limit(known.task) if ends and tool.effect != "reads" else None
    if limit is None:
        return
    ids = [text for name, value in arguments.items() if is_identifier(name) for text in strings(value)]
    for id, moment in outside(limit, ids, known.texts[1:]).items():
        why = f"{id} is at {moment[11:16]}, and the task says {limit}"
        yield f"{why}: leave it, and call done if no other is left"


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
