"""The same goal with another word for what it does, so that one pipeline serves both (ICE, section 3.2).

The paper leaves that to similarity of meaning, which takes "cancel the next" for "cancel all". Here a few
phrases for the same operation are put for each other; all else stays. A rewording is a guess at how somebody
else said it, and serves where a goal that succeeded is just that. Knows nothing of memories or pipelines.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from plait.experience.words.goals import request_at
from plait.experience.words.vocabulary import words

Named: TypeAlias = tuple[str, str]
"""What a tool says of itself: its name with its description, and its parameters."""
DELETE = ("delete", "cancel", "remove", "get rid of")
OPERATIONS = (DELETE, ("rename", "change the name of"), ("postpone", "delay", "push back"))
"""Phrases for one operation."""
STEMS = words("""
    archiv cancel clos deactiv declin delet disabl discard dismiss eras purg reject remov revok suspend
    terminat trash unsubscrib void withdr""")
"""By which tools that end something are told apart: to delete an order and to cancel it may be two things."""


def rewordings(goal: str, tools: Collection[Named] = ()) -> list[str]:
    """Return the goal with other words for what it asks for; often there are none.

    Only the word that the request begins with is another: what is to be written to somebody stays as it is.

    Args:
        goal: What a user or a planner wrote.
        tools: Those that change something.
    """
    at = request_at(goal)
    for group in OPERATIONS:
        if (match := _phrases(group).match(goal, at)) is None:
            continue
        if group is DELETE and _told_apart(tools):
            return []
        others = (phrase for phrase in group if phrase != match[0].casefold())
        return [f"{goal[:at]}{phrase}{goal[match.end() :]}" for phrase in others]
    return []


def _told_apart(tools: Collection[Named]) -> bool:
    """Whether two tools end things in ways of which neither says it is the other, or a value tells how."""
    if any(stem for _, parameters in tools for stem in _stems(parameters)):
        return True
    ends = [found for tool, _ in tools if (found := frozenset(_stems(tool)))]
    return any(one.isdisjoint(other) for one in ends for other in ends)


def _stems(text: str) -> Iterator[str]:
    lowered = text.casefold()
    yield from (stem for stem in STEMS if stem in lowered)


def _phrases(group: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(group)})(?![\w'\u2019-])", re.IGNORECASE)
