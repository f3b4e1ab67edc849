"""Run a task, take a run up again or fork it: what the commands and Python callers use.

Claims a run in its log, anew or again, and gives it back whatever happens. Knows nothing of the terminal,
nor of what a run does.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from plait.carrying import bare, carry
from plait.errors import PlaitError, UserError
from plait.events import EffectIntended, Noted, StepRecorded
from plait.journal import Journal
from plait.outfit.folder import SERVER_MESSAGES
from plait.outfit.hands import NO_HANDS, Hands
from plait.outfit.pricing import PRICED_BY, check_model, pricing_notes
from plait.paths import runs_folder
from plait.runtime.fork import fork as fork_log
from plait.runtime.journal import RunJournal
from plait.runtime.log import Decision, RunLog
from plait.runtime.options import Options
from plait.runtime.percentiles import KINDS, THRESHOLDS, resolved
from plait.runtime.places import anchored
from plait.runtime.report import (
    ending,
    options_on_record,
    report,
    result_from_json,
)
from plait.runtime.switches import switched
from plait.task import Result, Status

NO_SWITCHES: Mapping[str, bool] = {}


def new_run_id() -> str:
    """Return a fresh id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(3)}"


async def start(
    task: str,
    options: Options,
    hands: Hands = NO_HANDS,
    *,
    run_id: str = "",
    notes: Sequence[str] = (),
) -> Result:
    """Run a task from its beginning and return its result.

    Args:
        task: What is to be done.
        options: How.
        hands: What the caller lends.
        run_id: Id of the run; empty: a fresh one.
        notes: What to tell of where the options come from.

    Raises:
        UserError: something in the options or tools cannot be used; no run is left behind.
        ModelError: the model cannot be reached; the run can be resumed.
        LogError: the run cannot be recorded.
    """
    if not task.strip():
        raise UserError("the task is empty: say what is to be done")
    options = options.changed(_lent(anchored(options.as_json()), hands))
    options.check_files()
    options = options.changed(await check_model(options, hands))
    async with _Log(hands) as log:
        numbers, percentiles = await _from_percentiles(log, options)
        options = options.changed(numbers)
        journal = await log.start(run_id or new_run_id(), task, options.as_json())
        return await _begin(log, journal, hands, [*notes, *percentiles, *pricing_notes(options, hands)])


async def resume(
    run_id: str,
    hands: Hands = NO_HANDS,
    *,
    changes: Mapping[str, Any] | None = None,
    decision: Decision | None = None,
) -> Result:
    """Take a run up where it stopped; finished calls and effects are answered from the log.

    A run that succeeded is not touched: its result is returned.

    Args:
        run_id: Id or its beginning.
        hands: Tools that are functions must be given again.
        changes: Options to change, for instance a higher limit.
        decision: What to do about an effect in doubt.

    Raises:
        UserError: there is no such run, it is live, or it cannot go on with these options or tools.
        ModelError, LogError: as `start`.
    """
    async with _Log(hands) as log:
        run_id = await asyncio.to_thread(log.find, run_id)
        records = await asyncio.to_thread(log.records, run_id)
        changes = _lent(anchored(changes or {}), hands)
        # Checked before it is recorded: a run must not be spoiled by a wrong limit.
        recorded = options_on_record(records)
        options = Options.from_json({**recorded, **changes})
        finished = ending(records)
        if decision is None and finished is not None and finished.status == "succeeded":
            return result_from_json(finished.result)
        options.prompts_folder()
        noted = await check_model(options, hands)
        if noted != {"unpriced": options.unpriced}:
            changes = {**changes, **noted}
        journal = await log.resume(run_id, changes, decision=decision)
        if any(name in changes and changes[name] != recorded.get(name) for name in PRICED_BY):
            notes = pricing_notes(options.changed(noted), hands)
            await _tell(journal, f"notes-{journal.epoch}", notes)
        return await carry(log, journal, hands)


