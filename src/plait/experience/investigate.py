"""Investigate: from the events of a run to its plan tree (ICE, sections 3.1 and 3.2, INVESTIGATE).

Pure, and takes any first part of a run's records, so that killed, resumed and forked runs are looked at like
others. Knows nothing of databases, nor of how plans are made: it reads the published events only.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

from plait.events import (
    ApprovalDecided,
    FeedbackGiven,
    Gated,
    PlanMade,
    Record,
    RoundFinished,
    RunFinished,
    RunResumed,
    RunStarted,
    StepRecorded,
    SubtaskFinished,
    SubtaskStarted,
)
from plait.experience.tree import Goal, GoalStatus, Step
from plait.models.callform import format_call
from plait.tools.executor import UNKNOWN_RESULT

TOOLS = "tools"
"""The domain of runs that have a plan."""
END = "done("
"""How a choice begins that ends a subtask, where others begin with the name of a tool."""

_PLACE = re.compile(r"(?:^|/)round-(\d+)(?:/subtask-([^/!]+)(?:/step-(\d+))?)?(?=[/!]|$)")


class _Place(NamedTuple):
    """Where in a run a record belongs; 0 and empty where it belongs to none."""

    round: int = 0
    subtask: str = ""
    step: int = 0


class _Made(NamedTuple):
    """A call on record, and when it was written."""

    sequence: int
    step: Step

    @property
    def call(self) -> str:
        """As the gate shows it."""
        return format_call(self.step.tool, self.step.arguments)


def investigate(records: Sequence[Record], *, changes: Collection[str] = ()) -> Goal | None:
    """Return the final plan tree of a run; None where it has none to look for: no start, or a run of teams.

    Every round but the last is a failed goal below the root, with its subtasks below it; those of the last
    are the root's own (MIRROR plans anew, which is this tree's rectification). A call that was refused, or
    only rehearsed, is a step that is not ok: nothing came of it, whatever its agent made of that.

    Args:
        records: Of one run, all or the first part, in any order.
        changes: Names of tools that change the world, where the log has it otherwise.
    """
    current = _current(records)
    started = next((r.event for r in current if isinstance(r.event, RunStarted)), None)
    if started is None or started.options.get("domain", TOOLS) != TOOLS:
        return None
    status, result = _ending(current)
    subgoals = _subgoals(current, started.task, changes)
    return Goal(id="", text=started.task, status=status, result=result, subgoals=subgoals)


def _place(path: str) -> _Place:
    found = _PLACE.search(path)
    if found is None:
        return _Place()
    round_, subtask, step = found.groups()
    return _Place(round=int(round_), subtask=subtask or "", step=int(step or 0))


def _current(records: Sequence[Record]) -> list[Record]:
    """Return what holds in the end, in the order of the log: of each path the highest revision, and no
    round after the one that passed, which a run may have gone through before it was taken up another way.
    """
    highest: dict[str, Record] = {}
    for record in records:
        if record.path not in highest or record.revision >= highest[record.path].revision:
            highest[record.path] = record
    current = sorted(highest.values(), key=lambda record: record.sequence)
    passed = [r.event.round for r in current if isinstance(r.event, RoundFinished) and r.event.passed]
    return [record for record in current if not passed or _place(record.path).round <= passed[-1]]


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


def _subgoals(current: Sequence[Record], task: str, changes: Collection[str]) -> list[Goal]:
    rounds: dict[int, list[Record]] = {}
    for record in current:
        if number := _place(record.path).round:
            rounds.setdefault(number, []).append(record)
    goals: list[Goal] = []
    carried: dict[str, Sequence[Step]] = {}
    for number, records in sorted(rounds.items()):
        plan = _last(records, PlanMade)
        if plan is None:
            continue
        last = number == max(rounds)
        first, above = (len(goals) + 1, "") if last else (1, f"{len(goals) + 1}-")
        leaves = [
            _leaf(f"{above}{first + at}", planned, records, carried, changes)
            for at, planned in enumerate(plan.subtasks)
        ]
        # As the next round has it: who is given a goal again that was reached goes on from what was done.
        carried |= {leaf.text.lower(): leaf.steps for leaf in leaves if _changed(leaf)}
        finished = _last(records, RoundFinished)
        answer = finished.answer if finished else ""
        failed = Goal(id=above[:-1], text=task, status="failed", result=answer, subgoals=leaves)
        goals += leaves if last else [failed]
    return goals


def _changed(leaf: Goal) -> bool:
    return leaf.status == "succeeded" and any(step.effect and step.ok for step in leaf.steps)


def _leaf(
    id: str,
    planned: Mapping[str, Any],
    records: Sequence[Record],
    carried: Mapping[str, Sequence[Step]],
    changes: Collection[str],
) -> Goal:
    text = str(planned["goal"])
    own = [record for record in records if _place(record.path).subtask == str(planned["id"])]
    finished = _last(own, SubtaskFinished)
    begun: GoalStatus = "doing" if _last(own, SubtaskStarted) else "todo"
    status: GoalStatus = finished.status if finished else begun
    steps: list[Step] = []
    # A fork has steps on record that its subtasks have yet to meet.
    if status not in ("todo", "skipped"):
        steps = [*carried.get(text.lower(), ()), *_trajectory(own, changes)]
    return Goal(id=id, text=text, status=status, result=finished.result if finished else "", steps=steps)


def _last(records: Sequence[Record], kind: type[Any]) -> Any:
    return next((record.event for record in reversed(records) if isinstance(record.event, kind)), None)


# Steps.


def _trajectory(records: Sequence[Record], changes: Collection[str]) -> list[Step]:
    """Return the tool calls of a subtask in order (ICE, section 2: the trajectory of a leaf).

    Ordered by the number of the step and not by time, as a call of an earlier step may have been made anew.
    """
    places: dict[int, list[Record]] = {}
    for record in records:
        places.setdefault(_place(record.path).step, []).append(record)
    steps: list[Step] = []
    ended = 0
    for _, group in sorted(places.items()):
        # What lies after the end and was made before it is of another way, which was gone before.
        made = [
            each for each in _calls(group, changes) if each.sequence > ended and not _overtaken(each, group)
        ]
        steps += [each.step for each in made]
        decision = _decision(group)
        if decision is not None and not made and _ends(decision[1]):
            ended = decision[0].sequence
    return steps


def _ends(choice: Gated) -> bool:
    # Of a choice that was forced through nobody can tell from which try it is.
    return choice.verdict == "failed" or (choice.verdict != "forced" and str(choice.output).startswith(END))


def _decision(group: Sequence[Record]) -> tuple[Record, Gated] | None:
    """Return the try that let a step's choice through; tries after it are of another way."""
    gates = [(record, record.event) for record in group if isinstance(record.event, Gated)]
    gates.sort(key=lambda gate: gate[1].attempt)
    return next((gate for gate in gates if gate[1].verdict != "revised"), None)


