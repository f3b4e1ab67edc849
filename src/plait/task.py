"""A task and its result: the values that go in and come out of a run.

Knows nothing of how a task is solved. `Result.as_json()` is the object that `--json` prints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

TOOLS = "tools"
"""The domain of runs that act with tools; in all others teams make something."""

Status = Literal["succeeded", "failed", "budget_exhausted", "needs_decision", "cancelled"]

EXIT_STATUS: Mapping[Status, int] = {
    "succeeded": 0,
    "failed": 1,
    "budget_exhausted": 3,
    "needs_decision": 4,
    "cancelled": 130,
}


@dataclass(frozen=True, kw_only=True)
class Task:
    """What the user wants."""

    text: str
    """With the text of the input files in it."""
    returns: Mapping[str, Any] | None = None
    """JSON schema of the answer, or None for text."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a run, or a part of it, consumed."""

    model_calls: int = 0
    embedding_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    """Part of `input_tokens` that the model did not have to read again."""
    output_tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    """Wall-clock seconds of the run over all its processes."""
    shared_calls: int = 0
    """Model calls that were not made, because an equal one at temperature 0 answered for them."""
    saved_tokens: int = 0
    """Input and output tokens that these would have cost."""


@dataclass(frozen=True, kw_only=True)
class PlanItem:
    """A subtask of the last plan and how it ended."""

    id: str
    goal: str
    status: Literal["todo", "succeeded", "failed", "split", "skipped"]
    """`split` where its parts, which follow it, were done in its place."""
    executor: Literal["react", "pipeline"]
    depends_on: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class GateCounts:
    """How the replies of one role fared at their gate."""

    passed: int = 0
    revised: int = 0
    forced: int = 0


@dataclass(frozen=True, kw_only=True)
class ReflectionReport:
    """What reflection did in a run."""

    rounds: int = 0
    revisions: int = 0
    gates: Mapping[str, GateCounts] = field(default_factory=dict[str, GateCounts])


@dataclass(frozen=True, kw_only=True)
class Result:
    """How a run ended."""

    run_id: str
    status: Status
    domain: str
    answer: Any
    """Text, or a JSON value of the asked type."""
    score: float | None
    """How good it is: of an answer its agent's own score, 0 to 10; of what teams make the quality that its
    domain measures, of programs 0 to 1 and of stories 0 to 4."""
    message: str = ""
    """One line on why the run did not succeed and what to do; empty when it did."""
    artifacts: Sequence[str] = ()
    usage: Usage = Usage()
    plan: Sequence[PlanItem] = ()
    teams: Sequence[Mapping[str, Any]] = ()
    reflection: ReflectionReport = ReflectionReport()
    experience: Mapping[str, Any] = field(default_factory=dict[str, Any])
