"""A pipeline told with invented values: the same calls, the same slots, another goal of the same kind.

Beyond the paper (ICE). Knows nothing of records or files, nor of what its constants may tell.
"""

import re
from dataclasses import replace
from datetime import date

from plait.errors import UserError
from plait.experience.goals import masked
from plait.experience.pipeline import (
    END,
    START,
    Binding,
    FromResult,
    Node,
    Pipeline,
    Slot,
    Unknown,
)
from plait.experience.sharing_values import StandIns
from plait.experience.wording import Wording
from plait.tools.arguments import distinct_name, identifier

_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK_OR_NUMBER = re.compile(r"[\d:.,-]+")


def told_otherwise(pipeline: Pipeline) -> tuple[Pipeline, StandIns]:
    """Return a pipeline without the values of the goal that it was learned from, and what stands for them.

    Raises:
        UserError: without its values its goal would be another, or its slots would not be filled any more.
    """
    worked_out = [slot.said for slot in pipeline.slots if not slot.literal and not _ISO.search(slot.example)]
    instead = StandIns(pipeline.purpose, kept=worked_out)
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
    said = slot.said.casefold()
    texts = {span.text.casefold(): span.text for span in masked(goal).spans}
    if said not in texts:
        if any(said in text or text in said for text in texts):
            raise UserError(f"its slot {slot.name!r} holds no whole value, so that no other goal fills it")
        return slot  # A word that all goals of its kind share.
    new = instead.given.get(texts[said], texts[said])
    if slot.literal:
        return replace(slot, said=new, example=_in_case_of(slot.example, new))
    if day := instead.day_of(texts[said]):
        return replace(slot, said=new, example=_on_day(slot, day))
    if new != texts[said] or not _CLOCK_OR_NUMBER.fullmatch(slot.example):
        raise UserError(f"its slot {slot.name!r} holds what was worked out from a value that must not leave")
    return slot


def _on_day(slot: Slot, day: date) -> str:
    """Return the example of a slot with another day in it."""
    before = _ISO.findall(slot.example)
    if len(before) != 1 or Wording(slot.said).worked_out(before[0], surely=True) is None:
        raise UserError(f"its slot {slot.name!r} holds a day that can be told on the day of its run alone")
    return slot.example.replace(before[0], day.isoformat())


def _in_case_of(example: str, new: str) -> str:
    """Return a value in the case that its slot was in: lower case says that all its values are lowered."""
    if example.islower():
        return new.lower()
    return new.capitalize() if new.islower() else new


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
            condition=edge.condition
            and replace(edge.condition, node=names.get(edge.condition.node, edge.condition.node)),
        )
        for edge in pipeline.edges
    ]
    return replace(pipeline, nodes=[_node(node, names) for node in pipeline.nodes], edges=edges)


def _node(node: Node, names: dict[str, str]) -> Node:
    arguments = {name: _binding(binding, names) for name, binding in node.arguments.items()}
    return replace(node, name=names.get(node.name, node.name), arguments=arguments)


def _binding(binding: Binding, names: dict[str, str]) -> Binding:
    if isinstance(binding, FromResult):
        return replace(binding, node=names.get(binding.node, binding.node))
    return Unknown(example=None) if isinstance(binding, Unknown) else binding
