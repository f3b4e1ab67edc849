"""What keeps a branch of a pipeline from being decided: of several edges at most one may be taken.

A comparison on an earlier result needs no model (beyond the paper, whose agent chooses every edge: ICE,
section 3.2). A condition in words needs one, and so it never decides about an effect. Knows nothing of tools.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from plait.experience.pipelines.graph import changes_from
from plait.experience.pipelines.pipeline import Condition, Edge, InWords, Pipeline
from plait.experience.pipelines.results import cell_text

MOST_WORDS = 160
"""Characters of a condition in words."""
MOST_WORDED = 4
"""Edges with conditions in words after one node."""
MOST_FORKS = 3
"""Nodes after which words decide; each is a model call."""
_NUMBER = re.compile(r"(-?(?:0|[1-9]\d*))(?:\.(\d+))?", re.ASCII)
"""With zeros in front it is an identifier."""
EMPTINESS = ("empty", "not empty")


def undecidable(pipeline: Pipeline) -> Iterator[str]:
    """Yield the nodes after which nothing tells which way to take, as reasons for `problems_of`."""
    forks = 0
    for node in pipeline.nodes:
        edges = [edge for edge in pipeline.edges if edge.from_node == node.name]
        worded = [edge.condition for edge in edges if isinstance(edge.condition, InWords)]
        forks += bool(worded)
        for why in _reasons(edges):
            yield f"the branch after {node.name[:60]!r} cannot be decided: {why}"
        if worded and any(changes_from(pipeline, edge.to_node) for edge in edges):
            yield f"only words decide what follows {node.name[:60]!r}, and it changes the world"
        if len(worded) > MOST_WORDED:
            yield f"words decide {len(worded)} edges after {node.name[:60]!r}; at most {MOST_WORDED} they may"
    if forks > MOST_FORKS:
        yield f"words decide after {forks} nodes; at most after {MOST_FORKS} they may"


def _reasons(edges: Sequence[Edge]) -> Iterator[str]:
    conditions = [edge.condition for edge in edges]
    if conditions.count(None) > 1:
        yield "edges without a condition compete"
    told = [condition for condition in conditions if condition is not None]
    if any(one in told[:number] for number, one in enumerate(told)):
        yield "two edges have one condition"
    compared = [condition for condition in told if isinstance(condition, Condition)]
    if compared and len(compared) < len(told):
        yield "words compete with a comparison"
    for one, other in combinations(compared, 2):
        if one != other and _both_may_hold(one, other):
            yield f"{_shown(one)} and {_shown(other)} may both hold"


def _both_may_hold(one: Condition, other: Condition) -> bool:
    """Whether some result fulfils two comparisons; of different results or fields it cannot be told here."""
    if one.node != other.node:
        return False
    first, second = sorted((one, other), key=lambda condition: condition.comparison not in EMPTINESS)
    if first.comparison in EMPTINESS:
        # A field is compared where something was found.
        return first.comparison == second.comparison or (
            first.comparison == "not empty" and second.comparison not in EMPTINESS
        )
    if first.field != second.field:
        return False
    same = compared_as(first.value) == compared_as(second.value)
    if first.comparison == second.comparison:
        return first.comparison == "!=" or same
    return not same


def compared_as(value: object) -> str:
    """Return a value as it is compared: as a cell spells it, in small letters, and a number as its amount."""
    text = cell_text(value).casefold()
    if number := _NUMBER.fullmatch(text):
        amount = f"{number[1]}.{number[2] or ''}".rstrip("0").rstrip(".") if number[2] else number[1]
        return "0" if amount == "-0" else amount
    return text


def _shown(condition: Condition) -> str:
    value = "" if condition.comparison in EMPTINESS else f" {str(condition.value)[:30]!r}"
    return f"{condition.comparison}{value}"
