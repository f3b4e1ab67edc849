"""Checks of a call that need no model; they come before any judgement.

Knows nothing of tools' meaning. Four things are never let through: an effect that was done already, one that
may have been done, an identifier or an address that comes from nowhere, and the deletion of a record outside
the hours that the task names for it. What `doubts`
finds is read from words and may be wrong: the agent is told, and a call that it insists on is made.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from plait.models.callform import format_call
from plait.reflection.hours import ENDS, hour_limit, outside
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

DONE_BEFORE = "this was done already and must not be done twice: go on, or call done"
MADE_UP = "is in no result and not in the task: look it up first"
MAY_BE_DONE = "nobody knows whether this was done already: look it up, or call done and say so"
IDENTIFIER = re.compile(r"(^|_)id$", re.IGNORECASE)
"""Names of parameters and columns that identify a record."""
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
    call = format_call(tool.name, arguments)
    if known.effects.has(call):
        yield DONE_BEFORE
    elif known.effects.may_have(call):
        yield MAY_BE_DONE


def _made_up(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find identifiers and addresses that are in no result and not in the task."""
    haystack = "\n".join([*known.texts, known.notes]).lower()
    for name, value in arguments.items():
        if "enum" in tool.parameters.get("properties", {}).get(name, {}):
            continue
        for text in strings(value):
            must_be_known = IDENTIFIER.search(name) or _ADDRESS.match(text)
            if must_be_known and text.lower() not in haystack:
                yield f"{name} {text!r} {MADE_UP}"


def _out_of_hours(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    ends = any(word in tool.name.lower() for word in ENDS)
    limit = hour_limit(known.task) if ends and tool.effect != "reads" else None
    if limit is None:
        return
    ids = [str(value) for name, value in arguments.items() if IDENTIFIER.search(name)]
    for id, moment in outside(limit, ids, known.texts[1:]).items():
        why = f"{id} is at {moment[11:16]}, and the task says {limit}"
        yield f"{why}: leave it, and call done if no other is left"


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value that is a text or a list."""
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from strings(item)
        case _:
            return
