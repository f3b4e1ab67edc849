"""A pipeline that waits for a second success: the runs that it was learned from are looked at again.

Knows nothing of what may be agreed on (`consolidation.evidence`), nor of how runs are kept.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from plait.errors import LogError, UserError
from plait.events import Record
from plait.experience.consolidation.caution import with_answers
from plait.experience.consolidation.compile import Compiled, Success
from plait.experience.consolidation.evidence import agreed, doubt_left, with_edges_of
from plait.experience.exploitation.recall import TOOLS_KEY
from plait.experience.investigation.investigate import investigate
from plait.experience.investigation.tree import Goal
from plait.experience.pipelines.paper_form import from_json
from plait.experience.pipelines.pipeline import Pipeline
from plait.experience.pipelines.soundness import problems_of
from plait.experience.record import Experience, Memory
from plait.outfit.consolidating import MADE_BY, MODEL
from plait.outfit.ended_run import EndedRun
from plait.outfit.teaching import LEARNED_FROM, pipeline_record, worked_out
from plait.reflection.dates import dates_by
from plait.task import TOOLS

MOST_RUNS = 4
"""Earlier runs that a waiting pipeline names."""
MOST_LOOKED_AT = 12
"""Earlier runs that are read again for one pipeline."""

ReadRun = Callable[[str], Sequence[Record]]
"""Returns the records of a run; raises UserError where it is gone."""


async def confirmed(
    memory: Memory, waiting: Experience, run: EndedRun, records: Sequence[Record], read: ReadRun
) -> Experience:
    """Return the pipeline that an earlier success agrees on, to be used; else the one that waits on.

    Args:
        memory: Where earlier ones wait.
        waiting: What the run taught, with `LEARNED_FROM` in its content.
        run: That ended.
        records: Of the run.
        read: Reads earlier runs.
    """
    root = investigate(records)
    if root is None:
        return waiting
    new = _success(root, run.notes)
    others = await memory.find(
        memory=waiting.memory,
        kind="pipeline",
        domain=TOOLS,
        statuses=("provisional", "active"),
        tools=waiting.tools,
    )
    alike = [other for other in others if other.key == waiting.key]
    looked_at = 0
    # Those with the same words first.
    for other in sorted(others, key=lambda record: record.key != waiting.key):
        if other.content.get(TOOLS_KEY) != waiting.content.get(TOOLS_KEY):
            continue  # It was learned with other tools of these names.
        for run_id, day in learned_from(other).items():
            if run_id == run.run_id or looked_at >= MOST_LOOKED_AT:
                continue
            looked_at += 1
            if (found := await _with(new, run_id, day, run, read, waiting)) is not None:
                agreed_on = pipeline_record(run, root, root.text, found.pipeline, "active")
                if found.by_model:
                    agreed_on = replace(agreed_on, content={**agreed_on.content, MADE_BY: MODEL})
                return _with_source(agreed_on, waiting, alike)
    return _with_source(waiting, waiting, alike)


def learned_from(record: Experience) -> Mapping[str, str]:
    """Return the runs that a record was learned from by agreement, each with the day that it was then."""
    return cast("Mapping[str, str]", record.content.get(LEARNED_FROM) or {})


class _Agreed(NamedTuple):
    pipeline: Pipeline
    by_model: bool
    """Whether its edges are those that a model made."""


async def _with(
    new: Success, run_id: str, day: str, run: EndedRun, read: ReadRun, waiting: Experience
) -> _Agreed | None:
    """Return what a run and an earlier one agree on and may run by itself, or None."""
    try:
        root = investigate(await asyncio.to_thread(read, run_id))
    except (UserError, LogError):  # It is gone, or damaged: that is nothing to agree with.
        return None
    if root is None or root.status != "succeeded":  # The user called it wrong.
        return None
    old = _success(root, f"Today is {day}." if day else "")
    found = agreed(new, old, tools=run.parameters, limits=run.limits)
    if found is None or doubt_left(found.pipeline) or problems_of(found.pipeline, run.parameters):
        return None
    shaped = _shaped(waiting, found, (new, old), run)
    return _Agreed(with_answers(shaped or found.pipeline, found.steps), shaped is not None)


def _shaped(
    waiting: Experience, found: Compiled, successes: Sequence[Success], run: EndedRun
) -> Pipeline | None:
    """Return what was agreed on in the form that a model gave it, where it did and may be trusted."""
    if MADE_BY not in waiting.content or waiting.status == "quarantined":
        return None
    shape = from_json(waiting.content)
    pipeline = with_edges_of(shape, found, successes, tools=run.parameters, limits=run.limits)
    return None if pipeline is None or problems_of(pipeline, run.parameters) else pipeline


def _success(root: Goal, notes: str) -> Success:
    steps = [step for leaf in worked_out(root) for step in leaf.steps]
    return Success(goal=root.text, steps=steps, named=dates_by(notes))


def _with_source(record: Experience, waiting: Experience, others: Sequence[Experience]) -> Experience:
    """Return a record that names its run and those of others, whose place it takes."""
    source = dict(learned_from(waiting))
    for other in others:
        source = {**learned_from(other), **source}
    newest = list(source.items())[-MOST_RUNS:]
    return replace(record, content={**record.content, LEARNED_FROM: dict(newest)})
