"""What a pipeline calls next, from what its calls brought so far (ICE, section 3.2, Execution-Exploit).

A pure function: no model, no tool. The same steps give the same next call, so that a run that was taken up
again walks on where it stood. Where the pipeline cannot say what is next, it is left, and the agent goes
on from there. Knows nothing of who makes the calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from plait.experience.investigation.tree import Step
from plait.experience.pipelines.branches import EMPTINESS, compared_as
from plait.experience.pipelines.graph import changes_from
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Condition,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    InWords,
    Node,
    Pipeline,
)
from plait.experience.pipelines.results import (
    Row,
    answer_shape,
    digest_of_result,
    first_of,
    in_order,
    last_of,
    rows_of,
)
from plait.models.schema import coerce, properties_of

MOST_CALLS = 32
"""Of one walk: a call for each row of a long result is no routine any more."""


@dataclass(frozen=True, kw_only=True)
class NextCall:
    """The pipeline's next call."""

    node: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The pipeline came to its end."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """The pipeline cannot go on."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class Fork:
    """Only words say which way to take: somebody must judge which of them holds."""

    node: str
    """After which the ways part."""
    ways: Sequence[str]


Move: TypeAlias = NextCall | Finished | Left | Fork
NO_CHOICE: Mapping[str, int] = {}


class _LeaveError(Exception):
    """Why the walk ends here."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A pipeline on its way through one goal."""

    pipeline: Pipeline
    values: Mapping[str, str]
    """What the goal says in each slot."""
    parameters: Mapping[str, Mapping[str, Any]]
    """JSON schema of each tool's parameters."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows that the result of a tool has at most, where that is known; 0: it is always all there is."""

    def next(self, steps: Sequence[Step], chosen: Mapping[str, int] = NO_CHOICE) -> Move:
        """Return the next call after `steps`, all of which are calls of this walk, in order.

        Args:
            steps: As they were made.
            chosen: Which way was chosen at each fork, from 1; 0: none of its conditions holds.
        """
        place = _Place(steps=steps, limits=self.limits, chosen=chosen)
        try:
            while place.node != END:
                if (call := self._call_at(place)) is not None:
                    return call
                after = self._after(place)
                if isinstance(after, Fork):
                    return after if place.taken == len(steps) else Left(reason="other calls were made")
                place.node = after
        except _LeaveError as reason:
            return Left(reason=str(reason))
        return Finished() if place.taken == len(steps) else Left(reason="other calls were made after it")

    def _call_at(self, place: "_Place") -> NextCall | None:
        """Return the first call of the node that was not made yet; None where all are made."""
        if place.node == START:
            return None
        if place.node in place.made:
            raise _LeaveError(f"it comes to {place.node} again")
        node = self.pipeline.node(place.node)
        made: list[Step] = []
        for arguments in self._arguments(node, place):
            if place.taken == len(place.steps):
                if place.taken >= MOST_CALLS:
                    raise _LeaveError(f"it takes more than {MOST_CALLS} calls")
                return NextCall(node=node.name, tool=node.tool, arguments=arguments)
            step = place.steps[place.taken]
            if (step.tool, dict(step.arguments)) != (node.tool, arguments):
                raise _LeaveError(f"another call was made at {node.name}")
            if not step.ok:
                raise _LeaveError(f"{node.name} failed")
            if node.answer and answer_shape(step.observation, step.arguments) != node.answer:
                raise _LeaveError(f"{node.name} answered otherwise than when it was learned")
            if node.exactly and digest_of_result(step.observation) != node.exactly:
                raise _LeaveError(f"{node.tool} returned something else than when it was learned")
            place.taken += 1
            made.append(step)
        place.made[node.name] = made
        return None

    def _arguments(self, node: Node, place: "_Place") -> list[dict[str, Any]]:
        """Return the arguments of each of the node's calls: of one, or of one for each row of a result."""
        counts = {
            len(place.rows(binding.node))
            for binding in node.arguments.values()
            if isinstance(binding, FromResult) and binding.row == "each"
        }
        if len(counts) > 1:
            raise _LeaveError(f"{node.name} goes through two results of different lengths")
        return [self._filled(node, place, number) for number in range(counts.pop() if counts else 1)]

    def _filled(self, node: Node, place: "_Place", number: int) -> dict[str, Any]:
        schema = self.parameters.get(node.tool, {})
        known = properties_of(schema)
        return {
            name: coerce(self._value(node, binding, place, number), known.get(name, {}), schema)
            for name, binding in node.arguments.items()
        }

    def _value(self, node: Node, binding: Binding, place: "_Place", number: int) -> Any:
        match binding:
            case Constant(value=value):
                return value
            case FromGoal(slot=slot) if slot in self.values:
                return self.values[slot]
            case FromResult() if binding.row != "undecided":
                return _cell(place.row(binding, number), binding)
            case _:
                raise _LeaveError(f"nothing says what {node.name} is called with")

    def _after(self, place: "_Place") -> str | Fork:
        """Return the node that follows: the one whose condition holds, else the one without a condition."""
        edges = _open(self.pipeline, place)
        worded = [edge for edge in edges if isinstance(edge.condition, InWords)]
        if worded:
            if any(changes_from(self.pipeline, edge.to_node) for edge in edges):
                raise _LeaveError(f"only words decide what follows {place.node}, and it changes something")
            if place.node not in place.chosen:
                return Fork(node=place.node, ways=[_words(edge) for edge in worded])
            number = place.chosen[place.node]
            edges = worded[number - 1 : number] if number else [edge for edge in edges if not edge.condition]
        if not edges:
            raise _LeaveError(f"nothing follows {place.node}")
        return edges[0].to_node


