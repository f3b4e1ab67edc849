"""From a trajectory straight to a pipeline, without a model (ICE, section 3.2, Execution-Consolidate).

What the paper asks a model for is worked out: which calls were needed, and where every argument came from.
Knows nothing of memories, and nothing that a tool wrote gets into what it says of a pipeline.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plait.experience.consolidation.building import Builder
from plait.experience.consolidation.goal_words import GoalWords
from plait.experience.consolidation.origins import (
    Argument,
    EarlierResult,
    Origin,
    drawn_from,
    offered,
    origin,
    parameter,
)
from plait.experience.consolidation.trajectory import TrajectoryCall, calls_of, useful
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Composed,
    Condition,
    Constant,
    Edge,
    Node,
    Pipeline,
    Unknown,
)
from plait.experience.pipelines.results import rows_of
from plait.experience.pipelines.soundness import MOST_SLOTS
from plait.experience.words.derive import DateOf
from plait.experience.words.goals import masked
from plait.tools.arguments import Schemas, distinct_name, identifier

MOST_NAME = 80
TELLING = 8
"""Characters of a text that is more than one common word."""
LONG = 20
"""Characters of a text that stands in two places by more than chance."""


@dataclass(frozen=True, kw_only=True)
class Success:
    """A goal that was reached, and how."""

    goal: str
    """As the user or the plan said it."""
    steps: Sequence[Step]
    """The whole trajectory."""
    named: DateOf = lambda _: None
    """Knows what day it was."""


@dataclass(frozen=True, kw_only=True)
class Compiled:
    """A pipeline and the steps that it makes again, in its order."""

    pipeline: Pipeline
    steps: Sequence[Step]


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a pipeline can be made of: the calls of a success, and where their arguments came from."""

    steps: Sequence[Step]
    """Those that were of use."""
    calls: Sequence[TrajectoryCall]
    origins: Sequence[Mapping[str, Origin]]
    """Of each call; results are named by the numbers of their calls."""
    kept: Sequence[int]
    """The numbers of the calls that are needed, from 0."""
    words: GoalWords

    def made(self, number: int) -> list[Step]:
        """Return the steps of a call."""
        return [self.steps[member] for member in self.calls[number].members]

    def builder(self) -> Builder:
        """Return what makes nodes of these calls."""
        return Builder(calls=self.calls, origins=self.origins, words=self.words)


def compile_success(success: Success, *, tools: Schemas) -> Compiled | None:
    """Build the pipeline of a leaf that succeeded; it is named after its tools.

    Args:
        success: The leaf.
        tools: What the tools may be called with.

    Returns:
        None where no call is left, where a read that was needed found nothing, where a result that may tell
        an argument was cut, or where an effect was done only because something held: what made the agent do
        it stands in no call.
    """
    draft = draft_of(success, tools=tools)
    if draft is None:
        return None
    builder, taken = draft.builder(), [START, END]
    for number in draft.kept:
        last_part = identifier(draft.calls[number].step.tool.rpartition(".")[2])
        builder.names[str(number)] = distinct_name(last_part, taken)
        taken.append(builder.names[str(number)])
    nodes = [builder.node(number) for number in draft.kept]
    line = [START, *(node.name for node in nodes), END]
    comments = [*(builder.comments(number) for number in draft.kept), []]
    pipeline = Pipeline(
        name=" then ".join(builder.names.values())[:MOST_NAME],
        purpose=success.goal,
        nodes=[Node(name=START), *nodes, Node(name=END)],
        edges=[
            Edge(from_node=before, to_node=after, comments=tuple(lines))
            for before, after, lines in zip(line, line[1:], comments, strict=False)
        ],
        slots=builder.slots,
    )
    return Compiled(pipeline=pipeline, steps=[step for number in draft.kept for step in draft.made(number)])


def draft_of(success: Success, *, tools: Schemas) -> Draft | None:
    """Work out which calls a pipeline is made of; see `compile_success` for the rest."""
    if len(masked(success.goal).spans) > MOST_SLOTS:
        return None  # No pipeline has so many slots, and each value may follow from any of them.
    words = GoalWords(success.goal, success.named)
    steps = useful(success.steps)
    calls = calls_of(steps, words)
    if not calls:
        return None
    origins = [_origins(number, calls, words, tools) for number in range(len(calls))]
    kept = _kept(calls, origins)
    if words.conditional and any(calls[number].step.effect for number in kept):
        return None
    if any(_found_nothing(calls[number]) for number in kept):
        return None  # What there was nothing to do with, it does not show how to do.
    if any(_lost(calls, number, origins[number]) for number in kept):
        return None
    return Draft(steps=steps, calls=calls, origins=origins, kept=kept, words=words)


