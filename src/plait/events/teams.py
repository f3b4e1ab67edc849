"""Teams: their phases, and the dialogues in them (Croto, section 3).

Knows nothing of how teams meet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class TeamStarted:
    """A team takes the task up (Croto, section 3)."""

    kind: Literal["team_started"] = "team_started"
    team: str
    temperature: float
    phases: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class PhaseStarted:
    """A team begins a phase of its chain."""

    kind: Literal["phase_started"] = "phase_started"
    team: str
    phase: str
    instructor: str
    assistant: str


@dataclass(frozen=True, kw_only=True)
class Instructed:
    """An instructor looked at a reply: it agrees, or says what to change."""

    kind: Literal["instructed"] = "instructed"
    team: str
    phase: str
    round: int
    agreed: bool
    instruction: str
    by: str
    """`instructor`, or `inspection` where the domain's own checks decided without a model."""


@dataclass(frozen=True, kw_only=True)
class PhaseFinished:
    """A phase yielded a solution."""

    kind: Literal["phase_finished"] = "phase_finished"
    team: str
    phase: str
    product: str
    rounds: int
    agreed: bool
    digest: str
    files: Mapping[str, int]
    """Lines of each file."""
    characters: int


@dataclass(frozen=True, kw_only=True)
class TeamDropped:
    """A team failed, stalled or ran out of budget; the others go on."""

    kind: Literal["team_dropped"] = "team_dropped"
    team: str
    phase: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class TeamFinished:
    """A team's chain came to its end, or was closed after the last meeting."""

    kind: Literal["team_finished"] = "team_finished"
    team: str
    closed: bool
    """Another team carries the merged solution on."""