@dataclass(kw_only=True)
class _Place:
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
            raise _LeaveError(f"{node} was not called")
        if not all(step.whole for step in self.made[node]):
            raise _LeaveError(f"the result of {node} was cut")
        return [row for step in self.made[node] for row in _read(step.observation)]

    def row(self, binding: FromResult, number: int) -> Mapping[str, str]:
        """Return the row that a binding means; `number` is that of the call, from 0."""
        rows = self.rows(binding.node)
        if not rows:
            raise _LeaveError(f"{binding.node} found nothing")
        if binding.row == "only" and len(rows) > 1:
            raise _LeaveError(f"{binding.node} found {len(rows)} rows where there was one")
        if binding.row == "each":
            if not self.has_all(binding.node):
                raise _LeaveError(f"{binding.node} may have found more than it returned")
            return rows[number]
        row = last_of(rows) if binding.row == "last" else first_of(rows)
        # What is not at the top, or is at the top of a list in no order, is the first or last of all only
        # where all were returned.
        if not row or ((row != rows[0] or not in_order(rows)) and not self.has_all(binding.node)):
            raise _LeaveError(f"which row of {binding.node} is the {binding.row} is not clear")
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
            raise _LeaveError(f"{condition.node} has no one {condition.field!r} to compare")
        equal = rows[0][condition.field].casefold() == compared_as(condition.value)
        return equal == (condition.comparison == "=")


def open_ways(pipeline: Pipeline, node: str, made: Mapping[str, Sequence[Step]]) -> list[Edge]:
    """Return the edges of which one is taken after a node: one, or those that words choose among.

    Args:
        pipeline: Any.
        node: Its name.
        made: The steps of the nodes up to this one.

    Returns:
        None of them where no way leads on, or more than one.
    """
    try:
        return _open(
            pipeline,
            _Place(steps=(), limits={}, node=node, made={name: list(steps) for name, steps in made.items()}),
        )
    except _LeaveError:
        return []


def _open(pipeline: Pipeline, place: _Place) -> list[Edge]:
    edges = [edge for edge in pipeline.edges if edge.from_node == place.node]
    holding = place.holding(edges)
    if len(holding) > 1:
        raise _LeaveError(f"more than one way leads on from {place.node}")
    return holding or [edge for edge in edges if not isinstance(edge.condition, Condition)]


def _words(edge: Edge) -> str:
    return edge.condition.text if isinstance(edge.condition, InWords) else ""


def is_all(tool: str, rows: int, limits: Mapping[str, int]) -> bool:
    """Whether a result of so many rows is all that there was to find, as far as the tool says."""
    return tool in limits and (limits[tool] == 0 or rows < limits[tool])


@lru_cache(maxsize=2 * MOST_CALLS)
def _read(observation: str) -> Sequence[Row]:
    """Return the rows of a result, which every later call and every row of a loop asks for again."""
    return tuple(rows_of(observation))


def _cell(row: Mapping[str, str], binding: FromResult) -> str:
    if binding.field not in row:
        raise _LeaveError(f"the result of {binding.node} has no {binding.field!r}")
    return row[binding.field]
