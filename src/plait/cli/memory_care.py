"""`plait memory approve`, `rm` and `forget-vectors`: what may be used, and what is forgotten.

Knows nothing of how a record is made or used.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from plait.cli.memory_store import DEFAULT_MEMORY, Name, Yes, agreed, checked_name, with_log, with_store
from plait.cli.tools import read
from plait.cli.words import count_text
from plait.errors import UserError
from plait.events import LessonRecalled, PipelineRecalled, WorkflowRecalled
from plait.experience.record import Experience
from plait.experience.sharing.words import in_words
from plait.outfit.confirming import learned_from
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

MOST_NAMED = 5
RECALLED = (PipelineRecalled, WorkflowRecalled, LessonRecalled)
"""Events that tell which record served a run."""
Source = Annotated[str, typer.Option("--source", metavar="NAME", help="All that came from this import.")]


def approving(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of records, or beginnings.")
    ] = None,
    source: Source = "",
    memory: Name = DEFAULT_MEMORY,
    tools: Annotated[
        list[str] | None,
        typer.Option("--tools", metavar="SOURCE", help="Tools that it would call, to say what they do here."),
    ] = None,
    yes: Yes = False,
) -> None:
    """Say what records do that wait or were suspended, and let them be used from now on."""
    if bool(ids) == bool(source):
        raise UserError("say what to approve: the ids of records, or --source NAME")
    records = with_store(lambda store: _waiting(store, ids or (), source, memory))
    known = asyncio.run(read(tools))[0].tools if tools else None
    for record in records:
        print("\n".join(in_words(record, known)), end="\n\n")
    what = "it" if len(records) == 1 else f"all {len(records)}"
    refusal = f"what is approved is done without a model: read the above, then add --yes to approve {what}"
    if not yes and not agreed(f"Use {what} from now on?", refusal):
        print("Nothing was approved.")
        return
    for id in with_store(lambda store: _approve(store, records)):
        print(f"Approved: {id}.")


async def _waiting(store: ExperienceStore, ids: Sequence[str], source: str, memory: str) -> list[Experience]:
    """Return the records to approve.

    Raises:
        UserError: there are none.
    """
    if ids:
        return list({record.id: record for record in [await store.get(id) for id in ids]}.values())
    waiting = await store.find(memory=memory, statuses=("quarantined",))
    if found := [record for record in waiting if record.source == source]:
        return found
    sources = sorted({record.source for record in waiting})[:MOST_NAMED]
    hint = f"what waits is from {', '.join(sources)}" if sources else "nothing waits there"
    raise UserError(f"nothing from {source!r} waits in memory {memory!r}: {hint}")


async def _approve(store: ExperienceStore, records: Sequence[Experience]) -> list[str]:
    """Approve records, but none that became another one while it was read."""
    approved: list[str] = []
    for record in records:
        now = await store.get(record.id)
        if (now.content, now.goal, now.source) != (record.content, record.goal, record.source):
            print(f"Not approved: {record.id} was changed in the meantime; look again.", file=sys.stderr)
            continue
        await store.change(record.id, status="active")
        approved.append(record.id)
    return approved


def removing(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Ids of records, or beginnings.")
    ] = None,
    source: Source = "",
    run: Annotated[str, typer.Option("--run", metavar="RUN", help="All that this run taught.")] = "",
    memory: Name = DEFAULT_MEMORY,
    yes: Yes = False,
) -> None:
    """Forget records, all of a source with what was learned by using it, or all of a run; for good."""
    if not (ids or source or run):
        raise UserError("say what to forget: the ids of records, --source NAME, or --run RUN")
    found = with_log(lambda log, store: _meant(log, store, _Meant(ids or (), source, run, memory)))
    what = count_text(len(found), "record")
    refusal = f"removing {what} cannot be undone: add --yes to do it"
    if not yes and not agreed(f"Forget {what}: {', '.join(found)}?", refusal):
        print("Nothing was removed.")
        return
    with_store(lambda store: store.remove(found))
    print(f"Removed {what}.")


def forgetting(memory: Name = DEFAULT_MEMORY) -> None:
    """Forget by which numbers records are compared, and no record: another embedder works them out anew."""
    with_store(lambda store: store.forget_vectors(memory=checked_name(memory)))
    print(f"The memory {memory!r} has no vectors now; they are made again when they are needed.")


@dataclass(frozen=True)
class _Meant:
    """What is to be forgotten, as the command says it."""

    ids: Sequence[str]
    source: str
    run: str
    memory: str


async def _meant(log: RunLog, store: ExperienceStore, meant: _Meant) -> list[str]:
    """Return whole ids; a damaged record has one too.

    Raises:
        UserError: nothing is there that is meant.
    """
    found = [await store.find_id(id) for id in meant.ids]
    records = await store.find(memory=meant.memory) if meant.source or meant.run else []
    if meant.source:
        found += _of_source(log, records, meant.source, meant.memory)
    if meant.run:
        found += _of_run(records, meant.run, meant.memory)
    return list(dict.fromkeys(found))


def _of_source(log: RunLog, records: Sequence[Experience], source: str, memory: str) -> list[str]:
    """Return what came from a source, and what runs learned while they used it."""
    ids = {record.id for record in records if record.source == source}
    if not ids:
        there = sorted({record.source for record in records})[:MOST_NAMED]
        hint = f"there are {', '.join(there)}" if there else "it is empty"
        raise UserError(f"memory {memory!r} has nothing from {source!r}: {hint}")
    recalled = log.records_of_kinds([event.kind for event in RECALLED])
    runs = {
        record.run_id
        for record in recalled
        if isinstance(record.event, RECALLED) and record.event.experience in ids
    }
    return [
        record.id
        for record in records
        if record.id in ids or record.run_id in runs or not runs.isdisjoint(learned_from(record))
    ]


def _of_run(records: Sequence[Experience], run: str, memory: str) -> list[str]:
    """Return what a run taught; it need not be in the log any more."""
    runs = {record.run_id for record in records if record.run_id.startswith(run)}
    if not runs:
        raise UserError(f"memory {memory!r} has nothing that a run {run!r} taught")
    if len(runs) > 1 and run not in runs:
        named = ", ".join(sorted(runs)[:MOST_NAMED])
        raise UserError(f"several runs begin with {run!r}: {named}; give more of the id")
    meant = run if run in runs else runs.pop()
    return [record.id for record in records if record.run_id == meant or meant in learned_from(record)]
