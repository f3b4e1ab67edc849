"""Pipelines as JSON, in the form of the paper's appendix A with keys of our own beside its keys.

`arguments`, `effect`, `answer` and `exactly` of a node, `condition` of an edge and `slots` are ours; a form
without them is read all the same. What is read may come from anybody: it is bounded, and believed only as far
as `soundness` says. Knows nothing of files or memories.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from plait.errors import UserError
from plait.experience.pipelines.branches import MOST_WORDS
from plait.experience.pipelines.form_values import (
    read_choice,
    read_json,
    read_list,
    read_object,
    read_text,
)
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Comparison,
    Composed,
    Composition,
    Condition,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    InWords,
    Node,
    Part,
    Pipeline,
    Slot,
    Unknown,
    WhichRow,
)
from plait.experience.pipelines.soundness import (
    MOST_ARGUMENTS,
    MOST_COMMENT,
    MOST_COMMENTS,
    MOST_CONSTANT,
    MOST_EDGES,
    MOST_NODES,
    MOST_PARTS,
    MOST_SLOTS,
    MOST_TEXT,
    shown,
)
from plait.experience.words.derive import KNOWN_WAY, MOST_WAYS, Way
from plait.journal import JSONObject

_TYPES = {START: "Start", END: "End"}
_NODE_TYPES = ("Start", "End", "ToolServer")


def as_json(pipeline: Pipeline) -> JSONObject:
    """Return a pipeline as it is kept and shared."""
    return {
        "pipeline_name": pipeline.name,
        "pipeline_purpose": pipeline.purpose,
        "nodes": [_node_as_json(node) for node in pipeline.nodes],
        "edges": [_edge_as_json(edge) for edge in pipeline.edges],
        "slots": [_slot_as_json(slot) for slot in pipeline.slots],
    }


def from_json(value: object) -> Pipeline:
    """Read what `as_json` gave, or a form as the paper has it; keys of no meaning here are passed over.

    Comments are cut and cleaned of control characters: they are shown and never obeyed.

    Raises:
        UserError: it is no pipeline, or larger than one may be.
    """
    fields = read_object(value, "the pipeline")
    nodes = read_list(fields.get("nodes"), "nodes", MOST_NODES)
    # The paper always calls them so, but tells them by their type.
    renamed = {
        read_text(node, "node_name", "a node"): name
        for node in (read_object(item, "a node") for item in nodes)
        for name, node_type in _TYPES.items()
        if node.get("node_type") == node_type
    }
    return Pipeline(
        name=read_text(fields, "pipeline_name", "the pipeline"),
        purpose=read_text(fields, "pipeline_purpose", "the pipeline", MOST_TEXT),
        nodes=[_node(item) for item in nodes],
        edges=[_edge(item, renamed) for item in read_list(fields.get("edges"), "edges", MOST_EDGES)],
        slots=[_slot(item) for item in read_list(fields.get("slots", []), "slots", MOST_SLOTS)],
    )


def plain_line(text: str, most: int = MOST_COMMENT) -> str:
    """Return a text as one line without control characters, cut where it is too long.

    What is not printable goes, so that nothing can move a terminal's cursor or turn the text's direction.
    """
    kept = "".join(character if character.isprintable() else " " for character in text[: 4 * most])
    line = " ".join(kept.split())
    return line if len(line) <= most else line[: most - 3] + "..."


def _node_as_json(node: Node) -> JSONObject:
    node_type = "ToolServer" if node.tool else _TYPES.get(node.name, "ToolServer")
    return {
        "node_name": node.name,
        "tool_name": node.tool or _TYPES.get(node.name, ""),
        "node_type": node_type,
        "arguments": {name: _binding_as_json(binding) for name, binding in node.arguments.items()},
        "effect": node.effect,
        **({"answer": node.answer} if node.answer else {}),
        **({"exactly": node.exactly} if node.exactly else {}),
    }


def _slot_as_json(slot: Slot) -> JSONObject:
    ways = [{"how": way.how, "spans": list(way.spans)} for way in slot.ways]
    return {"name": slot.name, "example": slot.example, "said": slot.said, "ways": ways}


def _binding_as_json(binding: Binding) -> JSONObject:
    match binding:
        case Constant(value=value):
            return {"constant": value}
        case FromGoal(slot=slot):
            return {"slot": slot}
        case FromResult(node=node, field=field, row=row):
            return {"result": node, "field": field, "row": row}
        case Composed(how=how, parts=parts):
            return {"composed": how, "parts": [_binding_as_json(part) for part in parts]}
        case Unknown(example=example):
            return {"unknown": example}


def _edge_as_json(edge: Edge) -> JSONObject:
    return {
        "edge_name": edge.name,
        "edge_type": "data",
        "from_node": edge.from_node,
        "to_node": edge.to_node,
        "comments": list(edge.comments),
        "condition": _condition_as_json(edge.condition),
    }


def _condition_as_json(condition: Condition | InWords | None) -> JSONObject | None:
    match condition:
        case None:
            return None
        case InWords(text=text):
            return {"words": text}
        case Condition(node=node, field=field, comparison=comparison, value=value):
            return {"node": node, "field": field, "comparison": comparison, "value": value}


def _node(value: object) -> Node:
    fields = read_object(value, "a node")
    name = read_text(fields, "node_name", "a node")
    where = f"node {shown(name)}"
    node_type = fields.get("node_type")
    if node_type not in _NODE_TYPES:
        raise UserError(
            f"{where}: node_type is {shown(node_type)}; it must be one of {', '.join(_NODE_TYPES)}"
        )
    if node_type != "ToolServer":
        return Node(name=START if node_type == "Start" else END)
    effect = fields.get("effect", False)
    if not isinstance(effect, bool):
        raise UserError(f"{where}: effect is {shown(effect)}; it must be true or false")
    arguments = read_object(fields.get("arguments", {}), f"arguments of {where}")
    if len(arguments) > MOST_ARGUMENTS:
        raise UserError(f"{where} has {len(arguments)} arguments; at most {MOST_ARGUMENTS} are read")
    return Node(
        name=name,
        tool=read_text(fields, "tool_name", where),
        arguments={
            read_text({"name": argument}, "name", f"an argument of {where}"): _binding(
                binding, f"{where}: {shown(argument)}"
            )
            for argument, binding in arguments.items()
        },
        effect=effect,
        answer=read_text(fields, "answer", where) if "answer" in fields else "",
        exactly=read_text(fields, "exactly", where) if "exactly" in fields else "",
    )


def _binding(value: object, where: str) -> Binding:
    """Read where an argument comes from."""
    fields = read_object(value, where)
    match [key for key in ("constant", "slot", "result", "composed", "unknown") if key in fields]:
        case ["constant"]:
            return Constant(value=read_json(fields["constant"], where))
        case ["slot"]:
            return FromGoal(slot=read_text(fields, "slot", where))
        case ["result"]:
            return FromResult(
                node=read_text(fields, "result", where),
                field=read_text(fields, "field", where, empty=True),
                row=cast(
                    "WhichRow", read_choice(fields.get("row", "only"), get_args(WhichRow), f"{where}: row")
                ),
            )
        case ["composed"]:
            return _composed(fields, where)
        case ["unknown"]:
            return Unknown(example=read_json(fields["unknown"], where))
        case _:
            raise UserError(f"{where} must have one of the keys constant, slot, result, composed and unknown")


def _composed(fields: Mapping[str, Any], where: str) -> Composed:
    parts: list[Part] = []
    for item in read_list(fields.get("parts"), f"parts of {where}", MOST_PARTS):
        # Parts of parts are not read, however deep they go.
        composed = "composed" in read_object(item, f"a part of {where}")
        part = None if composed else _binding(item, f"a part of {where}")
        if part is None or isinstance(part, Composed | Unknown):
            raise UserError(f"a part of {where} must have one of the keys constant, slot and result")
        parts.append(part)
    how = cast("Composition", read_choice(fields["composed"], get_args(Composition), f"{where}: composed"))
    return Composed(how=how, parts=tuple(parts))


def _edge(value: object, renamed: Mapping[str, str]) -> Edge:
    fields = read_object(value, "an edge")
    before, after = (read_text(fields, key, "an edge") for key in ("from_node", "to_node"))
    where = f"edge {shown(f'{before}_{after}')}"
    comments = read_list(fields.get("comments", []), f"comments of {where}", MOST_COMMENTS)
    if not all(isinstance(comment, str) for comment in comments):
        raise UserError(f"comments of {where} must be texts")
    condition = fields.get("condition")
    return Edge(
        from_node=renamed.get(before, before),
        to_node=renamed.get(after, after),
        comments=tuple(plain_line(cast("str", comment)) for comment in comments),
        condition=None if condition is None else _condition(condition, f"the condition of {where}"),
    )


def _condition(value: object, where: str) -> Condition | InWords:
    fields = read_object(value, where)
    if "words" in fields:
        return InWords(text=plain_line(read_text(fields, "words", where, MOST_WORDS), MOST_WORDS))
    return Condition(
        node=read_text(fields, "node", where),
        field=read_text(fields, "field", where, empty=True),
        comparison=cast(
            "Comparison",
            read_choice(fields.get("comparison"), get_args(Comparison), f"{where}: comparison"),
        ),
        value=read_json(fields.get("value"), where),
    )


def _slot(value: object) -> Slot:
    fields = read_object(value, "a slot")
    name = read_text(fields, "name", "a slot")
    where = f"slot {shown(name)}"
    return Slot(
        name=name,
        example=read_text(fields, "example", where, MOST_CONSTANT),
        said=read_text(fields, "said", where, MOST_CONSTANT, empty=True),
        ways=tuple(_way(item, where) for item in read_list(fields.get("ways", []), where, MOST_WAYS)),
    )


def _way(value: object, where: str) -> Way:
    fields = read_object(value, f"a way of {where}")
    spans = read_list(fields.get("spans"), f"spans of a way of {where}", MOST_SLOTS)
    if not all(type(span) is int and span >= 0 for span in spans):
        raise UserError(f"spans of a way of {where} must be numbers from 0")
    how = read_text(fields, "how", f"a way of {where}")
    if not KNOWN_WAY.fullmatch(how):
        raise UserError(f"{where}: how is {shown(how)}, which is no way that is known")
    return Way(how=how, spans=tuple(cast("Sequence[int]", spans)))
