"""From a finished run into the memory: what served is counted, what it taught kept, what is wrong suspended.

Knows nothing of what a run teaches (`teaching`), nor of how experience is used.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Self

from plait.errors import LogError, UserError
from plait.events import (
    ExperienceStored,
    FeedbackGiven,
    Noted,
    PipelineEnded,
    Record,
)
from plait.experience.record import Experience, Memory
from plait.experience.situation import kept_situation
from plait.journal import JSON, Journal, JSONObject
from plait.outfit.confirming import ReadRun, confirmed, learned_from
from plait.outfit.consolidating import MADE_BY, Consolidator, made_again
from plait.outfit.ended_run import EndedRun
from plait.outfit.serving import counts_of, uses_of
from plait.outfit.teaching import LEARNED_FROM, taught_by
from plait.runtime.experience_rules import IN_USE

GOALS_OF_A_LESSON = 5
"""Goals under which one memory keeps the same lesson."""


async def learn(
    journal: Journal,
    memory: Memory,
    run: EndedRun,
    records: Sequence[Record],
    read: ReadRun,
    consolidator: Consolidator | None = None,
) -> None:
    """Count how what was recalled served, and store what a run teaches.

    A memory that cannot be written costs the run what it teaches, and not its result.

    Args:
        journal: Of the run.
        memory: Where it is kept.
        run: That ended.
        records: Of the run.
        read: Reads earlier runs, which may agree with this one.
        consolidator: Makes the pipelines; without it they are compiled, which asks no model.
    """
    if run.options.dry_run:
        return
    try:
        uses = uses_of(records, succeeded=run.succeeded)
        for id, well in counts_of(uses):
            await _counted(journal, memory, id, well=well)
        served = {use.goal for use in uses if use.well and use.goal}
        # Other runs of this process go on meanwhile.
        taught = await asyncio.to_thread(lambda: list(taught_by(run, records, served=served)))
        if consolidator is not None:
            taught = await made_again(journal, consolidator, run, records, taught)
        for experience in taught:
            await _keep(journal, memory, run, records, read, experience)
    except (LogError, UserError) as error:
        journal.emit(Noted(text=f"nothing is learned: {error.message}"))


async def _keep(
    journal: Journal,
    memory: Memory,
    run: EndedRun,
    records: Sequence[Record],
    read: ReadRun,
    experience: Experience,
) -> None:
    """Store one record of what a run teaches, unless it adds nothing to what the memory has."""
    if experience.kind == "lesson" and await _is_common(memory, experience):
        return
    if LEARNED_FROM in experience.content:  # It waits for a run that agrees.
        experience = await confirmed(memory, experience, run, records, read)
    elif experience.status == "provisional" and await _awaited(memory, experience):
        return  # What waits for a second success is not lost for what a failed run did.
    await _forget_other_situations(memory, experience)
    kept = await memory.add(experience)
    if kept.run_id == run.run_id:  # Else one that is trusted more stays as it is.
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


class _Stood(NamedTuple):
    """How a record stood when a run that taught or used it was called wrong, as a verdict notes it."""

    status: str
    approved: bool = False
    failures_in_a_row: int = 0
    run_id: str | None = None
    """The run that had taught it; None where an earlier version of Plait noted the status alone."""

    @classmethod
    def of(cls, record: Experience) -> Self:
        return cls(record.status, record.approved, record.failures_in_a_row, record.run_id)

    @classmethod
    def read(cls, note: str) -> Self:
        status, *rest = note.split(" ", 3)
        return cls(status, rest[0] == "approved", int(rest[1]), rest[2]) if rest else cls(status)

    def text(self) -> str:
        approval = "approved" if self.approved else "learned"
        return f"{self.status} {approval} {self.failures_in_a_row} {self.run_id}"

    def is_of(self, record: Experience) -> bool:
        """Whether a record has the content that it had then."""
        return self.run_id in (None, record.run_id)

    def fits(self, record: Experience) -> bool:
        """Whether a record was neither taught again nor used since."""
        return self.run_id is None or (
            self.is_of(record) and self.failures_in_a_row == record.failures_in_a_row
        )


async def unlearn(
    memory: Memory,
    name: str,
    records: Sequence[Record],
    *,
    verdicts: Sequence[Record] = (),
    note: Callable[[Mapping[str, str]], None] | None = None,
) -> dict[str, str]:
    """Suspend what a run that the user calls wrong taught and used; return how each record stood before.

    What is suspended already is noted too, as another run may have been called wrong for it.

    Args:
        memory: Where it is kept.
        name: Of the run's memory.
        records: Of the run.
        verdicts: On all runs.
        note: Puts on record how all that it taught and used stood, before anything is suspended.
    """
    run_ids = {record.run_id for record in records}
    used = {record.event.experience for record in records if isinstance(record.event, PipelineEnded)}
    wrong = [
        record
        for record in await memory.find(memory=name)
        if record.run_id in run_ids or record.id in used or not run_ids.isdisjoint(learned_from(record))
    ]
    # What is in quarantine waits for more than a run that succeeds.
    in_use = {record.id: record.status for record in wrong if record.status in IN_USE}
    if note is not None:
        earlier = _standing(verdicts).values()
        note(
            {record.id: _before(record, earlier).text() for record in wrong if record.status != "quarantined"}
        )
    for id in in_use:
        await memory.change(id, status="suspended")
    return dict[str, str](in_use)


async def relearn(memory: Memory, name: str, records: Sequence[Record], *, verdicts: Sequence[Record]) -> int:
    """Let a run that the user calls right teach; return how many records are in use again, or from now on.

    What was suspended when the user called it wrong stands as it did, unless another run that used it is
    still called wrong, or it was taught again or used since. What it taught provisionally, as it failed by
    its own measure, is used. What waits for a run that agrees waits on: that a result is right does not say
    which row was meant.

    Args:
        memory: Where it is kept.
        name: Of the run's memory.
        records: Of the run.
        verdicts: On all runs.
    """
    run_ids, changed = {record.run_id for record in records}, 0
    standing = _standing(verdicts)
    own = {id: stood for run_id in run_ids for id, stood in standing.get(run_id, {}).items()}
    others = [notes for run_id, notes in standing.items() if run_id not in run_ids]
    for record in await memory.find(memory=name, statuses=("provisional", "suspended")):
        stood = own.get(record.id) if record.status == "suspended" else _Stood.of(record)
        if stood is None or stood.status == "suspended" or not stood.fits(record):
            continue
        if record.status == "suspended" and any(
            record.id in notes and notes[record.id].is_of(record) for notes in others
        ):
            continue
        taught = record.run_id in run_ids and LEARNED_FROM not in record.content
        after = "active" if stood.status == "active" or taught else "provisional"
        if after == record.status:
            continue
        if after == "active" and not stood.approved:
            await memory.add(
                replace(record, status=after)
            )  # To change it would say that the user approved it.
        else:
            await memory.change(record.id, status=after)
        changed += 1
    return changed


def _standing(verdicts: Sequence[Record]) -> dict[str, dict[str, _Stood]]:
    """Return what the verdicts that still call a run wrong note of records, by run."""
    standing: dict[str, dict[str, _Stood]] = {}
    for record in verdicts:
        if not isinstance(event := record.event, FeedbackGiven):
            continue
        if event.verdict == "right":
            standing.pop(record.run_id, None)
        else:
            noted = {id: _Stood.read(note) for id, note in event.suspended.items()}
            standing[record.run_id] = {**standing.get(record.run_id, {}), **noted}
    return standing


def _before(record: Experience, earlier: Iterable[Mapping[str, _Stood]]) -> _Stood:
    """Return how a record stood before any verdict that stands suspended it."""
    if record.status == "suspended":
        for notes in earlier:
            if (stood := notes.get(record.id)) is not None and stood.fits(record):
                return stood if stood.run_id is not None else _Stood.of(record)._replace(status=stood.status)
    return _Stood.of(record)


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
