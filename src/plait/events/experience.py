"""Experience: what was recalled, how it served, and what was learned (ICE).

Knows nothing of how a memory is kept.
"""

from dataclasses import dataclass
from typing import Literal

from plait.events.data import Data


@dataclass(frozen=True, kw_only=True)
class PipelineRecalled:
    """A stored pipeline fits the goal at this place (ICE, section 3.2, Execution-Exploit)."""

    kind: Literal["pipeline_recalled"] = "pipeline_recalled"
    experience: str
    """Id of its record."""
    goal: str
    """The goal it was learned from."""
    slots: Data
    """What the goal says in each slot."""


@dataclass(frozen=True, kw_only=True)
class PipelineEnded:
    """A pipeline was walked to its end, or left before."""

    kind: Literal["pipeline_ended"] = "pipeline_ended"
    experience: str
    calls: int
    """Tool calls it made."""
    left: str
    """Why the agent had to go on from there; empty where it came to its end."""
    judged: int = 0
    """Branches that only words decide, and a model judged."""


@dataclass(frozen=True, kw_only=True)
class ExperienceStored:
    """A run's workflow, pipeline or lesson was stored (ICE, section 3, Consolidate)."""

    kind: Literal["experience_stored"] = "experience_stored"
    experience: str
    """Id of the record."""
    of: Literal["workflow", "pipeline", "lesson"]
    goal: str
    again: bool
    """Whether it took the place of one that was learned before."""
    status: str = "active"
    """What it may be used for: provisional where the run failed, quarantined where it waits for approval."""
    by_model: bool = False
    """Whether a model made the pipeline, instead of the compiler."""


@dataclass(frozen=True, kw_only=True)
class WorkflowRecalled:
    """The workflow of a similar goal is a reference at this place (ICE, section 3.1, Plan-Exploit)."""

    kind: Literal["workflow_recalled"] = "workflow_recalled"
    experience: str
    """Id of its record."""
    goal: str
    """That it was learned from."""
    alike: float
    """Cosine of the two goals without their values, 1 for equal ones."""


@dataclass(frozen=True, kw_only=True)
class LessonRecalled:
    """A warning from an earlier failure is shown at this place."""

    kind: Literal["lesson_recalled"] = "lesson_recalled"
    experience: str
    """Id of its record."""
    text: str
