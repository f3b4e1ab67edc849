"""How far a walk of a pipeline is: what its calls brought, and which ways lead on from there.

Knows nothing of which calls are to be made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from plait.experience.investigation.tree import Step
from plait.experience.pipelines.branches import EMPTINESS, compared_as
from plait.experience.pipelines.pipeline import START, Condition, Edge, FromResult, Pipeline
from plait.experience.pipelines.results import Row, first_of, in_order, last_of, rows_of

MOST_KEPT = 64
"""Results whose rows are not read again."""


class LeaveError(Exception):
    """Why the walk ends here."""


@dataclass(kw_only=True)
class WalkState:
    """How far a walk is."""

    steps: Sequence[Step]
    limits: Mapping[str, int]
    chosen: Mapping[str, int] = field(default_factory=dict[str, int])
    node: str = START
    taken: int = 0
    """Steps that belong to the nodes so far."""
    made: dict[str, list[Step]] = field(default_factory=dict[str, "list[Step]"])
    """The steps of each node that is done."""

    def rows(self, node: str) -> list[Mapping[str, str]]:
        """Return all rows of a node's results."""
        if node not in self.made:
            raise LeaveError(f"{node} was not called")
        if not all(step.whole for step in self.made[node]):
            raise LeaveError(f"the result of {node} was cut")
        return [row for step in self.made[node] for row in _read(step.observation)]

    def row(self, binding: FromResult, number: int) -> Mapping[str, str]:
        """Return the row that a binding means; `number` is that of the call, from 0."""
        rows = self.rows(binding.node)
        if not rows:
            raise LeaveError(f"{binding.node} found nothing")
        if binding.row == "only" and len(rows) > 1:
            raise LeaveError(f"{binding.node} found {len(rows)} rows where there was one")
        if binding.row == "each":
            if not self.has_all(binding.node):
                raise LeaveError(f"{binding.node} may have found more than it returned")
            return rows[number]
        row = last_of(rows) if binding.row == "last" else first_of(rows)
        # What is not at the top, or is at the top of a list in no order, is the first or last of all only
        # where all were returned.
        if not row or ((row != rows[0] or not in_order(rows)) and not self.has_all(binding.node)):
            raise LeaveError(f"which row of {binding.node} is the {binding.row} is not clear")
        return row

    def has_all(self, node: str) -> bool:
        """Whether the results of a node are all that there was to find."""
        return all(is_all(step.tool, len(_read(step.observation)), self.limits) for step in self.made[node])

    def holding(self, edges: Sequence[Edge]) -> list[Edge]:
        """Return the edges whose comparisons hold."""
        compared = [(edge, edge.condition) for edge in edges if isinstance(edge.condition, Condition)]
        # Where an edge is for no rows at all, those that compare a field are for some.
        empty = {one.node for _, one in compared if one.comparison == "empty" and not self.rows(one.node)}
        return [
            edge
            for edge, one in compared
            if (one.node not in empty or one.comparison in EMPTINESS) and self._holds(one)
        ]

    def _holds(self, condition: Condition) -> bool:
        """Whether a comparison on an earlier result holds."""
        rows = self.rows(condition.node)
        if condition.comparison in EMPTINESS:
            return (not rows) == (condition.comparison == "empty")
        if len(rows) != 1 or condition.field not in rows[0]:
            raise LeaveError(f"{condition.node} has no one {condition.field!r} to compare")
        equal = compared_as(rows[0][condition.field]) == compared_as(condition.value)
        return equal == (condition.comparison == "=")


def open_ways(pipeline: Pipeline, node: str, made: Mapping[str, Sequence[Step]]) -> list[Edge]:
    """Return the edges of which one is taken after a node: one, or those that words choose among.

    Args:
        pipeline: Any.
        node: Its name.
        made: The steps of the nodes up to this one.

    Returns:
        Empty where no way leads on, or more than one.
    """
    try:
        return open_edges(
            pipeline,
            WalkState(
                steps=(), limits={}, node=node, made={name: list(steps) for name, steps in made.items()}
            ),
        )
    except LeaveError:
        return []


def open_edges(pipeline: Pipeline, state: WalkState) -> list[Edge]:
    """Return the edges of which one is taken from here: the one whose comparison holds, else those without.

    Raises:
        LeaveError: more than one comparison holds, or one cannot be made.
    """
    edges = [edge for edge in pipeline.edges if edge.from_node == state.node]
    holding = state.holding(edges)
    if len(holding) > 1:
        raise LeaveError(f"more than one way leads on from {state.node}")
    return holding or [edge for edge in edges if not isinstance(edge.condition, Condition)]


def is_all(tool: str, rows: int, limits: Mapping[str, int]) -> bool:
    """Whether a result of so many rows is all that there was to find, as far as the tool says."""
    return tool in limits and (limits[tool] == 0 or rows < limits[tool])


@lru_cache(maxsize=MOST_KEPT)
def _read(observation: str) -> Sequence[Row]:
    """Return the rows of a result, which every later call and every row of a loop asks for again."""
    return tuple(rows_of(observation))
