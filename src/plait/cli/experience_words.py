"""What experience did in a run, as lines for every view of it.

Knows nothing of terminals or databases.
"""

from typing import TypeAlias

from plait.cli.words import count_text
from plait.events import ExperienceStored, PipelineEnded, PipelineRecalled

ExperienceEvent: TypeAlias = PipelineRecalled | PipelineEnded | ExperienceStored


def experience_line(event: ExperienceEvent) -> str:
    """Return what an event says to a reader."""
    match event:
        case PipelineRecalled():
            return f"recalled pipeline {event.experience} of {event.goal!r}"
        case PipelineEnded() if event.left:
            return f"pipeline {event.experience} led no further after {_calls(event.calls)}: {event.left}"
        case PipelineEnded():
            return f"pipeline {event.experience} did it in {_calls(event.calls)}, without a model"
        case ExperienceStored():
            verb = "learned again" if event.again else "learned"
            return f"{verb}: {event.of} {event.experience}"


def _calls(number: int) -> str:
    return count_text(number, "tool call")
