"""What a goal says in the slots of a pipeline, worked out from its words.

Beyond the paper, whose agent fills in the parameters of every call (ICE, section 3.2). Needs no model: what
must be understood is left to the agent, because a wrong value is acted on. Knows nothing of where the
pipeline came from or of how it is walked.
"""

import re
from collections.abc import Sequence

from plait.experience.pipelines.pipeline import Condition, Constant, Pipeline, Slot, parts_of
from plait.experience.words.derive import DateOf, worked
from plait.experience.words.goals import Span, aligned, lead_in, masked, to_the_letter

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD = re.compile(r"[^\W_]+")
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
    if _draws_on_words(pipeline) and to_the_letter(pipeline.purpose) != to_the_letter(goal):
        return None
    return values_in(pipeline, goal, date_of)


def values_in(pipeline: Pipeline, goal: str, date_of: DateOf) -> dict[str, str] | None:
    """Return a value for every slot from a goal with values of the same kinds in the same order."""
    now = masked(goal).spans
    values: dict[str, str] = {}
    for slot in pipeline.slots:
        value = _worked(slot, now, date_of) if slot.ways else _same(slot, pipeline.purpose, goal)
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


def _same(slot: Slot, purpose: str, goal: str) -> str | None:
    """Return the value of a slot that no way leads to: the one it had, where its words are the same."""
    if slot.said not in goal:
        return None
    places = [match.span() for match in re.finditer(re.escape(slot.said), purpose)]
    same = all(
        was.text == now.text
        for was, now in zip(masked(purpose).spans, masked(goal).spans, strict=True)
        if any(start < was.end and was.start < end for start, end in places) or not slot.said
    )
    # The same words may name another day than then: `tomorrow`.
    return slot.example if same and not _DATE.search(slot.example) else None


def _draws_on_lead(pipeline: Pipeline) -> bool:
    """Whether what leads up to the purpose may have decided what is done, as in "Ann is sick. Note it"."""
    bindings = [binding for node in pipeline.calls if node.effect for binding in node.arguments.values()]
    chosen = any(isinstance(part, Constant) for binding in bindings for part in parts_of(binding))
    return chosen or any(not slot.ways for slot in pipeline.slots)


def _draws_on_words(pipeline: Pipeline) -> bool:
    """Whether a call says something that stems from the goal's own words, in which every letter may count."""
    bindings = [binding for node in pipeline.calls for binding in node.arguments.values()]
    fixed = [part.value for one in bindings for part in parts_of(one) if isinstance(part, Constant)]
    fixed += [edge.condition.value for edge in pipeline.edges if isinstance(edge.condition, Condition)]
    said = set(_WORD.findall(masked(pipeline.purpose).text))
    chosen = any(not said.isdisjoint(_WORD.findall(str(value).lower())) for value in fixed)
    return chosen or any(not slot.ways for slot in pipeline.slots)


def _alike(one: str, other: str) -> bool:
    """Whether quoted values are of one kind in both goals: a call may have been chosen by it."""
    pairs = zip(masked(one).spans, masked(other).spans, strict=True)
    return all(_kind(was.text) == _kind(now.text) for was, now in pairs if was.kind == "quoted")


def _kind(text: str) -> tuple[bool, bool, bool]:
    return bool(_DATE.search(text)), bool(_TIME.search(text)), text.strip().isdecimal()
