"""Whether an automaton that a model made of a trajectory leads through it again (ICE, section 3.2).

It must take the way that was gone, over every call that was needed and in the order in which they were made.
What was not tried may read and end; it never changes the world, and leaves a change out only where there is
nothing to change. Knows nothing of models.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plait.experience.consolidation.compile import Draft
from plait.experience.pipelines.branches import EMPTINESS
from plait.experience.pipelines.graph import changes_from
from plait.experience.pipelines.nothing import leaves_nothing
from plait.experience.pipelines.pipeline import END, START, Condition, Edge, InWords, Node, Pipeline
from plait.experience.pipelines.soundness import problems_of, shown
from plait.experience.pipelines.walk_state import open_ways
from plait.tools.arguments import Schemas


@dataclass(frozen=True, kw_only=True)
class Route:
    """The route of a trajectory through a pipeline."""

    nodes: Sequence[str] = ()
    """Those that call a tool, in order."""
    edges: Sequence[Edge] = ()
    chosen: Mapping[str, int] = field(default_factory=dict[str, int])
    """The edge that was taken at each fork, as `Walk.next` takes it."""


def faults(pipeline: Pipeline, numbers: Mapping[str, int], draft: Draft, tools: Schemas) -> list[str]:
    """Return what is wrong with a pipeline of a trajectory, each in one line; empty where it may be kept.

    Args:
        pipeline: As it was made.
        numbers: Which call of the draft each of its nodes makes again, from 0.
        draft: The trajectory.
        tools: What the tools may be called with.
    """
    if problems := problems_of(pipeline, tools):
        return problems
    if problems := list(_fields(pipeline, numbers, draft)):
        return problems
    route = route_through(pipeline, numbers, draft)
    if route is None:
        needed = ", ".join(str(number + 1) for number in required(draft))
        return [f"it does not lead over the calls that were needed ({needed}), in their order, to end"]
    return list(_untried(pipeline, route, tools))


def required(draft: Draft) -> list[int]:
    """Return the calls that a pipeline must make again: all effects, or else what was read last."""
    effects = [number for number, call in enumerate(draft.calls) if call.step.effect]
    return effects or [draft.kept[-1]]


def route_through(pipeline: Pipeline, numbers: Mapping[str, int], draft: Draft) -> Route | None:
    """Return the route that a trajectory takes through a sound pipeline; None where it takes none."""
    wanted = set(required(draft))

    def onward(name: str, route: Route) -> Route | None:
        if name == END:
            return route if wanted <= {numbers[node] for node in route.nodes} else None
        if name != START:
            if route.nodes and numbers[name] <= numbers[route.nodes[-1]]:
                return None
            route = replace(route, nodes=(*route.nodes, name))
        made = {node: draft.made(numbers[node]) for node in route.nodes}
        edges = open_ways(pipeline, name, made)
        worded = [edge for edge in edges if isinstance(edge.condition, InWords)]
        for edge in edges:
            choice = {name: worded.index(edge) + 1 if edge in worded else 0} if worded else {}
            taken = replace(route, edges=(*route.edges, edge), chosen={**route.chosen, **choice})
            if found := onward(edge.to_node, taken):
                return found
        return None

    return onward(START, Route())


def _fields(pipeline: Pipeline, numbers: Mapping[str, int], draft: Draft) -> Iterator[str]:
    """Yield the comparisons with a field that no result had."""
    for edge in pipeline.edges:
        condition = edge.condition
        if not isinstance(condition, Condition) or condition.comparison in EMPTINESS:
            continue
        rows = draft.calls[numbers[condition.node]].rows
        if rows and not any(condition.field in row for row in rows):
            yield f"the result of {shown(condition.node)} has no {shown(condition.field)} to compare"


def _untried(pipeline: Pipeline, route: Route, tools: Schemas) -> Iterator[str]:
    """Yield the edges that were not taken and lead to a change of the world, or leave one out."""
    gone = [START, *route.nodes]
    for edge in pipeline.edges:
        if edge in route.edges:
            continue
        where = f"from {shown(edge.from_node)} to {shown(edge.to_node)}"
        if changes_from(pipeline, edge.to_node):
            yield f"nobody went {where} on that condition, and it leads to a change"
        # Who comes elsewhere went on such an edge before.
        elif edge.from_node in gone:
            later = [pipeline.node(name) for name in gone[gone.index(edge.from_node) + 1 :]]
            for node in later:
                if node.effect and not _is_excused(pipeline, edge, node, tools):
                    yield f"nobody went {where} on that condition, and it leaves out {shown(node.name)}"


def _is_excused(pipeline: Pipeline, edge: Edge, effect: Node, tools: Schemas) -> bool:
    """Whether an edge is taken only where there is nothing to do an effect to."""
    condition = edge.condition
    if not isinstance(condition, Condition) or condition.comparison != "empty":
        return False
    return leaves_nothing(pipeline, condition.node, effect, tools)
