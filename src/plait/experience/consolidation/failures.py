"""From the events of a run to its lessons: calls that failed, and what worked instead, without a model.

Calls are compared with later ones of the same tool in the same subtask. Where the two differ in nothing
that can be said without their values there is no lesson. Pure; knows nothing of memories.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from plait.errors import ReplyError
from plait.events import EffectRehearsed, Gated, Record, StepRecorded, SubtaskFinished, SubtaskStarted
from plait.experience.consolidation.lessons import MOST_PARAMETERS, CallFailure, Lesson, LessonArgument, Value
from plait.experience.pipelines.results import cell_text, rows_of
from plait.experience.words.goals import masked
from plait.models.callform import parse_call
from plait.models.callspec import CallSpec
from plait.models.schema import is_identifier
from plait.tools.arguments import Schemas

MOST_LESSONS = 8
"""Of one run."""
MOST_RECORDS = 400
"""Of one subtask; with more it went in circles, and the first say enough."""
VAGUE: Sequence[Value] = ("a name", "a word", "words")
"""Kinds of values between which the line is too thin to follow."""
FAILED_OFTEN = 2
"""Calls of a tool without one that worked, in a subtask that failed."""

_PLACE = re.compile(r"(?:^|/)((round-\d+/(?:team-\d+/act/)?)subtask-[^/!]+)(?=[/!]|$)")
"""Of a subtask; what a team went wrong at in a rehearsal is a warning too."""
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*|\d\d:\d\d(?::\d\d)?")


@dataclass(frozen=True, kw_only=True)
class _Try:
    """A call that was made, or that its gate did not let through."""

    tool: str
    arguments: Mapping[str, Any]
    outcome: CallFailure | Literal["worked"]
    observation: str = ""

    @cached_property
    def cells(self) -> frozenset[str]:
        """What its result has in its fields."""
        return frozenset(cell for row in rows_of(self.observation) for cell in row.values())


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A lesson, and what it was learned at."""

    goal: str
    """Of the subtask."""
    lesson: Lesson


def lessons_of(task: str, records: Sequence[Record], tools: Schemas) -> list[Learned]:
    """Return what a run of a tool task teaches by its failures, each once for a tool and a kind of failure.

    Those whose call was mended come first.

    Args:
        task: As the user said it.
        records: Of the run.
        tools: What the tools may be called with; of other tools there is no lesson.
    """
    learned: dict[tuple[str, CallFailure], Learned] = {}
    specs = [CallSpec(name=name, description="", parameters=schema) for name, schema in tools.items()]
    for leaf in _leaves(records):
        tries = [each for record in leaf[:MOST_RECORDS] for each in _tries(record, specs, tools)]
        goal = next((r.event.goal for r in leaf if isinstance(r.event, SubtaskStarted)), task)
        succeeded = any(isinstance(r.event, SubtaskFinished) and r.event.status == "succeeded" for r in leaf)
        for lesson in _compared(task, tries) if succeeded else _hopeless(task, tries):
            if lesson.fits(tools):
                learned.setdefault((lesson.tool, lesson.failure), Learned(goal=goal, lesson=lesson))
    mended_first = sorted(learned.values(), key=lambda each: not each.lesson.mended)
    return mended_first[:MOST_LESSONS]


def _leaves(records: Sequence[Record]) -> list[list[Record]]:
    """Return the records of each subtask that came to an end, in order; of each path the last.

    After an effect that only seemed to be done a team looked at a world that was not there.
    """
    last: dict[str, Record] = {}
    for record in sorted(records, key=lambda record: (record.sequence, record.revision)):
        last[record.path] = record
    leaves: dict[str, list[Record]] = {}
    rehearsed: set[str] = set()
    for record in sorted(last.values(), key=lambda record: record.sequence):
        place = _PLACE.search(record.path)
        if place and isinstance(record.event, EffectRehearsed):
            rehearsed.add(place[2])
        if place and place[2] not in rehearsed:
            leaves.setdefault(place[1], []).append(record)
    return [leaf for leaf in leaves.values() if any(isinstance(r.event, SubtaskFinished) for r in leaf)]


def _tries(record: Record, specs: Sequence[CallSpec], tools: Schemas) -> Iterator[_Try]:
    event = record.event
    if (
        isinstance(event, StepRecorded)
        and event.step in ("tool", "effect")
        and event.args.get("tool") in tools
    ):
        result = cast("Mapping[str, Any]", event.result or {})
        if not result or result.get("refused"):
            return  # Nobody knows what it did, or the user did not allow it: that is no failure of the call.
        text = str(result.get("text", ""))
        found = event.step == "effect" or bool(rows_of(text))
        outcome = "failed" if not result.get("ok") else "worked" if found else "found nothing"
        arguments = cast("Mapping[str, Any]", event.args.get("arguments", {}))
        yield _Try(tool=str(event.args["tool"]), arguments=arguments, outcome=outcome, observation=text)
    elif isinstance(event, Gated) and event.role == "tool" and event.verdict == "revised" and event.problems:
        try:
            call = parse_call(str(event.output), specs).call
        except ReplyError:
            return  # It was no call that could be made.
        if call.name in tools:
            yield _Try(tool=call.name, arguments=call.arguments, outcome="refused")


