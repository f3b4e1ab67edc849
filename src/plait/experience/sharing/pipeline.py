"""A pipeline told with invented values: the same calls, the same slots, another goal of the same kind.

Beyond the paper (ICE). Knows nothing of records or files, nor of what its constants may tell.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from plait.errors import UserError
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Condition,
    InWords,
    Node,
    Pipeline,
    Slot,
    Unknown,
    with_results,
)
from plait.experience.sharing.values import FIRST_DAY, StandIns
from plait.experience.words.derive import worked
from plait.experience.words.goals import masked
from plait.tools.arguments import distinct_name, identifier

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")


def told_otherwise(pipeline: Pipeline) -> tuple[Pipeline, StandIns]:
    """Return a pipeline without the values of the goal that it was learned from, and what stands for them.

    Raises:
        UserError: without its values its goal would be another, or its slots would not be filled any more.
    """
    instead = StandIns(pipeline.purpose)
    slots = [_slot(slot, pipeline.purpose, instead) for slot in pipeline.slots]
    told = _renamed(pipeline)
    edges = [
        replace(edge, comments=tuple(instead.in_text(comment) for comment in edge.comments))
        for edge in told.edges
    ]
    name = instead.in_text(pipeline.name)
    return replace(told, name=name, purpose=instead.goal, slots=slots, edges=edges), instead


def _slot(slot: Slot, goal: str, instead: StandIns) -> Slot:
    """Return a slot of the goal as it is told now."""
    before, after = ([span.text for span in masked(said).spans] for said in (goal, instead.goal))
    if slot.ways:
        return _worked(slot, after, instead)
    part_of = [
        (was, now)
        for was, now in zip(before, after, strict=True)
        if slot.said.casefold() in was.casefold() or was.casefold() in slot.said.casefold()
    ]
    if any(was != now for was, now in part_of):
        raise UserError(f"its slot {slot.name!r} holds what only the words of its own goal say")
    return slot  # Words that all goals of its kind share.


def _worked(slot: Slot, spans: Sequence[str], instead: StandIns) -> Slot:
    """Return a slot with the value that follows from the goal as it is told now."""
    if any(place >= len(spans) for way in slot.ways for place in way.spans):
        raise UserError(f"its slot {slot.name!r} needs a value that its goal does not have")
    form = _ISO.sub(FIRST_DAY.isoformat(), slot.example)
    found = {worked(way, [spans[place] for place in way.spans], form, instead.day) for way in slot.ways}
    value = found.pop()
    if found or value is None:
        raise UserError(f"its slot {slot.name!r} cannot be worked out from other values than its own")
    return replace(slot, example=value, said=said_of(slot, spans))


def said_of(slot: Slot, spans: Sequence[str]) -> str:
    """Return the values of a goal that a slot is worked out from; empty where the day of the run says it."""
    return " ".join(spans[place] for place in slot.ways[0].spans)


def _renamed(pipeline: Pipeline) -> Pipeline:
    """Name the nodes after their tools, as a name that somebody chose may tell more."""
    names = {START: START, END: END}
    for node in pipeline.calls:
        tool = identifier(node.tool.rpartition(".")[2])
        names[node.name] = distinct_name(tool, list(names.values()))
    edges = [
        replace(
            edge,
            from_node=names.get(edge.from_node, edge.from_node),
            to_node=names.get(edge.to_node, edge.to_node),
            condition=_condition(edge.condition, names),
        )
        for edge in pipeline.edges
    ]
    return replace(pipeline, nodes=[_node(node, names) for node in pipeline.nodes], edges=edges)


def _node(node: Node, names: dict[str, str]) -> Node:
    arguments = {name: _binding(binding, names) for name, binding in node.arguments.items()}
    return replace(node, name=names.get(node.name, node.name), arguments=arguments)


def _condition(condition: Condition | InWords | None, names: dict[str, str]) -> Condition | InWords | None:
    if isinstance(condition, Condition):
        return replace(condition, node=names.get(condition.node, condition.node))
    return condition


def _binding(binding: Binding, names: dict[str, str]) -> Binding:
    if isinstance(binding, Unknown):
        return Unknown(example=None)
    return with_results(binding, lambda result: replace(result, node=names.get(result.node, result.node)))
