"""How a run begins, goes on and ends, and what is told of it as a whole.

Knows nothing of what happens in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from plait.events.data import SCHEMA_VERSION, Data


@dataclass(frozen=True, kw_only=True)
class RunStarted:
    """The first event of every run."""

    kind: Literal["run_started"] = "run_started"
    task: str
    options: Data
    """The options that decide what the run does, as `plait fork` can change them."""
    version: str
    """Plait's version."""
    schema: int = SCHEMA_VERSION
    forked_from: str = ""
    """Run id this run was forked from, or empty."""


@dataclass(frozen=True, kw_only=True)
class RunResumed:
    """A process took the run up again."""

    kind: Literal["run_resumed"] = "run_resumed"
    epoch: int
    options: Data


@dataclass(frozen=True, kw_only=True)
class RunFinished:
    """The run ended in good order; a killed run has no such event."""

    kind: Literal["run_finished"] = "run_finished"
    status: str
    result: Data
    """The object that `--json` prints."""


@dataclass(frozen=True, kw_only=True)
class FeedbackGiven:
    """The user's own verdict on a finished run."""

    kind: Literal["feedback_given"] = "feedback_given"
    verdict: Literal["right", "wrong"]
    comment: str = ""
    suspended: Mapping[str, str] = field(default_factory=dict[str, str])
    """Records of experience that it suspended, each with how it stood before."""


@dataclass(frozen=True, kw_only=True)
class DecisionMade:
    """The user settled what a run stopped for."""

    kind: Literal["decision_made"] = "decision_made"
    at: str
    """Path of the step in doubt."""
    decision: Literal["retry", "assume-done"]


@dataclass(frozen=True, kw_only=True)
class BudgetReached:
    """A limit ended the run."""

    kind: Literal["budget_reached"] = "budget_reached"
    limit: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Noted:
    """Something worth telling that is no event of its own."""

    kind: Literal["noted"] = "noted"
    text: str