def _compared(task: str, tries: Sequence[_Try]) -> Iterator[Lesson]:
    """Yield what the first try of a tool that worked did otherwise than those before it."""
    for number, failed in enumerate(tries):
        if failed.outcome == "worked":
            continue
        later = (at for at in range(number + 1, len(tries)) if tries[at].tool == failed.tool)
        right = next((at for at in later if tries[at].outcome == "worked"), None)
        if right is not None and (lesson := _difference(task, tries, number, right)) is not None:
            yield lesson


def _difference(task: str, tries: Sequence[_Try], wrong: int, right: int) -> Lesson | None:
    """Return in what two tries of a tool differ; None where that cannot be said without values."""
    failed, worked = tries[wrong], tries[right]
    if failed.outcome == "worked":
        return None
    before, after = failed.arguments, worked.arguments
    changed = [name for name in (*before, *after) if before.get(name) != after.get(name)]
    changed = list(dict.fromkeys(changed))
    if failed.outcome == "refused":
        changed = [name for name in changed if name in before and _made_up(task, before[name], tries[:wrong])]
    arguments = [_argument(task, name, before[name], tries[:wrong]) for name in changed if name in before]
    instead = [_argument(task, name, after[name], tries[:right]) for name in changed if name in after]
    if not changed or max(len(arguments), len(instead)) > MOST_PARAMETERS:
        return None
    if not all(_tells(each, arguments, failed.outcome) for each in instead):
        return None
    return Lesson(tool=failed.tool, failure=failed.outcome, arguments=arguments, worked=instead)


def _tells(worked: LessonArgument, arguments: Sequence[LessonArgument], failure: CallFailure) -> bool:
    """Whether an argument says without its value what was better about it.

    A value of the same kind and from nowhere may have been right for another thing only.
    """
    if worked.source or failure == "refused":
        return bool(worked.source)
    return worked.value not in VAGUE and (worked.name, worked.value) not in (
        (each.name, each.value) for each in arguments
    )


def _hopeless(task: str, tries: Sequence[_Try]) -> Iterator[Lesson]:
    """Yield the tools that were called in vain in a subtask that failed."""
    for tool in dict.fromkeys(each.tool for each in tries):
        own = [each for each in tries if each.tool == tool and each.outcome != "refused"]
        if len(own) < FAILED_OFTEN or any(each.outcome == "worked" for each in own):
            continue
        last = own[-1]
        arguments = [_argument(task, name, value, tries) for name, value in last.arguments.items()]
        failure: CallFailure = "failed" if last.outcome == "failed" else "found nothing"
        yield Lesson(tool=tool, failure=failure, arguments=arguments[:MOST_PARAMETERS], mended=False)


def _made_up(task: str, value: Any, before: Sequence[_Try]) -> bool:
    """Whether a text stands neither in the task nor in what was seen."""
    text = cell_text(value).casefold()
    seen = "\n".join([task, *(each.observation for each in before)]).casefold()
    return bool(text) and text not in seen


def _argument(task: str, name: str, value: Any, before: Sequence[_Try]) -> LessonArgument:
    return LessonArgument(name=name, value=_kind(task, name, value), source=_source(value, task, before))


def _source(value: Any, task: str, before: Sequence[_Try]) -> str:
    """Return the tool that returned a value as a whole field; empty where the task says it too."""
    text = cell_text(value)
    if not text or text.casefold() in task.casefold():
        return ""
    for each in reversed(before):
        if text in each.cells:
            return each.tool
    return ""


def _kind(task: str, name: str, value: Any) -> Value:
    match value:
        case bool() | int() | float() | None:
            return "a number"
        case str():
            return _kind_of_text(task, name, value.strip())
        case _:
            return "a list"


def _kind_of_text(task: str, name: str, text: str) -> Value:
    if is_identifier(name):
        return "an identifier"
    forms: Sequence[tuple[re.Pattern[str], Value]] = (
        (_ADDRESS, "an address"),
        (_TIME, "a time"),
        (_DATE, "a date"),
        (re.compile(r"\d+(?:[.,]\d+)?"), "a number"),
    )
    for form, kind in forms:
        if form.fullmatch(text):
            return kind
    names = [span.text.casefold() for span in masked(task).spans if span.kind == "name"]
    if text.casefold() in names:
        return "a name"
    return "a word" if len(text.split()) == 1 else "words"
