"""Where a run works: its folder as it has to be at the beginning, and what lies there in the end.

Knows nothing of models or of how what lies there came to be.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.domains.delivery import deliver, deliver_as_page
from plait.errors import UserError
from plait.events import Noted, Record
from plait.outfit.folder import Refill, artifacts, own_folder, refill_of, run_folder, standing
from plait.runtime.journal import RunJournal
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.record_page import record_page
from plait.teams.chain import Domain
from plait.teams.solution import Solution


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """The folder of a run, and what was there when this process came to it."""

    folder: Path
    own: bool
    """Whether the user named none."""
    records: Sequence[Record]
    before: Mapping[Path, int]
    """Files, and when each changed last."""
    refill: Refill | None
    """What the folder still needs."""


async def laid_out(log: RunLog, journal: RunJournal, options: Options) -> RunFolder:
    """Make the folder of a run.

    Raises:
        UserError: it cannot be made, or be emptied for a fork.
    """
    records = await asyncio.to_thread(log.records, journal.run_id)
    folder, own = run_folder(journal.run_id, options), not options.out
    refill = refill_of(journal.run_id, records)
    if refill is not None:
        await refill.make_room(journal, folder, own=own, aside=own_folder(journal.run_id))
    before = await asyncio.to_thread(standing, folder, records)
    return RunFolder(folder=folder, own=own, records=records, before=before, refill=refill)


async def handed_over(
    log: RunLog,
    journal: RunJournal,
    place: RunFolder,
    domain: Domain | None,
    products: Mapping[str, Solution],
) -> list[str]:
    """Return the files that a run made; where teams made its products, put them there.

    Raises:
        UserError: they cannot be put there.
    """
    if domain is None:
        return await asyncio.to_thread(artifacts, place.folder, place.records, place.before, own=place.own)
    return await _delivered(log, journal, place.folder, domain, products)


async def _delivered(
    log: RunLog, journal: RunJournal, folder: Path, domain: Domain, products: Mapping[str, Solution]
) -> list[str]:
    """Put what teams made into the run's folder, with a record of how it came about; return the files."""
    if domain.product not in products:
        return []
    await journal.flush()
    records = await asyncio.to_thread(log.records, journal.run_id)
    page, own = record_page(journal.task, records, products), own_folder(journal.run_id)
    troubles: list[str] = []
    for hand_over, place in ((deliver, folder), (deliver, own), (deliver_as_page, own)):
        try:
            files = await asyncio.to_thread(hand_over, place, domain, products, page)
        except UserError as error:
            troubles.append(error.message)
            continue
        if troubles:
            # What was paid for is not lost because a folder is in use.
            journal.emit(Noted(text=f"{troubles[0]}; the result is in {str(own)!r}"))
        return files
    raise UserError(
        f"{troubles[0]}; the result is on record: mend that, and "
        f"`plait resume {journal.run_id}` hands it over"
    )
