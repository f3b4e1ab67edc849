"""A pipeline that waits for a second success: the runs that it was learned from are looked at again.

Knows nothing of what may be agreed on (`experience.evidence`), nor of how runs are kept.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from plait.events import Record
from plait.experience.caution import with_answers
from plait.experience.compile import Success
from plait.experience.evidence import agreed, doubt_left
from plait.experience.investigate import TOOLS, investigate
from plait.experience.record import Experience, Memory
from plait.experience.soundness import problems_of
from plait.experience.tree import Goal
from plait.outfit.teaching import AWAITS, Work, pipeline_record, worked_out
from plait.reflection.dates import dates_by

MOST_RUNS = 4
"""Earlier runs that a waiting pipeline names."""
MOST_LOOKED_AT = 12
"""Earlier runs that are read again for one pipeline."""

ReadRun = Callable[[str], Sequence[Record]]
"""Returns the records of a run; none where it is gone."""


async def confirmed(
    memory: Memory, waiting: Experience, work: Work, records: Sequence[Record], read: ReadRun
) -> Experience:
    """Return the pipeline that an earlier success agrees on, to be used; else the one that waits on.

    Args:
        memory: Where earlier ones wait.
        waiting: What the run `work` taught, with `AWAITS` in its content.
        work: The run.
        records: Of the run.
        read: Reads earlier runs.
    """
    root = investigate(records)
    if root is None:
        return waiting
    new = _success(root, work.notes)
    others = await memory.find(
        memory=waiting.memory, kind="pipeline", domain=TOOLS, statuses=("provisional",), tools=waiting.tools
    )
    looked_at = 0
    # Those with the same words first.
    for other in sorted(others, key=lambda record: record.key != waiting.key):
        for run_id in _awaits(other).get("runs", ()):
            if run_id == work.run_id or looked_at >= MOST_LOOKED_AT:
                continue
            looked_at += 1
            if (found := await _with(new, run_id, _awaits(other)["day"], work, read)) is not None:
                return pipeline_record(work, root, root.text, found, "active")
    return _with_runs(waiting, [other for other in others if other.key == waiting.key])


def _awaits(record: Experience) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", record.content.get(AWAITS) or {})


async def _with(new: Success, run_id: str, day: str, work: Work, read: ReadRun) -> Any:
    """Return what a run and an earlier one agree on and may run by itself, or None."""
    root = investigate(await asyncio.to_thread(read, run_id))
    if root is None or root.status != "succeeded":  # It was removed, or the user called it wrong.
        return None
    old = _success(root, f"Today is {day}." if day else "")
    found = agreed(new, old, tools=work.parameters, limits=work.limits)
    if found is None or doubt_left(found.pipeline) or problems_of(found.pipeline, work.parameters):
        return None
    return with_answers(found.pipeline, found.steps)


def _success(root: Goal, notes: str) -> Success:
    steps = [step for leaf in worked_out(root) for step in leaf.steps]
    return Success(goal=root.text, steps=steps, named=dates_by(notes))


def _with_runs(waiting: Experience, others: Sequence[Experience]) -> Experience:
    """Return a waiting pipeline that names the earlier runs too; it takes their place."""
    awaits = dict(_awaits(waiting))
    earlier = [run_id for other in others for run_id in _awaits(other).get("runs", ())]
    awaits["runs"] = list(dict.fromkeys([*awaits["runs"], *earlier]))[:MOST_RUNS]
    return replace(waiting, content={**waiting.content, AWAITS: awaits})