def _overtaken(made: _Made, group: Sequence[Record]) -> bool:
    """Whether a call is of a way that was gone before: since it was made, something else was chosen."""
    decision = _decision(group)
    if decision is None or decision[0].sequence < made.sequence:
        return False
    tries = (record.event for record in group if isinstance(record.event, Gated))
    # A choice that was forced through may be that of any try.
    return all(each.output != made.call for each in tries if each.attempt <= decision[1].attempt)


def _calls(group: Sequence[Record], changes: Collection[str]) -> list[_Made]:
    """Return the calls on record, and those that were never made because they were not allowed."""
    made: list[_Made] = []
    refused: dict[str, _Made] = {}
    for record in group:
        event = record.event
        if isinstance(event, StepRecorded) and event.step in ("tool", "effect") and "tool" in event.args:
            made.append(_Made(record.sequence, _step(event, changes)))
        elif isinstance(event, ApprovalDecided) and not event.allowed:
            # Only effects are asked about; a read that is denied has its refusal for a result.
            step = Step(
                tool=event.tool,
                arguments=event.arguments,
                observation=f"not done: refused by {event.by}",
                ok=False,
                effect=True,
            )
            each = _Made(record.sequence, step)
            refused[each.call] = each
    told = {each.call for each in made}
    made += [each for call, each in refused.items() if call not in told]
    return sorted(made, key=lambda each: each.sequence)


def _step(event: StepRecorded, changes: Collection[str]) -> Step:
    tool = str(event.args["tool"])
    effect = event.step == "effect" or tool in changes
    arguments: Mapping[str, Any] = event.args.get("arguments", {})
    if event.result is None:
        # The user settled an effect in doubt as done; what it returned is lost.
        return Step(
            tool=tool, arguments=arguments, observation=UNKNOWN_RESULT, ok=True, effect=effect, whole=False
        )
    result = cast("Mapping[str, Any]", event.result)
    return Step(
        tool=tool,
        arguments=arguments,
        observation=str(result.get("text", "")),
        # A rehearsed effect is ok for its agent, but was not done.
        ok=bool(result.get("ok")) and not result.get("refused"),
        effect=effect,
        whole=not result.get("cut"),
    )
