"""What an earlier workflow says to a new goal: a few lines for a prompt, and no value of the earlier task.

Small models copy what a prompt shows. So a value of the earlier goal becomes the one of the new goal in the
same place, or where there is none only its kind (`<name>`). Knows nothing of memories.
"""

import re
from collections.abc import Mapping, Sequence

from plait.experience.goals import aligned, masked
from plait.experience.workflow import Workflow, WorkflowStep

GOAL_CHARACTERS = 90
STEP_CHARACTERS = 90
"""Of the words of a step; its tools come on top."""
TOOLS_OF_STEP = 4
STEPS = 6
_BREAKS = re.compile(r"[<>\s]+")


def workflow_text(workflow: Workflow, goal: str, most: int) -> str:
    """Return a workflow as a reference for `goal`: its goal, then its steps with their tools, a line each.

    Args:
        workflow: Of another task.
        goal: The new one.
        most: Characters at most; steps that have no room are left out from the end, and without room for
            one the text is empty.
    """
    values = aligned(workflow.goal, goal) or {}
    lines = [with_values(workflow.goal, values, GOAL_CHARACTERS)]
    steps = workflow.steps[:STEPS]
    for number, step in enumerate(steps, 1):
        line = _step_line(number, step, workflow.goal, values)
        if sum(map(len, lines)) + len(lines) + len(line) > most:
            break
        lines.append(line)
    return "\n".join(lines) if len(lines) > 1 else ""


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
    line = " ".join("".join([*pieces, _plain(text[at:])]).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _plain(text: str) -> str:
    # Nobody can open or close a delimiter of a prompt.
    return _BREAKS.sub(" ", text)


def _step_line(number: int, step: WorkflowStep, goal: str, values: Mapping[str, str]) -> str:
    tools = ", ".join(_shown(step.tools))
    if step.goal.strip().casefold() == goal.strip().casefold() and tools:
        return f"{number}. {tools}"  # The step is the whole goal, which was said above.
    said = with_values(step.goal, values, STEP_CHARACTERS)
    return f"{number}. {said} ({tools})" if tools else f"{number}. {said}"


def _shown(tools: Sequence[str]) -> list[str]:
    more = ["..."] if len(tools) > TOOLS_OF_STEP else []
    return [*tools[:TOOLS_OF_STEP], *more]
