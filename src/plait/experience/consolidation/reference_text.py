"""What an earlier workflow says to a new goal: a few lines for a prompt, and no value of the earlier task.

Small models copy what a prompt shows. So the steps of a goal that asks for something else are left out, and a
value of the earlier goal becomes the one of the new goal in the same place, or where there is none only its
kind (`<name>`). Knows nothing of memories.
"""

import re
from collections.abc import Mapping, Sequence
from typing import get_args

from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.words.goals import SpanKind, aligned, deciding_words, key_of, masked

GOAL_CHARACTERS = 90
"""Of a goal or a step."""
MILESTONE_CHARACTERS = 60
TOOLS_CHARACTERS = 120
STEPS = 6
_KIND = re.compile("|".join(f"<{kind}>" for kind in get_args(SpanKind)))
_BREAKS = re.compile(r"[<>\s]+")


def workflow_text(workflow: Workflow, goal: str, most: int) -> str:
    """Return a workflow as a reference for `goal`: its goal, its steps as a plan has them, and its tools.

    Where the only step is the goal itself it is said once. Tools stand on a line of their own, so that nobody
    takes them for a part of a plan. Of a workflow whose steps would be wrong if they were copied only the
    tools are told: it has one step that says another goal, or does so to others ("all", "the next").

    Args:
        workflow: Of another task.
        goal: The new one.
        most: Characters at most; steps that have no room are left out from the end, and without room for
            one the text is empty.
    """
    values = aligned(workflow.goal, goal) or {}
    head = with_values(workflow.goal, values, GOAL_CHARACTERS)
    steps = [_step_line(number, step, values) for number, step in enumerate(workflow.steps[:STEPS], 1)]
    heading = [] if [step.partition(". ")[2] for step in steps] == [head] else [head]
    tools = _tools_line([tool for step in workflow.steps for tool in step.tools])
    if not _can_be_copied(workflow, goal):
        return tools if len(tools) <= most else ""
    text = within([*heading, *steps], most - len(tools) - 1, least=len(heading) + 1)
    return f"{text}\n{tools}" if text and tools else text


def _can_be_copied(workflow: Workflow, goal: str) -> bool:
    if key_of(workflow.goal) == key_of(goal):
        return True
    return len(workflow.steps) > 1 and deciding_words(workflow.goal) == deciding_words(goal)


def within(lines: Sequence[str], most: int, *, least: int = 2) -> str:
    """Return as many lines as have room, from the first; empty without room for `least`."""
    kept, length = list[str](), 0
    for line in lines:
        length += len(line) + 1
        if length > most + 1:
            break
        kept.append(line)
    return "\n".join(kept) if len(kept) >= least else ""


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
    said = f"{number}. {with_values(step.goal, values, GOAL_CHARACTERS)}"
    milestone = with_values(step.milestone, values, MILESTONE_CHARACTERS)
    return f"{said} => {milestone}" if milestone else said


def _tools_line(tools: Sequence[str]) -> str:
    line = ""
    for tool in dict.fromkeys(tools):
        longer = f"{line}, {tool}" if line else f"Tools: {tool}"
        if len(longer) > TOOLS_CHARACTERS:
            return f"{line}, ..." if line else ""
        line = longer
    return line
