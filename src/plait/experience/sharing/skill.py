"""A workflow or pipeline as an Agent Skill: a folder with a `SKILL.md` that other agents can read.

The format is that of https://agentskills.io/specification: front matter with a name, which is also the
folder's, and a description, then Markdown. A pipeline is added as JSON in the form of the paper's appendix A
(ICE) and drawn in Mermaid. Knows nothing of where the folder is; what it is given may leave (`sharing`).
"""

import json
import re
from collections.abc import Iterator, Sequence

from plait.errors import UserError
from plait.experience.consolidation.workflow import Workflow
from plait.experience.pipelines.drawing import mermaid
from plait.experience.pipelines.paper_form import as_json, from_json, plain_line
from plait.experience.pipelines.pipeline import (
    END,
    Binding,
    Composed,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    InWords,
    Pipeline,
    Unknown,
)
from plait.experience.record import Experience

SKILL_FILE, PIPELINE_FILE = "SKILL.md", "references/pipeline.json"
MOST_NAME, MOST_DESCRIPTION = 64, 1_024
"""Characters; the format allows no more."""
MOST_GOAL = 300
"""Characters of the goal in the description."""
MOST_VALUE = 2_000
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|!~])")
_ROWS = {
    "only": "the only row that step {0} found",
    "first": "the first row that step {0} found",
    "last": "the last row that step {0} found",
    "each": "each row that step {0} found, with one call for each",
    "undecided": "the row that fits, of those that step {0} found",
}


def skill_name(name: str) -> str:
    """Return a name that a skill may have.

    Raises:
        UserError: it may not; the message says what to take instead.
    """
    if len(name) <= MOST_NAME and _NAME.fullmatch(name):
        return name
    near = "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:MOST_NAME].strip("-") or "a-skill"
    raise UserError(
        f"a skill cannot be called {name!r}, as its folder is: use small letters, digits and single hyphens,"
        f" at most {MOST_NAME}, such as {near!r}"
    )


def skill_files(record: Experience, name: str) -> dict[str, str]:
    """Return the files of a skill by their paths in its folder.

    Args:
        record: A workflow or pipeline, with invented values; see `sharing.shared`.
        name: As `skill_name` takes it.

    Raises:
        UserError: it is neither.
    """
    if record.kind == "pipeline":
        pipeline = from_json(record.content)
        form = json.dumps(as_json(pipeline), ensure_ascii=False, indent=2)
        body = [*_calls(pipeline), "", *_drawn(pipeline)]
        return {SKILL_FILE: _page(record, name, body), PIPELINE_FILE: f"{form}\n"}
    if record.kind == "workflow":
        return {SKILL_FILE: _page(record, name, list(_steps(Workflow.from_json(record.content))))}
    raise UserError(f"record {record.id!r} is a {record.kind}; only a workflow or a pipeline makes a skill")


def _page(record: Experience, name: str, body: Sequence[str]) -> str:
    tools = ", ".join(record.tools)
    goal = plain_line(record.goal, MOST_GOAL).replace("<", "(").replace(">", ")")
    description = plain_line(
        f"How to do a task like: {goal} Use it for the same task with other names, dates or texts."
        f" Needs the tools {tools}.",
        MOST_DESCRIPTION,
    )
    lines = [
        "---",
        f"name: {name}",
        # A JSON text is a YAML text, whatever it holds.
        f"description: {json.dumps(description, ensure_ascii=False)}",
        "---",
        "",
        f"# {_text(name.replace('-', ' ').capitalize())}",
        "",
        f"A task like this one was done with success: {_text(record.goal)}",
        "",
        "All names, dates and texts here are invented. Take those of the task at hand.",
        "",
        "## Steps",
        "",
        *body,
    ]
    return "\n".join(lines) + "\n"


def _steps(workflow: Workflow) -> Iterator[str]:
    for number, step in enumerate(workflow.steps, 1):
        tools = f" Tools: {', '.join(_code(tool) for tool in step.tools)}." if step.tools else ""
        reached = f" Reached when: {_text(step.milestone)}." if step.milestone else ""
        yield f"{number}. {_text(step.goal)}.{reached}{tools}"


def _calls(pipeline: Pipeline) -> Iterator[str]:
    numbers = {node.name: number for number, node in enumerate(pipeline.calls, 1)}
    for node in pipeline.calls:
        effect = " It changes the world: have leave for it." if node.effect else ""
        yield f"{numbers[node.name]}. Call {_code(node.tool)}.{effect}"
        for name, binding in node.arguments.items():
            yield f"   - {_code(name)}: {_origin(binding, pipeline, numbers)}"
        after = [edge for edge in pipeline.edges if edge.from_node == node.name]
        if len(after) > 1 or any(edge.condition for edge in after):
            yield from (f"   - {_branch(edge, numbers)}" for edge in after)


def _origin(binding: Binding, pipeline: Pipeline, numbers: dict[str, int]) -> str:
    """Say where an argument comes from."""
    match binding:
        case Constant(value=value):
            return f"always {_value(value)}"
        case FromGoal(slot=name):
            slot = next(slot for slot in pipeline.slots if slot.name == name)
            if not slot.said:
                return f"worked out from what day it is, such as {_value(slot.example)}"
            made = "" if slot.literal else f", worked out: {_value(slot.example)}"
            return f"what the task says in place of {_value(slot.said)}{made}"
        case FromResult(node=node, field=field, row=row):
            part = f"{_code(field)} of " if field else ""
            return part + _ROWS[row].format(numbers.get(node, "?"))
        case Composed(how="text", parts=parts):
            return ", then ".join(_origin(part, pipeline, numbers) for part in parts)
        case Composed(how=how, parts=parts):
            time, by = (_origin(part, pipeline, numbers) for part in parts)
            return f"{time}, {how} by so many minutes: {by}"
        case Unknown():
            return "as the task needs it"


def _branch(edge: Edge, numbers: dict[str, int]) -> str:
    then = "end" if edge.to_node == END else f"go to step {numbers.get(edge.to_node, '?')}"
    condition = edge.condition
    if condition is None:
        return f"Otherwise {then}."
    if isinstance(condition, InWords):
        return f"If {_text(condition.text)}, {then}."
    value = "" if "empty" in condition.comparison else f" {_value(condition.value)}"
    what = _code(condition.field) if condition.field else "the result"
    return f"If {what} of step {numbers.get(condition.node, '?')} is {condition.comparison}{value}, {then}."


def _drawn(pipeline: Pipeline) -> list[str]:
    return [
        "## As an automaton",
        "",
        "```mermaid",
        mermaid(pipeline).rstrip("\n"),
        "```",
        "",
        f"The same as data: [{PIPELINE_FILE}]({PIPELINE_FILE}).",
    ]


def _value(value: object) -> str:
    return _text(json.dumps(value, ensure_ascii=False))


def _code(name: str) -> str:
    return f"`{plain_line(name).replace('`', chr(39))}`"


def _text(text: str) -> str:
    """Spell a text so that Markdown finds nothing but words in it."""
    return _MARKUP.sub(r"\\\1", plain_line(text, MOST_VALUE))
