"""A run's result from its records: a pure function, the same for a live, a resumed and a replayed run.

Knows nothing of how a task is solved: what the strands know comes in as an `Outcome`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from plait.events import (
    Gated,
    PlanMade,
    Record,
    RoundStarted,
    SubtaskFinished,
)
from plait.models.ledger import usage_of
from plait.task import GateCounts, PlanItem, ReflectionReport, Result

ROLES = ("planner", "tool", "answer")


def report(records: Sequence[Record], result: Result) -> Result:
    """Complete `result` (status, answer, score, message) with all that the records tell."""
    return replace(
        result,
        usage=usage_of(records),
        plan=plan_items(records),
        reflection=reflection_report(records),
    )


def plan_items(records: Sequence[Record]) -> list[PlanItem]:
    """Return the subtasks of the last plan and how each ended."""
    items: dict[str, PlanItem] = {}
    for event in (record.event for record in records):
        if isinstance(event, PlanMade):
            items = {
                subtask["id"]: PlanItem(
                    id=subtask["id"],
                    goal=subtask["goal"],
                    status="todo",
                    executor="react",
                    depends_on=tuple(subtask["depends_on"]),
                )
                for subtask in event.subtasks
            }
        elif isinstance(event, SubtaskFinished) and event.id in items:
            items[event.id] = replace(items[event.id], status=event.status)
    return list(items.values())


def reflection_report(records: Sequence[Record]) -> ReflectionReport:
    """Return rounds, revisions and how the replies of each role fared at their gate."""
    gates: dict[str, GateCounts] = {role: GateCounts() for role in ROLES}
    revisions = rounds = 0
    for event in (record.event for record in records):
        if isinstance(event, RoundStarted):
            rounds = max(rounds, event.round)
        elif isinstance(event, Gated):
            counts = gates.get(event.role, GateCounts())
            gates[event.role] = GateCounts(
                passed=counts.passed + (event.verdict == "passed"),
                revised=counts.revised + (event.verdict == "revised"),
                forced=counts.forced + (event.verdict == "forced"),
            )
            revisions += event.verdict == "revised"
    return ReflectionReport(rounds=rounds, revisions=revisions, gates=gates)


def result_json(result: Result) -> Mapping[str, Any]:
    """Return the object that `--json` prints."""
    value = asdict(result)
    for name in ("artifacts", "plan", "teams"):
        value[name] = list(value[name])
    return value
