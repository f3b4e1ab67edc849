"""Plain lines of a run, one per happening, for logs, pipes and continuous integration.

Knows nothing of terminals: no colours, no control codes, each line flushed at once. It never raises into
the run: when nobody reads any more it falls silent.
"""

import sys
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

from plait.cli.experience_words import experience_line
from plait.cli.plan_words import plan_lines, rectified_text
from plait.cli.story import Place
from plait.cli.teams_plain import team_line, team_place
from plait.cli.telling import mapping, place_of, tell
from plait.cli.words import limits_text, one_line, score_text, seconds_text, usage_text, value_text
from plait.errors import UserError
from plait.events import (
    ApprovalDecided,
    BudgetReached,
    DecisionMade,
    EffectRehearsed,
    Event,
    ExperienceStored,
    Gated,
    LessonRecalled,
    LoopBroken,
    MemoryCleared,
    MemoryWritten,
    ModelRetried,
    Noted,
    PipelineEnded,
    PipelineRecalled,
    PlanMade,
    PlanRectified,
    PromptPart,
    Record,
    RoundFinished,
    RoundStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    StepDiverged,
    StepRecorded,
    SubtaskFinished,
    SubtaskStarted,
    WorkflowRecalled,
)
from plait.models.callform import format_call

LINE_CHARACTERS = 300


class PlainDisplay:
    """Writes one line per happening, with the seconds since the run (or its resumption) began."""

    def __init__(self, earlier: Iterable[Record] = (), *, stream: TextIO | None = None) -> None:
        self._records = list(earlier)
        self._stream = stream or sys.stderr
        self._first: float | None = None
        self._silent = False
        self._held: list[str] = []
        """How the run begins, until it is sure that it does."""

    def __enter__(self) -> "PlainDisplay":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A run that what the user gave keeps from beginning is not kept: its id would lead nowhere.
        if not isinstance(error, UserError):
            self._write_held()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Leave the terminal to a question; plain lines have nothing to clear."""
        yield

    def __call__(self, record: Record) -> None:
        """Write what a new record says, if it says something to a reader."""
        if isinstance(record.event, PromptPart):
            return
        self._records.append(record)
        self._first = record.at if self._first is None else self._first
        if record.at < self._first:
            return  # A fork's copy of what its parent did, and told.
        lines = list(lines_of(record))
        if isinstance(record.event, RunFinished):
            lines.append(usage_text(tell(self._records).usage))
        self._held += [
            f"{record.at - self._first:8.1f} s  {one_line(text, LINE_CHARACTERS)}\n" for text in lines
        ]
        if not isinstance(record.event, RunStarted | Noted):
            self._write_held()

    def _write_held(self) -> None:
        for text in self._held:
            self._write(text)
        self._held = []

    def _write(self, text: str) -> None:
        if self._silent:
            return
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        try:
            self._stream.write(text.encode(encoding, "replace").decode(encoding))
            self._stream.flush()
        except (OSError, ValueError):  # A closed pipe or stream; the run goes on, unseen.
            self._silent = True


def lines_of(record: Record) -> Iterator[str]:
    """Return what a record says to a reader: no line, one, or several for a plan."""
    event, place = record.event, place_of(record.path)
    match event:
        case RunStarted():
            yield f"run {record.run_id}: {event.task}"
            budget = limits_text(event.options) or "no limits"
            yield f"model {event.options.get('model', 'unknown')}, {budget}"
        case RunResumed():
            yield f"run {record.run_id} resumed; what is on record is not done again"
        case PlanMade():
            yield from plan_lines(event.subtasks)
        case PlanRectified():
            yield f"planner: {rectified_text(event)}"
            yield from plan_lines(event.subtasks)
        case RunFinished():
            message = event.result.get("message") or event.result.get("answer") or ""
            yield f"{event.status.replace('_', ' ')}: {value_text(message)}"
        case _:
            if text := _said(event, place):
                yield _labelled(text, event, place, record.path)


def _labelled(text: str, event: Event, place: Place, path: str) -> str:
    if team_line(event):
        return text  # It names its team.
    # A gate names its role, which says where it stands in the round.
    label = "" if isinstance(event, Gated) and place.part and not place.subtask else place.label
    if isinstance(event, Gated) and (team := team_place(path)):
        label = team
    return f"{label}: {text}" if label else text


def _said(event: Event, place: Place) -> str:
    """Return what happened at a place of the run."""
    if line := team_line(event):
        return line
    match event:
        case RoundStarted():
            return f"round {event.round}"
        case RoundFinished():
            return f"round {event.round} {'passed' if event.passed else 'did not pass'}"
        case SubtaskStarted():
            return f"doing: {event.goal}"
        case SubtaskFinished():
            prefix = "" if place.subtask else f"{event.id}: "
            return f"{prefix}{event.status}: {event.result}"
        case Gated():
            return _gated(event)
        case StepRecorded() if event.step in ("tool", "effect"):
            call = format_call(event.args.get("tool", ""), event.args.get("arguments", {}))
            result = mapping(event.result)
            return f"{'ok' if result.get('ok', True) else 'failed'}: {call} -> {result.get('text', '')}"
        case _:
            return _noted(event)


def _gated(event: Gated) -> str:
    why = "; ".join(event.problems) or event.critique
    head = f"{event.role} {score_text(event.score)}, {event.verdict}"
    if event.verdict == "passed":
        # A plan is told item by item, and what teams wrote when its phase is over.
        return head if isinstance(event.output, list | Mapping) else f"{head}: {value_text(event.output)}"
    return f"{head}: {why}"


def _noted(event: Event) -> str:
    match event:
        case MemoryWritten():
            return f"{event.memory.replace('_', '-')} memory takes in: {event.entry}"
        case MemoryCleared():
            return f"{event.memory.replace('_', '-')} memory cleared"
        case ApprovalDecided() if not event.allowed:
            return f"not allowed ({event.by}): {format_call(event.tool, event.arguments)}"
        case EffectRehearsed():
            return f"would call {format_call(event.tool, event.arguments)}"
        case LoopBroken():
            return f"loop broken: {event.call} came {event.times} times"
        case BudgetReached():
            return f"budget reached: {event.message}"
        case ModelRetried():
            return f"model call failed, again in {seconds_text(event.delay_seconds)}: {event.reason}"
        case StepDiverged():
            return "asked with other arguments than on record, and done anew"
        case DecisionMade():
            return f"decided: {event.decision} for {event.at}"
        case (
            PipelineRecalled() | PipelineEnded() | WorkflowRecalled() | LessonRecalled() | ExperienceStored()
        ):
            return experience_line(event)
        case Noted():
            return event.text
        case _:
            return ""
