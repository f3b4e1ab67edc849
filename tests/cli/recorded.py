"""Puts the sample runs into a real run log, by the log's own doors."""

import asyncio
from collections.abc import Sequence

from plait.events import Record, RunFinished, RunStarted
from plait.runtime.codec import encode
from plait.runtime.log import RunLog
from plait.runtime.store import RecordRow


def put_run(run_id: str, records: Sequence[Record]) -> None:
    """Add a run with these records to the log of the data folder; without an ending it is interrupted."""
    asyncio.run(_put_run(run_id, records))


async def _put_run(run_id: str, records: Sequence[Record]) -> None:
    started = next(record.event for record in records if isinstance(record.event, RunStarted))
    ending = next((record.event for record in records if isinstance(record.event, RunFinished)), None)
    rows = [
        RecordRow(
            run_id=run_id,
            sequence=record.sequence,
            path=record.path,
            revision=record.revision,
            epoch=record.epoch,
            at=record.at,
            kind=record.event.kind,
            data=encode(record.event),
        )
        for record in records
        if not isinstance(record.event, RunStarted | RunFinished)
    ]
    log = RunLog.open()
    journal = await log.adopt(run_id, started, rows)
    if ending is None:
        await journal.close()
    else:
        await journal.finish(ending.status, {**ending.result, "run_id": run_id})
    await log.close()
