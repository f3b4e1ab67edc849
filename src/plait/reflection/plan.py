"""A plan: subtasks with dependencies, a directed graph without cycles (MIRROR, section 3.3).

A subtask may carry a milestone, what must hold for it to have succeeded (ICE, section 2).

Knows nothing of models; `read_plan` takes what a planner wrote and says in words what is wrong.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plait.errors import ReplyError
from plait.reflection.phrases import of_several

MAXIMUM_SUBTASKS = 8
SHORT_TASK = 500
"""Characters up to which a task is one request and no document."""

_LINE = re.compile(r"^[-*# ]*(?P<id>\d{1,3})[.):]\s+(?P<goal>\S.*)$")
MILESTONE = " => "
"""Stands between a goal and its milestone, in a line of a plan."""
MAXIMUM_MILESTONE = 120
"""Characters; a longer one is no milestone but a part of the goal."""
_AFTER = re.compile(r"\s*\((?:independent|after\s+\d+(?:\s*(?:,|and)\s*\d+)*)\)\s*\.?$", re.IGNORECASE)

NUMBER = re.compile(r"\b\d[\d:.,]*\b")
"""A number of a task, which its plan must keep."""
_BARE_CONDITION = re.compile(r"^(?:if|when|unless|in case)\b(?!.*(?:,|:|;|\bthen\b))", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Subtask:
    """A leaf of the plan: one goal, reached in a few gated calls."""

    id: str
    goal: str
    depends_on: Sequence[str] = ()
    milestone: str = ""
    """What must hold for it to have succeeded; empty where the planner did not say."""

    def as_json(self) -> dict[str, Any]:
        """Return the subtask as it is logged; a milestone only where there is one."""
        logged: dict[str, Any] = {"id": self.id, "goal": self.goal, "depends_on": list(self.depends_on)}
        return {**logged, "milestone": self.milestone} if self.milestone else logged


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Subtasks in plan order: a subtask comes after all it depends on."""

    subtasks: Sequence[Subtask]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the plan as it is logged."""
        return [subtask.as_json() for subtask in self.subtasks]


def plan_line(*, brackets: bool = False) -> str:
    """Return the GBNF of one line of a plan: its number, its goal, and what it comes after.

    Args:
        brackets: Whether a goal may hold `(`, which makes room for notes that mean nothing; for tasks
            that hold one.
    """
    other = "" if brackets else "("
    return (
        rf'[1-9] ". " [^\x00-\x20{other}\x7F] [^\x00-\x1F{other}\x7F]{{1,240}} '
        r'(" (independent)" | " (after " [1-9] (", " [1-9]){0,6} ")")?'
    )


def read_plan(text: str, *, milestones: bool = True, tools: Collection[str] = ()) -> Plan:
    """Read a plan written as numbered lines, and put it in topological order.

    A line is `2. goal`, and depends on the lines before it; `(after 1)` at its end names others, and
    `(independent)` says that it needs none. A line that is only a condition is joined with what it is
    the condition of. Lines of another form are passed over. What follows ` => ` is the milestone.

    Args:
        text: What the planner wrote.
        milestones: Whether ` => ` means a milestone; not where the task itself has one.
        tools: Names of tools. Who only names some after ` => `, as references do, gives no milestone.

    Raises:
        ReplyError: no subtask, too many, an id twice, a dependency on an unknown id, or a cycle.
    """
    subtasks: list[Subtask] = []
    for line in text.splitlines():
        if match := _LINE.match(line.strip()):
            subtasks.append(_subtask(match, _ends(subtasks), milestones=milestones))
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
    return Plan(subtasks=[_without_tools(subtask, tools) for subtask in _joined(_sorted(subtasks))])


def written(plan: Plan) -> list[str]:
    """Return the lines of a plan without their numbers, which are their places; `read_plan` reads them."""
    numbers = {subtask.id: str(number) for number, subtask in enumerate(plan.subtasks, 1)}
    lines: list[str] = []
    for place, subtask in enumerate(plan.subtasks):
        milestone = f"{MILESTONE}{subtask.milestone}" if subtask.milestone else ""
        needs = [numbers[id] for id in subtask.depends_on]
        after = f" (after {', '.join(needs)})" if needs else " (independent)"
        usual = set(subtask.depends_on) == set(_ends(plan.subtasks[:place]))
        lines.append(f"{subtask.goal}{milestone}{'' if usual else after}")
    return lines


def splits_one_thing(plan: Plan, task: str) -> bool:
    """Whether a short task that speaks of one thing was split, and so is better its own plan.

    Nothing is lost: finding a thing is a step of what is done with it. Small models lose what was to be
    done when they split it.
    """
    return len(plan.subtasks) > 1 and len(task) <= SHORT_TASK and not of_several(task)


def plan_problems(plan: Plan, task: str, prompt: str) -> tuple[list[str], bool]:
    """Return what is wrong with a plan for `task`, and whether it is of no use.

    Small models copy the lines of a prompt's examples, and lose numbers on the way.
    """
    copied = copied_goals([subtask.goal for subtask in plan.subtasks], prompt, task)
    goals = " ".join(subtask.goal for subtask in plan.subtasks)
    lost = [kept for kept in dict.fromkeys(NUMBER.findall(task)) if kept not in goals]
    problems = [
        f"subtask {subtask.id} is from the example, not from the task"
        for subtask in plan.subtasks
        if subtask.goal in copied
    ]
    # What stands in a long text, such as an input file, need not all be in a plan.
    if lost and len(task) <= SHORT_TASK:
        problems.append(f"the plan lost these numbers of the task: {', '.join(lost)}")
    return problems, bool(copied)


def copied_goals(goals: Sequence[str], prompt: str, task: str) -> list[str]:
    """Return the goals that are lines of a prompt and no part of the task."""
    lines = {match["goal"].lower() for line in prompt.splitlines() if (match := _LINE.match(line))}
    return [goal for goal in goals if goal.lower() in lines and goal.lower() not in task.lower()]


def _ends(subtasks: Sequence[Subtask]) -> list[str]:
    """Return the subtasks that no other depends on: whoever waits for them waits for all."""
    needed = {other for subtask in subtasks for other in subtask.depends_on}
    return [subtask.id for subtask in subtasks if subtask.id not in needed]


def _subtask(match: re.Match[str], before: Sequence[str], *, milestones: bool) -> Subtask:
    goal, milestone = _split_milestone(match["goal"].strip()) if milestones else (match["goal"].strip(), "")
    needs = list(before)
    parts = {"goal": goal, "milestone": milestone}
    for name, part in parts.items():
        if after := _AFTER.search(part):
            needs = [str(int(number)) for number in re.findall(r"\d+", after[0])]
            parts[name] = part[: after.start()].strip() or part
    return Subtask(id=str(int(match["id"])), depends_on=tuple(dict.fromkeys(needs)), **parts)


def _split_milestone(line: str) -> tuple[str, str]:
    """Return goal and milestone of a line; small models may leave one of the two empty."""
    goal, _, milestone = (part.strip() for part in line.partition(MILESTONE.strip()))
    if len(milestone) > MAXIMUM_MILESTONE:
        return line, ""
    return (goal, milestone) if goal else (milestone or line, "")


def _without_tools(subtask: Subtask, tools: Collection[str]) -> Subtask:
    words = [word.strip(" .") for word in subtask.milestone.split(",")]
    return replace(subtask, milestone="") if all(not word or word in tools for word in words) else subtask


def _joined(subtasks: Sequence[Subtask]) -> list[Subtask]:
    """Return the subtasks with every bare condition in one with the one subtask that hangs on it."""
    joined: list[Subtask] = []
    for subtask in subtasks:
        condition = joined[-1] if joined else None
        hanging = [s for s in subtasks if condition is not None and condition.id in s.depends_on]
        if condition is None or hanging != [subtask] or not _BARE_CONDITION.match(condition.goal):
            joined.append(subtask)
            continue
        needs = [id for id in (*condition.depends_on, *subtask.depends_on) if id != condition.id]
        goal = f"{condition.goal.rstrip('.')}, {subtask.goal[0].lower()}{subtask.goal[1:]}"
        joined[-1] = replace(subtask, goal=goal, depends_on=tuple(dict.fromkeys(needs)))
    return joined


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
