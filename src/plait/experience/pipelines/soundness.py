"""What is wrong with a pipeline before it is kept or run (design, section 3: checked before it is stored).

A pipeline may come from a model or from a file that somebody else wrote, so that nothing of it is believed.
Knows nothing of memories or runs, and asks no model.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from plait.experience.pipelines.branches import MOST_WORDS, undecidable
from plait.experience.pipelines.graph import neighbours, reached
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Composed,
    Condition,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    InWords,
    Node,
    Pipeline,
    Unknown,
    parts_of,
    results_of,
)
from plait.journal import JSON
from plait.models.schema import first_problem, properties_of
from plait.tools.arguments import Schemas, inline

MOST_NODES = 32
MOST_EDGES = 64
MOST_SLOTS = 16
MOST_CONSTANT = 2_000
"""Characters of a constant as JSON."""
MOST_COMMENT = 300
"""Characters of each comment."""
MOST_COMMENTS = 10
"""Of an edge."""
MOST_ARGUMENTS = 64
"""Of a node."""
MOST_PARTS = 5
"""Of a value that is put together."""
MOST_TEXT = 20_000
"""Characters of the goal that a pipeline was learned from."""
MOST_SHOWN = 60


def problems_of(pipeline: Pipeline, tools: Schemas | None) -> list[str]:
    """Return what is wrong, each in one line; empty for a pipeline that may be kept.

    Args:
        pipeline: Any.
        tools: JSON schema of the parameters of each tool that there is; None where that is not known, as of
            a file that somebody gave: then what is called is not looked at.
    """
    # What is too large is looked at no further: the checks below take their time.
    if problems := list(_too_large(pipeline)):
        return problems
    if problems := list(_names(pipeline)):
        return problems
    return [
        *_ways(pipeline),
        *undecidable(pipeline),
        *(problem for node in pipeline.calls if tools is not None for problem in _call(node, tools)),
        *_results(pipeline),
        *_slots(pipeline),
    ]


def misdeclared(pipeline: Pipeline, effects: Mapping[str, bool]) -> list[str]:
    """Return the calls that say of their tool that it only reads where it changes the world, or the reverse.

    Args:
        pipeline: Any.
        effects: Whether each tool that there is changes the world; other tools are passed over.
    """
    lies = [node for node in pipeline.calls if effects.get(node.tool, node.effect) != node.effect]
    says = {True: "changes the world", False: "only reads"}
    return [
        f"node {shown(node.name)} says that {shown(node.tool)} {says[node.effect]}, but it"
        f" {says[not node.effect]}"
        for node in lies
    ]


def json_size(value: JSON) -> int | None:
    """Return the characters of a value as JSON; None where it is no JSON, or no text could hold it."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
        return None if "\\u0000" in text else len(text)
    except (TypeError, ValueError, RecursionError):
        return None


def shown(name: object) -> str:
    """Spell a name that may hold anything, on one line and not too long."""
    text = name if isinstance(name, str) else type(name).__name__
    return repr(text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "...")


def _too_large(pipeline: Pipeline) -> Iterator[str]:
    for what, count, most in (
        ("nodes", len(pipeline.nodes), MOST_NODES),
        ("edges", len(pipeline.edges), MOST_EDGES),
        ("slots", len(pipeline.slots), MOST_SLOTS),
    ):
        if count > most:
            yield f"it has {count} {what}; at most {most} are allowed"
    if len(pipeline.name) + len(pipeline.purpose) > MOST_TEXT:
        yield f"its name and purpose are longer than {MOST_TEXT} characters"
    for slot in pipeline.slots[:MOST_SLOTS]:
        if len(slot.name) + len(slot.example) + len(slot.said) > MOST_CONSTANT:
            yield f"slot {shown(slot.name)} is longer than {MOST_CONSTANT} characters"
    for node in pipeline.nodes[:MOST_NODES]:
        if len(node.arguments) > MOST_ARGUMENTS:
            yield f"node {shown(node.name)} has more than {MOST_ARGUMENTS} arguments"
        for name, value in _values(node):
            size = json_size(value)
            if size is None:
                yield f"node {shown(node.name)}: {shown(name)} is no JSON value"
            elif size > MOST_CONSTANT:
                yield f"node {shown(node.name)}: {shown(name)} is longer than {MOST_CONSTANT} characters"
    for edge in pipeline.edges[:MOST_EDGES]:
        if len(edge.comments) > MOST_COMMENTS:
            yield f"edge {shown(edge.name)} has more than {MOST_COMMENTS} comments"
        if any(len(comment) > MOST_COMMENT for comment in edge.comments):
            yield f"edge {shown(edge.name)} has a comment of more than {MOST_COMMENT} characters"
        if isinstance(edge.condition, InWords) and not 0 < len(edge.condition.text.strip()) <= MOST_WORDS:
            yield f"the condition of edge {shown(edge.name)} must have 1 to {MOST_WORDS} characters"


def _values(node: Node) -> Iterator[tuple[str, JSON]]:
    for name, binding in list(node.arguments.items())[:MOST_ARGUMENTS]:
        for part in parts_of(binding)[:MOST_PARTS]:
            if isinstance(part, Constant):
                yield name, part.value
        if isinstance(binding, Unknown):
            yield name, binding.example


