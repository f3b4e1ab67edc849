"""Candidates are chosen by meaning only where there are too many tools."""

from collections.abc import Mapping, Sequence
from typing import Any

from plait.tools.nearest import nearest
from plait.tools.tool import Tool


class Letters:
    """Embeds a text as the counts of a few letters, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(list(texts))
        return [[float(text.count(letter)) for letter in "xyz"] for text in texts]


def named(name: str, description: str = "") -> Tool:
    async def run(_: Mapping[str, Any]) -> Any: ...

    return Tool(name=name, description=description, parameters={}, effect="reads", run=run, source="test")


async def test_few_tools_are_all_offered_without_embedding() -> None:
    tools = [named("x"), named("y")]
    letters = Letters()
    assert await nearest(tools, "y", letters, limit=2) == tools
    assert letters.asked == []


async def test_the_nearest_come_first_and_tools_are_embedded_once() -> None:
    tools = [named("box.x_lot", "xx"), named("a", "y"), named("b", "xyy"), named("none")]
    letters = Letters()
    assert [tool.name for tool in await nearest(tools, "y", letters, 2)] == ["a", "b"]
    assert [tool.name for tool in await nearest(tools, "x", letters, 3)] == ["box.x_lot", "b", "a"]
    assert letters.asked == [["y", "box x lot: xx", "a: y", "b: xyy", "none: "], ["x"]]
    assert [tool.name for tool in await nearest([*tools, named("c", "z")], "z", letters, 1)] == ["c"]
    assert letters.asked[2:] == [["z", "c: z"]]
