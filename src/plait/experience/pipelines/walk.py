"""What a pipeline calls next, from what its calls brought so far (ICE, section 3.2, Execution-Exploit).

A pure function: no model, no tool. The same steps give the same next call, so that a run that was taken up
again walks on where it stood. Where the pipeline cannot say what is next, it is left, and the agent goes
on from there. Knows nothing of who makes the calls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from plait.experience.investigation.tree import Step
from plait.experience.pipelines.graph import changes_from
from plait.experience.pipelines.nothing import leaves_nothing
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Composed,
    Composition,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    InWords,
    Node,
    Pipeline,
    results_of,
)
from plait.experience.pipelines.results import (
    answer_shape,
    cell_text,
    digest_of_result,
)
from plait.experience.pipelines.walk_state import LeaveError, WalkState, open_edges
from plait.experience.words.derive import moved_by
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
        state = WalkState(steps=steps, limits=self.limits, chosen=chosen)
        try:
            while state.node != END:
                if (call := self._call_at(state)) is not None:
                    return call
                after = self._after(state)
                if isinstance(after, Fork):
                    return after if state.taken == len(steps) else Left(reason="other calls were made")
                state.node = after
            self._check_effects(state)
        except LeaveError as reason:
            return Left(reason=str(reason))
        if state.taken < len(steps):
            return Left(reason="other calls were made after it")
        return Finished()

    def _check_effects(self, state: WalkState) -> None:
        """Make sure that at its end every effect was done, or that there was nothing to do it to."""
        undone = [node for node in self.pipeline.calls if node.effect and not state.made.get(node.name)]
        if not undone:
            return
        reads = [node.name for node in self.pipeline.calls if not node.effect and state.made.get(node.name)]
        empty = [name for name in reads if not state.rows(name)]
        for node in undone:
            if not any(leaves_nothing(self.pipeline, name, node, self.parameters) for name in empty):
                raise LeaveError(f"nothing shows that there was nothing to do at {node.name}")

    def _call_at(self, state: WalkState) -> NextCall | None:
        """Return the first call of the node that was not made yet; None where all are made."""
        if state.node == START:
            return None
        if state.node in state.made:
            raise LeaveError(f"it comes to {state.node} again")
        node = self.pipeline.node(state.node)
        made: list[Step] = []
        for arguments in self._arguments(node, state):
            if state.taken == len(state.steps):
                if state.taken >= MOST_CALLS:
                    raise LeaveError(f"it takes more than {MOST_CALLS} calls")
                return NextCall(node=node.name, tool=node.tool, arguments=arguments)
            step = state.steps[state.taken]
            if (step.tool, dict(step.arguments)) != (node.tool, arguments):
                raise LeaveError(f"another call was made at {node.name}")
            if not step.ok:
                raise LeaveError(f"{node.name} failed")
            if node.answer and answer_shape(step.observation, step.arguments) != node.answer:
                raise LeaveError(f"{node.name} answered otherwise than when it was learned")
            if node.exactly and digest_of_result(step.observation) != node.exactly:
                raise LeaveError(f"{node.tool} returned something else than when it was learned")
            state.taken += 1
            made.append(step)
        state.made[node.name] = made
        return None

    def _arguments(self, node: Node, state: WalkState) -> list[dict[str, Any]]:
        """Return the arguments of each of the node's calls: of one, or of one for each row of a result."""
        counts = {
            len(state.rows(result.node))
            for binding in node.arguments.values()
            for result in results_of(binding)
            if result.row == "each"
        }
        if len(counts) > 1:
            raise LeaveError(f"{node.name} goes through two results of different lengths")
        return [self._filled(node, state, number) for number in range(counts.pop() if counts else 1)]

    def _filled(self, node: Node, state: WalkState, number: int) -> dict[str, Any]:
        schema = self.parameters.get(node.tool, {})
        known = properties_of(schema)
        return {
            name: coerce(self._value(node, binding, state, number), known.get(name, {}), schema)
            for name, binding in node.arguments.items()
        }

    def _value(self, node: Node, binding: Binding, state: WalkState, number: int) -> Any:
        match binding:
            case Constant(value=value):
                return value
            case FromGoal(slot=slot) if slot in self.values:
                return self.values[slot]
            case FromResult() if binding.row != "undecided":
                return _cell(state.row(binding, number), binding)
            case Composed(how=how, parts=parts):
                return _composed(node, how, [self._value(node, part, state, number) for part in parts])
            case _:
                raise LeaveError(f"nothing says what {node.name} is called with")

    def _after(self, state: WalkState) -> str | Fork:
        """Return the node that follows: the one whose condition holds, else the one without a condition."""
        edges = open_edges(self.pipeline, state)
        worded = [edge for edge in edges if isinstance(edge.condition, InWords)]
        if worded:
            if any(changes_from(self.pipeline, edge.to_node) for edge in edges):
                raise LeaveError(f"only words decide what follows {state.node}, and it changes something")
            if state.node not in state.chosen:
                return Fork(node=state.node, ways=[_words(edge) for edge in worded])
            number = state.chosen[state.node]
            edges = worded[number - 1 : number] if number else [edge for edge in edges if not edge.condition]
        if not edges:
            raise LeaveError(f"nothing follows {state.node}")
        return edges[0].to_node


def _words(edge: Edge) -> str:
    return edge.condition.text if isinstance(edge.condition, InWords) else ""


def _composed(node: Node, how: Composition, values: Sequence[Any]) -> str:
    if how == "text":
        return "".join(cell_text(value) for value in values)
    moved = moved_by(str(values[0]), str(values[1]), back=how == "earlier")
    if moved is None:
        raise LeaveError(f"{node.name} needs a time, and there is {values[0]!r} to be moved")
    return moved


def _cell(row: Mapping[str, str], binding: FromResult) -> str:
    if binding.field not in row:
        raise LeaveError(f"the result of {binding.node} has no {binding.field!r}")
    return row[binding.field]
