"""A pipeline: the tool calls that reach a goal, as a finite automaton (ICE, section 3.2, equation 2).

Values only. Nodes are tool calls, edges say what follows; where every argument comes from is part of a
node, so that a run of the pipeline needs no model for it (beyond the paper: compiled bindings).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from plait.experience.words.derive import Way
from plait.journal import JSON

START, END = "start", "end"
"""Names of the two nodes that call no tool."""

WhichRow = Literal["only", "first", "last", "each", "undecided"]
"""Which row of a result is meant: there must be just one; the first; the last; the call is made once for
each; or it is not known yet, and stays with the model."""
Comparison = Literal["=", "!=", "empty", "not empty"]


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The same value whenever the pipeline runs."""

    value: JSON


@dataclass(frozen=True, kw_only=True)
class FromGoal:
    """What the goal says in one of the pipeline's slots."""

    slot: str


@dataclass(frozen=True, kw_only=True)
class FromResult:
    """A field of what an earlier node returned."""

    node: str
    field: str
    """Name of the column or key; empty where the whole result is the value."""
    row: WhichRow = "only"


@dataclass(frozen=True, kw_only=True)
class Unknown:
    """Nothing tells where the value came from; a pipeline with one cannot run by itself."""

    example: JSON


Part: TypeAlias = Constant | FromGoal | FromResult
Composition = Literal["text", "later", "earlier"]


@dataclass(frozen=True, kw_only=True)
class Composed:
    """A value that is put together of others."""

    how: Composition
    """`text`: the parts one after another; `later` and `earlier`: the time of the first, moved by so many
    minutes as the second says."""
    parts: Sequence[Part]


Binding: TypeAlias = Constant | FromGoal | FromResult | Composed | Unknown


def parts_of(binding: Binding) -> Sequence[Part | Unknown]:
    """Return what a binding is put together of; of a simple one, itself."""
    return binding.parts if isinstance(binding, Composed) else (binding,)


def results_of(binding: Binding) -> list[FromResult]:
    """Return the fields of results that a binding needs."""
    return [part for part in parts_of(binding) if isinstance(part, FromResult)]


def with_results(binding: Binding, change: Callable[[FromResult], FromResult]) -> Binding:
    """Return a binding with its fields of results changed."""
    if isinstance(binding, FromResult):
        return change(binding)
    if not isinstance(binding, Composed):
        return binding
    parts = [change(part) if isinstance(part, FromResult) else part for part in binding.parts]
    return replace(binding, parts=tuple(parts))


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A part of the goal that differs from task to task."""

    name: str
    """An identifier."""
    example: str
    """Its value, as it went into the call, when the pipeline was learned."""
    said: str
    """How the goal said it then: the example, but for case, where the value stands in the goal as it is; a
    span of the goal such as `December 13` where the value was worked out from it; empty where what day it
    was says it."""
    ways: tuple[Way, ...] = ()
    """All ways in which the value may have come about; none for words of the goal that are no value, and for
    what must be understood."""

    @property
    def literal(self) -> bool:
        """Whether the value stands in the goal as it is."""
        return self.example.casefold() == self.said.casefold()


@dataclass(frozen=True, kw_only=True)
class Node:
    """One tool call; `start` and `end` have no tool."""

    name: str
    tool: str = ""
    arguments: Mapping[str, Binding] = field(default_factory=dict[str, Binding])
    effect: bool = False
    answer: str = ""
    """How the tool answered when the effect was done, as `results.answer_shape` tells; empty: not known."""
    exactly: str = ""
    """What it must return, as `results.digest_of_result` tells; empty: anything will do."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A comparison on an earlier result that decides a branch without a model."""

    node: str
    field: str
    comparison: Comparison
    value: JSON = None


@dataclass(frozen=True, kw_only=True)
class InWords:
    """A condition in words, which a model judges where the pipeline is walked; never before an effect."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Edge:
    """What may follow a node, and when."""

    from_node: str
    to_node: str
    comments: Sequence[str] = ()
    """In words, as the paper has them; never instructions that are obeyed."""
    condition: Condition | InWords | None = None
    """None: always, or where no other edge's condition holds."""

    @property
    def name(self) -> str:
        """As the paper names edges: after the nodes it joins."""
        return f"{self.from_node}_{self.to_node}"


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """An automaton for one goal."""

    name: str
    purpose: str
    """The goal it was learned from."""
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    slots: Sequence[Slot] = ()

    def node(self, name: str) -> Node:
        """Return the node of a name.

        Raises:
            KeyError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    @property
    def calls(self) -> list[Node]:
        """The nodes that call a tool, in the order in which they are written."""
        return [node for node in self.nodes if node.tool]

    @property
    def unknown(self) -> list[str]:
        """The arguments, as `node.argument`, that a run would have to ask a model for."""
        return [
            f"{node.name}.{name}"
            for node in self.calls
            for name, binding in node.arguments.items()
            if isinstance(binding, Unknown) or any(each.row == "undecided" for each in results_of(binding))
        ]
