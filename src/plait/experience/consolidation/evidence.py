"""What two successes agree on, where one leaves open what was meant.

Which row of a result was chosen, and how a value came about, may have many reasons in one run. A pipeline
that does again what was done in both has those that are left. Beyond the paper, whose agent chooses anew
each time. Knows nothing of memories.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product, zip_longest
from typing import TypeAlias

from plait.experience.consolidation.caution import (
    ENDS,
    EVERY,
    FILTERS,
    TIMELY,
    chosen_by_agent,
    not_told,
    uncovered,
)
from plait.experience.consolidation.compile import Compiled, Success, compile_success
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Composed,
    Constant,
    FromGoal,
    FromResult,
    Node,
    Part,
    Pipeline,
    Slot,
    Unknown,
    WhichRow,
    parts_of,
    results_of,
    with_results,
)
from plait.experience.pipelines.slots import values_in
from plait.experience.pipelines.walk import Finished, Walk
from plait.experience.words.derive import worked
from plait.experience.words.goals import key_of, masked
from plait.experience.words.vocabulary import OBJECTS, OPERATIONS
from plait.tools.arguments import Schemas

ROWS: tuple[WhichRow, ...] = ("only", "first", "last", "each")
"""The most careful first: where there was one row both times, a pipeline is left where there are two."""
MOST_SOURCES = 3
"""Results that rows are taken from; with more of them there are too many ways to try."""
_HIDDEN = FILTERS - ENDS - EVERY - TIMELY
"""Words by which things are left out; that no call shows it may be luck both times."""
_PERIOD = re.compile(r"\b(?:last|past|previous|next) (?:days?|weeks?|months?|quarters?|years?)\b")
_MANY = re.compile(rf"\b(?:{'|'.join(sorted(word for word in OBJECTS if word.endswith('s')))})\b")
_MOST_RECENT = re.compile(r"\bmost recent\b")
_COUNTED = re.compile(r"\b(?:last|past|previous|next) (?=<(?:number|date|time)>)")


_Side: TypeAlias = Part | Unknown | None


def agreed(new: Success, old: Success, *, tools: Schemas, limits: Mapping[str, int]) -> Compiled | None:
    """Return the pipeline that does what was done in both successes, learned from `new`; None without one.

    The same values again show nothing: at least one must be another, and all where an agent chose a constant.

    Args:
        new: What it is stored for.
        old: Another success that says the same with other values, or another verb.
        tools: What the tools may be called with.
        limits: Rows that a tool's result has at most, where that is known; see `Tool.most_rows`.
    """
    differ = _differ(new.goal, old.goal)
    if not _alike(new.goal, old.goal) or (differ and not any(differ)):
        return None
    found, before = (compile_success(success, tools=tools) for success in (new, old))
    if found is None or before is None or not _same_tools(found.pipeline, before.pipeline):
        return None
    if not all(differ) and chosen_by_agent(found.pipeline, tools):
        return None  # It may have been chosen for just the value that is the same.
    narrowed = _narrowed(found.pipeline, before.pipeline, old)
    if narrowed is None:
        return None
    for pipeline in _variants(narrowed):
        if all(
            _does_again(pipeline, made, success, tools, limits)
            for made, success in ((found, new), (before, old))
        ):
            return Compiled(pipeline=pipeline, steps=found.steps)
    return None


def with_edges_of(
    shape: Pipeline,
    found: Compiled,
    successes: Sequence[Success],
    *,
    tools: Schemas,
    limits: Mapping[str, int],
) -> Pipeline | None:
    """Return an agreed pipeline with the nodes' names and the edges of another one that makes the same calls.

    Args:
        shape: The other one, its calls in the order in which they were made.
        found: What the successes agree on.
        successes: In each of them it must do again what was done.
        tools: What the tools may be called with.
        limits: Rows that a tool's result has at most, where that is known.

    Returns:
        None where it makes other calls, or would not have done the same.
    """
    if not _same_tools(shape, found.pipeline):
        return None
    pairs = list(zip(found.pipeline.calls, shape.calls, strict=True))
    names = {own.name: other.name for own, other in pairs}
    nodes = [_renamed(own, names) for own, _ in pairs]
    ends = [Node(name=START), Node(name=END)]
    pipeline = replace(found.pipeline, name=shape.name, nodes=[*ends, *nodes], edges=shape.edges)
    for success in successes:
        made = compile_success(success, tools=tools)
        if made is None or not _does_again(pipeline, made, success, tools, limits):
            return None
    return pipeline


def _renamed(node: Node, names: Mapping[str, str]) -> Node:
    arguments = {
        name: with_results(binding, lambda result: replace(result, node=names[result.node]))
        for name, binding in node.arguments.items()
    }
    return replace(node, name=names[node.name], arguments=arguments)


def doubt_left(pipeline: Pipeline) -> str:
    """Return why a pipeline that two successes agree on must still not run; empty where it may.

    Every word of the goal by which things are chosen must have left its mark in the calls.
    """
    if missing := uncovered(pipeline):
        return f"{missing[0]!r} goes into no call"
    if not any(node.effect for node in pipeline.calls):
        return ""
    goal = _MOST_RECENT.sub("recent", _without_clauses(pipeline))
    periods = _PERIOD.search(goal)
    said = set(_COUNTED.sub("", _PERIOD.sub("", goal)).split())
    bindings = [binding for node in pipeline.calls for binding in node.arguments.values()]
    rows = {result.row for binding in bindings for result in results_of(binding)}
    clock = any(way.how.startswith("today") for slot in pipeline.slots for way in slot.ways)
    if doubt := not_told(pipeline):
        return doubt
    if hidden := _HIDDEN & said:
        return f"{min(hidden)!r} in its goal asks for a choice that no call shows"
    if ENDS & said and rows.isdisjoint(("only", "first", "last")):
        return f"{min(ENDS & said)!r} in its goal asks for one row, and it takes none"
    if EVERY & said and rows.isdisjoint(("only", "each")):
        return f"{min(EVERY & said)!r} in its goal asks for each row, and it does not take each"
    if rows & {"first", "last"} and not ENDS & said:
        return "no word of its goal says which row is meant"
    if "each" in rows and not EVERY & said and not _MANY.search(goal):
        return "no word of its goal says that each row is meant"
    if (TIMELY & said or periods) and not clock:
        return "its goal asks for a time that no call is bound to"
    return ""


def _without_clauses(pipeline: Pipeline) -> str:
    """Return the words of a goal without clauses such as `that are in review` that went into a call."""
    goal = key_of(pipeline.purpose)
    for slot in pipeline.slots:
        if slot.said and not slot.ways:
            said = re.escape(slot.said.casefold())
            goal = re.sub(rf"\b(?:that|which|who) (?:are|is) {said}(?!\w)", " ", goal)
    return goal


def _alike(one: str, other: str) -> bool:
    """Whether two goals say the same but for values and their first verb, which the tools say too."""
    return _after_verb(one) == _after_verb(other)


def _differ(one: str, other: str) -> list[bool]:
    """Return of each value of a goal whether it is another in the other one."""
    pairs = zip(masked(one).spans, masked(other).spans, strict=False)
    return [was.text.casefold() != now.text.casefold() for was, now in pairs]


def _after_verb(goal: str) -> list[str]:
    said = key_of(goal).split()
    return said[1:] if said and said[0] in OPERATIONS else said


def _same_tools(one: Pipeline, other: Pipeline) -> bool:
    return [(node.tool, set(node.arguments)) for node in one.calls] == [
        (node.tool, set(node.arguments)) for node in other.calls
    ]


def _narrowed(pipeline: Pipeline, other: Pipeline, old: Success) -> Pipeline | None:
    """Return a pipeline with the ways of its slots that lead to the values of the other's too."""
    spans = [span.text for span in masked(old.goal).spans]
    slots = {slot.name: slot for slot in pipeline.slots}
    theirs = {slot.name: slot for slot in other.slots}
    for own, like, together in _pairs(pipeline, other):
        match own, like:
            case FromGoal(slot=slot), FromGoal(slot=their_slot):
                if together and slots[slot].example == theirs[their_slot].example:
                    return None  # What stands around it may be a part of just this value.
                kept = _kept(slots[slot], theirs[their_slot], spans, old)
                if kept is None:
                    return None
                slots[slot] = kept
            case Constant(value=value), Constant(value=their_value) if value == their_value:
                pass
            case FromResult(), FromResult():
                pass
            case _:
                return None
    return replace(pipeline, slots=list(slots.values()))


