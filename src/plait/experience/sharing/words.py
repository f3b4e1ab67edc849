"""What a record would do if it were used, in words for whoever decides that.

A record may come from anybody: names that its author chose are left out where they could mislead, constants
are shown whole, what it says of its tools is not believed, and comments, which nothing obeys, are not shown.
Knows nothing of where a record is kept.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from plait.experience.consolidation.evidence import doubt_left
from plait.experience.consolidation.lessons import Lesson
from plait.experience.consolidation.making import lessons_from_json
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.exploitation.recall import TOOLS_KEY, digest_of
from plait.experience.pipelines.paper_form import from_json
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Composed,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    InWords,
    Node,
    Pipeline,
    Slot,
    Unknown,
)
from plait.experience.pipelines.soundness import misdeclared
from plait.experience.record import Experience
from plait.experience.sharing.pipeline import said_of
from plait.experience.words.goals import asks_for_change, masked
from plait.journal import JSONObject
from plait.tools.tool import Tool

MOST_SHOWN = 4_000
"""Characters of one value; a pipeline with a larger one is not kept."""
_ROWS = {
    "only": "of the only row",
    "first": "of the first row",
    "last": "of the last row",
    "each": "of each row, one call for each",
    "undecided": "of a row that is not known",
}


def in_words(record: Experience, tools: Sequence[Tool] | None = None) -> list[str]:
    """Return lines without control characters that say what a record does.

    Args:
        record: Of any kind.
        tools: Those that a run would have; None where they are not known.

    Raises:
        UserError: its content cannot be read.
    """
    lines = [f"{record.kind} {record.id} from {spelled(record.source)}", f"for: {spelled(record.goal)}"]
    if record.kind == "pipeline":
        known = None if tools is None else {tool.name: tool for tool in tools}
        words = _Words(pipeline=from_json(record.content), tools=known)
        return [*lines, *words.calls(), *words.warnings(record.content.get(TOOLS_KEY))]
    if record.kind == "workflow":
        steps = Workflow.from_json(record.content).steps
        lines.append("a planner is shown these steps, as how it was done before:")
        return [*lines, *(f"  {number}. {_step(step)}" for number, step in enumerate(steps, 1))]
    return [*lines, "a planner is warned:", *(f"  {spelled(text)}" for text in _warnings(record.content))]


def spelled(value: object) -> str:
    """Spell a value on one line, whole, so that nothing in it is unseen or taken for something else.

    Letters that look like those of another script are told by their numbers where an address or a name of a
    thing is meant, that is in a value without spaces.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    plain = " " in text.strip()
    shown = "".join(one if _is_seen(one, plain=plain) else _number(one) for one in text[:MOST_SHOWN])
    return shown if len(text) <= MOST_SHOWN else f"{shown}... ({len(text):,} characters)"


def _is_seen(character: str, *, plain: bool) -> bool:
    if character.isascii() or not plain:
        return character.isascii() and character.isprintable()
    return character.isprintable() and not unicodedata.combining(character)


def _number(character: str) -> str:
    return {"\n": "\\n", "\t": "\\t"}.get(character, f"\\u{ord(character):04x}")


