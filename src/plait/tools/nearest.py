"""Picks the tools nearest in meaning to a subtask, where there are too many to offer them all.

Knows nothing of where vectors come from: whoever embeds is passed in.
"""

import math
from collections.abc import Sequence
from typing import Protocol
from weakref import WeakKeyDictionary

from plait.tools.tool import Tool


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how near they are in meaning."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, in order."""
        ...


_known: WeakKeyDictionary[Embedder, dict[str, list[float]]] = WeakKeyDictionary()
"""Vectors of tools, by who makes them and their text: tools seldom change, subtasks always do."""


async def nearest(tools: Sequence[Tool], text: str, embedder: Embedder, limit: int) -> list[Tool]:
    """Return at most `limit` tools, nearest first; where there are no more, all in their order.

    An embedder that only passes texts on, to one that serves other runs as well, has that one as `inner`.
    """
    if len(tools) <= limit:
        return list(tools)
    known = _known.setdefault(getattr(embedder, "inner", embedder), {})
    texts = [spelled(tool) for tool in tools]
    missing = [spelling for spelling in dict.fromkeys(texts) if spelling not in known]
    wanted, *vectors = await embedder.embed([text, *missing])
    known.update(zip(missing, vectors, strict=True))
    nearness = [cosine(wanted, known[spelling]) for spelling in texts]
    order = sorted(range(len(tools)), key=lambda number: -nearness[number])
    return [tools[number] for number in order[:limit]]


def spelled(tool: Tool) -> str:
    """Return the text a tool is found by."""
    words = tool.name.replace(".", " ").replace("_", " ")
    return f"{words}: {tool.description}"


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of two vectors; 0 where one of them has no direction."""
    lengths = math.hypot(*first) * math.hypot(*second)
    return math.fsum(a * b for a, b in zip(first, second, strict=True)) / lengths if lengths else 0.0
