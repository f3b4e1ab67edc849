"""The typed events of a run: the published, versioned schema of the one append-only log.

Knows nothing of how events are stored or shown. Everything that looks at a run (resume, replay, the
terminal, statistics) reads these and nothing else. A field is only ever added, with a default; any
other change raises `SCHEMA_VERSION` and comes with a migration.
"""

from dataclasses import dataclass
from typing import TypeAlias

from plait.events.data import SCHEMA_VERSION, Data
from plait.events.experience import (
    ExperienceStored,
    LessonRecalled,
    PipelineEnded,
    PipelineRecalled,
    WorkflowRecalled,
)
from plait.events.meetings import (
    ActionsAgreed,
    EffectRehearsed,
    GroupsFormed,
    MeetingFinished,
    MeetingStarted,
    MergeRefused,
    SolutionPruned,
    SolutionRated,
    SolutionsMerged,
)
from plait.events.reflection import (
    Gated,
    LoopBroken,
    MemoryCleared,
    MemoryWritten,
    PlanMade,
    PlanRectified,
    RoundFinished,
    RoundStarted,
    SubtaskFinished,
    SubtaskStarted,
)
from plait.events.run import (
    BudgetReached,
    DecisionMade,
    FeedbackGiven,
    Noted,
    RunFinished,
    RunResumed,
    RunStarted,
)
from plait.events.steps import (
    ApprovalDecided,
    EffectIntended,
    ModelRetried,
    PromptPart,
    StepDiverged,
    StepRecorded,
    TextsEmbedded,
)
from plait.events.teams import (
    Instructed,
    PhaseFinished,
    PhaseStarted,
    TeamDropped,
    TeamFinished,
    TeamStarted,
)

__all__ = [
    "SCHEMA_VERSION",
    "ActionsAgreed",
    "ApprovalDecided",
    "BudgetReached",
    "Data",
    "DecisionMade",
    "EffectIntended",
    "EffectRehearsed",
    "Event",
    "ExperienceStored",
    "FeedbackGiven",
    "Gated",
    "GroupsFormed",
    "Instructed",
    "LessonRecalled",
    "LoopBroken",
    "MeetingFinished",
    "MeetingStarted",
    "MemoryCleared",
    "MemoryWritten",
    "MergeRefused",
    "ModelRetried",
    "Noted",
    "PhaseFinished",
    "PhaseStarted",
    "PipelineEnded",
    "PipelineRecalled",
    "PlanMade",
    "PlanRectified",
    "PromptPart",
    "Record",
    "RoundFinished",
    "RoundStarted",
    "RunFinished",
    "RunResumed",
    "RunStarted",
    "SolutionPruned",
    "SolutionRated",
    "SolutionsMerged",
    "StepDiverged",
    "StepRecorded",
    "SubtaskFinished",
    "SubtaskStarted",
    "TeamDropped",
    "TeamFinished",
    "TeamStarted",
    "TextsEmbedded",
    "WorkflowRecalled",
]

Event: TypeAlias = (
    RunStarted
    | RunResumed
    | RunFinished
    | FeedbackGiven
    | PromptPart
    | StepRecorded
    | EffectIntended
    | DecisionMade
    | StepDiverged
    | ModelRetried
    | TextsEmbedded
    | Gated
    | RoundStarted
    | RoundFinished
    | PlanMade
    | PlanRectified
    | SubtaskStarted
    | SubtaskFinished
    | MemoryWritten
    | MemoryCleared
    | ApprovalDecided
    | LoopBroken
    | BudgetReached
    | TeamStarted
    | PhaseStarted
    | Instructed
    | PhaseFinished
    | TeamDropped
    | TeamFinished
    | MeetingStarted
    | SolutionRated
    | SolutionPruned
    | GroupsFormed
    | SolutionsMerged
    | MergeRefused
    | MeetingFinished
    | EffectRehearsed
    | ActionsAgreed
    | PipelineRecalled
    | PipelineEnded
    | ExperienceStored
    | WorkflowRecalled
    | LessonRecalled
    | Noted
)


@dataclass(frozen=True, kw_only=True)
class Record:
    """An event with its place in the log."""

    run_id: str
    sequence: int
    """Rising in the log; two records of one run are ordered by it."""
    path: str
    """Place in the run. Emitted events end in `!N`, the number of the event at that place."""
    revision: int
    """0, and one more each time the same path was done anew; the highest counts."""
    epoch: int
    """Which process of this run wrote it, from 1."""
    at: float
    """Unix time in seconds."""
    event: Event
