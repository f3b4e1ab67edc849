"""Where the edges of a pipeline lead.

Knows nothing of what the nodes do, but whether they change the world.
"""

from collections.abc import Mapping, Sequence

from plait.experience.pipelines.pipeline import Edge, Pipeline


def neighbours(edges: Sequence[Edge]) -> dict[str, list[str]]:
    """Return the nodes that follow each node."""
    found: dict[str, list[str]] = {}
    for edge in edges:
        found.setdefault(edge.from_node, []).append(edge.to_node)
    return found


def reached(onward: Mapping[str, Sequence[str]], start: str, *, without: str = "") -> set[str]:
    """Return a node and those that a way leads to from it, not through `without`."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in found and name != without:
            found.add(name)
            waiting += onward.get(name, ())
    return found


def changes_from(pipeline: Pipeline, name: str) -> bool:
    """Whether a node changes the world, or one that a way leads to from it does."""
    there = reached(neighbours(pipeline.edges), name)
    return any(node.effect for node in pipeline.calls if node.name in there)
