"""A plan: subtasks with dependencies, a directed graph without cycles (MIRROR, section 3.3).

Knows nothing of models; `read_plan` takes what a planner wrote and says in words what is wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.errors import ReplyError

MAXIMUM_SUBTASKS = 8


@dataclass(frozen=True, kw_only=True)
class Subtask:
    """A leaf of the plan: one goal, reached in a few gated calls."""

    id: str
    goal: str
    depends_on: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Subtasks in plan order: a subtask comes after all it depends on."""

    subtasks: Sequence[Subtask]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the plan as it is logged."""
        return [
            {"id": subtask.id, "goal": subtask.goal, "depends_on": list(subtask.depends_on)}
            for subtask in self.subtasks
        ]


def plan_schema() -> dict[str, Any]:
    """Return the JSON schema of a planner's output."""
    identifier = {"type": "integer", "minimum": 1, "maximum": MAXIMUM_SUBTASKS}
    subtask = {
        "type": "object",
        "properties": {
            "id": identifier,
            "goal": {"type": "string", "minLength": 1, "maxLength": 240},
            "depends_on": {"type": "array", "items": identifier, "maxItems": MAXIMUM_SUBTASKS},
        },
        "required": ["id", "goal", "depends_on"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": subtask, "minItems": 1, "maxItems": MAXIMUM_SUBTASKS}


def read_plan(value: Sequence[Mapping[str, Any]]) -> Plan:
    """Return the plan in topological order, the planner's own order where that is free.

    Raises:
        ReplyError: no subtask, an id twice, a dependency on an unknown id, or a cycle.
    """
    subtasks = [
        Subtask(
            id=str(item["id"]),
            goal=" ".join(str(item["goal"]).split()),
            depends_on=tuple(dict.fromkeys(str(other) for other in item.get("depends_on", ()))),
        )
        for item in value
    ]
    if not subtasks:
        raise ReplyError("the plan has no subtask")
    ids = [subtask.id for subtask in subtasks]
    for subtask in subtasks:
        if ids.count(subtask.id) > 1:
            raise ReplyError(f"two subtasks have the id {subtask.id}")
        if not subtask.goal:
            raise ReplyError(f"subtask {subtask.id} has no goal")
        for other in subtask.depends_on:
            if other not in ids:
                raise ReplyError(f"subtask {subtask.id} depends on {other}, which is no subtask")
    return Plan(subtasks=_sorted(subtasks))


def _sorted(subtasks: Sequence[Subtask]) -> list[Subtask]:
    done: list[Subtask] = []
    left = list(subtasks)
    while left:
        placed = {subtask.id for subtask in done}
        free = next((s for s in left if placed.issuperset(s.depends_on)), None)
        if free is None:
            raise ReplyError(f"subtasks {', '.join(s.id for s in left)} depend on each other in a circle")
        done.append(free)
        left.remove(free)
    return done