def _names(pipeline: Pipeline) -> Iterator[str]:
    """Yield what makes it unclear which node is meant."""
    if not pipeline.calls:
        yield "it calls no tool"
    names = Counter(node.name for node in pipeline.nodes)
    for name in (START, END):
        if names[name] != 1 or pipeline.node(name).tool:
            yield f"it must have exactly one {name!r} that calls no tool"
    for name, count in names.items():
        if count > 1 and name not in (START, END):
            yield f"{count} nodes are called {shown(name)}"
    for node in pipeline.nodes:
        if not node.tool and node.name not in (START, END):
            yield f"node {shown(node.name)} calls no tool"
    for edge in pipeline.edges:
        for name in (edge.from_node, edge.to_node):
            if name not in names:
                yield f"edge {shown(edge.name)} joins a node {shown(name)} that there is not"


def _ways(pipeline: Pipeline) -> Iterator[str]:
    """Yield the nodes that no way leads to or from, and loops."""
    onward = neighbours(pipeline.edges)
    backward = neighbours([Edge(from_node=edge.to_node, to_node=edge.from_node) for edge in pipeline.edges])
    from_start, to_end = reached(onward, START), reached(backward, END)
    for node in pipeline.nodes:
        if node.name not in from_start:
            yield f"node {shown(node.name)} is an orphan: no way leads to it from start"
        if node.name not in to_end:
            yield f"no way leads from node {shown(node.name)} to end"
        if any(node.name in reached(onward, after) for after in onward.get(node.name, ())):
            yield f"node {shown(node.name)} is in a loop, which may never end"
    if onward.get(END):
        yield "an edge leads on from end"


def _call(node: Node, tools: Schemas) -> Iterator[str]:
    """Yield what does not fit the tool of a node."""
    where = f"node {shown(node.name)}"
    if node.tool not in tools:
        yield f"{where} calls a tool {shown(node.tool)} that there is not"
        return
    schema = inline(tools[node.tool])
    known = properties_of(schema)
    closed = "patternProperties" not in schema and not schema.get("additionalProperties", False)
    for name in schema.get("required", ()):
        if name not in node.arguments:
            yield f"{where}: {node.tool} requires {shown(name)}"
    for name, binding in node.arguments.items():
        if name not in known and closed:
            yield f"{where}: {node.tool} has no parameter {shown(name)}"
        elif isinstance(binding, Constant) and (problem := first_problem(binding.value, known.get(name, {}))):
            yield f"{where}: {shown(name)} does not fit {node.tool}: {problem}"


def _results(pipeline: Pipeline) -> Iterator[str]:
    """Yield the results that are used where they are not there on every way."""
    onward = neighbours(pipeline.edges)
    calls = {node.name: node for node in pipeline.calls}
    for node in pipeline.calls:
        for name, binding in node.arguments.items():
            where = f"node {shown(node.name)}: {shown(name)}"
            for result in results_of(binding):
                if result.node not in calls:
                    yield f"{where} is of the result of {shown(result.node)}, which has none"
                elif not _comes_before(onward, result.node, node.name):
                    source = shown(result.node)
                    yield f"{where} is of the result of {source}, which does not always come before"
                elif result.row == "each" and calls[result.node].effect:
                    yield f"{where} goes through the result of {shown(result.node)}, which is no read"
            if isinstance(binding, Composed) and (problem := _misfit(binding)):
                yield f"{where} {problem}"
    for edge in pipeline.edges:
        if isinstance(edge.condition, Condition):
            yield from _condition(edge, edge.condition, onward, calls)


def _misfit(binding: Composed) -> str:
    """Return what keeps a value from being put together; empty where nothing does."""
    kinds = [type(part) for part in binding.parts]
    if not 2 <= len(kinds) <= MOST_PARTS:
        return f"is put together of {len(kinds)} parts; 2 to {MOST_PARTS} there may be"
    if binding.how != "text" and (len(kinds) > 2 or kinds[0] is not FromResult or kinds[1] is Constant):
        return "is a time that is moved: it needs a result, and what moves it"
    return ""


def _condition(
    edge: Edge, condition: Condition, onward: Mapping[str, Sequence[str]], calls: Mapping[str, Node]
) -> Iterator[str]:
    where = f"the condition of edge {shown(edge.name)}"
    if condition.node not in calls:
        yield f"{where} is on the result of {shown(condition.node)}, which has none"
    elif condition.node != edge.from_node and not _comes_before(onward, condition.node, edge.from_node):
        yield f"{where} is on the result of {shown(condition.node)}, which does not always come before"
    if (json_size(condition.value) or MOST_CONSTANT + 1) > MOST_CONSTANT:
        yield f"{where} compares with more than {MOST_CONSTANT} characters of JSON"


def _comes_before(onward: Mapping[str, Sequence[str]], name: str, other: str) -> bool:
    """Whether a node lies on every way from start to another."""
    return name != other and other not in reached(onward, START, without=name)


def _slots(pipeline: Pipeline) -> Iterator[str]:
    bindings = [
        part for node in pipeline.calls for binding in node.arguments.values() for part in parts_of(binding)
    ]
    used = {binding.slot for binding in bindings if isinstance(binding, FromGoal)}
    known = Counter(slot.name for slot in pipeline.slots)
    for name, count in known.items():
        if count > 1:
            yield f"{count} slots are called {shown(name)}"
        if not name.isidentifier():
            yield f"the slot {shown(name)} is named like no identifier"
        if name not in used:
            yield f"nothing uses the slot {shown(name)}"
    for name in sorted(used - known.keys()):
        yield f"there is no slot {shown(name)}"
