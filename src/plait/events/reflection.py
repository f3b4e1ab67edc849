"""Reflection: gates, rounds, plans and how they are rectified, subtasks and the two memories (MIRROR, ICE).

Knows nothing of teams.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from plait.events.data import Data


@dataclass(frozen=True, kw_only=True)
class Gated:
    """A reply went through its agent's gate (MIRROR, section 3.4)."""

    kind: Literal["gated"] = "gated"
    role: str
    attempt: int
    """From 1."""
    score: float | None
    """0-10 as the agent gave it; None where the reply could not be read or the gate is off."""
    threshold: float
    critique: str
    problems: Sequence[str]
    """What the checks without a model found."""
    verdict: Literal["passed", "revised", "forced", "closed", "failed"]
    output: Any
    """The reply without its critique and score."""
    taken: int = 0
    """The try that is let through, where the last one was forced; 0: none, or of an older version."""


@dataclass(frozen=True, kw_only=True)
class RoundStarted:
    """A round of plan, act, answer begins (MIRROR, section 3.5)."""

    kind: Literal["round_started"] = "round_started"
    round: int


@dataclass(frozen=True, kw_only=True)
class RoundFinished:
    """A round ended with an answer, or with a failed execution."""

    kind: Literal["round_finished"] = "round_finished"
    round: int
    answer: str
    score: float | None
    passed: bool


@dataclass(frozen=True, kw_only=True)
class PlanMade:
    """A plan passed its gate."""

    kind: Literal["plan_made"] = "plan_made"
    round: int
    subtasks: Sequence[Data]
    """Each: id, goal, depends_on; milestone where the planner gave one."""


@dataclass(frozen=True, kw_only=True)
class PlanRectified:
    """The planner was asked about a subtask that failed (ICE, section 3.1, plan rectification)."""

    kind: Literal["plan_rectified"] = "plan_rectified"
    subtask: str
    """Id of the one that failed."""
    operation: Literal["split", "add", "delete", "give_up"]
    subtasks: Sequence[Data]
    """What takes its place: below it after a split, else beside it. Each as in a plan."""
    deleted: Sequence[str]
    """Ids of subtasks that the plan goes on without."""


@dataclass(frozen=True, kw_only=True)
class SubtaskStarted:
    """A subtask's first step is about to be chosen."""

    kind: Literal["subtask_started"] = "subtask_started"
    id: str
    goal: str


@dataclass(frozen=True, kw_only=True)
class SubtaskFinished:
    """A subtask came to an end."""

    kind: Literal["subtask_finished"] = "subtask_finished"
    id: str
    status: Literal["succeeded", "failed", "skipped"]
    result: str


@dataclass(frozen=True, kw_only=True)
class MemoryWritten:
    """Short-term or long-term memory took something in (MIRROR, section 3.5)."""

    kind: Literal["memory_written"] = "memory_written"
    memory: Literal["short_term", "long_term"]
    entry: str


@dataclass(frozen=True, kw_only=True)
class MemoryCleared:
    """Short-term memory after a subtask's success, long-term memory at the task's end."""

    kind: Literal["memory_cleared"] = "memory_cleared"
    memory: Literal["short_term", "long_term"]
    entries: int


@dataclass(frozen=True, kw_only=True)
class LoopBroken:
    """The same call with the same result came again, and the agent was stopped."""

    kind: Literal["loop_broken"] = "loop_broken"
    call: str
    times: int
