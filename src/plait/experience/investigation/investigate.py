"""Investigate: from the events of a run to its plan tree (ICE, sections 3.1 and 3.2, INVESTIGATE).

Pure, and takes any first part of a run's records, so that killed, resumed and forked runs are looked at like
others. Knows nothing of databases, nor of how plans are made: it reads the published events only.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from plait.events import (
    FeedbackGiven,
    PlanMade,
    Record,
    RoundFinished,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    SubtaskFinished,
    SubtaskStarted,
)
from plait.experience.investigation.planned import Planned, planned
from plait.experience.investigation.recorded_steps import place_of, trajectory
from plait.experience.investigation.tree import Goal, GoalStatus, Step
from plait.models.ledger import team_of
from plait.task import TOOLS

_RECTIFYING = re.compile(r"/rectify(?=[/!]|$)")


def rounds_of(records: Sequence[Record]) -> int:
    """Return how many rounds a run had; 1 where none is on record."""
    return max(
        (record.event.round for record in records if isinstance(record.event, RoundStarted)), default=1
    )


class _Round(NamedTuple):
    """What is known of one round."""

    records: Sequence[Record]
    carried: Mapping[str, Sequence[Step]]
    """Steps of earlier rounds, by the goal that they reached."""


class _Node(NamedTuple):
    """A goal with what was put in its place."""

    own: Goal
    parts: "Sequence[_Node]"
    others: "Sequence[_Node]"

    @property
    def below(self) -> "Sequence[_Node]":
        return (*self.parts, *self.others)

    @property
    def ending(self) -> GoalStatus:
        """How it ended, by itself or by all that stand for it."""
        return _together(self.below) if self.below else self.own.status

    def siblings(self) -> "Iterator[_Node]":
        """Yield itself and what was added beside it, in plan order."""
        yield self
        for each in self.others:
            yield from each.siblings()

    def all(self) -> "Iterator[_Node]":
        """Yield itself and all that stands for it."""
        yield self
        for each in self.below:
            yield from each.all()


def investigate(records: Sequence[Record]) -> Goal | None:
    """Return the final plan tree of a run; None where it has none to look for: no start, or a run of teams.

    Every round but the last is a failed goal below the root, with its subtasks below it; those of the last
    are the root's own. A subtask that was split is a goal with its parts below it; what was added stands
    beside the one that failed, and what was deleted is gone. A call that was refused, or only rehearsed, is a
    step that is not ok: nothing came of it, whatever its agent made of that.

    Args:
        records: Of one run, all or the first part, in any order.
    """
    current = _current(records)
    started = next((r.event for r in current if isinstance(r.event, RunStarted)), None)
    if started is None or started.options.get("domain", TOOLS) != TOOLS:
        return None
    status, result = _ending(current)
    subgoals = _subgoals(current, started.task)
    return Goal(id="", text=started.task, status=status, result=result, subgoals=subgoals)


def _current(records: Sequence[Record]) -> list[Record]:
    """Return what holds in the end, in the order of the log: of each path the highest revision, nothing that
    single teams only rehearsed, and no round after the one that passed, which a run may have gone through
    before it was taken up another way.
    """
    highest: dict[str, Record] = {}
    for record in records:
        if record.path not in highest or record.revision >= highest[record.path].revision:
            highest[record.path] = record
    current = sorted(highest.values(), key=lambda record: record.sequence)
    passed = [r.event.round for r in current if isinstance(r.event, RoundFinished) and r.event.passed]
    common = [record for record in current if team_of(record.path) is None]
    return [record for record in common if not passed or place_of(record.path).round <= passed[-1]]


def _ending(current: Sequence[Record]) -> tuple[GoalStatus, str]:
    """Return how the root stands, and the answer: a run taken up again has not ended, and the user's verdict
    is on the result before it.
    """
    status: GoalStatus = "doing"
    answer: Any = None
    for event in (record.event for record in current):
        if isinstance(event, RunResumed):
            status, answer = "doing", None
        elif isinstance(event, RunFinished):
            status = "succeeded" if event.status == "succeeded" else "failed"
            answer = event.result.get("answer")
        elif isinstance(event, FeedbackGiven):
            status = "succeeded" if event.verdict == "right" else "failed"
    if answer is None or isinstance(answer, str):
        return status, answer or ""
    return status, json.dumps(answer, ensure_ascii=False)


# Rounds and their subtasks.


def _subgoals(current: Sequence[Record], task: str) -> list[Goal]:
    rounds: dict[int, list[Record]] = {}
    for record in current:
        if number := place_of(record.path).round:
            rounds.setdefault(number, []).append(record)
    goals: list[Goal] = []
    carried: dict[str, Sequence[Step]] = {}
    for number, records in sorted(rounds.items()):
        lines = planned(records, number)
        if not lines and _last(records, PlanMade) is None:
            continue
        last = number == max(rounds)
        first, above = (len(goals) + 1, "") if last else (1, f"{len(goals) + 1}-")
        here = _Round(records=records, carried=dict(carried))
        nodes = [_node(here, line) for line in lines]
        for node in nodes:
            carried |= _carried(node)
        found = _goals(nodes, above, first)
        finished = _last(records, RoundFinished)
        answer = finished.answer if finished else ""
        failed = Goal(id=above[:-1], text=task, status="failed", result=answer, subgoals=found)
        goals += found if last else [failed]
    return goals


def _node(here: _Round, planned: Planned, *, again: bool = False) -> _Node:
    return _Node(
        own=_leaf(here, planned, again=again),
        parts=[_node(here, part) for part in planned.parts],
        others=[_node(here, other, again=other.goal == planned.goal) for other in planned.others],
    )


def _goals(nodes: Sequence[_Node], above: str, first: int = 1) -> list[Goal]:
    """Return goals by their places, with what stands for one beside it."""
    goals: list[Goal] = []
    for node in (each for line in nodes for each in line.siblings()):
        id = f"{above}{first + len(goals)}"
        status = node.own.status if not node.parts else _together(node.parts)
        goals.append(replace(node.own, id=id, status=status, subgoals=_goals(node.parts, f"{id}-")))
    return goals


def _carried(node: _Node) -> dict[str, Sequence[Step]]:
    """Return what the next round has: who is given a goal again that was reached goes on from there."""
    found: dict[str, Sequence[Step]] = {}
    for below in (*node.parts, *node.others):
        found |= _carried(below)
    steps = [step for each in node.all() for step in each.own.steps if step.ok or not each.below]
    if node.ending == "succeeded" and any(step.effect and step.ok for step in steps):
        found[node.own.text.lower()] = steps
    return found


def _together(nodes: Sequence[_Node]) -> GoalStatus:
    """Return how goals ended that all must be reached."""
    ends = {node.ending for node in nodes}
    if ends == {"succeeded"}:
        return "succeeded"
    # What was skipped waited for what failed.
    return "failed" if "failed" in ends else "split"


def _leaf(here: _Round, planned: Planned, *, again: bool) -> Goal:
    """Return a subtask as it was executed; `again`: the failed one it stands for had the same goal."""
    own = [
        record
        for record in here.records
        if place_of(record.path).subtask == planned.id and not _RECTIFYING.search(record.path)
    ]
    finished = _last(own, SubtaskFinished)
    begun: GoalStatus = "doing" if _last(own, SubtaskStarted) else "todo"
    status: GoalStatus = finished.status if finished else begun
    steps: list[Step] = []
    # A fork has steps on record that its subtasks have yet to meet.
    if status not in ("todo", "skipped"):
        before = () if again else here.carried.get(planned.goal.lower(), ())
        steps = [*before, *trajectory(own)]
    return Goal(
        id=planned.id,
        text=planned.goal,
        status=status,
        milestone=planned.milestone,
        result=finished.result if finished else "",
        steps=steps,
    )


def _last(records: Sequence[Record], kind: type[Any]) -> Any:
    return next((record.event for record in reversed(records) if isinstance(record.event, kind)), None)
