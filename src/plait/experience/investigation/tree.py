"""The plan tree of a run: goals, how each ended, and the steps that its leaves took (ICE, section 2).

Values only. A leaf is a subtask that was executed as a trajectory of tool calls. One that failed may have
been split, and then ends as its subgoals do, or have others beside it that stand for it. Knows nothing of how
a tree is planned, nor of the log it is read from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

GoalStatus = Literal["todo", "doing", "succeeded", "failed", "split", "skipped"]
"""`split`: its subgoals are under way or yet to do."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One tool call of a leaf's trajectory, and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    observation: str
    """The result as the agent saw it."""
    ok: bool
    """Whether the tool did what it was called for."""
    effect: bool
    """Whether the tool changes the world."""
    whole: bool = True
    """Whether the observation is the whole result, and not cut at the tool's limit."""


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A node of the plan tree."""

    id: str
    """Empty for the root, else its place under it: `2`, or `2-1` for the first subgoal of the second."""
    text: str
    """What is to be reached; of the root, the task."""
    status: GoalStatus
    milestone: str = ""
    """What must hold for it to have succeeded, where the plan says so."""
    result: str = ""
    """What its agent said came of it."""
    steps: Sequence[Step] = ()
    """Of a leaf, in order; of a goal that was split, those of its own before that."""
    subgoals: Sequence["Goal"] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether it was to be executed and not to be split."""
        return not self.subgoals

    def leaves(self) -> list["Goal"]:
        """Return the leaves of its subtree, from first to last; of a leaf, itself."""
        return [self] if self.is_leaf else [leaf for goal in self.subgoals for leaf in goal.leaves()]

    def astray(self) -> list[Step]:
        """Return the steps of its subtree that changed the world for a goal that was not reached so.

        They are part of what was done, and in no trajectory of a leaf that succeeded.
        """
        own = self.steps if not self.is_leaf or self.status != "succeeded" else ()
        below = [step for goal in self.subgoals for step in goal.astray()]
        return [*(step for step in own if step.effect and step.ok), *below]

    def goals(self) -> list["Goal"]:
        """Return itself and all goals below it, each before its own subgoals."""
        return [self, *(below for goal in self.subgoals for below in goal.goals())]
