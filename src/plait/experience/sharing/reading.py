"""Reads experience that somebody else wrote: every line is checked before anything of it is kept.

A file is a header line and a record a line, both JSON. Nothing in it is believed: keys are worked out anew,
tools are those that are called, counts begin at nothing, and every record comes as `quarantined` (design,
section 8: trust). Knows nothing of where a file lies or what becomes of its records.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, BinaryIO, cast, get_args

from plait.errors import UserError
from plait.experience.consolidation.goal_words import GoalWords
from plait.experience.consolidation.lessons import Lesson
from plait.experience.consolidation.making import lessons_from_json, lessons_json
from plait.experience.consolidation.workflow import Workflow
from plait.experience.exploitation.recall import TOOLS_KEY
from plait.experience.pipelines.paper_form import as_json, from_json
from plait.experience.pipelines.pipeline import InWords, Pipeline, Slot
from plait.experience.pipelines.soundness import problems_of, shown
from plait.experience.record import DEFAULT_MEMORY, Experience, ExperienceKind
from plait.experience.sharing.lines import check_header, lines_of, object_of
from plait.experience.words.derive import Way, worked
from plait.experience.words.goals import key_of, masked
from plait.journal import JSON, JSONObject

KINDS: tuple[ExperienceKind, ...] = get_args(ExperienceKind)
MOST_GOAL = 2_000
"""Characters."""
MOST_TOOLS = 64
MOST_NAME = 200
"""Characters of the name of a tool or model."""
_FIELDS = frozenset({"kind", "domain", "goal", "tools", "model", "content"})
_DOMAIN = re.compile(r"[A-Za-z][\w .-]{0,59}")
_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_SOME_DAY = date(2024, 3, 14)
_PHASE = re.compile(r"[\w-]{1,60}")


@dataclass(frozen=True, kw_only=True)
class ImportOrigin:
    """Where records come from, and where they go."""

    source: str
    memory: str = DEFAULT_MEMORY
    created: float
    """Unix time in seconds at which they came."""


@dataclass(kw_only=True)
class ReadFile:
    """What a file holds."""

    records: list[Experience] = field(default_factory=list[Experience])
    problems: list[str] = field(default_factory=list[str])
    """One line for each line of the file that is no sound record: its number, and what is wrong."""


def read_file(stream: BinaryIO, origin: ImportOrigin) -> ReadFile:
    """Read all records of a file; a line that is not sound hides no other.

    Raises:
        UserError: it is no file of experience, or larger than one may be; the message names no file.
    """
    found, seen = ReadFile(), dict[tuple[Any, ...], int]()
    for number, line in lines_of(stream):
        if number == 1:
            check_header(line)
        elif line.strip():
            try:
                record = read_record(line, origin)
                same = record.kind, record.domain, record.key, tuple(sorted(record.tools))
                if (first := seen.setdefault(same, number)) != number:
                    raise UserError(f"it is for the same goal and tools as line {first}")
                found.records.append(record)
            except UserError as error:
                found.problems.append(f"line {number}: {error.message}")
    return found


def read_record(line: bytes, origin: ImportOrigin) -> Experience:
    """Read one line.

    Raises:
        UserError: it is no sound record; the message says why.
    """
    fields = object_of(line)
    if strange := sorted(fields.keys() ^ _FIELDS):
        what = "is missing" if strange[0] in _FIELDS else "is not known"
        raise UserError(f"the field {shown(strange[0])} {what}")
    kind = _kind(fields["kind"])
    domain, goal = (_text(fields[name], f"its {name}", MOST_GOAL) for name in ("domain", "goal"))
    if not _DOMAIN.fullmatch(domain):
        raise UserError(f"its domain {shown(domain)} is no name of a domain")
    tools = _tools(fields["tools"])
    content = _content(kind, goal, tools, fields["content"])
    return Experience(
        id=hashlib.blake2b(b"\0".join([origin.source.encode(), line.strip()]), digest_size=8).hexdigest(),
        memory=origin.memory,
        kind=kind,
        domain=domain,
        goal=goal,
        key=key_of(goal),
        tools=tools,
        content=content,
        status="quarantined",
        run_id="",
        model=_name(fields["model"], "its model", empty=True),
        source=origin.source,
        created=origin.created,
    )


def untold(pipeline: Pipeline) -> list[Slot]:
    """Return the slots whose example does not follow from the goal that the pipeline was learned from.

    Such a slot would be a constant in disguise: a part of its example is used for every goal.
    """
    words, spans = GoalWords(pipeline.purpose), [span.text for span in masked(pipeline.purpose).spans]
    return [slot for slot in pipeline.slots if not _follows(slot, words, spans)]


def _follows(slot: Slot, words: GoalWords, spans: Sequence[str]) -> bool:
    if slot.ways:
        return all(_leads_to(way, slot.example, spans) for way in slot.ways)
    said = slot.said.casefold()
    if slot.literal:
        return said in words.goal.casefold()
    found = words.worked_out(slot.example)
    return found is not None and found.text.casefold() == said


def _leads_to(way: Way, example: str, spans: Sequence[str]) -> bool:
    """Whether a way leads to a value, but for which day it was."""
    if any(place >= len(spans) for place in way.spans):
        return False
    words = [spans[place] for place in way.spans]
    if not way.how.startswith(("day", "today", "back")):
        return worked(way, words, example, lambda _: None) == example
    made = worked(way, words, example, lambda _: _SOME_DAY)
    return (
        made is not None and bool(_MOMENT.fullmatch(example)) and _DAY.sub("", made) == _DAY.sub("", example)
    )


def _text(value: object, name: str, most: int, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (empty or value.strip()):
        raise UserError(f"{name} must be a text")
    if len(value) > most:
        raise UserError(f"{name} has {len(value):,} characters; at most {most:,} are read")
    return value


def _name(value: object, name: str, *, empty: bool = False) -> str:
    """Return a name, which stands on one line wherever it is shown."""
    found = _text(value, name, MOST_NAME, empty=empty)
    if not found.isprintable():
        raise UserError(f"{name} must be one line")
    return found


def _kind(value: object) -> ExperienceKind:
    for kind in KINDS:
        if value == kind:
            return kind
    raise UserError(f"its kind is {shown(value)}; it must be one of {', '.join(KINDS)}")


def _tools(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(cast("list[object]", value)) > MOST_TOOLS:
        raise UserError(f"its tools must be a list of at most {MOST_TOOLS} names")
    names = tuple(_name(name, "the name of a tool") for name in cast("list[object]", value))
    if len(set(names)) != len(names):
        raise UserError("its tools have a name twice")
    return names


def _content(kind: ExperienceKind, goal: str, tools: Sequence[str], value: object) -> JSONObject:
    """Return the content of a record as it is kept: read and written anew, so that nothing else is in it."""
    if not isinstance(value, dict):
        raise UserError("its content must be an object")
    content = cast("Mapping[str, JSON]", value)
    if kind == "pipeline":
        return _pipeline(goal, tools, content)
    if kind == "workflow":
        workflow = Workflow.from_json(content)
        if workflow.goal != goal:
            raise UserError("its workflow is for another goal than the record says")
        if {tool for step in workflow.steps for tool in step.tools} != set(tools):
            raise UserError("its tools are not those of its steps")
        return workflow.as_json()
    return _lesson(tools, content)


def _lesson(tools: Sequence[str], content: Mapping[str, JSON]) -> JSONObject:
    if "phases" not in content:
        lesson = Lesson.from_json(content)
        if list(lesson.tools) != list(tools):
            raise UserError("its tools are not those that it speaks of")
        return lesson.as_json()
    lessons = lessons_from_json(content)
    # The name of a phase is shown to a model as it is.
    if tools or not all(_PHASE.fullmatch(lesson.phase) and type(lesson.times) is int for lesson in lessons):
        raise UserError("it is no lesson of phases: a name or a number in it is none")
    return lessons_json(lessons)


def _pipeline(goal: str, tools: Sequence[str], content: Mapping[str, JSON]) -> JSONObject:
    pipeline = from_json(content)
    if pipeline.purpose != goal:
        raise UserError("its pipeline is for another goal than the record says")
    if problems := problems_of(pipeline, None):
        raise UserError(problems[0])
    if worded := [edge for edge in pipeline.edges if isinstance(edge.condition, InWords)]:
        # A model would read them, and they may tell more than the goal does.
        raise UserError(f"only words decide whether edge {shown(worded[0].name)} is taken: it is not shared")
    if slots := untold(pipeline):
        raise UserError(f"the goal does not say {shown(slots[0].example)} of slot {shown(slots[0].name)}")
    if list(dict.fromkeys(node.tool for node in pipeline.calls)) != list(tools):
        raise UserError("its tools are not those that it calls")
    digests = content.get(TOOLS_KEY)
    if not isinstance(digests, Mapping) or set(digests) != set(tools):
        raise UserError(f"{TOOLS_KEY} must have a digest for each of its tools")
    if not all(isinstance(one, str) and _DIGEST.fullmatch(one) for one in digests.values()):
        raise UserError(f"{TOOLS_KEY} must be hexadecimal digits")
    return {**as_json(pipeline), TOOLS_KEY: dict(digests)}
