"""From a finished run into the memory: what served is counted, what it taught kept, what is wrong suspended.

Knows nothing of what a run teaches (`teaching`), nor of how experience is used.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from plait.errors import LogError, UserError
from plait.events import (
    ExperienceStored,
    FeedbackGiven,
    Noted,
    PipelineEnded,
    Record,
)
from plait.experience.consolidation.as_it_was import kept_situation
from plait.experience.record import Experience, Memory
from plait.journal import JSON, Journal, JSONObject
from plait.outfit.confirming import ReadRun, confirmed, learned_from
from plait.outfit.consolidating import MADE_BY, Consolidator, made_again
from plait.outfit.serving import counts_of, uses_of
from plait.outfit.teaching import LEARNED_FROM, taught_by
from plait.outfit.work import Work
from plait.runtime.experience_rules import IN_USE

GOALS_OF_A_LESSON = 5
"""Goals under which one memory keeps the same lesson."""


async def learn(
    journal: Journal,
    memory: Memory,
    work: Work,
    records: Sequence[Record],
    read: ReadRun,
    consolidator: Consolidator | None = None,
) -> None:
    """Count how what was recalled served, and store what a run teaches.

    A memory that cannot be written costs the run what it teaches, and not its result.

    Args:
        journal: Of the run.
        memory: Where it is kept.
        work: The run.
        records: Of the run.
        read: Reads earlier runs, which may agree with this one.
        consolidator: Makes the pipelines; without it they are compiled, which asks no model.
    """
    if work.options.dry_run:
        return
    try:
        uses = uses_of(records, succeeded=work.succeeded)
        for id, well in counts_of(uses):
            await _counted(journal, memory, id, well=well)
        served = {use.goal for use in uses if use.well and use.goal}
        # Other runs of this process go on meanwhile.
        taught = await asyncio.to_thread(lambda: list(taught_by(work, records, served=served)))
        if consolidator is not None:
            taught = await made_again(journal, consolidator, work, records, taught)
        for experience in taught:
            await _keep(journal, memory, work, records, read, experience)
    except (LogError, UserError) as error:
        journal.emit(Noted(text=f"nothing is learned: {error.message}"))


async def _keep(
    journal: Journal,
    memory: Memory,
    work: Work,
    records: Sequence[Record],
    read: ReadRun,
    experience: Experience,
) -> None:
    """Store one record of what a run teaches, unless it adds nothing to what the memory has."""
    if experience.kind == "lesson" and await _is_common(memory, experience):
        return
    if LEARNED_FROM in experience.content:  # It waits for a run that agrees.
        experience = await confirmed(memory, experience, work, records, read)
    elif experience.status == "provisional" and await _awaited(memory, experience):
        return  # What waits for a second success is not lost for what a failed run did.
    await _forget_other_situations(memory, experience)
    kept = await memory.add(experience)
    if kept.run_id == work.run_id:  # Else one that is trusted more stays as it is.
        journal.emit(
            ExperienceStored(
                experience=kept.id,
                of=kept.kind,
                goal=kept.goal,
                again=kept.id != experience.id,
                status=kept.status,
                by_model=MADE_BY in kept.content,
            )
        )


async def unlearn(memory: Memory, name: str, records: Sequence[Record]) -> dict[str, str]:
    """Suspend what a run that the user calls wrong taught and used; return how each record stood before.

    Args:
        memory: Where it is kept.
        name: Of the run's memory.
        records: Of the run.
    """
    run_ids = {record.run_id for record in records}
    used = {record.event.experience for record in records if isinstance(record.event, PipelineEnded)}
    wrong = [
        record
        for record in await memory.find(memory=name)
        if record.run_id in run_ids or record.id in used or not run_ids.isdisjoint(learned_from(record))
    ]
    # What is in quarantine waits for more than a run that succeeds.
    stood: dict[str, str] = {record.id: record.status for record in wrong if record.status in IN_USE}
    for id in stood:
        await memory.change(id, status="suspended")
    return stood


async def relearn(memory: Memory, name: str, records: Sequence[Record]) -> int:
    """Let a run that the user calls right teach; return how many records are in use again, or from now on.

    What was suspended when the user called it wrong stands as it did, and what it taught provisionally, as it
    failed by its own measure, is used. What waits for a run that agrees waits on: that a result is right does
    not say which row was meant.

    Args:
        memory: Where it is kept.
        name: Of the run's memory.
        records: Of the run.
    """
    stood: dict[str, str] = {}
    for event in (record.event for record in records):
        if isinstance(event, FeedbackGiven):
            stood = {} if event.verdict == "right" else {**stood, **event.suspended}
    run_ids, changed = {record.run_id for record in records}, 0
    for record in await memory.find(memory=name, statuses=("provisional", "suspended")):
        before = stood.get(record.id) if record.status == "suspended" else record.status
        taught = record.run_id in run_ids and LEARNED_FROM not in record.content
        after = "active" if before == "active" or (before and taught) else "provisional"
        if before and after != record.status:
            await memory.change(record.id, status=after)
            changed += 1
    return changed


async def _awaited(memory: Memory, experience: Experience) -> bool:
    """Whether a record of the same kind waits for a second success of the same goal."""
    there = await memory.find(
        memory=experience.memory,
        kind=experience.kind,
        domain=experience.domain,
        statuses=("provisional",),
        key=experience.key,
    )
    return any(
        LEARNED_FROM in record.content and list(record.tools) == list(experience.tools) for record in there
    )


async def _forget_other_situations(memory: Memory, experience: Experience) -> None:
    """Forget the ways of other days and settings to the very goal of a record that is kept as it was."""
    situation = kept_situation(experience.content)
    if situation is None:
        return
    there = await memory.find(
        memory=experience.memory, kind=experience.kind, domain=experience.domain, key=experience.key
    )
    # One with the same tools is not forgotten but replaced, and its counts go on.
    dead = [
        record.id
        for record in there
        if kept_situation(record.content) != situation
        and set(record.tools) != set(experience.tools)
        and not record.approved
    ]
    await memory.remove(dead)


async def _is_common(memory: Memory, lesson: Experience) -> bool:
    """Whether a lesson is there under enough other goals."""
    there = await memory.find(
        memory=lesson.memory, kind="lesson", domain=lesson.domain, tools=tuple(lesson.tools)
    )
    same = [record for record in there if record.content == lesson.content and record.key != lesson.key]
    return len(same) >= GOALS_OF_A_LESSON


async def _counted(journal: Journal, memory: Memory, id: str, *, well: bool) -> None:
    """Count a use, once however often the run is taken up."""

    async def count(_: JSONObject) -> JSON:
        with suppress(UserError):  # It was removed meanwhile.
            await memory.used(id, succeeded=well)
        return well

    # A run that failed may be taken up and succeed: that counts too.
    outcome = "served" if well else "failed"
    await journal.call(f"memory/{id}/{outcome}", count, {"experience": id})
