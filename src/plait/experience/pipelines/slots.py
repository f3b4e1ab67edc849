"""What a goal says in the slots of a pipeline, worked out from its words.

Beyond the paper, whose agent fills in the parameters of every call (ICE, section 3.2). Needs no model: what
must be understood is left to the agent, because a wrong value is acted on. Knows nothing of where the
pipeline came from or of how it is walked.
"""

import re
from collections.abc import Sequence

from plait.experience.pipelines.pipeline import Constant, Pipeline, Slot, parts_of
from plait.experience.words.derive import DateOf, worked
from plait.experience.words.goals import Span, aligned, lead_in, masked

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{1,2}:\d{2}")


def slot_values(pipeline: Pipeline, goal: str, date_of: DateOf) -> dict[str, str] | None:
    """Return a value for every slot, or None where words alone do not say one.

    Args:
        pipeline: Learned from a goal that says the same with other values.
        goal: The goal at hand.
        date_of: Knows what day it is.
    """
    if aligned(pipeline.purpose, goal) is None or not _alike(pipeline.purpose, goal):
        return None
    if lead_in(pipeline.purpose) != lead_in(goal) and _draws_on_lead(pipeline):
        return None
    return values_in(pipeline, goal, date_of)


def values_in(pipeline: Pipeline, goal: str, date_of: DateOf) -> dict[str, str] | None:
    """Return a value for every slot from a goal with values of the same kinds in the same order."""
    before, now = masked(pipeline.purpose).spans, masked(goal).spans
    values: dict[str, str] = {}
    for slot in pipeline.slots:
        value = _worked(slot, now, date_of) if slot.ways else _same(slot, before, now)
        if value is None:
            return None
        values[slot.name] = value
    return values


def _worked(slot: Slot, spans: Sequence[Span], date_of: DateOf) -> str | None:
    """Return what all ways of a slot agree on."""
    texts = [span.text for span in spans]
    if any(place >= len(texts) for way in slot.ways for place in way.spans):
        return None
    found = {worked(way, [texts[place] for place in way.spans], slot.example, date_of) for way in slot.ways}
    return found.pop() if len(found) == 1 else None


def _same(slot: Slot, before: Sequence[Span], now: Sequence[Span]) -> str | None:
    """Return the value of a slot that no way leads to: the one it had, where its words are the same."""
    part_of = [
        number for number, span in enumerate(before) if slot.said in span.text or span.text in slot.said
    ]
    same = all(before[number].text.casefold() == now[number].text.casefold() for number in part_of)
    # The same words may name another day than then: `tomorrow`.
    return slot.example if same and not _DATE.search(slot.example) else None


def _draws_on_lead(pipeline: Pipeline) -> bool:
    """Whether what leads up to the purpose may have decided what is done, as in "Ann is sick. Note it"."""
    bindings = [binding for node in pipeline.calls if node.effect for binding in node.arguments.values()]
    chosen = any(isinstance(part, Constant) for binding in bindings for part in parts_of(binding))
    return chosen or any(not slot.ways for slot in pipeline.slots)


def _alike(one: str, other: str) -> bool:
    """Whether quoted values are of one kind in both goals: a call may have been chosen by it."""
    pairs = zip(masked(one).spans, masked(other).spans, strict=True)
    return all(_kind(was.text) == _kind(now.text) for was, now in pairs if was.kind == "quoted")


def _kind(text: str) -> tuple[bool, bool, bool]:
    return bool(_DATE.search(text)), bool(_TIME.search(text)), text.strip().isdecimal()
