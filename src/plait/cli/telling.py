"""Tells the story of a run from its records.

Knows nothing of terminals or databases. `tell` is pure and takes any first part of a run's records, so
the live display and `plait show` see the same. Paths are read leniently: an unknown segment is passed
over, and steps outside any round or subtask still appear.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plait.cli.story import (
    RUNNING,
    Happening,
    ModelCall,
    Place,
    Round,
    Step,
    Story,
    Subtask,
    ToolUse,
    Try,
)
from plait.events import (
    ActionsAgreed,
    ApprovalDecided,
    EffectIntended,
    FeedbackGiven,
    Gated,
    LoopBroken,
    MemoryCleared,
    MemoryWritten,
    ModelRetried,
    PlanMade,
    PlanRectified,
    PromptPart,
    Record,
    RoundFinished,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    StepRecorded,
    SubtaskFinished,
    SubtaskStarted,
)
from plait.experience.investigation.planned import Planned, planned
from plait.models.ledger import by, entries, totals, usage_of
from plait.runtime.teams_story import TeamsStory
from plait.runtime.teams_telling import tell_meetings, tell_teams

PARTS = ("plan", "answer", "check")
RECTIFY = "rectify"


def place_of(path: str) -> Place:
    """Read a path such as `run/round-1/subtask-2/step-3/try-1!0`."""
    found: dict[str, Any] = {}
    for segment in path.split("!", 1)[0].split("/"):
        name, _, number = segment.partition("-")
        if segment in PARTS or segment == RECTIFY:
            found["part"] = segment
        elif name == "level":
            found.pop("part", None)  # What is merged is the meeting's, which tells of it.
        elif name == "subtask" and number:
            found["subtask"] = number
        elif number.isdecimal() and name in ("team", "round", "step", "try"):
            found["attempt" if name == "try" else name] = int(number)
    return Place(**found)


def tell(records: Iterable[Record], *, status: str = "") -> Story:
    """Arrange the records of one run, or any first part of them.

    Args:
        records: Of one run, in any order.
        status: What the log knows about a run that did not end: `running` or `interrupted`.
    """
    ordered = _ordered(records)
    current = _latest(ordered)
    started = next((r.event for r in current if isinstance(r.event, RunStarted)), None)
    resumed = [r.event for r in current if isinstance(r.event, RunResumed)]
    finished, begun = _ending(ordered), _begun(ordered)
    options = {name: value for event in (started, *resumed) if event for name, value in event.options.items()}
    teams = _teams(current)
    return Story(
        run_id=ordered[0].run_id if ordered else "",
        task=started.task if started else "",
        options=options,
        version=started.version if started else "",
        forked_from=started.forked_from if started else "",
        status=finished.status if finished else status or RUNNING,
        result=finished.result if finished else None,
        rounds=_rounds(current) if teams is None else (),
        teams=teams,
        calls=_calls(current),
        memory=[e for r in current if (e := _memory(r)) and e.memory == "long_term"],
        happenings=_happenings(current),
        retrying=e if current and isinstance(e := current[-1].event, ModelRetried) else None,
        feedback=next((r.event for r in reversed(ordered) if isinstance(r.event, FeedbackGiven)), None),
        usage=usage_of(ordered),
        usage_by_role=by(entries(ordered), "role"),
        usage_by_team=by(entries(ordered), "team"),
        resumes=len(resumed),
        reused=usage_of(_reused(current, begun)),
        started=begun,
        taken_up=max((r.at for r in current if isinstance(r.event, RunResumed)), default=begun),
        since=ordered[-1].at if ordered else 0.0,
    )


def _ordered(records: Iterable[Record]) -> list[Record]:
    """Return each record once, in order; one may come as what is on record and as what is watched."""
    by_sequence = {record.sequence: record for record in records}
    return [by_sequence[sequence] for sequence in sorted(by_sequence)]


def _teams(current: Sequence[Record]) -> TeamsStory | None:
    """Tell of teams that make something; in a tool task what they do belongs to its rounds."""
    in_rounds = any(isinstance(record.event, RoundStarted) for record in current)
    return None if in_rounds else tell_teams(current)


def _latest(ordered: Sequence[Record]) -> list[Record]:
    """Keep of each path the last revision, and no prompts."""
    latest = {record.path: record for record in ordered if not isinstance(record.event, PromptPart)}
    return sorted(latest.values(), key=lambda record: record.sequence)


def _ending(ordered: Sequence[Record]) -> RunFinished | None:
    """Return how the run ended, unless it was taken up again after that."""
    ends = [r.event for r in ordered if isinstance(r.event, RunFinished | RunResumed)]
    return ends[-1] if ends and isinstance(ends[-1], RunFinished) else None


def _happenings(records: Sequence[Record]) -> list[tuple[Place, Happening]]:
    return [(place_of(r.path), r.event) for r in records if isinstance(r.event, Happening)]


def _memory(record: Record) -> MemoryWritten | MemoryCleared | None:
    return record.event if isinstance(record.event, MemoryWritten | MemoryCleared) else None


def _begun(ordered: Sequence[Record]) -> float:
    """Return when the run began; what a fork copied from its parent is older."""
    return next((r.at for r in ordered if isinstance(r.event, RunStarted)), ordered[0].at if ordered else 0.0)


def _reused(current: Sequence[Record], begun: float) -> list[Record]:
    """Return what was on record when the last process began: copied by a fork, or of an earlier process."""
    last = max((record.epoch for record in current), default=0)
    return [record for record in current if record.at < begun or record.epoch < last]


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a value that should be a JSON object, or an empty one where it is none."""
    return value if isinstance(value, Mapping) else {}  # pyright: ignore[reportUnknownVariableType]


