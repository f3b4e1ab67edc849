"""A run's result from its records: a pure function, the same for a live, a resumed and a replayed run.

Knows nothing of how a task is solved: what the strands know comes in as a bare result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from plait.events import (
    FeedbackGiven,
    Gated,
    PlanMade,
    Record,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    SubtaskFinished,
)
from plait.models.ledger import usage_of, wall_seconds
from plait.task import GateCounts, PlanItem, ReflectionReport, Result, Usage

ROLES = ("planner", "tool", "answer")
NO_EXPERIENCE: Mapping[str, Any] = {
    "workflows_recalled": 0,
    "pipelines_executed": 0,
    "reutilization_rate": 0.0,
    "rectifications": 0,
    "stored": {"workflows": 0, "pipelines": 0, "lessons": 0},
}
"""What a run without stored experience reports."""


def report(records: Sequence[Record], result: Result) -> Result:
    """Complete `result` (status, answer, score, message) with all that the records tell."""
    plan = plan_items(records)
    return replace(
        result,
        usage=replace(usage_of(records), seconds=wall_seconds(own_records(records))),
        plan=plan,
        reflection=reflection_report(records),
        experience={**NO_EXPERIENCE, "subgoals": len(plan)},
    )


def own_records(records: Sequence[Record]) -> list[Record]:
    """Return what the run itself did: not what a fork copied, and not feedback that came later."""
    begun = next((record.at for record in records if isinstance(record.event, RunStarted)), 0.0)
    return [r for r in records if r.at >= begun and not isinstance(r.event, FeedbackGiven)]


def until_end(records: Sequence[Record]) -> list[Record]:
    """Return the records that the last result was made from: all before the last RunFinished."""
    ends = [at for at, record in enumerate(records) if isinstance(record.event, RunFinished)]
    return list(records[: ends[-1]] if ends else records)


def ending(records: Sequence[Record]) -> RunFinished | None:
    """Return how a run ended; None if it never did, or was taken up again after that."""
    ends = [r.event for r in records if isinstance(r.event, RunFinished | RunResumed)]
    return ends[-1] if ends and isinstance(ends[-1], RunFinished) else None


def options_on_record(records: Sequence[Record]) -> dict[str, Any]:
    """Return the options of a run, with those that a resume changed."""
    options: dict[str, Any] = {}
    for event in (record.event for record in records):
        if isinstance(event, RunStarted | RunResumed):
            options.update(event.options)
    return options


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


def result_from_json(value: Mapping[str, Any]) -> Result:
    """Return the result that `result_json` gave."""
    reflection: Mapping[str, Any] = value["reflection"]
    gates = {role: GateCounts(**counts) for role, counts in reflection["gates"].items()}
    fields: dict[str, Any] = {
        **value,
        "usage": Usage(**value["usage"]),
        "artifacts": tuple(value["artifacts"]),
        "teams": tuple(value["teams"]),
        "plan": [_plan_item(item) for item in value["plan"]],
        "reflection": ReflectionReport(
            rounds=reflection["rounds"], revisions=reflection["revisions"], gates=gates
        ),
    }
    return Result(**fields)


def _plan_item(value: Mapping[str, Any]) -> PlanItem:
    fields: dict[str, Any] = {**value, "depends_on": tuple(value["depends_on"])}
    return PlanItem(**fields)
