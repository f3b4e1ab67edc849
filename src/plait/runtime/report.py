"""A run's result from its records: a pure function, the same for a live, a resumed and a replayed run.

Knows nothing of how a task is solved: what the strands know comes in as a bare result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

from plait.errors import LogError
from plait.events import (
    ExperienceStored,
    Gated,
    PipelineEnded,
    PlanMade,
    Record,
    RoundFinished,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    SubtaskFinished,
    WorkflowRecalled,
)
from plait.experience.investigation.planned import planned, rectifications
from plait.models.ledger import round_of, team_of, usage_of
from plait.runtime.teams_story import Team
from plait.runtime.teams_telling import latest, tell_teams
from plait.task import GateCounts, PlanItem, ReflectionReport, Result, Usage

ROLES = ("planner", "tool", "answer")


def report(records: Sequence[Record], result: Result) -> Result:
    """Complete `result` (status, answer, score, message) with all that the records tell."""
    last = current(records)
    plan = plan_items(last)
    return replace(
        result,
        usage=usage_of(records),
        teams=tuple(team_items(last)),
        plan=plan,
        reflection=reflection_report(last),
        experience=experience_report(last, plan),
    )


def current(records: Sequence[Record]) -> list[Record]:
    """Return what holds in the end: of each path the last revision, and no round after the one that passed.

    A run that was taken up again with a changed prompt or model goes another way than it went before.
    """
    last = latest(records)
    passed = [r.event.round for r in last if isinstance(r.event, RoundFinished) and r.event.passed]
    return [r for r in last if not passed or (round_of(r.path) or 0) <= passed[-1]]


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
    """Return the subtasks of the last plan and how each ended; takes what holds in the end.

    A subtask that was split is followed by its parts, one that others stand for by these.
    """
    records = [record for record in records if team_of(record.path) is None]
    made = [(r.path, r.event) for r in records if isinstance(r.event, PlanMade)]
    if not made:
        return []
    path, _ = made[-1]
    number = round_of(path) or 0
    # By place, not by order: what was on record before a plan was made anew may belong to it all the same.
    ended: dict[str, Literal["succeeded", "failed", "skipped"]] = {
        record.event.id: record.event.status
        for record in records
        if isinstance(record.event, SubtaskFinished) and (round_of(record.path) or 0) == number
    }
    walked = {
        r.path.split("!")[0] for r in records if isinstance(r.event, PipelineEnded) and not r.event.left
    }
    return [
        PlanItem(
            id=subtask.id,
            goal=subtask.goal,
            status="split" if subtask.parts else ended.get(subtask.id, "todo"),
            executor="pipeline" if _place(path, subtask.id) in walked else "react",
            depends_on=tuple(subtask.depends_on),
        )
        for line in planned(records, number)
        for subtask in line.items()
    ]


def _place(plan: str, subtask: str) -> str:
    """Return the path of a subtask, from the path of its plan."""
    return f"{plan.split('!')[0].rpartition('/')[0]}/subtask-{subtask}"


def experience_report(records: Sequence[Record], plan: Sequence[PlanItem]) -> Mapping[str, Any]:
    """Return what experience did and what was learned; takes what holds in the end.

    Workflows are counted once however often one was a reference.

    `pipeline_share` is the share of subtasks that a pipeline executed, 0-1.
    """
    leaves = [item for item in plan if item.status != "split"]
    executed = sum(item.executor == "pipeline" for item in leaves)
    events = [record.event for record in records]
    stored = [event.of for event in events if isinstance(event, ExperienceStored)]
    workflows = {event.experience for event in events if isinstance(event, WorkflowRecalled)}
    return {
        "workflows_recalled": len(workflows),
        "pipelines_executed": executed,
        "subtasks": len(leaves),
        "pipeline_share": round(executed / len(leaves), 4) if leaves else 0.0,
        "rectifications": rectifications(records),
        "stored": {
            "workflows": stored.count("workflow"),
            "pipelines": stored.count("pipeline"),
            "lessons": stored.count("lesson"),
        },
    }


def reflection_report(records: Sequence[Record]) -> ReflectionReport:
    """Return rounds, revisions and how the replies of each role fared at their gate; takes what holds."""
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


def team_items(records: Sequence[Record]) -> list[Mapping[str, Any]]:
    """Return each team with its temperature, the phases it came through, how good its own work was, and
    whether that was pruned."""
    story = tell_teams(records)
    return [
        {
            "name": team.name,
            "temperature": team.temperature,
            "phases": _came_through(team),
            # In a tool task a rating is of a plan or of an answer, not of all that a team did.
            "quality": team.quality if team.dialogues else None,
            "pruned": team.pruned,
            "dropped": team.dropped.reason if team.dropped else "",
        }
        for team in (story.teams if story else ())
    ]


def _came_through(team: Team) -> list[str]:
    """Return the phases that a team finished; those of a tool task have no dialogues."""
    if team.dialogues:
        return [each.phase for each in team.dialogues if each.finished is not None]
    phases = list(team.phases)
    return phases if team.dropped is None else [each for each in phases if each != team.dropped.phase]


def result_json(result: Result) -> Mapping[str, Any]:
    """Return the object that `--json` prints."""
    value = asdict(result)
    for name in ("artifacts", "plan", "teams"):
        value[name] = list(value[name])
    return value


def result_from_json(value: Mapping[str, Any]) -> Result:
    """Return the result that `result_json` gave.

    Raises:
        LogError: it is none.
    """
    try:
        return _result(value)
    except (KeyError, TypeError, AttributeError) as error:
        raise LogError(f"the run log holds a result that cannot be read: {str(value)[:80]!r}") from error


def _result(value: Mapping[str, Any]) -> Result:
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
