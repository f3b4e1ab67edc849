"""Nodes of a pipeline from calls of a trajectory, each argument bound to where it came from (ICE, 3.2).

Knows nothing of which calls are kept, nor of what follows what.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from plait.experience.consolidation.goal_words import GoalWords, Said
from plait.experience.consolidation.origins import Compound, Origin, Simple, drawn_from
from plait.experience.consolidation.trajectory import TrajectoryCall
from plait.experience.pipelines.pipeline import (
    Binding,
    Composed,
    FromGoal,
    FromResult,
    Node,
    Part,
    Slot,
    Unknown,
)
from plait.experience.pipelines.soundness import MOST_COMMENT, MOST_COMMENTS
from plait.tools.arguments import distinct_name, identifier

PLAIN_FIELD = re.compile(r"[A-Za-z]\w{0,39}", re.ASCII)
"""A name of a field that is shown: one word, which may still be the tool's own."""


@dataclass(kw_only=True)
class Builder:
    """Makes nodes of calls, and the slots that they share."""

    calls: Sequence[TrajectoryCall]
    origins: Sequence[Mapping[str, Origin]]
    words: GoalWords
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Of the nodes, by the numbers of their calls."""
    slots: list[Slot] = field(default_factory=list[Slot])

    def node(self, number: int) -> Node:
        """Return the node of a call, all of whose sources have a name."""
        step = self.calls[number].step
        return Node(
            name=self.names[str(number)],
            tool=step.tool,
            arguments={name: self._binding(name, where) for name, where in self.origins[number].items()},
            effect=step.effect,
        )

    def _binding(self, name: str, where: Origin) -> Binding:
        if isinstance(where, Compound):
            return Composed(how=where.how, parts=tuple(self._part(name, part) for part in where.parts))
        return where if isinstance(where, Unknown) else self._part(name, where)

    def _part(self, name: str, where: Simple) -> Part:
        if isinstance(where, FromResult):
            return replace(where, node=self.names[where.node])
        return self._from_goal(name, where) if isinstance(where, Said) else where

    def _from_goal(self, name: str, said: Said) -> FromGoal:
        """Return the slot of a value; a value that is said once and used twice has one."""
        for slot in self.slots:
            if (slot.said.casefold(), slot.example) == (said.text.casefold(), said.value):
                return FromGoal(slot=slot.name)
        slot_name = distinct_name(identifier(name), [slot.name for slot in self.slots])
        ways = self.words.ways(said.value)
        self.slots.append(Slot(name=slot_name, example=said.value, said=said.text, ways=ways))
        return FromGoal(slot=slot_name)

    def comments(self, number: int) -> list[str]:
        """Say what leads to a call, in words that no tool wrote."""
        node, lines = self.names[str(number)], list[str]()
        said = [name for name, where in self.origins[number].items() if isinstance(where, Said)]
        if said:
            lines.append(f"the goal says {', '.join(said)} of {node}"[:MOST_COMMENT])
        for name, where in self.origins[number].items():
            lines += [self._taken(result, node)[:MOST_COMMENT] for result in drawn_from(where)]
            if isinstance(where, Unknown):
                lines.append(f"nothing tells where {name} of {node} came from"[:MOST_COMMENT])
        return lines[:MOST_COMMENTS]

    def _taken(self, where: FromResult, node: str) -> str:
        source = self.calls[int(where.node)]
        count = len(source.rows)
        shown = where.field if PLAIN_FIELD.fullmatch(where.field) else "value"
        found = f"{source.step.tool} returned {count} {'row' if count == 1 else 'rows'}"
        match where.row:
            case "only":
                return f"{found}; its {shown} goes to {node}"
            case "each":
                return f"{found}; {node} is called for the {shown} of each"
            case "first" | "last":
                return f"{found}; the {shown} of the {where.row} goes to {node}"
            case "undecided":
                return f"{found}; the {shown} of one goes to {node}, which one is not known"