async def fork(
    run_id: str,
    from_path: str,
    changes: Mapping[str, Any],
    hands: Hands = NO_HANDS,
    *,
    new_id: str = "",
    switches: Mapping[str, bool] = NO_SWITCHES,
) -> Result:
    """Run again from a place in a run, with changed options; what came before is answered from the log.

    The new run works in a folder of its own, which first gets the state as of that place.

    Args:
        run_id: Id or its beginning.
        from_path: A step or a branch.
        changes: Options to change.
        hands: Tools that are functions must be given again.
        new_id: Id of the new run.
        switches: Parts of strands to switch on or off; the others stay as they were.

    Raises:
        UserError: there is no such run or place, or the options or tools cannot be used.
        ModelError, LogError: as `start`.
    """
    async with _Log(hands) as log:
        run_id = await asyncio.to_thread(log.find, run_id)
        old = options_on_record(await asyncio.to_thread(log.records, run_id))
        parts = switched(old.get("without", ()), switches)
        changes = _lent({"out": "", **parts, **anchored(changes)}, hands)
        options = Options.from_json({**old, **changes})
        if "files" in changes:
            options.check_files()
        options.prompts_folder()
        options = options.changed(noted := await check_model(options, hands))
        numbers, notes = await _from_percentiles(log, options)
        changes = {**changes, **noted, **numbers}
        journal = await fork_log(log, run_id, new_id or new_run_id(), from_path, changes)
        return await _begin(log, journal, hands, [*notes, *pricing_notes(options, hands)])


def stopped(run_id: str, status: Status, message: str) -> Result | None:
    """Return how far a run came that stopped on an error or an interrupt.

    None if it is not on record, goes on elsewhere, or was not taken up at all. Of one that was done
    before it was stopped, its result.
    """
    try:
        log = RunLog.open()
    except PlaitError:
        return None  # The caller has this error already: it is why the run stopped.
    try:
        records = log.records(run_id)
        live = any(run.live for run in log.runs() if run.run_id == run_id)
    except PlaitError:
        return None
    finally:
        log.close_now()
    finished = ending(records)
    if live or finished is not None:
        return (
            result_from_json(finished.result)
            if finished and finished.status in (status, "succeeded")
            else None
        )
    domain = str(options_on_record(records).get("domain", ""))
    return report(records, bare(run_id, domain, status=status, message=message))


class _Log:
    """The caller's log, or one of our own that is closed in the end."""

    def __init__(self, hands: Hands) -> None:
        self._theirs = hands.log
        self._log = hands.log or RunLog.open()

    async def __aenter__(self) -> RunLog:
        return self._log

    async def __aexit__(self, *_: object) -> None:
        if self._theirs is None:
            await self._log.close()


def _lent(values: Mapping[str, Any], hands: Hands) -> dict[str, Any]:
    """Return options with the name of the model that the caller lends."""
    return dict(values) if hands.model is None else {**values, "model": hands.model.name}


async def _from_percentiles(log: RunLog, options: Options) -> tuple[dict[str, float], list[str]]:
    """Return the thresholds that percentiles stand for, and what to tell of them."""
    if not any(isinstance(getattr(options, name), str) for name in THRESHOLDS):
        return {}, []
    records = await asyncio.to_thread(log.records_of_kinds, KINDS)
    return resolved(options.as_json(), records)


async def _begin(log: RunLog, journal: RunJournal, hands: Hands, notes: Sequence[str]) -> Result:
    """Carry a new run; one that the user's own input kept from asking or doing anything leaves no trace."""
    await _tell(journal, "notes", notes)
    try:
        before = await _deeds(log, journal.run_id)
    except BaseException:
        await journal.close()  # Nobody carries it, and others may.
        raise
    try:
        return await carry(log, journal, hands)
    except UserError:
        if await _deeds(log, journal.run_id) == before:
            await asyncio.to_thread(log.remove, journal.run_id)
            await asyncio.to_thread(_remove_folder, journal.run_id)
        raise


async def _tell(journal: RunJournal, name: str, notes: Sequence[str]) -> None:
    """Note something at a place of its own: what the run itself says is numbered from its beginning."""

    async def tell(place: Journal, _: None) -> None:
        for note in notes:
            place.emit(Noted(text=note))

    try:
        await journal.branch(name, tell, None)
    except BaseException:
        await journal.close()  # Nobody carries it, and others may.
        raise


async def _deeds(log: RunLog, run_id: str) -> int:
    """Return how many model calls and effects are on record; a pipeline has effects before any call."""
    events = [record.event for record in await asyncio.to_thread(log.records, run_id)]
    asked = sum(isinstance(event, StepRecorded) and event.step == "model" for event in events)
    return asked + sum(isinstance(event, EffectIntended) for event in events)


def _remove_folder(run_id: str) -> None:
    folder = runs_folder() / run_id
    # What a server said may be the only hint at what is wrong.
    if folder.is_dir() and not any(folder.glob(f"{SERVER_MESSAGES}*")):
        shutil.rmtree(folder)
