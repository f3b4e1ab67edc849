"""Whether a pipeline may run by itself: all that its goal says must be in its calls, with nothing to judge.

A pipeline is learned from one trajectory. What that does not settle (which row, whether a condition held,
a value that happened not to matter) would be settled anew, and wrongly, for another goal; such a pipeline
is not kept. Knows nothing of memories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from plait.experience.consolidation.wording import Wording
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import Constant, FromResult, Pipeline
from plait.experience.pipelines.results import answer_shape, first_of, rows_of
from plait.experience.pipelines.walk import Finished, Walk
from plait.experience.words.goals import key_of, masked
from plait.experience.words.vocabulary import words
from plait.journal import JSON
from plait.tools.arguments import canonical

FILTERS = words("""
    except excluding without that which who whose where longer shorter more less fewer over under overdue
    unread only if unless when whenever while until till provided given depending otherwise should but
    not other either or instead already still than least most next upcoming future past soonest earliest
    latest last previous recent all every each both rest remaining""")
"""Words by which a goal chooses among things; that choice was an agent's, and stands in no call."""
POINTING = words("""
    it its itself them they their theirs he him his she her hers those these this found above
    previous same result results selected identified matching relevant""")
"""Words by which a part of a plan points at what another part found."""
NO_LIMITS: Mapping[str, int] = {}
SURE_ROWS = ("only", "first")
"""Rows that a result shows also where its tool returns no more than so many."""


def why_not(
    pipeline: Pipeline,
    steps: Sequence[Step],
    parameters: Mapping[str, Mapping[str, Any]],
    limits: Mapping[str, int] = NO_LIMITS,
) -> str:
    """Return why a pipeline learned from `steps` must not run by itself; empty where it may.

    Args:
        pipeline: Of the whole trajectory.
        steps: The trajectory.
        parameters: JSON schema of each tool's parameters.
        limits: Rows that a tool's result has at most, where that is known.
    """
    made = needed(steps)
    values = {slot.name: slot.example for slot in pipeline.slots}
    walk = Walk(pipeline=pipeline, values=values, parameters=parameters, limits=limits)
    if not isinstance(walk.next(made), Finished):
        return "it does not make the calls that it was learned from"
    if missing := uncovered(pipeline):
        return f"{missing[0]!r} goes into no call"
    if any(node.effect for node in pipeline.calls):
        return _doubt_of_effect(pipeline, made)
    return ""


def needed(steps: Sequence[Step]) -> list[Step]:
    """Return the steps that a pipeline must make again: those that found or did something, each once.

    What was only looked at after the last effect is left out.
    """
    ends = [number for number, step in enumerate(steps, 1) if step.effect and step.ok]
    seen: set[tuple[str, str]] = set()
    kept: list[Step] = []
    for step in steps[: ends[-1]] if ends else steps:
        call = canonical(step.tool, step.arguments), step.observation
        if not step.ok or call in seen or (not step.effect and not rows_of(step.observation)):
            continue
        seen.add(call)
        kept.append(step)
    return kept


def with_answers(pipeline: Pipeline, made: Sequence[Step]) -> Pipeline:
    """Return a pipeline that knows how its effects were answered when they were done.

    Args:
        pipeline: Without such answers.
        made: The calls that it makes again.
    """
    answers: dict[str, set[str]] = {}
    for step in made:
        answers.setdefault(step.tool, set()).add(answer_shape(step.observation, step.arguments))
    nodes = [
        replace(node, answer=next(iter(answers[node.tool])))
        # A tool that answers in several ways is not held to one.
        if node.effect and len(answers.get(node.tool, ())) == 1
        else node
        for node in pipeline.nodes
    ]
    return replace(pipeline, nodes=nodes)


def rests_on_others(goal: str) -> bool:
    """Whether a part of a plan points at other parts, so that its own words do not say all."""
    return not POINTING.isdisjoint(key_of(goal).split())


def loses_choice(part: str, task: str) -> bool:
    """Whether a task chooses among things in words that a part of its plan does not have.

    Who planned may have lost a condition; an agent sees the task and a pipeline does not.
    """
    lost = set(key_of(task).split()) - set(key_of(part).split())
    return not FILTERS.isdisjoint(lost) or (Wording(task).conditional and not Wording(part).conditional)


def taken_from(pipeline: Pipeline, task: str) -> list[JSON]:
    """Return the constants of a part's pipeline that the whole task said, and the part did not."""
    task_says, part_says = Wording(task), Wording(pipeline.purpose)
    return [
        binding.value
        for node in pipeline.calls
        for binding in node.arguments.values()
        if isinstance(binding, Constant)
        and isinstance(binding.value, str)
        and task_says.standing(binding.value)
        and not part_says.standing(binding.value)
    ]


def uncovered(pipeline: Pipeline) -> list[str]:
    """Return the values of the goal that stand in no slot, by their place in it."""
    goal = pipeline.purpose
    ranges: list[tuple[int, int]] = []
    spans = masked(goal).spans
    for slot in pipeline.slots:
        if slot.ways:  # All ways need the values that are worked in.
            ranges += [
                (span.start, span.end)
                for place, span in enumerate(spans)
                if all(place in way.spans for way in slot.ways)
            ]
            continue
        at = goal.casefold().find(slot.said.casefold())
        while at >= 0 and slot.said:
            ranges.append((at, at + len(slot.said)))
            at = goal.casefold().find(slot.said.casefold(), at + 1)
    return [
        span.text
        for span in spans
        if not any(start <= span.start and span.end <= end for start, end in ranges)
    ]


def _doubt_of_effect(pipeline: Pipeline, made: Sequence[Step]) -> str:
    if chosen := FILTERS.intersection(key_of(pipeline.purpose).split()):
        return f"{min(chosen)!r} in its goal asks for a choice"
    results = dict(zip((node.name for node in pipeline.calls), made, strict=False))
    for node in pipeline.calls:
        for binding in node.arguments.values():
            if not isinstance(binding, FromResult):
                continue
            rows = rows_of(results[binding.node].observation)
            if binding.row not in SURE_ROWS or first_of(rows) != rows[0]:
                return f"which row of {binding.node} is meant is not sure"
    return ""
