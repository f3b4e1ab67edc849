"""From a trajectory straight to a pipeline, without a model (ICE, section 3.2, Execution-Consolidate).

What the paper asks a model for is worked out: which calls were needed, and where every argument came from.
Knows nothing of memories, and nothing that a tool wrote gets into what it says of a pipeline.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from plait.experience.consolidation.origins import Argument, Origin, Source, offered, origin, parameter
from plait.experience.consolidation.trajectory import Call, calls_of, useful
from plait.experience.consolidation.wording import Said, Wording
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    Node,
    Pipeline,
    Slot,
    Unknown,
)
from plait.experience.pipelines.results import rows_of
from plait.experience.pipelines.soundness import MOST_COMMENT, MOST_COMMENTS, MOST_SLOTS
from plait.experience.words.derive import DateOf
from plait.experience.words.goals import masked
from plait.tools.arguments import distinct_name, identifier

Schemas = Mapping[str, Mapping[str, Any]]
"""The JSON schema of each tool's parameters, by the tool's name."""
MOST_NAME = 80
TELLING = 8
"""Characters of a text that is more than one common word."""
LONG = 20
"""Characters of a text that stands in two places by more than chance."""
_PLAIN_FIELD = re.compile(r"[A-Za-z][\w/.-]{0,39}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Success:
    """A goal that was reached, and how."""

    goal: str
    """As the user or the plan said it."""
    steps: Sequence[Step]
    """The whole trajectory."""
    named: DateOf = lambda _: None
    """Knows what day it was."""


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A pipeline and the steps that it makes again, in its order."""

    pipeline: Pipeline
    steps: Sequence[Step]


def compiled(
    goal: str, steps: Sequence[Step], *, tools: Schemas, effects: Collection[str] = (), name: str = ""
) -> Pipeline | None:
    """Return the pipeline of a leaf that succeeded; see `compile_success`."""
    found = compile_success(Success(goal=goal, steps=steps), tools=tools, effects=effects, name=name)
    return None if found is None else found.pipeline


def compile_success(
    success: Success, *, tools: Schemas, effects: Collection[str] = (), name: str = ""
) -> Compiled | None:
    """Build the pipeline of a leaf that succeeded.

    Args:
        success: The leaf.
        tools: What the tools may be called with.
        effects: Tools that count as effects whatever the steps say.
        name: Of the pipeline; by default after its tools.

    Returns:
        None where no call is left, where a read that was needed found nothing, where a result that may tell
        an argument was cut, or where an effect was done only because something held: what made the agent do
        it stands in no call.
    """
    if len(masked(success.goal).spans) > MOST_SLOTS:
        return None  # No pipeline has so many slots, and each value may follow from any of them.
    wording = Wording(success.goal, success.named)
    steps = useful(success.steps, effects)
    calls = calls_of(steps, wording)
    if not calls:
        return None
    origins = [_origins(number, calls, wording, tools) for number in range(len(calls))]
    kept = _kept(calls, origins)
    if wording.conditional and any(calls[number].step.effect for number in kept):
        return None
    if any(_found_nothing(calls[number]) for number in kept):
        return None  # What there was nothing to do with, it does not show how to do.
    if any(_lost(calls, number, origins[number]) for number in kept):
        return None
    builder = _Builder(calls=calls, origins=origins, kept=kept, wording=wording)
    made = [steps[member] for number in kept for member in calls[number].members]
    return Compiled(pipeline=builder.pipeline(success.goal, name), steps=made)


def _found_nothing(call: Call) -> bool:
    return not call.step.effect and not rows_of(call.step.observation)


def tainted(goal: str, steps: Sequence[Step], pipeline: Pipeline, *, tools: Schemas | None = None) -> bool:
    """Whether a text in a pipeline was copied from what a tool wrote (section 8 of the design: trust).

    Values that stand in the goal, or that a tool's schema offers, are no copies; nor is a path into a result.
    """
    said, written = _flat(goal), _flat("\n".join(step.observation for step in steps))
    cells = {_flat(cell) for step in steps for row in rows_of(step.observation) for cell in row.values()}
    long_cells = [cell for cell in cells if len(cell) >= LONG]
    for node in pipeline.calls:
        schema = (tools or {}).get(node.tool, {})
        for name, binding in node.arguments.items():
            known = offered(parameter(schema, name))
            for text in (_flat(text) for text in _literals(binding) if text not in known):
                copied = _holds(written, text) or any(cell in text for cell in long_cells)
                if copied and not _holds(said, text):
                    return True
    return False


def _literals(binding: Binding) -> list[str]:
    """Return the texts that stand in a binding itself."""
    if isinstance(binding, Constant):
        return _texts(binding.value)
    if isinstance(binding, Unknown):  # An example is shown and never used: a common word does no harm.
        return [text for text in _texts(binding.example) if len(text) >= TELLING and not text.isdecimal()]
    return []


def _flat(text: str) -> str:
    """Return a text as it can be compared: a table writes line ends as `\\n`."""
    return " ".join(text.replace("\\n", " ").casefold().split())


