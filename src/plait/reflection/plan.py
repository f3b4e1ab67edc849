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
_AFTER = re.compile(r"\s*\((?:independent|after\s+\d+(?:\s*(?:,|and)\s*\d+)*)\)\s*\.?$", re.IGNORECASE)


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


PLAN_LINE = (
    r'[1-9] ". " [^\x00-\x20(\x7F] [^\x00-\x1F(\x7F]{1,240} '
    r'(" (independent)" | " (after " [1-9] (", " [1-9]){0,6} ")")?'
)
"""GBNF of one line of a plan: its number, its goal without brackets, and what it comes after."""


def read_plan(text: str) -> Plan:
    """Read a plan written as numbered lines, and put it in topological order.

    A line is `2. goal`, and depends on the lines before it; `(after 1)` at its end names others, and
    `(independent)` says that it needs none. Lines of another form are passed over.

    Raises:
        ReplyError: no subtask, too many, an id twice, a dependency on an unknown id, or a cycle.
    """
    subtasks: list[Subtask] = []
    for line in text.splitlines():
        if match := _LINE.match(line.strip()):
            subtasks.append(_subtask(match, before=_ends(subtasks)))
    if not subtasks:
        raise ReplyError("the plan has no subtask: write numbered lines such as `1. goal`")
    if len(subtasks) > MAXIMUM_SUBTASKS:
        raise ReplyError(f"the plan has {len(subtasks)} subtasks, {MAXIMUM_SUBTASKS} at most")
    ids = [subtask.id for subtask in subtasks]
    for subtask in subtasks:
        if ids.count(subtask.id) > 1:
            raise ReplyError(f"two subtasks have the number {subtask.id}")
        if [other.goal.lower() for other in subtasks].count(subtask.goal.lower()) > 1:
            raise ReplyError(f"two subtasks say the same: {subtask.goal}")
        for other in subtask.depends_on:
            if other not in ids:
                raise ReplyError(f"subtask {subtask.id} is after {other}, which is no subtask")
    return Plan(subtasks=_sorted(subtasks))


def _ends(subtasks: Sequence[Subtask]) -> list[str]:
    """Return the subtasks that no other depends on: whoever waits for them waits for all."""
    needed = {other for subtask in subtasks for other in subtask.depends_on}
    return [subtask.id for subtask in subtasks if subtask.id not in needed]


def _subtask(match: re.Match[str], before: Sequence[str]) -> Subtask:
    goal = match["goal"].strip()
    needs = list(before)
    if after := _AFTER.search(goal):
        needs = [str(int(number)) for number in re.findall(r"\d+", after[0])]
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
