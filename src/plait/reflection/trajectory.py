"""What happened in a round: calls with their observations, subtask by subtask.

Knows nothing of models; agents read it as text, checks read it as values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from plait.models.callform import format_call
from plait.reflection.plan import Plan, Subtask
from plait.tools.arguments import same_arguments
from plait.tools.rendering import NO_RESULT, found_nothing
from plait.tools.tool import Tool

SHOWN_CHARACTERS = 8_000
"""Of all results in one prompt: tables have two characters a token, and the embedded engine 8,192 tokens."""
OLD_CHARACTERS = 500
"""Of an older result where there are too many."""

_EMPTY = ("", "[]", "{}", "null", NO_RESULT)
_DELIMITER = re.compile(r"</(?=\s*(?:result|file))", re.IGNORECASE)

SubtaskStatus = Literal["todo", "doing", "succeeded", "failed", "split", "skipped"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    ok: bool
    observation: str
    effect: bool
    thought: str = ""
    critique: str = ""
    """The agent's own, before it acted."""
    score: float | None = None
    unknown: bool = False
    """Whether an effect gave no answer, so that nobody knows if it was done."""
    whole: bool = True
    """Whether the observation is the whole result, and not cut at the tool's limit."""

    @property
    def empty(self) -> bool:
        """Whether a read found nothing."""
        if self.effect or not self.ok:
            return False
        return self.observation.strip() in _EMPTY or found_nothing(self.observation)

    @property
    def call(self) -> str:
        """The call as the model writes it."""
        return format_call(self.tool, self.arguments)


@dataclass(kw_only=True)
class SubtaskRun:
    """A subtask on its way."""

    subtask: Subtask
    status: SubtaskStatus = "todo"
    result: str = ""
    steps: list[Step] = field(default_factory=list["Step"])
    carried: int = 0
    """How many of the steps, from the first, an earlier round took."""
    replaced: bool = False
    """Whether it failed and others stand for it, or the plan goes on without it."""
    doubted: bool = False
    """Whether its agent said once that it was done, and was not believed."""
    warnings: Sequence[str] = ()
    """What went wrong before with goals like this."""
    told: str = ""
    """What came of a known way that was gone to its end, where its own checks say so."""


@dataclass(kw_only=True)
class Trajectory:
    """One round: the plan and how far each subtask came."""

    plan: Plan
    runs: Mapping[str, SubtaskRun]
    remarks: str = ""
    """The planner's own critique and score."""
    changed_before: bool = False
    """Whether an earlier round changed something, or may have."""

    @classmethod
    def of(cls, plan: Plan, *, changed_before: bool = False) -> "Trajectory":
        """Return the empty trajectory of a plan."""
        runs = {s.id: SubtaskRun(subtask=s) for s in plan.subtasks}
        return cls(plan=plan, runs=runs, changed_before=changed_before)

    @property
    def made(self) -> list[Step]:
        """The steps of this round, without those that it took over from an earlier one."""
        return [step for run in self.runs.values() for step in run.steps[run.carried :]]

    @property
    def failed(self) -> bool:
        """Whether a subtask failed or could not be started, and no other stands for it."""
        return any(run.status in ("failed", "skipped") and not run.replaced for run in self.runs.values())


@dataclass(kw_only=True)
class Effects:
    """What the whole run has done and seen so far, over all its rounds, in order."""

    done: list[Step] = field(default_factory=list["Step"])
    """Effects that succeeded."""
    doubtful: list[Step] = field(default_factory=list["Step"])
    """Effects of which nobody knows whether they were done."""
    seen: list[Step] = field(default_factory=list["Step"])
    """Every step of the rounds that are over."""
    finished: dict[str, "SubtaskRun"] = field(default_factory=dict[str, "SubtaskRun"])
    """Subtasks of the rounds that are over which succeeded with an effect, by their goal."""
    rectified: list[str] = field(default_factory=list[str])
    """Rectifications that were made, as keys: none is made again."""

    def copy(self) -> "Effects":
        """Return what is known so far, to which what comes is not added."""
        return Effects(
            done=list(self.done),
            doubtful=list(self.doubtful),
            seen=list(self.seen),
            finished=dict(self.finished),
            rectified=list(self.rectified),
        )

    def has(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Whether exactly this call was done with success."""
        return any(_same(step, tool, arguments) for step in self.done)

    def may_have(self, tool: Tool, arguments: Mapping[str, Any]) -> bool:
        """Whether nobody knows if exactly this call was done."""
        return any(_same(step, tool, arguments) for step in self.doubtful)


def _same(step: Step, tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Whether a step made this call, in any order of arguments and with defaults written out or not."""
    return step.tool == tool.name and same_arguments(tool, step.arguments, arguments)


def delimited(text: str) -> str:
    """Return a tool's text so that it cannot end its own delimiter: it is data, never instruction."""
    return _DELIMITER.sub("<\\\\/", text)


def one_line(text: str) -> str:
    """Return a tool's text as one line that cannot look like a part of the prompt around it."""
    return delimited(" ".join(text.split()))


def observations(steps: Sequence[Step], most: int = SHOWN_CHARACTERS) -> list[str]:
    """Return what each step brought, as data to be shown, where all is too long in `most` characters or so.

    The oldest results are cut first, so that a prompt stays within an engine's context.
    """
    whole = sum(len(step.observation) for step in steps)
    texts: list[str] = []
    for step in steps:
        text = step.observation
        if whole > most and step is not steps[-1] and len(text) > OLD_CHARACTERS:
            whole -= len(text) - OLD_CHARACTERS
            text = f"{text[:OLD_CHARACTERS]}\n[cut: make the call again to see all]"
        elif len(text) > most:
            text = f"{text[:most]}\n[cut: {len(text) - most} more characters]"
        texts.append(delimited(text))
    return texts


def shown(steps: Sequence[Step], most: int = SHOWN_CHARACTERS, *, thoughts: bool = True) -> str:
    """Return calls with their thoughts and results, each result delimited as data."""
    blocks: list[str] = []
    for step, text in zip(steps, observations(steps, most), strict=True):
        thought = f"# thought: {step.thought}\n" if step.thought and thoughts else ""
        blocks.append(f"{thought}{step.call}\n<result>\n{text}\n</result>")
    return "\n".join(blocks)
