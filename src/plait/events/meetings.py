"""Meetings of teams: ratings, prunings, groups and merges (Croto, section 4).

Knows nothing of the phases before them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from plait.events.data import Data


@dataclass(frozen=True, kw_only=True)
class MeetingStarted:
    """The teams that have a key phase stop and meet (Croto, section 4.1)."""

    kind: Literal["meeting_started"] = "meeting_started"
    phase: str
    teams: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class SolutionRated:
    """A solution was rated by its domain's quality."""

    kind: Literal["solution_rated"] = "solution_rated"
    by: str
    """Who made it."""
    digest: str
    quality: float
    dimensions: Mapping[str, float]
    findings: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class SolutionPruned:
    """A low rated solution does not take part in the merge (equation 4)."""

    kind: Literal["solution_pruned"] = "solution_pruned"
    by: str
    quality: float
    """0 where it could not be rated."""
    rated: bool = True
    """Whether it could be."""
    tied: bool = False
    """One of the same quality stayed: a content that was there twice goes first, and then lots decide."""


@dataclass(frozen=True, kw_only=True)
class GroupsFormed:
    """The solutions of a level were partitioned (equation 5)."""

    kind: Literal["groups_formed"] = "groups_formed"
    level: int
    groups: Sequence[Sequence[str]]
    """Who made each solution of each group."""


@dataclass(frozen=True, kw_only=True)
class SolutionsMerged:
    """A group's solutions were aggregated into one (section 4.1.1)."""

    kind: Literal["solutions_merged"] = "solutions_merged"
    by: str
    inputs: Sequence[str]
    analysis: Sequence[Data]
    """Each: by, strengths, weaknesses."""
    changes: str
    """What the aggregate agent says it changed."""
    digest: str
    origins: Mapping[str, str]
    """Of files: which input each came from unchanged, or `merged`."""
    failed: str
    """Why no whole solution came and the best input stands; else empty."""


@dataclass(frozen=True, kw_only=True)
class MergeRefused:
    """Elitism: a merged solution rated below its best input, which stands."""

    kind: Literal["merge_refused"] = "merge_refused"
    by: str
    quality: float
    best: str
    best_quality: float


@dataclass(frozen=True, kw_only=True)
class MeetingFinished:
    """One solution is left and goes back to every team that met (equation 6)."""

    kind: Literal["meeting_finished"] = "meeting_finished"
    phase: str
    by: str
    digest: str
    levels: int


@dataclass(frozen=True, kw_only=True)
class EffectRehearsed:
    """A team would make this call, which changes the world; it is made once the teams have met."""

    kind: Literal["effect_rehearsed"] = "effect_rehearsed"
    tool: str
    arguments: Data


@dataclass(frozen=True, kw_only=True)
class ActionsAgreed:
    """The teams that rehearsed a plan chose whose calls are made, by one of them alone."""

    kind: Literal["actions_agreed"] = "actions_agreed"
    by: str
    """The team that acts."""
    teams: Sequence[str]
    """Who would change the world by the same calls, it too."""
    calls: Sequence[str]
    """These calls, in the order of the plan."""
    others: Sequence[Data]
    """What the other teams would do. Each: team, calls."""