def _found_nothing(call: TrajectoryCall) -> bool:
    return not call.step.effect and not rows_of(call.step.observation)


def tainted(goal: str, steps: Sequence[Step], pipeline: Pipeline, *, tools: Schemas | None = None) -> bool:
    """Whether a text in a pipeline was copied from what a tool wrote (section 8 of the design: trust).

    Values that stand in the goal, or that a tool's schema offers, are no copies; nor is a path into a result.
    """
    said, written = _flat(goal), _flat("\n".join(step.observation for step in steps))
    cells = {_flat(cell) for step in steps for row in rows_of(step.observation) for cell in row.values()}
    long_cells = [cell for cell in cells if len(cell) >= LONG]

    def copied(text: str) -> bool:
        found = _holds(written, text) or any(cell in text for cell in long_cells)
        return found and not _holds(said, text)

    for node in pipeline.calls:
        schema = (tools or {}).get(node.tool, {})
        for name, binding in node.arguments.items():
            known = offered(parameter(schema, name))
            if any(copied(_flat(text)) for text in _literals(binding) if text not in known):
                return True
    compared = [edge.condition.value for edge in pipeline.edges if isinstance(edge.condition, Condition)]
    return any(copied(_flat(text)) for value in compared for text in _texts(value))


def _literals(binding: Binding) -> list[str]:
    """Return the texts that stand in a binding itself."""
    if isinstance(binding, Composed):
        return [text for part in binding.parts for text in _literals(part)]
    if isinstance(binding, Constant):
        return _texts(binding.value)
    if isinstance(binding, Unknown):  # An example is shown and never used: a common word does no harm.
        return [text for text in _texts(binding.example) if len(text) >= TELLING and not text.isdecimal()]
    return []


def _flat(text: str) -> str:
    """Return a text as it can be compared: a table writes line ends as `\\n`."""
    return " ".join(text.replace("\\n", " ").casefold().split())


def _texts(value: Any) -> list[str]:
    """Return all texts in a JSON value that are long enough to be a copy."""
    if isinstance(value, str):
        return [value] if len(value.strip()) > 2 else []
    if isinstance(value, Mapping):
        return [text for item in cast("Mapping[str, Any]", value).items() for text in _texts(item)]
    if isinstance(value, list | tuple):
        return [text for item in cast("Sequence[Any]", value) for text in _texts(item)]
    return []


def _holds(text: str, part: str) -> bool:
    if len(part) >= LONG:  # It may be cut in the middle of a word.
        return part in text
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _origins(
    number: int, calls: Sequence[TrajectoryCall], words: GoalWords, tools: Schemas
) -> dict[str, Origin]:
    """Return where each argument of a call came from; results are named by the numbers of their calls."""
    call = calls[number]
    sources = [
        EarlierResult(node=str(place), rows=source.rows, whole=source.whole)
        for place, source in enumerate(calls)
        if source.last < call.at
    ]
    schema = tools.get(call.step.tool, {})
    origins: dict[str, Origin] = {}
    for name, value in call.step.arguments.items():
        argument = Argument(name=name, value=value, schema=parameter(schema, name), effect=call.step.effect)
        origins[name] = call.each.get(name) or origin(argument, words, sources)
    return origins


def _kept(calls: Sequence[TrajectoryCall], origins: Sequence[Mapping[str, Origin]]) -> list[int]:
    """Return the effects, and the reads whose results they need; without effects, what was read last."""
    kept = {number for number, call in enumerate(calls) if call.step.effect}
    kept = kept or {max(range(len(calls)), key=lambda number: calls[number].last)}
    for number in reversed(range(len(calls))):
        if number in kept:
            kept.update(
                int(result.node) for where in origins[number].values() for result in drawn_from(where)
            )
    return sorted(kept)


def _lost(calls: Sequence[TrajectoryCall], number: int, origins: Mapping[str, Origin]) -> bool:
    """Whether an argument may have come from a result of which nothing can be read."""
    return any(isinstance(where, Unknown) for where in origins.values()) and any(
        not call.whole and not call.rows for call in calls[:number]
    )
