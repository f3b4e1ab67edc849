"""Workflows: the way to a goal as a line of subgoals that were reached (ICE, section 3.1, equation 1).

A workflow is a reference for a planner, never an instruction. Knows nothing of how it is kept or found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.errors import UserError
from plait.experience.investigation.tree import Goal
from plait.journal import JSON, JSONObject

MAXIMUM_STEPS = 64
"""Of a workflow; and tools of one of its steps."""
MAXIMUM_CHARACTERS = 2_000
"""Of every text in it."""
SHOWN_CHARACTERS = 60
"""Of a value that is wrong, in the message that says so."""


@dataclass(frozen=True, kw_only=True)
class WorkflowStep:
    """A leaf that was reached."""

    goal: str
    milestone: str = ""
    """What must hold for it to be reached; empty where the plan did not say."""
    tools: Sequence[str] = ()
    """Names of the tools that were called with success on the way to it, in order."""


@dataclass(frozen=True, kw_only=True)
class Workflow:
    """The leaves below a goal that was reached, in order; the W of equation 1."""

    goal: str
    """The description it is found by."""
    steps: Sequence[WorkflowStep]

    def as_json(self) -> JSONObject:
        """Return the workflow as it is kept and shared."""
        return {
            "goal": self.goal,
            "steps": [
                {"goal": step.goal, "milestone": step.milestone, "tools": list(step.tools)}
                for step in self.steps
            ],
        }

    @classmethod
    def from_json(cls, value: JSON) -> "Workflow":
        """Read what `as_json` gave; fields of no meaning here are passed over.

        Raises:
            UserError: it is no workflow, or larger than one may be.
        """
        fields = _object(value, "the workflow")
        steps = _list(fields.get("steps"), "its steps", least=1)
        read = tuple(_step(step, f"step {number}") for number, step in enumerate(steps, start=1))
        return cls(goal=_text(fields.get("goal"), "its goal"), steps=read)


def workflows(root: Goal) -> list[Workflow]:
    """Return the workflow of the root and of every goal below it that was split and reached.

    Exactly equation 1: below each such goal, subgoals that failed are pruned with all below them, and the
    leaves that are left are gathered from first to last; a leaf that was not reached is none of them. A goal
    below which nothing is left has no workflow, nor has one with more leaves than a reference may have. A
    task that was its own plan and was then split teaches the same twice: it is told once.
    """
    reached = [goal for goal in root.goals() if not goal.is_leaf and goal.status == "succeeded"]
    gathered = [(goal, _gathered(goal)) for goal in reached]
    found = [
        Workflow(goal=_bounded(goal.text), steps=tuple(_consolidated(leaf) for leaf in leaves))
        for goal, leaves in gathered
        if 0 < len(leaves) <= MAXIMUM_STEPS
    ]
    return list(dict.fromkeys(found))


def tools_of(goal: Goal) -> list[str]:
    """Return the tools that a leaf called with success, in order without repeats.

    Of a goal that was split: those of the leaves that its workflow has.
    """
    called = [step.tool for leaf in _gathered(goal) for step in leaf.steps if step.ok]
    return list(dict.fromkeys(called))


def _gathered(goal: Goal) -> list[Goal]:
    """Return the leaves below a goal that are left when what failed is pruned; of a leaf, itself."""
    if goal.is_leaf:
        return [goal]
    return [leaf for subgoal in goal.subgoals if not _pruned(subgoal) for leaf in _gathered(subgoal)]


def _pruned(goal: Goal) -> bool:
    return goal.status != "succeeded" if goal.is_leaf else goal.status == "failed"


def _consolidated(leaf: Goal) -> WorkflowStep:
    return WorkflowStep(
        goal=_bounded(leaf.text),
        milestone=_bounded(leaf.milestone),
        tools=tuple(tools_of(leaf)[:MAXIMUM_STEPS]),
    )


def _bounded(text: str) -> str:
    """Cut a text, as a task may be a document, and mend it, so that what is kept can be read again."""
    text = _whole(text)
    return text if len(text) <= MAXIMUM_CHARACTERS else f"{text[: MAXIMUM_CHARACTERS - 1]}…"


# Reading what others wrote.


def _step(value: JSON, name: str) -> WorkflowStep:
    fields = _object(value, name)
    tools = _list(fields.get("tools", []), f"the tools of {name}")
    return WorkflowStep(
        goal=_text(fields.get("goal"), f"the goal of {name}"),
        milestone=_text(fields.get("milestone", ""), f"the milestone of {name}", empty=True),
        tools=tuple(_text(tool, f"a tool of {name}") for tool in tools),
    )


def _object(value: JSON, name: str) -> Mapping[str, JSON]:
    if not isinstance(value, Mapping):
        raise _wrong(name, "an object", value)
    return value


def _list(value: JSON, name: str, *, least: int = 0) -> Sequence[JSON]:
    if not isinstance(value, list):
        raise _wrong(name, "a list", value)
    if not least <= len(value) <= MAXIMUM_STEPS:
        raise _wrong(name, f"{least} to {MAXIMUM_STEPS}", len(value))
    return value


def _text(value: JSON, name: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (empty or value.strip()):
        raise _wrong(name, "a text", value)
    if len(value) > MAXIMUM_CHARACTERS:
        raise _wrong(name, f"of {MAXIMUM_CHARACTERS} characters at most", len(value))
    if _whole(value) != value:
        raise _wrong(name, "a text of whole characters", value)
    return value


def _whole(text: str) -> str:
    # Databases take neither half characters nor NUL.
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _wrong(name: str, asked: str, given: Any) -> UserError:
    shown = ascii(given)[:SHOWN_CHARACTERS]
    return UserError(f"no workflow can be read: {name} must be {asked}, not {shown}; export it anew")
