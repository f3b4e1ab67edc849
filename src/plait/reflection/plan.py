"""A plan: subtasks with dependencies, a directed graph without cycles (MIRROR, section 3.3).

Knows nothing of models; `read_plan` takes what a planner wrote and says in words what is wrong.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plait.errors import ReplyError

MAXIMUM_SUBTASKS = 8

_LINE = re.compile(r"^[-*# ]*(?P<id>\d{1,3})[.):]\s+(?P<goal>\S.*)$")
_AFTER = re.compile(r"\s*\(after\s+\d+(?:\s*(?:,|and)\s*\d+)*\)\s*\.?$", re.IGNORECASE)


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


PLAN_LINE = r'[1-9] ". " [^\x00-\x20\x7F] [^\x00-\x1F\x7F]{1,240}'
"""GBNF of one line of a plan: its number, its goal, and `(after 1, 2)` where it needs others."""


def read_plan(text: str) -> Plan:
    """Read a plan written as numbered lines, and put it in topological order.

    A line is `2. goal (after 1)`; lines of another form are passed over. The planner's own order
    stays where dependencies leave it free.

    Raises:
        ReplyError: no subtask, too many, an id twice, a dependency on an unknown id, or a cycle.
    """
    subtasks = [_subtask(match) for line in text.splitlines() if (match := _LINE.match(line.strip()))]
    if not subtasks:
        raise ReplyError("the plan has no subtask: write numbered lines such as `1. goal`")
    if len(subtasks) > MAXIMUM_SUBTASKS:
        raise ReplyError(f"the plan has {len(subtasks)} subtasks, {MAXIMUM_SUBTASKS} at most")
    ids = [subtask.id for subtask in subtasks]
    for subtask in subtasks:
        if ids.count(subtask.id) > 1:
            raise ReplyError(f"two subtasks have the number {subtask.id}")
        for other in subtask.depends_on:
            if other not in ids:
                raise ReplyError(f"subtask {subtask.id} is after {other}, which is no subtask")
    return Plan(subtasks=_sorted(subtasks))


def _subtask(match: re.Match[str]) -> Subtask:
    goal, after = match["goal"].strip(), _AFTER.search(match["goal"])
    needs = re.findall(r"\d+", after[0]) if after else []
    if after:
        goal = goal[: after.start()].strip() or goal
    return Subtask(id=str(int(match["id"])), goal=goal, depends_on=tuple(dict.fromkeys(needs)))


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
