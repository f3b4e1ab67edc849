"""What of a record may leave: the same way to the same goal, told with invented values.

Values of the goal are replaced (`values`); of all else that looks personal (`personal`) it
is said where it stands, and whoever exports decides. Ids, runs, dates and counts stay here. Beyond the paper
(ICE). Knows nothing of files or memories.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from plait.errors import UserError
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.exploitation.recall import TOOLS_KEY
from plait.experience.pipelines.paper_form import as_json, from_json
from plait.experience.pipelines.pipeline import Condition, Constant, FromGoal, Pipeline, parts_of
from plait.experience.record import Experience
from plait.experience.sharing.personal import names_secret, why_model, why_personal, why_text
from plait.experience.sharing.pipeline import told_otherwise
from plait.experience.sharing.reading import ImportOrigin, read_record
from plait.experience.sharing.values import StandIns
from plait.experience.situation import kept_situation
from plait.journal import JSON, JSONObject

SHORTEST_LEAK = 4
"""Characters of a value that is looked for in all that leaves; a shorter one stands anywhere by chance."""


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """Something that would leave and may be personal."""

    where: str
    value: JSON
    why: str


@dataclass(frozen=True, kw_only=True)
class Shared:
    """A record as it would leave."""

    record: Experience
    """With invented values."""
    line: str
    """The record as JSON, without a line end."""
    doubts: tuple[Doubt, ...]


def shared(record: Experience, secrets: Collection[str] = ()) -> Shared:
    """Return a record as it would leave.

    Args:
        record: Of any kind.
        secrets: Values that are secret wherever they stand.

    Raises:
        UserError: it cannot be told without its values, or nobody could import it; the message says why.
    """
    if kept_situation(record.content) is not None:
        raise UserError("it serves the very task and day that it was learned on, and nobody else")
    content, instead = _told_otherwise(record)
    whole = {
        "kind": record.kind,
        "domain": record.domain,
        "goal": instead.goal,
        "tools": list(record.tools),
        "model": record.model,
        "content": content,
    }
    line = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    # What a reader would refuse is better refused here.
    read = read_record(line.encode("utf-8", "replace"), ImportOrigin(source="here", created=0.0))
    found = [*_doubts(record.kind, instead.goal, content, secrets), *_left(content, instead)]
    if record.kind == "pipeline":
        found += _slots(from_json(record.content), from_json(content), secrets)
    if why := why_model(record.model, secrets):
        found.append(Doubt(where="model", value=record.model, why=why))
    return Shared(record=read, line=line, doubts=tuple(found))


def _told_otherwise(record: Experience) -> tuple[JSONObject, StandIns]:
    """Return the content of a record without values, and what stands for those of its goal."""
    if record.kind == "pipeline":
        digests = record.content.get(TOOLS_KEY)
        if not isinstance(digests, Mapping):
            raise UserError("it does not say which tools it was learned with")
        pipeline, instead = told_otherwise(from_json(record.content))
        return {**as_json(pipeline), TOOLS_KEY: dict(digests)}, instead
    instead = StandIns(record.goal)
    if record.kind == "workflow":
        return _workflow(Workflow.from_json(record.content), instead).as_json(), instead
    # A lesson is made of names of tools and phases alone; its reader sees to that.
    return record.content, instead


def _workflow(workflow: Workflow, instead: StandIns) -> Workflow:
    steps = [
        WorkflowStep(
            goal=instead.in_text(step.goal), milestone=instead.in_text(step.milestone), tools=step.tools
        )
        for step in workflow.steps
    ]
    return Workflow(goal=instead.goal, steps=steps)


def _doubts(kind: str, goal: str, content: JSONObject, secrets: Collection[str]) -> Iterator[Doubt]:
    """Yield what looks personal by its form."""
    asked: set[str] = set()
    for where, text in [("goal", goal), *_texts(content, "")]:
        if where.startswith(f"{TOOLS_KEY}."):
            continue
        if why := why_text(text, secrets):
            yield Doubt(where=where, value=text, why=why)
        if names_secret(text) and text not in asked:
            asked.add(text)
            yield Doubt(where=where, value=text, why="it speaks of a secret")
    if kind == "pipeline":
        for where, name, value in _constants(from_json(content)):
            told = isinstance(value, str) and why_text(value, secrets)  # Above, wherever it stands.
            if not told and (why := why_personal(value, name, secrets)):
                yield Doubt(where=where, value=value, why=why)


def _slots(learned: Pipeline, told: Pipeline, secrets: Collection[str]) -> Iterator[Doubt]:
    """Yield what the goal said in its own words, or in a short number, and still says as it is told now."""
    before = {slot.name: slot.example for slot in learned.slots}
    kept = {slot.name: slot.example for slot in told.slots if before.get(slot.name) == slot.example}
    doubts: dict[tuple[str, str], Doubt] = {}
    for node in told.calls:
        for name, binding in node.arguments.items():
            for part in parts_of(binding):
                value = kept.get(part.slot, "") if isinstance(part, FromGoal) else ""
                if why := why_personal(value, name, secrets):
                    place = f"{name} of {node.tool}"
                    doubts[place, value] = Doubt(where=place, value=value, why=why)
    yield from doubts.values()


def _constants(pipeline: Pipeline) -> Iterator[tuple[str, str, JSON]]:
    """Yield where a constant of a pipeline stands, the name of its argument or field, and its value."""
    for node in pipeline.calls:
        for name, binding in node.arguments.items():
            for part in parts_of(binding):
                if isinstance(part, Constant):
                    yield f"{name} of {node.tool}", name, part.value
    for edge in pipeline.edges:
        condition = edge.condition
        if isinstance(condition, Condition):
            yield f"condition of {edge.name}", condition.field, condition.value


def _left(content: JSONObject, instead: StandIns) -> Iterator[Doubt]:
    """Yield where a value of the goal still stands: in a constant, or under a name of somebody's choice."""
    values = [value for value in instead.given if len(value) >= SHORTEST_LEAK]
    if not values:
        return
    pattern = re.compile(
        rf"(?<![^\W_])(?:{'|'.join(re.escape(value) for value in values)})(?![^\W_])", re.IGNORECASE
    )
    for where, text in _texts(content, ""):
        if not where.endswith((".tool_name", ".edge_name")) and pattern.search(text):
            yield Doubt(where=where, value=text, why="a value of the goal stands in it")


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value with its place; the keys of an object are texts too."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for name, item in cast("Mapping[str, Any]", value).items():
            place = f"{where}.{name}" if where else name
            yield place, name
            yield from _texts(item, place)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(cast("list[Any]", value)):
            yield from _texts(item, f"{where}[{number}]")
