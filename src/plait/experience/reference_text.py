"""What an earlier workflow says to a new goal: a few lines for a prompt, and no value of the earlier task.

Small models copy what a prompt shows. So a value of the earlier goal becomes the one of the new goal in the
same place, or where there is none only its kind (`<name>`). Knows nothing of memories.
"""

import re
from collections.abc import Mapping, Sequence
from typing import get_args

from plait.experience.goals import SpanKind, aligned, masked
from plait.experience.workflow import Workflow, WorkflowStep

GOAL_CHARACTERS = 90
"""Of the words of a goal or a step; a step's tools come on top."""
TOOLS_CHARACTERS = 100
STEPS = 6
_KIND = re.compile("|".join(f"<{kind}>" for kind in get_args(SpanKind)))
_BREAKS = re.compile(r"[<>\s]+")


def workflow_text(workflow: Workflow, goal: str, most: int) -> str:
    """Return a workflow as a reference for `goal`: its goal, then `1. step => tools`, a line each.

    Where the only step is the goal itself it is said once.

    Args:
        workflow: Of another task.
        goal: The new one.
        most: Characters at most; steps that have no room are left out from the end, and without room for
            one the text is empty.
    """
    values = aligned(workflow.goal, goal) or {}
    head = with_values(workflow.goal, values, GOAL_CHARACTERS)
    steps = [_step_line(number, step, values) for number, step in enumerate(workflow.steps[:STEPS], 1)]
    if len(steps) == 1 and steps[0].startswith(f"1. {head}"):
        return steps[0] if len(steps[0]) <= most else ""
    return within([head, *steps], most)


def within(lines: Sequence[str], most: int) -> str:
    """Return a heading and as many of the lines below it as have room; empty without room for one."""
    kept, length = list[str](), 0
    for line in lines:
        length += len(line) + 1
        if length > most + 1:
            break
        kept.append(line)
    return "\n".join(kept) if len(kept) > 1 else ""


def with_values(text: str, values: Mapping[str, str], most: int) -> str:
    """Return a text on one line, each value in it replaced: by that of `values`, or by its kind.

    Args:
        text: As it was said.
        values: New values by the old ones.
        most: Characters at most.
    """
    known = {old.casefold(): new for old, new in values.items()}
    pieces, at = list[str](), 0
    for span in masked(text).spans:
        pieces += [_plain(text[at : span.start]), known.get(span.text.casefold(), f"<{span.kind}>")]
        at = span.end
    return _shortened("".join([*pieces, _plain(text[at:])]), most)


def plain_line(text: str, most: int) -> str:
    """Return a text on one line that is at most so long; of tags only kinds of values are left."""
    pieces = _KIND.split(text)
    kinds = [*_KIND.findall(text), ""]
    return _shortened("".join(_plain(piece) + kind for piece, kind in zip(pieces, kinds, strict=True)), most)


def _plain(text: str) -> str:
    # Nobody can open or close a delimiter of a prompt.
    return _BREAKS.sub(" ", text)


def _shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _step_line(number: int, step: WorkflowStep, values: Mapping[str, str]) -> str:
    said, tools = with_values(step.goal, values, GOAL_CHARACTERS), ""
    for tool in step.tools:
        longer = f"{tools}, {tool}" if tools else f" => {tool}"
        if len(longer) > TOOLS_CHARACTERS:
            tools += ", ..."
            break
        tools = longer
    return f"{number}. {said}{tools}"
