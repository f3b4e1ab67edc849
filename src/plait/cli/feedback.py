"""`plait feedback`: the user's own verdict on a run's result.

Adds one event to the log, and keeps what a wrong run taught from being used; of a right one it is used.
"""

import asyncio
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer

from plait.cli.story import INTERRUPTED, RUNNING
from plait.cli.words import count_text
from plait.errors import UserError
from plait.events import FeedbackGiven
from plait.experience.record import DEFAULT_MEMORY
from plait.outfit.learning import relearn, unlearn
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.report import options_on_record


class UserVerdict(StrEnum):
    """What the user can say."""

    right = "right"
    wrong = "wrong"


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    verdict: Annotated[UserVerdict, typer.Argument(help="Whether the result is right.")],
    comment: Annotated[str, typer.Option("--comment", help="Why, in your own words.")] = "",
) -> None:
    """Say whether a run's result is right; it overrules what the run thinks of itself."""
    log = RunLog.open()
    try:
        run_id = log.find(run)
        summary = next(found for found in log.runs() if found.run_id == run_id)
        if summary.status in (RUNNING, INTERRUPTED):
            raise UserError(f"run {run_id!r} has no result yet: it is {summary.status}")
        changed = asyncio.run(_taken(log, run_id, verdict, comment))
    finally:
        log.close_now()
    print(f"Noted: the result of run {run_id} is {verdict.value}.")
    if changed:
        done = "Suspended" if verdict is UserVerdict.wrong else "In use from now on:"
        print(f"{done} {count_text(changed, 'record')} that it taught or used; see: plait memory list")


async def _taken(log: RunLog, run_id: str, verdict: UserVerdict, comment: str) -> int:
    """Put a verdict on record and into the memory; return how many records of experience it changed."""
    records, store = log.records(run_id), ExperienceStore(log)
    memory = str(options_on_record(records).get("memory", DEFAULT_MEMORY))
    verdicts = log.records_of_kinds([FeedbackGiven.kind])
    if verdict is UserVerdict.right:
        # Said again after a crash in between it does the rest: its "wrong" stands until then.
        changed = await relearn(store, memory, records, verdicts=verdicts)
        log.append(run_id, FeedbackGiven(verdict="right", comment=comment))
        return changed

    def note(stood: Mapping[str, str]) -> None:
        log.append(run_id, FeedbackGiven(verdict="wrong", comment=comment, suspended=stood))

    return len(await unlearn(store, memory, records, verdicts=verdicts, note=note))