def _pairs(pipeline: Pipeline, other: Pipeline) -> Iterator[tuple[_Side, _Side, bool]]:
    """Yield where the arguments of two pipelines came from, and whether it is a part of a text put together.

    Sides are None where one is put together otherwise than the other.
    """
    for node, like in zip(pipeline.calls, other.calls, strict=True):
        for name, own in node.arguments.items():
            theirs = like.arguments[name]
            how, their_how = (one.how if isinstance(one, Composed) else "" for one in (own, theirs))
            if how != their_how:
                yield None, None, False
            for pair in zip_longest(parts_of(own), parts_of(theirs)):
                yield *pair, how == "text"


def _kept(slot: Slot, other: Slot, spans: Sequence[str], old: Success) -> Slot | None:
    if not slot.ways:
        return slot if (slot.said, slot.example) == (other.said, other.example) else None
    ways = tuple(
        way
        for way in slot.ways
        if worked(way, [spans[place] for place in way.spans], slot.example, old.named) == other.example
    )
    return replace(slot, ways=ways) if ways else None


def _variants(pipeline: Pipeline) -> Iterator[Pipeline]:
    """Yield a pipeline with every choice of rows, the most careful first."""
    sources = list(
        dict.fromkeys(
            result.node
            for node in pipeline.calls
            for binding in node.arguments.values()
            for result in results_of(binding)
        )
    )
    if len(sources) > MOST_SOURCES:
        return
    for rows in product(ROWS, repeat=len(sources)):
        chosen = dict(zip(sources, rows, strict=True))
        yield replace(pipeline, nodes=[_with_rows(node, chosen) for node in pipeline.nodes])


def _with_rows(node: Node, rows: Mapping[str, WhichRow]) -> Node:
    arguments = {
        name: with_results(binding, lambda result: replace(result, row=rows[result.node]))
        for name, binding in node.arguments.items()
    }
    return replace(node, arguments=arguments)


def _does_again(
    pipeline: Pipeline, made: Compiled, success: Success, tools: Schemas, limits: Mapping[str, int]
) -> bool:
    """Whether a pipeline makes the calls that a success needed."""
    values = values_in(pipeline, success.goal, success.named)
    if values is None:
        return False
    walk = Walk(pipeline=pipeline, values=values, parameters=tools, limits=limits)
    return isinstance(walk.next(made.steps), Finished)
