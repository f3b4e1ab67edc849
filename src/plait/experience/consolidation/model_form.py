"""What a model is asked to make of a trajectory, and how its reply becomes a pipeline (ICE, section 3.2).

The model says which calls are made again, what follows what, and why. It is not shown what tools wrote, and
where an argument comes from is worked out, never taken from it: so every constant was seen in the trajectory,
and no tool is called that was not. Knows nothing of how a model is asked.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plait.agents.prompting import fill, load
from plait.errors import ReplyError, UserError
from plait.experience.consolidation.building import PLAIN_FIELD
from plait.experience.consolidation.compile import Draft
from plait.experience.consolidation.goal_words import Said
from plait.experience.consolidation.origins import Compound, Origin, drawn_from
from plait.experience.pipelines.branches import MOST_WORDS
from plait.experience.pipelines.paper_form import from_json
from plait.experience.pipelines.pipeline import END, START, Constant, FromResult, Node, Pipeline
from plait.experience.pipelines.results import WHOLE
from plait.journal import JSON

PACKAGE = "plait.experience"
MOST_CALLS = 12
"""Of a trajectory; a longer one is compiled."""
MOST_FIELDS = 8
MOST_SHOWN = 60
"""Characters of a value that is shown."""
MOST_COMMENT = 120
MOST_PROBLEMS = 5
_NAME: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": 40}


class ModelPipeline(NamedTuple):
    """A pipeline that a model made."""

    pipeline: Pipeline
    numbers: Mapping[str, int]
    """Which call each node makes again, from 0."""


def prompt(goal: str, draft: Draft, problems: Sequence[str], overrides: Path | None = None) -> str:
    """Return what the model is asked.

    Args:
        goal: That was reached.
        draft: The trajectory.
        problems: Of its reply before; none at first.
        overrides: Folder with the user's own prompts, or None.
    """
    lines = [f"{number}. {_call(draft, number - 1)}" for number in range(1, len(draft.calls) + 1)]
    wrong = "".join(f"\n- {line}" for line in problems[:MOST_PROBLEMS])
    return fill(
        load(PACKAGE, "consolidate", overrides),
        goal=" ".join(goal.split()),
        calls="\n".join(lines),
        problems=f"\n\nYour last reply cannot be used:{wrong}" if wrong else "",
    )


def reply_schema(draft: Draft) -> dict[str, Any]:
    """Return the JSON schema of a reply: the form of the paper's appendix A, with the number of a call."""
    calls = len(draft.calls)
    tools = list(dict.fromkeys(call.step.tool for call in draft.calls))
    node = {
        "node_name": _NAME,
        "tool_name": {"enum": tools},
        "call": {"type": "integer", "minimum": 1, "maximum": calls},
    }
    comparison = {
        "node": _NAME,
        "field": {"type": "string", "maxLength": 40},
        "comparison": {"enum": ["empty", "not empty", "=", "!="]},
        "value": {"type": "string", "maxLength": MOST_SHOWN},
    }
    words = {"words": {"type": "string", "minLength": 1, "maxLength": MOST_WORDS}}
    comment = {"type": "string", "maxLength": MOST_COMMENT}
    edge = {
        "from_node": _NAME,
        "to_node": _NAME,
        "comments": {"type": "array", "items": comment, "maxItems": 1},
        "condition": {"anyOf": [{"type": "null"}, _object(comparison), _object(words)]},
    }
    return _object(
        {
            "pipeline_name": {**_NAME, "maxLength": MOST_SHOWN},
            "nodes": {"type": "array", "items": _object(node), "minItems": 1, "maxItems": calls},
            "edges": {"type": "array", "items": _object(edge), "minItems": 2, "maxItems": 2 * calls + 2},
        }
    )


