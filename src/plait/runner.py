"""Run a task, take a run up again or fork it: what the commands and Python callers use.

Puts a run together (log, journal, workshop), hands it to the weave and records how it ended. Knows
nothing of the terminal.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from plait.errors import NeedsDecision, PlaitError, UserError
from plait.events import ModelRetried, Record, StepRecorded
from plait.models.budget import Budget
from plait.models.ledger import entries, totals
from plait.models.paths import data_folder, runs_folder
from plait.models.protocol import LanguageModel
from plait.models.resolve import resolve_model
from plait.outfit import (
    NO_HANDS,
    SERVER_MESSAGES,
    Hands,
    artifacts,
    empty,
    pinned,
    read_task,
    refill_of,
    run_folder,
    workshop_of,
)
from plait.runtime.fork import fork as fork_log
from plait.runtime.journal import RunJournal
from plait.runtime.log import Decision, RunLog
from plait.runtime.options import Options, anchored
from plait.runtime.report import (
    ending,
    options_on_record,
    own_records,
    report,
    result_from_json,
    result_json,
)
from plait.task import Result, Status
from plait.tools.pins import Pins
from plait.tools.sources import open_tools
from plait.weave import Outcome, run_task


def new_run_id() -> str:
    """Return a fresh id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(3)}"


async def start(task: str, options: Options, hands: Hands = NO_HANDS, *, run_id: str = "") -> Result:
    """Run a task from its beginning and return its result.

    Raises:
        UserError: something in the options or tools cannot be used; no run is left behind.
        ModelError: the model cannot be reached; the run can be resumed.
        LogError: the run cannot be recorded.
    """
    if not task.strip():
        raise UserError("the task is empty: say what is to be done")
    options = options.changed(_lent(anchored(options.as_json()), hands))
    options.check_files()
    await _check_model(options, hands)
    async with _Log(hands) as log:
        journal = await log.start(run_id or new_run_id(), task, options.as_json())
        return await _begin(log, journal, hands)


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
        Options.from_json({**options_on_record(records), **changes})
        finished = ending(records)
        if decision is None and finished is not None and finished.status == "succeeded":
            return result_from_json(finished.result)
        journal = await log.resume(run_id, changes, decision=decision)
        return await _carry(log, journal, hands)


async def fork(
    run_id: str, from_path: str, changes: Mapping[str, Any], hands: Hands = NO_HANDS, *, new_id: str = ""
) -> Result:
    """Run again from a place in a run, with changed options; what came before is answered from the log.

    The new run works in a folder of its own, which first gets the state as of that place.

    Raises:
        UserError: there is no such run or place, or the options or tools cannot be used.
        ModelError, LogError: as `start`.
    """
    async with _Log(hands) as log:
        run_id = await asyncio.to_thread(log.find, run_id)
        old = options_on_record(await asyncio.to_thread(log.records, run_id))
        changes = _lent({"out": "", **anchored(changes)}, hands)
        options = Options.from_json({**old, **changes})
        if "files" in changes:
            options.check_files()
        await _check_model(options, hands)
        journal = await fork_log(log, run_id, new_id or new_run_id(), from_path, changes)
        return await _begin(log, journal, hands)


