"""Picks the tools nearest in meaning to a subtask, where there are too many to offer them all.

Knows nothing of where vectors come from: whoever embeds is passed in.
"""

import math
from collections.abc import Sequence
from typing import Protocol

from plait.tools.tool import Tool

DEFAULT_LIMIT = 12


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how near they are in meaning."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector for each text, in order."""
        ...


class Nearest:
    """Finds candidates among one set of tools, whose own vectors are made once."""

    def __init__(self, tools: Sequence[Tool], embedder: Embedder) -> None:
        self._tools = list(tools)
        self._embedder = embedder
        self._vectors: list[list[float]] | None = None

    async def find(self, text: str, limit: int = DEFAULT_LIMIT) -> list[Tool]:
        """Return at most `limit` tools, nearest first; where there are no more, all in their order."""
        if len(self._tools) <= limit:
            return list(self._tools)
        if self._vectors is None:
            self._vectors = await self._embedder.embed([spelled(tool) for tool in self._tools])
        [wanted] = await self._embedder.embed([text])
        nearness = [cosine(wanted, vector) for vector in self._vectors]
        order = sorted(range(len(self._tools)), key=lambda number: -nearness[number])
        return [self._tools[number] for number in order[:limit]]


async def nearest(
    tools: Sequence[Tool], text: str, embedder: Embedder, limit: int = DEFAULT_LIMIT
) -> list[Tool]:
    """Find candidates once; use `Nearest` to ask often about the same tools."""
    return await Nearest(tools, embedder).find(text, limit)


def spelled(tool: Tool) -> str:
    """Return the text a tool is found by."""
    words = tool.name.replace(".", " ").replace("_", " ")
    return f"{words}: {tool.description}"


def cosine(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the cosine of two vectors; 0 where one of them has no direction."""
    lengths = math.hypot(*first) * math.hypot(*second)
    return math.fsum(a * b for a, b in zip(first, second, strict=True)) / lengths if lengths else 0.0
