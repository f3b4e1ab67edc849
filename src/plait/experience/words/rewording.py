"""The same goal with another word for what it does, so that one pipeline serves both (ICE, section 3.3).

The paper leaves that to similarity of meaning, which takes "cancel the next" for "cancel all". Here a few
phrases for the same operation are put for each other; all else stays. A rewording is a guess at how somebody
else said it, and serves where a goal that succeeded is just that. Knows nothing of memories or pipelines.
"""

import re
from collections.abc import Collection, Sequence

from plait.experience.words.goals import masked

OPERATIONS = (
    ("delete", "cancel", "remove", "get rid of"),
    ("rename", "change the name of"),
    ("postpone", "delay", "push back"),
    ("find", "search for", "look for", "look up"),
)
"""Phrases for one operation. Where tools are called by two of them they are two operations: who can delete an
order and cancel it means one of the two."""
_TOOL_WORD = re.compile(r"[A-Z]?[a-z]+")


def rewordings(goal: str, tools: Collection[str] = ()) -> list[str]:
    """Return the goal with other words for what it does; one that names two such operations has none.

    Args:
        goal: What a user or a planner wrote.
        tools: Names of the tools on offer, which tell operations apart.
    """
    named = {word.casefold() for tool in tools for word in _TOOL_WORD.findall(tool)}
    values = [(span.start, span.end) for span in masked(goal).spans]
    found: list[tuple[re.Match[str], Sequence[str]]] = [
        (match, group)
        for group in OPERATIONS
        for match in _phrases(group).finditer(goal)
        if all(match.end() <= start or match.start() >= end for start, end in values)
    ]
    if len(found) != 1:
        return []
    [(match, group)] = found
    if sum(phrase in named for phrase in group) > 1:
        return []
    others = (phrase for phrase in group if phrase != match[0].casefold())
    return [f"{goal[: match.start()]}{phrase}{goal[match.end() :]}" for phrase in others]


def _phrases(group: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'\u2019-])(?:{'|'.join(group)})(?![\w'\u2019-])", re.IGNORECASE)