def stopped(run_id: str, status: Status, message: str) -> Result | None:
    """Return how far a run came that stopped on an error or an interrupt.

    None if it is not on record, goes on elsewhere, or was not taken up at all.
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
        return result_from_json(finished.result) if finished and finished.status == status else None
    domain = str(options_on_record(records).get("domain", ""))
    return report(records, _bare(run_id, domain, status=status, message=message))


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


async def _begin(log: RunLog, journal: RunJournal, hands: Hands) -> Result:
    """Carry a new run; one that what the user gave keeps from asking any model leaves no trace."""
    before = await _model_calls(log, journal.run_id)
    try:
        return await _carry(log, journal, hands)
    except UserError:
        if await _model_calls(log, journal.run_id) == before:
            await asyncio.to_thread(log.remove, journal.run_id)
            await asyncio.to_thread(_remove_folder, journal.run_id)
        raise


async def _model_calls(log: RunLog, run_id: str) -> int:
    records = await asyncio.to_thread(log.records, run_id)
    return sum(isinstance(r.event, StepRecorded) and r.event.step == "model" for r in records)


def _remove_folder(run_id: str) -> None:
    folder = runs_folder() / run_id
    # What a server said may be the only hint at what is wrong.
    if folder.is_dir() and not any(folder.glob(f"{SERVER_MESSAGES}*")):
        shutil.rmtree(folder)


async def _carry(log: RunLog, journal: RunJournal, hands: Hands) -> Result:
    """Run a claimed run to its end and give it back, whatever happens."""
    try:
        await _watch(log, journal, hands)
        return await _finished(log, journal, await _outcome(log, journal, hands))
    except asyncio.CancelledError:
        domain = str(journal.options.get("domain", ""))
        result = _bare(journal.run_id, domain, status="cancelled", message="cancelled")
        await asyncio.shield(_finished(log, journal, result))
        raise
    finally:
        await journal.close()


async def _finished(log: RunLog, journal: RunJournal, result: Result) -> Result:
    """Complete a result from the records, and record it."""
    await journal.flush()
    result = report(await asyncio.to_thread(log.records, journal.run_id), result)
    await journal.finish(result.status, result_json(result))
    return result


async def _watch(log: RunLog, journal: RunJournal, hands: Hands) -> None:
    """Show the caller what is on record of this process already, and then all that comes."""
    if hands.on_event is None:
        return
    await journal.flush()
    records = await asyncio.to_thread(log.records, journal.run_id)
    for record in records:
        if record.epoch == records[-1].epoch:
            hands.on_event(record)
    journal.observe(hands.on_event)


async def _outcome(log: RunLog, journal: RunJournal, hands: Hands) -> Result:
    """Fit the run out and let the weave run it."""
    options = Options.from_json(journal.options)
    records = await asyncio.to_thread(log.records, journal.run_id)
    folder = run_folder(journal.run_id, options)
    refill = refill_of(journal.run_id, records)
    if refill is not None:
        empty(folder, own=not options.out)
    pins = Pins(file=data_folder() / "pins.json", ask=hands.approve_change)
    async with open_tools([*options.tools, *hands.tools], folder, pins=pins) as toolset:
        model = hands.model or _model(journal, options)
        try:
            toolset = await pinned(journal, toolset, options)
            if refill is not None:
                await refill.apply(journal, toolset)
            budget = _budget(journal, options, records)
            workshop = workshop_of(options, toolset, model=model, budget=budget, ask=hands.approve)
            task = await read_task(journal, journal.task, options)
            outcome = await run_task(journal, task, workshop)
        except NeedsDecision as error:
            return _bare(journal.run_id, options.domain, status="needs_decision", message=error.message)
        finally:
            if hands.model is None:
                await model.aclose()
    return result_of(journal.run_id, options, outcome, artifacts(folder))


async def _check_model(options: Options, hands: Hands) -> None:
    """Refuse a name or an address that cannot be used before anything is recorded; nothing is connected."""
    if hands.model is None:
        await resolve_model(options.model, base_url=options.base_url or None).aclose()


def _model(journal: RunJournal, options: Options) -> LanguageModel:
    def retried(reason: str, attempt: int, delay: float) -> None:
        journal.emit(ModelRetried(reason=reason, attempt=attempt, delay_seconds=delay))

    return resolve_model(options.model, base_url=options.base_url or None, on_retry=retried)


def _budget(journal: RunJournal, options: Options, records: Sequence[Record]) -> Budget:
    """Return what is left of the limits after earlier processes of the run."""
    spent = totals(entries(own_records(records)))
    return Budget(options.limits(), spent=replace(spent, seconds=journal.seconds))


def result_of(run_id: str, options: Options, outcome: Outcome, files: Sequence[str]) -> Result:
    """Return what the strands know of a run's end, as a result."""
    bare = _bare(run_id, options.domain, status=outcome.status, message=outcome.message)
    progress = outcome.progress
    return replace(bare, answer=progress.answer, score=progress.score, artifacts=tuple(files))


def _bare(run_id: str, domain: str, *, status: Status, message: str) -> Result:
    return Result(run_id=run_id, status=status, domain=domain, answer=None, score=None, message=message)
