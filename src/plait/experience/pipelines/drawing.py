"""Shows a pipeline: as lines for a terminal, and as a flowchart in Mermaid's language.

Knows nothing of where a pipeline came from, so that nothing written in it may move a cursor, colour a line
or break out of a label.
"""

import json
from collections.abc import Sequence

from plait.experience.pipelines.paper_form import plain_line
from plait.experience.pipelines.pipeline import (
    Binding,
    Composed,
    Condition,
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
from plait.experience.pipelines.results import WHOLE

MOST_VALUE = 60
"""Characters that are shown of a value or name."""
_ROWS = {
    "only": "the only row",
    "first": "the first row",
    "last": "the last row",
    "each": "each row",
    "undecided": "some row (not known which)",
}
_PLAIN = frozenset(" _.,=()/-")


def terminal_text(pipeline: Pipeline) -> list[str]:
    """Return plain lines: every call with where its arguments come from, and what follows it.

    They hold no control characters, but may hold what a terminal library takes for markup.
    """
    lines: list[str] = []
    for node in pipeline.nodes:
        lines.append(_call(node))
        width = max((len(_short(name)) for name in node.arguments), default=0)
        lines += [
            f"    {_short(name):<{width}}  {_origin(binding, pipeline.slots)}"
            for name, binding in node.arguments.items()
        ]
        for edge in pipeline.edges:
            if edge.from_node == node.name:
                lines.append(f"  → {_short(edge.to_node)}{_when(edge)}")
                lines += [f"      {plain_line(comment)}" for comment in edge.comments]
    return lines


def mermaid(pipeline: Pipeline) -> str:
    """Return a flowchart; its nodes are numbered, and all else stands in escaped labels."""
    numbers = {node.name: f"n{number}" for number, node in enumerate(pipeline.nodes)}
    lines = ["flowchart TD"]
    for number, node in enumerate(pipeline.nodes):
        arguments = [
            f"{_short(name)}: {_origin(binding, pipeline.slots)}" for name, binding in node.arguments.items()
        ]
        label = "<br/>".join(_escaped(line) for line in (_call(node), *arguments))
        lines.append(f'    n{number}["{label}"]' if node.tool else f'    n{number}(["{label}"])')
    for edge in pipeline.edges:
        if edge.from_node in numbers and edge.to_node in numbers:
            when = f'|"{_escaped(_when(edge).strip())}"|' if edge.condition else ""
            lines.append(f"    {numbers[edge.from_node]} -->{when} {numbers[edge.to_node]}")
    return "\n".join(lines) + "\n"


def _call(node: Node) -> str:
    if not node.tool:
        return _short(node.name)
    return f"{_short(node.name)}: {_short(node.tool)}{' (changes the world)' if node.effect else ''}"


def _origin(binding: Binding, slots: Sequence[Slot]) -> str:
    """Say where an argument comes from."""
    match binding:
        case Constant(value=value):
            return f"always {_value(value)}"
        case FromGoal(slot=name):
            said = next((f", such as {_value(slot.said)}" for slot in slots if slot.name == name), "")
            return f"the goal's {_short(name)}{said}"
        case FromResult(node=node, field=field, row=row):
            part = "" if field == WHOLE else f"{_short(field)} of "
            return f"{part}{_ROWS[row]} of {_short(node)}"
        case Composed(how="text", parts=parts):
            return " then ".join(_origin(part, slots) for part in parts)
        case Composed(how=how, parts=parts):
            time, by = (_origin(part, slots) for part in parts)
            return f"{time}, {how} by {by} minutes"
        case Unknown(example=example):
            return f"not known, such as {_value(example)}"


def _when(edge: Edge) -> str:
    if isinstance(edge.condition, InWords):
        return f" if a model finds that {plain_line(edge.condition.text)}"
    return "" if edge.condition is None else f" if {_comparison(edge.condition)}"


def _comparison(condition: Condition) -> str:
    field = f"{_short(condition.field)} of " if condition.field else ""
    subject = f"{field}{_short(condition.node)}"
    if condition.comparison in ("empty", "not empty"):
        return f"{subject} is {condition.comparison}"
    return f"{subject} {condition.comparison} {_value(condition.value)}"


def _value(value: object) -> str:
    return _short(json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    return plain_line(text, MOST_VALUE)


def _escaped(text: str) -> str:
    """Spell a label so that neither Mermaid nor a browser finds anything but text in it."""
    return "".join(
        character if character.isalnum() or character in _PLAIN else f"#{ord(character)};"
        for character in text
    )
