"""What experience did in a run, as lines for every view of it.

Knows nothing of terminals or databases.
"""

from collections.abc import Mapping
from typing import TypeAlias

from plait.cli.words import count_text
from plait.events import (
    ExperienceStored,
    LessonRecalled,
    PipelineEnded,
    PipelineRecalled,
    WorkflowRecalled,
)

ExperienceEvent: TypeAlias = (
    PipelineRecalled | PipelineEnded | WorkflowRecalled | LessonRecalled | ExperienceStored
)
NOT_IN_USE: Mapping[str, str] = {
    "provisional": ", not used before a run succeeds with it",
    "quarantined": ", not used before you approve it",
}


def experience_line(event: ExperienceEvent) -> str:
    """Return what an event says to a reader."""
    match event:
        case PipelineRecalled():
            return f"recalled pipeline {event.experience} of {event.goal!r}"
        case PipelineEnded() if event.left:
            return f"pipeline {event.experience} led no further after {_calls(event.calls)}: {event.left}"
        case PipelineEnded():
            asked = (
                f"and asked a model {count_text(event.judged, 'time')}" if event.judged else "without a model"
            )
            return f"pipeline {event.experience} did it in {_calls(event.calls)}, {asked}"
        case ExperienceStored():
            verb = "learned again" if event.again else "learned"
            by = ", made by a model" if event.by_model else ""
            return f"{verb}: {event.of} {event.experience}{by}{NOT_IN_USE.get(event.status, '')}"
        case WorkflowRecalled():
            return f"recalled workflow {event.experience} of {event.goal!r} as a reference"
        case LessonRecalled():
            return f"recalled lesson {event.experience}: {event.text}"


def _calls(number: int) -> str:
    return count_text(number, "tool call")
