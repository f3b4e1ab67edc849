"""What a finished run teaches: its workflow and its pipelines go into the memory (ICE, section 3).

Needs no model: pipelines are built straight from the trajectories that succeeded. Knows nothing of how
experience is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_hex
from time import time
from typing import Any

from plait.errors import LogError, UserError
from plait.events import ExperienceStored, Noted, PipelineEnded, Record, RoundStarted, RunStarted
from plait.experience.caution import why_not, with_answers
from plait.experience.compile import Success, compile_success, tainted
from plait.experience.goals import asks_for_change, key_of
from plait.experience.investigate import TOOLS, investigate
from plait.experience.paper_form import as_json
from plait.experience.recall import TOOLS_KEY, digest_of
from plait.experience.record import Experience, Memory
from plait.experience.soundness import problems_of
from plait.experience.tree import Goal
from plait.experience.workflow import workflows
from plait.journal import JSON, Journal, JSONObject
from plait.reflection.dates import dates_by
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
    notes: str
    """What the tools say of the day and of themselves."""
    succeeded: bool
    """Whether the run did, by its own account."""

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """JSON schema of each tool's parameters."""
        return {tool.name: tool.parameters for tool in self.tools}


async def learn(journal: Journal, lesson: Lesson, records: Sequence[Record]) -> None:
    """Count how a recalled pipeline served, and store what a run that succeeded teaches.

    A memory that cannot be written costs the run what it teaches, and not its result.
    """
    root = investigate(records)
    if root is None or lesson.options.dry_run:
        return
    try:
        served = await _count(journal, lesson, records)
        if not lesson.succeeded or len(root.text) > MOST_GOAL:
            return
        root = replace(root, status="succeeded")  # Its end is not on record yet.
        taught = list(_workflows(lesson, root))
        if not served:  # What served is there already.
            taught += _pipeline(lesson, root)
        for experience in taught:
            kept = await lesson.memory.add(experience)
            if kept.run_id == lesson.run_id:  # Else one that is trusted more stays as it is.
                again = kept.id != experience.id
                journal.emit(ExperienceStored(experience=kept.id, of=kept.kind, goal=kept.goal, again=again))
    except (LogError, UserError) as error:
        journal.emit(Noted(text=f"nothing is learned: {error.message}"))


async def unlearn(memory: Memory, name: str, records: Sequence[Record]) -> int:
    """Suspend what a run that the user calls wrong taught and used; return how many records that is.

    Args:
        memory: Where it is kept.
        name: Of the run's memory.
        records: Of the run.
    """
    run_ids = {record.run_id for record in records}
    used = {record.event.experience for record in records if isinstance(record.event, PipelineEnded)}
    wrong = [
        record for record in await memory.find(memory=name) if record.run_id in run_ids or record.id in used
    ]
    for record in wrong:
        await memory.change(record.id, status="suspended")
    return len(wrong)


async def _count(journal: Journal, lesson: Lesson, records: Sequence[Record]) -> bool:
    """Count the use of a pipeline, once however often the run is taken up; return whether it served.

    It served where it came to its end and the answer that was made of it passed, which is in the first round.
    A fork's walk is a copy of its parent's, which was counted.
    """
    ends = {record.path: record.event for record in records if isinstance(record.event, PipelineEnded)}
    rounds = [record.event.round for record in records if isinstance(record.event, RoundStarted)]
    started = next((record.event for record in records if isinstance(record.event, RunStarted)), None)
    served = False
    for end in ends.values():
        served = lesson.succeeded and not end.left and max(rounds, default=1) == 1

        async def count(_: JSONObject, end: PipelineEnded = end, served: bool = served) -> JSON:
            with suppress(UserError):  # It was removed meanwhile.
                await lesson.memory.used(end.experience, succeeded=served)
            return served

        if started is not None and not started.forked_from:
            await journal.call(f"memory/{end.experience}", count, {"experience": end.experience})
    return served


def _workflows(lesson: Lesson, root: Goal) -> Iterator[Experience]:
    for workflow in workflows(root):
        names = list(dict.fromkeys(name for step in workflow.steps for name in step.tools))
        yield _experience(lesson, "workflow", workflow.goal, names, workflow.as_json())


def _pipeline(lesson: Lesson, root: Goal) -> Iterator[Experience]:
    """Build the pipeline of the whole goal, where it may run by itself."""
    leaves = [leaf for leaf in root.leaves() if leaf.status == "succeeded" and leaf.steps]
    steps = [step for leaf in leaves for step in leaf.steps]
    if any(_kept_from(leaf) for leaf in leaves):
        return
    success = Success(goal=root.text, steps=steps, named=dates_by(lesson.notes))
    compiled = compile_success(success, tools=lesson.parameters)
    pipeline = compiled and compiled.pipeline
    if pipeline is None or problems_of(pipeline, lesson.parameters):
        return
    if why_not(pipeline, steps, lesson.parameters):
        return
    if asks_for_change(root.text) and not any(node.effect for node in pipeline.calls):
        return  # There was nothing to do this time, or it was not done.
    pipeline = with_answers(pipeline, steps)
    names = list(dict.fromkeys(node.tool for node in pipeline.calls))
    known = {tool.name: digest_of(tool) for tool in lesson.tools if tool.name in names}
    status = "quarantined" if tainted(root.text, steps, pipeline, tools=lesson.parameters) else "active"
    content = {**as_json(pipeline), TOOLS_KEY: known}
    yield _experience(lesson, "pipeline", root.text, names, content, status)


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
