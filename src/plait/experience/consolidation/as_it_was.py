"""A way that is gone again as it was: for the very same goal, in the same situation, with the same reads.

What an agent chose may stand in no call, such as which of three rows was "the right one", and then no
pipeline with slots can be made of it. In the same situation the same agent would choose the same. That it is
the same is told by the goal, the notes of the tools (which say what day it is), the model and its settings,
and the answers to all that was read. Beyond the paper (ICE). Knows nothing of memories, nor of how a
situation is told (`situation`).
"""

from collections.abc import Collection
from itertools import pairwise

from plait.experience.consolidation.caution import ASKING, with_answers
from plait.experience.consolidation.trajectory import useful
from plait.experience.investigation.tree import Goal, Step
from plait.experience.pipelines.pipeline import END, START, Constant, Edge, Node, Pipeline
from plait.experience.pipelines.results import digest_of_result
from plait.experience.words.goals import key_of
from plait.tools.rendering import not_found

MOST_CALLS = 16


def as_it_was(root: Goal, effects: Collection[str]) -> Pipeline | None:
    """Return the calls of a success one by one, or None.

    There is none where anything failed, was not found when it was to be changed, or was cut: it is not
    compared, and may be why something was done. Nor where the goal wants to be told something that only an
    agent can say of what was done.

    Args:
        root: The plan tree of the run.
        effects: Names of the tools that change the world.
    """
    if any(goal.status != "succeeded" for goal in root.goals()):
        return None
    steps = [step for leaf in root.leaves() for step in leaf.steps]
    if not all(
        step.ok and step.whole and not (step.effect and not_found(step.observation)) for step in steps
    ):
        return None
    acts = any(step.effect for step in steps)
    if acts and not ASKING.isdisjoint(key_of(root.text).split()):
        return None
    made = useful(steps, effects)
    if not made or len(made) > MOST_CALLS:
        return None
    if sum(step.effect for step in made) != sum(step.effect or step.tool in effects for step in steps):
        return None  # The same effect twice may be what was wanted.
    nodes = [_node(number, step) for number, step in enumerate(made, 1)]
    names = [START, *(node.name for node in nodes), END]
    edges = [Edge(from_node=one, to_node=after) for one, after in pairwise(names)]
    whole = [Node(name=START), *nodes, Node(name=END)]
    return with_answers(Pipeline(name="as it was", purpose=root.text, nodes=whole, edges=edges), made)


def _node(number: int, step: Step) -> Node:
    return Node(
        name=f"call_{number}",
        tool=step.tool,
        arguments={name: Constant(value=value) for name, value in step.arguments.items()},
        effect=step.effect,
        exactly="" if step.effect else digest_of_result(step.observation),
    )
