"""Switches of a run that is forked: each part goes on or off by itself, whatever was switched in groups.

Knows nothing of what the parts do.
"""

from collections.abc import Mapping, Sequence
from typing import Any

SWITCH_GROUPS: Mapping[str, Sequence[str]] = {
    "reflection": (
        "planner-gate",
        "tool-gate",
        "answer-gate",
        "phase-gate",
        "short-term",
        "long-term",
        "rectification",
    ),
    "gates": ("planner-gate", "tool-gate", "answer-gate", "phase-gate"),
    "memories": ("short-term", "long-term"),
}
"""Switches that stand for several others, the widest first."""


def switched(without: Sequence[str], said: Mapping[str, bool]) -> dict[str, Any]:
    """Return the changes to options that switch some parts on or off, and leave the others as they are.

    A group may be named with some of its parts, whose word then counts: `gates` off and `tool-gate` on.

    Args:
        without: What is off, groups among it.
        said: What is to be on or off.
    """
    if not said:
        return {}
    widest_first = sorted(said, key=lambda name: -len(_parts(name)))
    order = [part for name in (*without, *widest_first) for part in _parts(name)]
    off = {part for name in without for part in _parts(name)}
    for name in widest_first:
        off = off | set(_parts(name)) if not said[name] else off - set(_parts(name))
    left = tuple(part for part in dict.fromkeys(order) if part in off)
    if not (said.get("reflection", True) is False or ("reflection" in without and "reflection" not in said)):
        return {"without": left}
    whole = _parts("reflection")
    if off.issuperset(whole):
        return {"without": ("reflection", *(part for part in left if part not in whole))}
    # Without reflection there is one round; switching a part of it on again says nothing of rounds.
    return {"without": left, "rounds": 1}


def _parts(name: str) -> Sequence[str]:
    return SWITCH_GROUPS.get(name, (name,))
