"""What a goal says in the slots of a pipeline, worked out from its words.

Beyond the paper, whose agent fills in the parameters of every call (ICE, section 3.2). Needs no model: what
must be understood is left to the agent, because a wrong value is acted on. Knows nothing of where the
pipeline came from or of how it is walked.
"""

import re
from collections.abc import Callable
from datetime import date

from plait.experience.goals import aligned, masked
from plait.experience.pipeline import Pipeline, Slot

DateOf = Callable[[str], date | None]
"""Works a date out from its words, such as `December 13`; None where it cannot."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{1,2}:\d{2}")


def slot_values(pipeline: Pipeline, goal: str, date_of: DateOf) -> dict[str, str] | None:
    """Return a value for every slot, or None where words alone do not say one.

    Args:
        pipeline: Learned from a goal that says the same with other values.
        goal: The goal at hand.
        date_of: Knows what day it is.
    """
    words = aligned(pipeline.purpose, goal)
    if words is None or not _alike(pipeline.purpose, goal):
        return None
    spans = [span.text for span in masked(pipeline.purpose).spans]
    values: dict[str, str] = {}
    for slot in pipeline.slots:
        said = words.get(slot.said)
        if said is None and not any(slot.said in span or span in slot.said for span in spans):
            said = slot.said  # No value but a word of the template, which both goals share.
        value = None if said is None else _value(slot, said, date_of)
        if value is None:
            return None
        values[slot.name] = value
    return values


def _value(slot: Slot, said: str, date_of: DateOf) -> str | None:
    """Return what a slot holds where the goal says `said`; None where that must be understood."""
    if slot.literal:
        return said.lower() if slot.example.islower() else said
    same = said.casefold() == slot.said.casefold()
    if not _DATE.search(slot.example):
        return slot.example if same else None
    now = date_of(said)
    # The same words may name another day than then: `tomorrow`.
    before = now if same else date_of(slot.said)
    if before is None or now is None or before.isoformat() not in slot.example:
        return None
    return slot.example.replace(before.isoformat(), now.isoformat())


def _alike(one: str, other: str) -> bool:
    """Whether quoted values are of one kind in both goals: a call may have been chosen by it."""
    pairs = zip(masked(one).spans, masked(other).spans, strict=True)
    return all(_kind(was.text) == _kind(now.text) for was, now in pairs if was.kind == "quoted")


def _kind(text: str) -> tuple[bool, bool, bool]:
    return bool(_DATE.search(text)), bool(_TIME.search(text)), text.strip().isdecimal()
