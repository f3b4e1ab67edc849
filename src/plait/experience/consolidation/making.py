"""Experience of what teams make: the chain that ended well as a workflow, and phases that failed as lessons.

A chain's phases are its plan, so a workflow tells which phase gave what, and what was decided in a line.
Knows nothing of teams' dialogues, nor of memories.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast, get_args

from plait.agents.gate import CUT, NO_USABLE_REPLY
from plait.errors import UserError
from plait.events import Gated, Record, TeamDropped
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.words.quoting import with_values
from plait.journal import JSON, JSONObject

LINE_CHARACTERS = 100
"""Of what was decided in one phase."""
FILES = 6
MOST_PHASES = 24
OFTEN = 2
"""Replies cut in one phase from which that is more than an accident."""
PhaseFailure: TypeAlias = Literal["cut", "dropped"]

_WRITING = re.compile(r"(?:^|/)team-\d+/([^/!]+)/round-\d+/assistant(?=[/!]|$)")
_MARKUP = re.compile(r"^(?:[-*+>#\s]|\d+[.)]\s)+")


@dataclass(frozen=True, kw_only=True)
class PhaseProduct:
    """What one phase's product became in the end."""

    phase: str
    product: str
    text: str = ""
    files: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lines of each file."""
    result: bool = False
    """Whether it is what the run was for: then only its size is told."""


def workflow_of(task: str, made: Sequence[PhaseProduct]) -> Workflow | None:
    """Return the workflow of a chain: its phases in order, each with what was decided, a line each.

    Args:
        task: As the user said it.
        made: Of every phase that the chain came through, in order; only the first of a product tells it.

    Returns:
        None where nothing was made.
    """
    told: set[str] = set()
    steps: list[WorkflowStep] = []
    for each in made[:MOST_PHASES]:
        line = f"{each.phase}: {each.product} again" if each.product in told else _line(each)
        told.add(each.product)
        steps.append(WorkflowStep(goal=line))
    return Workflow(goal=task, steps=tuple(steps)) if steps else None


def _line(made: PhaseProduct) -> str:
    if made.files:
        listed = [f"{path} ({lines} lines)" for path, lines in list(made.files.items())[:FILES]]
        more = [f"{len(made.files) - FILES} more"] if len(made.files) > FILES else []
        return f"{made.phase}: {', '.join([*listed, *more])}"
    if made.result:
        return f"{made.phase}: {len(made.text.split())} words"
    lines = [line for line in (_MARKUP.sub("", line).strip() for line in made.text.splitlines()) if line]
    first = with_values(lines[0], {}, LINE_CHARACTERS) if lines else made.product
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return f"{made.phase}: {first}{more}"


@dataclass(frozen=True, kw_only=True)
class PhaseLesson:
    """What went wrong in a phase of a run."""

    phase: str
    failure: PhaseFailure
    times: int

    @property
    def text(self) -> str:
        """The lesson as a line that begins with the phase's name."""
        if self.failure == "cut":
            return f"{self.phase}: {self.times} replies were cut at their limit; write less."
        teams = "a team" if self.times == 1 else f"{self.times} teams"
        return f"{self.phase}: {teams} gave no reply that could be used; keep to the form."


def phase_lessons(records: Sequence[Record]) -> list[PhaseLesson]:
    """Return what the phases of a run teach by their failures, also those of teams that lost.

    A team that stalled or had no budget or model left says nothing of its phase.
    """
    last = {record.path: record for record in sorted(records, key=lambda record: record.revision)}
    cut, dropped = Counter[str](), Counter[str]()
    for record in last.values():
        event, place = record.event, _WRITING.search(record.path)
        if isinstance(event, Gated) and place and any(problem.startswith(CUT) for problem in event.problems):
            cut[place[1]] += 1
        elif isinstance(event, TeamDropped) and event.reason.startswith(NO_USABLE_REPLY):
            dropped[event.phase] += 1
    lessons = [PhaseLesson(phase=name, failure="cut", times=n) for name, n in cut.items() if n >= OFTEN]
    lessons += [PhaseLesson(phase=name, failure="dropped", times=n) for name, n in dropped.items()]
    return lessons


def lessons_json(lessons: Sequence[PhaseLesson]) -> JSONObject:
    """Return lessons of phases as one record keeps them."""
    return {
        "phases": [{"phase": each.phase, "failure": each.failure, "times": each.times} for each in lessons]
    }


def lessons_from_json(value: JSON) -> list[PhaseLesson]:
    """Read what `lessons_json` gave.

    Raises:
        UserError: these are no lessons.
    """
    try:
        listed = cast("Sequence[Mapping[str, Any]]", cast("Mapping[str, Any]", value)["phases"])
        lessons = [PhaseLesson(**each) for each in listed[:MOST_PHASES]]
        if any(
            each.failure not in get_args(PhaseFailure) or not 0 < int(each.times) < 10_000 for each in lessons
        ):
            raise ValueError("failure")
        return lessons
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"no lesson can be read: {ascii(str(error))[:60]}; export it anew") from error