@dataclass(frozen=True, kw_only=True)
class _Words:
    """Tells of one pipeline."""

    pipeline: Pipeline
    tools: Mapping[str, Tool] | None

    def calls(self) -> Iterator[str]:
        """Say which calls are made, with what."""
        yield "it makes these calls, and no model looks at them before they are made:"
        yield from self._onward(START)
        for number, node in enumerate(self.pipeline.calls, 1):
            yield f"  {number}. {spelled(node.tool)}  ({self._effect(node)})"
            for name, binding in node.arguments.items():
                yield f"       {spelled(name)}: {self._origin(binding)}"
            yield from self._onward(node.name)

    def warnings(self, digests: object) -> Iterator[str]:
        """Say what a careful reader would ask about."""
        changes = asks_for_change(self.pipeline.purpose)
        # What a call does is not believed where the goal says more.
        nodes = [replace(node, effect=node.effect or changes) for node in self.pipeline.nodes]
        if doubt := doubt_left(replace(self.pipeline, nodes=nodes)):
            yield f"! {spelled(doubt)}"
        for name in self.pipeline.unknown:
            yield f"! nothing tells {spelled(name)}, so that it is never used"
        if self.tools is not None:
            yield from self._of_tools(digests)

    def _of_tools(self, digests: object) -> Iterator[str]:
        tools = self.tools or {}
        known = cast("Mapping[str, Any]", digests if isinstance(digests, Mapping) else {})
        for name in dict.fromkeys(node.tool for node in self.pipeline.calls):
            if name not in tools:
                yield f"! there is no tool {spelled(name)} here, so that it is never used"
            elif known.get(name) != digest_of(tools[name]):
                yield f"! {spelled(name)} here is another tool of that name, so that it is never used"
        effects = {name: tool.effect == "changes" for name, tool in tools.items()}
        yield from (f"! {problem}" for problem in misdeclared(self.pipeline, effects))

    def _effect(self, node: Node) -> str:
        tool = (self.tools or {}).get(node.tool)
        if tool is not None:
            return "CHANGES THE WORLD" if tool.effect == "changes" else "only reads"
        return "CHANGES THE WORLD" if node.effect else "by its own account it only reads"

    def _origin(self, binding: Binding) -> str:
        match binding:
            case Constant(value=value):
                told = self._is_said(value)
                return f"always {_quoted(value)}{'' if told else ', WHICH THE GOAL DOES NOT SAY'}"
            case FromGoal(slot=name):
                return next(
                    (self._slot(slot) for slot in self.pipeline.slots if slot.name == name), "not known"
                )
            case FromResult(node=node, field=field, row=row):
                return f"{spelled(field) or 'the whole'} {_ROWS[row]} that call {self._number(node)} finds"
            case Composed(how="text", parts=parts):
                return ", then ".join(self._origin(part) for part in parts)
            case Composed(how=how, parts=parts):
                time, by = (self._origin(part) for part in parts)
                return f"{time}, {how} by minutes: {by}"
            case Unknown():
                return "not known"

    def _slot(self, slot: Slot) -> str:
        """Say what of the goal a slot takes, by the goal itself and not by what the slot says."""
        said = slot.said
        if slot.ways:
            said = said_of(slot, [span.text for span in masked(self.pipeline.purpose).spans])
        if not said:
            return f"what day it is, as in {_quoted(slot.example)}"
        made = "" if slot.example.casefold() == said.casefold() else f", here {_quoted(slot.example)}"
        return f"what the goal says in place of {_quoted(said)}{made}"

    def _is_said(self, value: object) -> bool:
        """Whether a constant is plain or stands in the goal, so that nobody wonders where it came from."""
        if value is None or isinstance(value, bool) or value in ("", [], {}):
            return True
        words = re.escape(spelled(value))
        return re.search(rf"(?<!\w){words}(?!\w)", spelled(self.pipeline.purpose), re.IGNORECASE) is not None

    def _onward(self, name: str) -> Iterator[str]:
        """Say what follows a node, where it is not simply the next call of the list."""
        line = [START, *(node.name for node in self.pipeline.calls), END]
        edges = [edge for edge in self.pipeline.edges if edge.from_node == name]
        if [(edge.to_node, edge.condition) for edge in edges] == [(line[line.index(name) + 1], None)]:
            return
        for edge in sorted(edges, key=lambda edge: edge.condition is None):
            if (condition := edge.condition) is None:
                yield f"       {'else' if len(edges) > 1 else 'then'} {self._target(edge)}"
                continue
            if isinstance(condition, InWords):
                yield f"       if a model finds that {_quoted(condition.text)}, then {self._target(edge)}"
                continue
            value = "" if "empty" in condition.comparison else f" {_quoted(condition.value)}"
            what = f"{spelled(condition.field) or 'the result'} of call {self._number(condition.node)}"
            yield f"       if {what} is {condition.comparison}{value}, then {self._target(edge)}"

    def _target(self, edge: Edge) -> str:
        return "it ends" if edge.to_node == END else f"call {self._number(edge.to_node)}"

    def _number(self, name: str) -> int:
        return next((number for number, node in enumerate(self.pipeline.calls, 1) if node.name == name), 0)


def _warnings(content: JSONObject) -> list[str]:
    if "phases" in content:
        return [lesson.text for lesson in lessons_from_json(content)]
    return [Lesson.from_json(content).text]


def _step(step: WorkflowStep) -> str:
    reached = f", reached when {spelled(step.milestone)}" if step.milestone else ""
    tools = f"  ({', '.join(spelled(tool) for tool in step.tools)})" if step.tools else ""
    return f"{spelled(step.goal)}{reached}{tools}"


def _quoted(value: object) -> str:
    if not isinstance(value, str):
        return spelled(value)
    inside = spelled(value).replace('"', '\\"')
    return f'"{inside}"'
