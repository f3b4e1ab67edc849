"""A way that is gone again as it was: for the very same goal, on the same day, while all reads answer alike.

What an agent chose may stand in no call, such as which of three rows was "the right one", and then no
pipeline with slots can be made of it. In the same situation it would choose the same; that it is the same is
told by the goal, the day and the answers to all that it read. Beyond the paper (ICE). Knows nothing of
memories.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from plait.experience.consolidation.caution import with_answers
from plait.experience.consolidation.trajectory import useful
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import END, START, Constant, Edge, Node, Pipeline
from plait.experience.pipelines.results import digest_of_result

AS_IT_WAS = "as_it_was"
"""Where the content of a record says that it holds for this very goal, and on which day."""
MOST_CALLS = 16
_KEY = "as it was: "


def exact_key(goal: str) -> str:
    """Return the key of a record that holds for these very words only."""
    return _KEY + " ".join(goal.split())


def as_it_was(goal: str, steps: Sequence[Step], effects: Collection[str]) -> Pipeline | None:
    """Return the calls of a success one by one; None where it is too long, or one cannot be compared.

    Args:
        goal: What was reached.
        steps: Of all leaves that reached it, in order.
        effects: Names of the tools that change the world.
    """
    made = useful(steps, effects)
    if not made or len(made) > MOST_CALLS or not all(step.whole for step in made):
        return None
    nodes = [_node(number, step) for number, step in enumerate(made, 1)]
    names = [START, *(node.name for node in nodes), END]
    edges = [Edge(from_node=one, to_node=next_) for one, next_ in pairwise(names)]
    whole = [Node(name=START), *nodes, Node(name=END)]
    return with_answers(Pipeline(name="as it was", purpose=goal, nodes=whole, edges=edges), made)


def day_of(content: Mapping[str, Any]) -> str | None:
    """Return the day of a record that holds for one goal only; None where it is of another kind."""
    found = content.get(AS_IT_WAS)
    return found if isinstance(found, str) else None


def _node(number: int, step: Step) -> Node:
    return Node(
        name=f"call_{number}",
        tool=step.tool,
        arguments={name: Constant(value=value) for name, value in step.arguments.items()},
        effect=step.effect,
        exactly="" if step.effect else digest_of_result(step.observation),
    )
