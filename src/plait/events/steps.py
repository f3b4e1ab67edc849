"""Recorded steps: what was asked of a model or a tool, and what came back.

Knows nothing of why a step was done.
"""

from dataclasses import dataclass
from typing import Any, Literal

from plait.events.data import Data


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
    shared_with: str = ""
    """Path of the model call whose reply this is too; empty where it was asked itself. An equal request at
    temperature 0 is made once."""


@dataclass(frozen=True, kw_only=True)
class EffectIntended:
    """An effect is about to be done; on disk before it is."""

    kind: Literal["effect_intended"] = "effect_intended"
    args: Data
    args_hash: str


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
class TextsEmbedded:
    """An embedder was called; what came of it is in the step that needed it."""

    kind: Literal["texts_embedded"] = "texts_embedded"
    texts: int


@dataclass(frozen=True, kw_only=True)
class ApprovalDecided:
    """An effect was allowed or refused before it was tried."""

    kind: Literal["approval_decided"] = "approval_decided"
    tool: str
    arguments: Data
    allowed: bool
    by: str
    """Who decided: user, --yes, --allow, --deny, --dry-run, --max-effects."""
