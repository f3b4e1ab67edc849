"""Whether an empty result shows that there is nothing to do, so that an effect may be left out.

A search for a name that finds nothing may have been spelled otherwise, and what was not found may matter to
one effect and not to another. Only what is sure is believed; for all else an agent looks. Beyond the paper,
whose agent chooses every edge (ICE, section 3.2). Knows nothing of walks.
"""

from plait.experience.pipelines.pipeline import (
    Binding,
    Composed,
    Constant,
    FromGoal,
    FromResult,
    Node,
    Pipeline,
    results_of,
)
from plait.experience.pipelines.results import is_time
from plait.models.schema import is_identifier, properties_of, resolve
from plait.tools.arguments import Schemas


def leaves_nothing(pipeline: Pipeline, empty: str, effect: Node, tools: Schemas) -> bool:
    """Whether there is nothing to do an effect to where the result of a node is empty.

    There is none where the thing that the effect changes, or each of those that it goes through, is of that
    result, directly or through others, and where times, constants and words that a tool offers are all that
    was searched by.

    Args:
        pipeline: A sound one.
        empty: The name of a node that reads.
        effect: Another node.
        tools: JSON schema of each tool's parameters.
    """
    return empty in _sources(pipeline, effect) and _is_believed(pipeline, pipeline.node(empty), tools)


def _sources(pipeline: Pipeline, node: Node) -> set[str]:
    """Return the nodes whose results say what a node is called for."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        for name, binding in waiting.pop().arguments.items():
            for result in results_of(binding):
                if (result.row == "each" or is_identifier(name)) and result.node not in found:
                    found.add(result.node)
                    waiting.append(pipeline.node(result.node))
    return found


def _is_believed(pipeline: Pipeline, node: Node, tools: Schemas) -> bool:
    """Whether no name or text of the goal went into a call, so that none can be spelled otherwise."""
    schema = tools.get(node.tool, {})
    known = properties_of(schema)

    def plain(name: str, binding: Binding) -> bool:
        match binding:
            case Constant():
                return True
            case FromGoal(slot=slot):
                said = next((one.example for one in pipeline.slots if one.name == slot), "")
                return is_time(said) or said in resolve(known.get(name, {}), schema).get("enum", ())
            case FromResult(node=source):
                return _is_believed(pipeline, pipeline.node(source), tools)
            case Composed(parts=parts):
                return all(plain(name, part) for part in parts)
            case _:
                return False

    return all(plain(name, binding) for name, binding in node.arguments.items())