def read(value: Mapping[str, Any], goal: str, draft: Draft) -> ModelPipeline:
    """Read a reply of that schema, and bind the arguments of its nodes.

    Raises:
        ReplyError: it is no pipeline of these calls; the message says why.
    """
    numbers: dict[str, int] = {}
    for node in value["nodes"]:
        name, tool = str(node["node_name"]), str(node["tool_name"])
        number = int(node["call"]) - 1
        if draft.calls[number].step.tool != tool:
            raise ReplyError(f"node {name!r} calls {tool}, and call {number + 1} is of another tool")
        if name in numbers or number in numbers.values() or name in (START, END):
            raise ReplyError(f"node {name!r}: each node needs a name and a call of its own")
        numbers[name] = number
    _check_sources(draft, numbers)
    try:
        form = from_json(_form(value, goal))
    except UserError as error:
        raise ReplyError(error.message) from error
    builder = draft.builder()
    builder.names.update({str(number): name for name, number in numbers.items()})
    # In the order of the calls, so that slots are named after the first of them.
    nodes = [builder.node(number) for number in sorted(numbers.values())]
    whole = Pipeline(
        name=form.name,
        purpose=goal,
        nodes=[Node(name=START), *nodes, Node(name=END)],
        edges=form.edges,
        slots=builder.slots,
    )
    return ModelPipeline(whole, numbers)


def texts_of(pipeline: Pipeline) -> list[str]:
    """Return all that a model wrote in a pipeline."""
    texts = [pipeline.name, *(node.name.replace("_", " ") for node in pipeline.calls)]
    for edge in pipeline.edges:
        texts += edge.comments
        if edge.condition is not None:
            condition = edge.condition
            texts.append(str(getattr(condition, "text", None) or getattr(condition, "value", "") or ""))
    return texts


def _check_sources(draft: Draft, numbers: Mapping[str, int]) -> None:
    there = set(numbers.values())
    for name, number in numbers.items():
        for result in (each for where in draft.origins[number].values() for each in drawn_from(where)):
            if int(result.node) not in there:
                number = int(result.node) + 1
                raise ReplyError(f"node {name!r} takes a value from call {number}: add a node for it")


def _form(value: Mapping[str, Any], goal: str) -> dict[str, JSON]:
    """Return a reply in the form of the paper's appendix A."""
    ends = [
        {"node_name": name, "tool_name": kind, "node_type": kind}
        for name, kind in ((START, "Start"), (END, "End"))
    ]
    nodes = [
        {"node_name": node["node_name"], "tool_name": node["tool_name"], "node_type": "ToolServer"}
        for node in value["nodes"]
    ]
    name: str = value["pipeline_name"]
    return {
        "pipeline_name": name,
        "pipeline_purpose": goal,
        "nodes": [*ends, *nodes],
        "edges": value["edges"],
    }


def _call(draft: Draft, number: int) -> str:
    """Show a call without a word that a tool wrote: what went in by where it came from, and what came back
    by those of its fields that are called by one word."""
    call = draft.calls[number]
    told = ", ".join(f"{name}={_origin(where)}" for name, where in draft.origins[number].items())
    often = f", {len(call.members)} times" if len(call.members) > 1 else ""
    if call.step.effect:
        return f"{call.step.tool}({told}){often} -> changed the world"
    fields = dict.fromkeys(field for row in call.rows for field in row if PLAIN_FIELD.fullmatch(field))
    shown = f" with {', '.join([*fields][:MOST_FIELDS])}" if fields else ""
    return f"{call.step.tool}({told}){often} -> rows: {len(call.rows)}{shown}"


def _origin(where: Origin) -> str:
    match where:
        case Said(text=text):
            return f"<the goal's {_short(text)}>" if text else "<what day it is>"
        case FromResult(node=node, field=field, row=row):
            which = {"each": "each row of ", "undecided": "a row of "}.get(row, f"the {row} row of ")
            plain = field if PLAIN_FIELD.fullmatch(field) else "value" if field != WHOLE else "the result"
            return f"<{plain} of {which}call {int(node) + 1}>"
        case Constant(value=value):
            return _short(value)
        case Compound(how=how, parts=parts):
            between = " and " if how == "text" else f", {how} by "
            # What stands around the values may be copied from a result.
            told = ("<a fixed text>" if isinstance(part, Constant) else _origin(part) for part in parts)
            return between.join(told)
        case _:
            return "<not known>"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_SHOWN else f'{text[: MOST_SHOWN - 4]}..."'


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