def _texts(value: Any) -> list[str]:
    """Return all texts in a JSON value that are long enough to be a copy."""
    if isinstance(value, str):
        return [value] if len(value.strip()) > 2 else []
    if isinstance(value, Mapping):
        return [text for item in cast("Mapping[str, Any]", value).items() for text in _texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in cast("Sequence[Any]", value) for text in _texts(item)]
    return []


def _holds(text: str, part: str) -> bool:
    if len(part) >= LONG:  # It may be cut in the middle of a word.
        return part in text
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _origins(number: int, calls: Sequence[Call], wording: Wording, tools: Schemas) -> dict[str, Origin]:
    """Return where each argument of a call came from; results are named by the numbers of their calls."""
    call = calls[number]
    sources = [
        Source(node=str(place), rows=source.rows, whole=source.whole)
        for place, source in enumerate(calls)
        if source.last < call.at
    ]
    schema = tools.get(call.step.tool, {})
    origins: dict[str, Origin] = {}
    for name, value in call.step.arguments.items():
        argument = Argument(name=name, value=value, schema=parameter(schema, name), effect=call.step.effect)
        origins[name] = call.each.get(name) or origin(argument, wording, sources)
    return origins


def _kept(calls: Sequence[Call], origins: Sequence[Mapping[str, Origin]]) -> list[int]:
    """Return the effects, and the reads whose results they need; without effects, what was read last."""
    kept = {number for number, call in enumerate(calls) if call.step.effect}
    kept = kept or {max(range(len(calls)), key=lambda number: calls[number].last)}
    for number in reversed(range(len(calls))):
        if number in kept:
            found = (where for where in origins[number].values() if isinstance(where, FromResult))
            kept.update(int(where.node) for where in found)
    return sorted(kept)


def _lost(calls: Sequence[Call], number: int, origins: Mapping[str, Origin]) -> bool:
    """Whether an argument may have come from a result of which nothing can be read."""
    return any(isinstance(where, Unknown) for where in origins.values()) and any(
        not call.whole and not call.rows for call in calls[:number]
    )


@dataclass(kw_only=True)
class _Builder:
    """Puts the calls that are kept in a line."""

    calls: Sequence[Call]
    origins: Sequence[Mapping[str, Origin]]
    kept: Sequence[int]
    wording: Wording
    names: dict[str, str] = field(default_factory=dict[str, str])
    """Of the nodes, by the numbers of their calls."""
    slots: list[Slot] = field(default_factory=list[Slot])

    def pipeline(self, goal: str, name: str) -> Pipeline:
        taken = [START, END]
        for number in self.kept:
            last_part = identifier(self.calls[number].step.tool.rpartition(".")[2])
            self.names[str(number)] = distinct_name(last_part, taken)
            taken.append(self.names[str(number)])
        nodes = [self._node(number) for number in self.kept]
        line = [START, *(node.name for node in nodes), END]
        comments = [*(self._comments(number) for number in self.kept), []]
        return Pipeline(
            name=name or " then ".join(self.names.values())[:MOST_NAME],
            purpose=goal,
            nodes=[Node(name=START), *nodes, Node(name=END)],
            edges=[
                Edge(from_node=before, to_node=after, comments=tuple(lines))
                for before, after, lines in zip(line, line[1:], comments, strict=False)
            ],
            slots=self.slots,
        )

    def _node(self, number: int) -> Node:
        step = self.calls[number].step
        return Node(
            name=self.names[str(number)],
            tool=step.tool,
            arguments={name: self._binding(name, where) for name, where in self.origins[number].items()},
            effect=step.effect,
        )

    def _binding(self, name: str, where: Origin) -> Binding:
        if isinstance(where, FromResult):
            return replace(where, node=self.names[where.node])
        return self._from_goal(name, where) if isinstance(where, Said) else where

    def _from_goal(self, name: str, said: Said) -> FromGoal:
        """Return the slot of a value; a value that is said once and used twice has one."""
        for slot in self.slots:
            if (slot.said.casefold(), slot.example) == (said.text.casefold(), said.value):
                return FromGoal(slot=slot.name)
        slot_name = distinct_name(identifier(name), [slot.name for slot in self.slots])
        ways = self.wording.ways(said.value)
        self.slots.append(Slot(name=slot_name, example=said.value, said=said.text, ways=ways))
        return FromGoal(slot=slot_name)

    def _comments(self, number: int) -> list[str]:
        """Say what leads to a call, in words that no tool wrote."""
        node, lines = self.names[str(number)], list[str]()
        said = [name for name, where in self.origins[number].items() if isinstance(where, Said)]
        if said:
            lines.append(f"the goal says {', '.join(said)} of {node}"[:MOST_COMMENT])
        for name, where in self.origins[number].items():
            if isinstance(where, FromResult):
                lines.append(self._taken(where, node)[:MOST_COMMENT])
            elif isinstance(where, Unknown):
                lines.append(f"nothing tells where {name} of {node} came from"[:MOST_COMMENT])
        return lines[:MOST_COMMENTS]

    def _taken(self, where: FromResult, node: str) -> str:
        source = self.calls[int(where.node)]
        count = len(source.rows)
        shown = where.field if _PLAIN_FIELD.fullmatch(where.field) else "value"
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