def _rounds(records: Sequence[Record]) -> list[Round]:
    groups: dict[tuple[int, int], list[Record]] = {}
    for record in records:
        place = place_of(record.path)
        if place.round or place.part or place.step or place.subtask or isinstance(record.event, PlanMade):
            groups.setdefault((place.team, place.round), []).append(record)
    # What teams do by themselves comes before what they do together.
    order = sorted(groups, key=lambda place: (place[1], place[0] == 0, place[0]))
    return [_round(team, number, groups[team, number]) for team, number in order]


def _round(team: int, number: int, records: Sequence[Record]) -> Round:
    parts = {part: [r for r in records if place_of(r.path).part == part] for part in PARTS}
    check = next((r.event for r in parts["check"] if isinstance(r.event, StepRecorded)), None)
    return Round(
        team=team,
        number=number,
        planning=_tries(parts["plan"]),
        # A team rehearses the plan that all agreed on, and not its own.
        subtasks=_subtasks([] if team else planned(records, number), records),
        answering=_tries(parts["answer"]),
        meetings=tell_meetings(records),
        agreed=next((r.event for r in records if isinstance(r.event, ActionsAgreed)), None),
        check=mapping(check.result) if check else None,
        finished=next((r.event for r in reversed(records) if isinstance(r.event, RoundFinished)), None),
        since=records[-1].at,
    )


def _subtasks(plan: Sequence[Planned], records: Sequence[Record]) -> list[Subtask]:
    known = {item.id: item for line in plan for item in line.items()}
    groups: dict[str, list[Record]] = {id: [] for id in known}
    for record in records:
        event, place = record.event, place_of(record.path)
        id = event.id if isinstance(event, SubtaskStarted | SubtaskFinished) else place.subtask
        if id or place.step:
            groups.setdefault(id, []).append(record)
    return [_subtask(id, known.get(id), group) for id, group in groups.items()]


def _subtask(id: str, planned: Planned | None, records: Sequence[Record]) -> Subtask:
    started = next((r.event for r in records if isinstance(r.event, SubtaskStarted)), None)
    finished = next((r.event for r in reversed(records) if isinstance(r.event, SubtaskFinished)), None)
    steps: dict[int, list[Record]] = {}
    for record in records:
        if number := place_of(record.path).step:
            steps.setdefault(number, []).append(record)
    mending = [record for record in records if place_of(record.path).part == RECTIFY]
    status = finished.status if finished else "doing" if records else "todo"
    return Subtask(
        id=id,
        goal=planned.goal if planned else started.goal if started else "",
        milestone=planned.milestone if planned else "",
        depends_on=list(planned.depends_on) if planned else [],
        status="split" if planned and planned.parts else status,
        result=finished.result if finished else "",
        steps=[_step(number, group) for number, group in sorted(steps.items())],
        memory=[event for r in records if (event := _memory(r))],
        loop=next((r.event for r in records if isinstance(r.event, LoopBroken)), None),
        rectifying=_tries(mending),
        rectified=next((r.event for r in reversed(mending) if isinstance(r.event, PlanRectified)), None),
        since=records[-1].at if records else 0.0,
    )


def _step(number: int, records: Sequence[Record]) -> Step:
    return Step(
        number=number,
        tries=_tries(records),
        use=_tool_use(records),
        approval=next((r.event for r in reversed(records) if isinstance(r.event, ApprovalDecided)), None),
    )


def _tries(records: Sequence[Record]) -> list[Try]:
    models: dict[int, ModelCall] = {}
    gates: dict[int, Gated] = {}
    for record in records:
        if isinstance(record.event, Gated):
            gates[record.event.attempt] = record.event
        elif isinstance(record.event, StepRecorded) and record.event.step == "model":
            models[place_of(record.path).attempt or 1] = _model_call(record, record.event)
    return [
        Try(attempt=n, model=models.get(n), gate=gates.get(n)) for n in sorted(models.keys() | gates.keys())
    ]


def _calls(records: Sequence[Record]) -> list[ModelCall]:
    steps = [(r, r.event) for r in records if isinstance(r.event, StepRecorded)]
    return [_model_call(record, step) for record, step in steps if step.step == "model"]


def _model_call(record: Record, step: StepRecorded) -> ModelCall:
    result = mapping(step.result)
    return ModelCall(
        path=record.path,
        role=str(step.args.get("role", "model")),
        prompt=str(step.args.get("prompt", "")),
        text=str(result.get("text", "")),
        finish=str(result.get("finish", "")),
        usage=totals(entries([record])),
    )


def _tool_use(records: Sequence[Record]) -> ToolUse | None:
    for record in reversed(records):
        event = record.event
        if isinstance(event, EffectIntended):
            return _use(record, event.args, effect=True, result={}, seconds=0.0, pending=True)
        if isinstance(event, StepRecorded) and event.step in ("tool", "effect"):
            effect = event.step == "effect"
            result = mapping(event.result)
            return _use(
                record, event.args, effect=effect, result=result, seconds=event.seconds, assumed=event.assumed
            )
    return None


def _use(
    record: Record,
    args: Mapping[str, Any],
    *,
    effect: bool,
    result: Mapping[str, Any],
    seconds: float,
    assumed: bool = False,
    pending: bool = False,
) -> ToolUse:
    return ToolUse(
        path=record.path.split("!", 1)[0],
        tool=str(args.get("tool", "")),
        arguments=mapping(args.get("arguments")),
        effect=effect,
        ok=bool(result.get("ok", not pending)),
        text=str(result.get("text", "")),
        cut=bool(result.get("cut", False)),
        seconds=seconds,
        assumed=assumed,
        pending=pending,
    )
