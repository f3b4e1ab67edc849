"""Checks of a call that need no model; they come before any judgement.

Knows nothing of tools' meaning: an identifier or an address must come from somewhere, a call that
failed or was answered is not repeated, an effect is not done twice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.models.callform import format_call
from plait.reflection.trajectory import Effects, Step

_IDENTIFIER = re.compile(r"(^|_)id$", re.IGNORECASE)
_ADDRESS = re.compile(r"^[^@\s]+@[^@\s]+\.[^@\s]+$")


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a call may draw on."""

    texts: Sequence[str]
    """Task, notes and all observations so far."""
    steps: Sequence[Step]
    """Steps of this subtask."""
    effects: Effects


def call_problems(name: str, arguments: Mapping[str, Any], known: Known) -> list[str]:
    """Return what is wrong with a call, in words for the agent; empty where nothing is."""
    return [*_repeated(name, arguments, known), *_made_up(arguments, known)]


def done_problems(known: Known) -> list[str]:
    """Return why a subtask should not be ended yet: nothing was found, and only one search was tried."""
    searches = {step.call for step in known.steps if not step.effect and step.ok}
    if len(searches) == 1 and known.steps[-1].empty:
        return [
            "one search that found nothing does not show that there is nothing: search once more with"
            " fewer or wider parameters (leave out what is not needed)"
        ]
    return []


def _repeated(name: str, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    call = format_call(name, arguments)
    same = [step for step in known.steps if step.call == call]
    if any(not step.ok for step in same):
        yield "this very call failed before: change it, or use another tool"
    elif same:
        yield "this very call was made before and its result is above: go on from there, or call done"
    elif known.effects.has(call):
        yield "this was done already and must not be done twice: go on, or call done"


def _made_up(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    haystack = "\n".join(known.texts).lower()
    for name, value in arguments.items():
        for text in _strings(value):
            must_be_known = _IDENTIFIER.search(name) or _ADDRESS.match(text)
            if must_be_known and text.lower() not in haystack:
                yield f"{name} {text!r} is in no result and not in the task: look it up first"


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | tuple():
            for item in value:  # pyright: ignore[reportUnknownVariableType]
                yield from _strings(item)
        case _:
            return
