"""Whether what was done shows that a subtask succeeded, without a model (ICE, section 2: milestones).

Only asked of subtasks that carry a milestone. English, and easily wrong: where it sees too little, a second
opinion is asked, and nothing is taken for failed because of what is read here.
"""

import re
from collections.abc import Mapping, Sequence

from plait.reflection.dates import unquoted
from plait.reflection.trajectory import Step
from plait.tools.tool import Tool

CHANGES = frozenset(
    re.findall(
        r"\w+",
        """add append archive assign book buy cancel clear create delete drop edit extend forward insert
        invite move pay postpone reassign remove rename replace reply reschedule reserve return schedule send
        set submit swap update upload write""",
    )
)
"""What a goal may ask to be done to the world, whatever the tools are called."""


def shown(goal: str, steps: Sequence[Step], tools: Mapping[str, Tool]) -> bool:
    """Whether the steps of a subtask show what its goal asks for.

    A goal that asks for a change is shown by one that was done, if none that was tried failed for good; any
    other by something that was found.

    Args:
        goal: Of the subtask.
        steps: Its own, in order.
        tools: All tools, by their names.
    """
    changed = {step.tool for step in steps if step.effect and step.ok}
    if any(step.effect and not step.ok and step.tool not in changed for step in steps):
        return False
    if changed or asks_for_change(goal, tools):
        return bool(changed)
    return any(step.ok and not step.empty for step in steps)


def asks_for_change(goal: str, tools: Mapping[str, Tool]) -> bool:
    """Whether a goal wants something done: by its words, or by the verb of a tool that does it."""
    verbs = {
        tool.name.rpartition(".")[2].partition("_")[0].lower()
        for tool in tools.values()
        if tool.effect != "reads"
    }
    words = set(re.findall(r"[a-z]+", unquoted(goal).lower()))
    return not words.isdisjoint(CHANGES | verbs)
