"""What a finished run teaches: its workflow and its pipelines go into the memory (ICE, section 3).

Needs no model: pipelines are built straight from the trajectories that succeeded. Knows nothing of how
experience is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from time import time
from typing import Any

from plait.errors import UserError
from plait.events import ExperienceStored, PipelineEnded, Record
from plait.experience.compile import compiled, tainted
from plait.experience.goals import asks_for_change, key_of
from plait.experience.investigate import TOOLS, investigate
from plait.experience.paper_form import as_json
from plait.experience.record import Experience, Memory
from plait.experience.soundness import problems_of
from plait.experience.tree import Goal
from plait.experience.workflow import tools_of, workflows
from plait.journal import Journal
from plait.runtime.options import Options
from plait.tools.tool import Tool

MOST_GOAL = 2_000
"""Characters; a longer task is a document, and none comes twice."""


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Who learns from a run, and into what."""

    memory: Memory
    options: Options
    run_id: str
    tools: Sequence[Tool]
    succeeded: bool
    """Whether the run did, by its own account."""

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """JSON schema of each tool's parameters."""
        return {tool.name: tool.parameters for tool in self.tools}


async def learn(journal: Journal, lesson: Lesson, records: Sequence[Record]) -> None:
    """Count how recalled pipelines served, and store what a run that succeeded teaches."""
    root = investigate(records)
    if root is None or lesson.options.dry_run:
        return
    walked = await _count(lesson, records, succeeded=lesson.succeeded)
    if not lesson.succeeded or len(root.text) > MOST_GOAL:
        return
    root = replace(root, status="succeeded")  # Its end is not on record yet.
    for experience in [*_workflows(lesson, root), *_pipelines(lesson, root, walked)]:
        kept = await lesson.memory.add(experience)
        journal.emit(
            ExperienceStored(experience=kept.id, of=kept.kind, goal=kept.goal, again=kept.id != experience.id)
        )


async def unlearn(memory: Memory, name: str, run_id: str) -> int:
    """Suspend what a run taught that the user calls wrong; return how many records that is.

    Args:
        memory: Where it is kept.
        name: Of the run's memory.
        run_id: The run.
    """
    taught = [record for record in await memory.find(memory=name) if record.run_id == run_id]
    for record in taught:
        await memory.change(record.id, status="suspended")
    return len(taught)


async def _count(lesson: Lesson, records: Sequence[Record], *, succeeded: bool) -> bool:
    """Count the uses of pipelines; return whether one was walked to its end."""
    ends = {record.path: record.event for record in records if isinstance(record.event, PipelineEnded)}
    for end in ends.values():
        try:
            await lesson.memory.used(end.experience, succeeded=succeeded and not end.left)
        except UserError:
            continue  # It was removed meanwhile.
    return any(not end.left for end in ends.values())


def _workflows(lesson: Lesson, root: Goal) -> Iterator[Experience]:
    for workflow in workflows(root):
        names = list(dict.fromkeys(name for step in workflow.steps for name in step.tools))
        yield _experience(lesson, "workflow", workflow.goal, names, workflow.as_json())


def _pipelines(lesson: Lesson, root: Goal, walked: bool) -> Iterator[Experience]:
    """Build the pipelines of the leaves that succeeded, and that of the whole goal."""
    if walked:
        return  # What was walked is there already.
    leaves = [leaf for leaf in root.leaves() if leaf.status == "succeeded" and leaf.steps]
    if any(_kept_from(leaf) for leaf in leaves):
        return
    whole = Goal(
        id="", text=root.text, status=root.status, steps=[step for leaf in leaves for step in leaf.steps]
    )
    others = leaves if len(leaves) > 1 else []
    for leaf in (whole, *others):
        pipeline = compiled(leaf.text, leaf.steps, tools=lesson.parameters)
        if pipeline is None or problems_of(pipeline, lesson.parameters):
            continue
        if asks_for_change(leaf.text) and not any(node.effect for node in pipeline.calls):
            continue  # There was nothing to do this time, or it was not done.
        status = (
            "quarantined" if tainted(leaf.text, leaf.steps, pipeline, tools=lesson.parameters) else "active"
        )
        yield _experience(lesson, "pipeline", leaf.text, tools_of(leaf), as_json(pipeline), status)


def _kept_from(leaf: Goal) -> bool:
    """Whether an effect that a leaf wanted was not done: what is left of it may look like all there was."""
    wanted = {step.tool for step in leaf.steps if step.effect and not step.ok}
    return not wanted.issubset({step.tool for step in leaf.steps if step.effect and step.ok})


def _experience(
    lesson: Lesson, kind: Any, goal: str, tools: Sequence[str], content: Any, status: Any = "active"
) -> Experience:
    return Experience(
        id=token_hex(8),
        memory=lesson.options.memory,
        kind=kind,
        domain=TOOLS,
        goal=goal,
        key=key_of(goal),
        tools=tools,
        content=content,
        status=status,
        run_id=lesson.run_id,
        model=lesson.options.model,
        created=time(),
    )
