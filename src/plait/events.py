"""The typed events of a run: the published, versioned schema of the one append-only log.

Knows nothing of how events are stored or shown. Everything that looks at a run (resume, replay, the
terminal, statistics) reads these and nothing else. A field is only ever added, with a default; any
other change raises `SCHEMA_VERSION` and comes with a migration.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

SCHEMA_VERSION = 1

Data: TypeAlias = Mapping[str, Any]
"""A JSON object."""


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


@dataclass(frozen=True, kw_only=True)
class PromptPart:
    """A piece of a prompt, stored once; a prompt is the chain of parts that ends at its head."""

    kind: Literal["prompt_part"] = "prompt_part"
    id: str
    """Hash of `parent`, `role` and `text`."""
    parent: str
    """Id of the part before, or empty."""
    role: str
    """Role of the message this part belongs to; empty when it continues the message before."""
    text: str


@dataclass(frozen=True, kw_only=True)
class StepRecorded:
    """A step and its result: a model call, a tool call, or another recorded value."""

    kind: Literal["step_recorded"] = "step_recorded"
    step: Literal["model", "tool", "effect", "value"]
    args: Data
    """The arguments; a model call has `prompt`, the id of its last prompt part, for `messages`."""
    args_hash: str
    result: Any
    seconds: float
    assumed: bool = False
    """The user said that an effect in doubt was done; its result is not known."""


@dataclass(frozen=True, kw_only=True)
class EffectIntended:
    """An effect is about to be done; on disk before it is."""

    kind: Literal["effect_intended"] = "effect_intended"
    args: Data
    args_hash: str


@dataclass(frozen=True, kw_only=True)
class DecisionMade:
    """The user settled what a run stopped for."""

    kind: Literal["decision_made"] = "decision_made"
    at: str
    """Path of the step in doubt."""
    decision: Literal["retry", "assume-done"]


@dataclass(frozen=True, kw_only=True)
class StepDiverged:
    """A recorded step was asked with other arguments and is done anew."""

    kind: Literal["step_diverged"] = "step_diverged"
    recorded_hash: str
    asked_hash: str


@dataclass(frozen=True, kw_only=True)
class ModelRetried:
    """A model call failed in passing and is tried again."""

    kind: Literal["model_retried"] = "model_retried"
    reason: str
    attempt: int
    delay_seconds: float


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
    """Each: id, goal, depends_on."""


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
class ApprovalDecided:
    """An effect was allowed or refused before it was tried."""

    kind: Literal["approval_decided"] = "approval_decided"
    tool: str
    arguments: Data
    allowed: bool
    by: str
    """Who decided: user, --yes, --allow, --deny, --dry-run, --max-effects."""


@dataclass(frozen=True, kw_only=True)
class LoopBroken:
    """The same call with the same result came again, and the agent was stopped."""

    kind: Literal["loop_broken"] = "loop_broken"
    call: str
    times: int


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
    | Gated
    | RoundStarted
    | RoundFinished
    | PlanMade
    | SubtaskStarted
    | SubtaskFinished
    | MemoryWritten
    | MemoryCleared
    | ApprovalDecided
    | LoopBroken
    | BudgetReached
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
