"""Whether what was done shows that a subtask succeeded, without a model (ICE, section 2: milestones).

Asked of subtasks that carry a milestone, and of those that go in circles. English, and easily wrong: where
it sees too little of the first, a second opinion is asked; of the second only a plain order counts.
"""

import re
from collections.abc import Mapping, Sequence

from plait.reflection.phrases import orders
from plait.reflection.requests import unquoted
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
ALIKE = (frozenset({"cancel", "delete", "remove"}), frozenset({"add", "book", "create", "schedule"}))
"""Orders that the same tool may carry out."""
_CONDITION = re.compile(r"\b(?:if|unless|in case|when|whether)\b", re.IGNORECASE)
_COURTESY = re.compile(r"^\W*(?:(?:(?:can|could|would|will) you|please|kindly|then|and|now)\b\W*)+|^\W+")


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


def changes_nothing(goal: str, steps: Sequence[Step], tools: Mapping[str, Tool]) -> bool:
    """Whether a clause of a goal begins with an order to change something and no step changed anything.

    Of what is to be done on a condition it cannot be told.
    """
    if any(step.effect and step.ok for step in steps) or _CONDITION.search(goal):
        return False
    if _COURTESY.sub("", goal.lower()).partition(" ")[0] in CHANGES | tool_verbs(tools):
        return True
    # "Look the number up. Return it": what a later clause orders need be no change, but for what tools do.
    surely, _ = orders(goal)
    return not surely.isdisjoint(tool_verbs(tools))


def asks_for_change(goal: str, tools: Mapping[str, Tool]) -> bool:
    """Whether a goal wants something done: by its words, or by the verb of a tool that does it."""
    words = set(re.findall(r"[a-z]+", unquoted(goal).lower()))
    return not words.isdisjoint(CHANGES | tool_verbs(tools))


def tool_verbs(tools: Mapping[str, Tool]) -> frozenset[str]:
    """Return the first words of the names of tools that change the world."""
    names = (tool.name.rpartition(".")[2] for tool in tools.values() if tool.effect != "reads")
    return frozenset(name.partition("_")[0].lower() for name in names)
