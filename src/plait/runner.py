"""Run a task, take a run up again or fork it: what the commands and Python callers use.

Puts a run together (log, journal, workshop), hands it to the weave and records how it ended. Knows
nothing of the terminal.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from plait.domains.delivery import deliver, deliver_as_page
from plait.errors import NeedsDecision, PlaitError, UserError
from plait.events import ModelRetried, Noted, Record, StepRecorded
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.ledger import entries, own_records, totals
from plait.models.paths import data_folder, runs_folder
from plait.models.protocol import LanguageModel
from plait.models.resolve import resolve_model
from plait.outfit.domains import Means, making_of
from plait.outfit.embedding import CountedEmbedder
from plait.outfit.folder import SERVER_MESSAGES, artifacts, own_folder, refill_of, run_folder, standing
from plait.outfit.hands import NO_HANDS, Hands
from plait.outfit.modules import import_modules
from plait.outfit.pricing import check_model, pricing_notes
from plait.outfit.tools import pinned
from plait.outfit.workshop import read_task, workshop_of
from plait.runtime.fork import fork as fork_log
from plait.runtime.journal import RunJournal
from plait.runtime.log import Decision, RunLog
from plait.runtime.options import Options
from plait.runtime.percentiles import KINDS, THRESHOLDS, resolved
from plait.runtime.places import anchored
from plait.runtime.record_page import record_page
from plait.runtime.report import (
    ending,
    options_on_record,
    report,
    result_from_json,
    result_json,
)
from plait.runtime.switches import switched
from plait.task import Result, Status
from plait.teams.chain import Domain
from plait.tools.pins import Pins
from plait.tools.sources import open_tools
from plait.weave import run_task
from plait.weave.workshop import Outcome

NO_SWITCHES: Mapping[str, bool] = {}


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
    options = options.changed(await check_model(options, hands))
    async with _Log(hands) as log:
        numbers, notes = await _from_percentiles(log, options)
        options = options.changed(numbers)
        journal = await log.start(run_id or new_run_id(), task, options.as_json())
        return await _begin(log, journal, hands, [*notes, *pricing_notes(options, hands)])


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
        options = Options.from_json({**options_on_record(records), **changes})
        finished = ending(records)
        if decision is None and finished is not None and finished.status == "succeeded":
            return result_from_json(finished.result)
        options.prompts_folder()
        noted = await check_model(options, hands)
        if noted != {"unpriced": options.unpriced}:
            changes = {**changes, **noted}
        journal = await log.resume(run_id, changes, decision=decision)
        return await _carry(log, journal, hands)


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
        switches: Parts of reflection to switch on or off; the others stay as they were.

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


async def _from_percentiles(log: RunLog, options: Options) -> tuple[dict[str, float], list[str]]:
    """Return the thresholds that percentiles stand for, and what to tell of them."""
    if not any(isinstance(getattr(options, name), str) for name in THRESHOLDS):
        return {}, []
    records = await asyncio.to_thread(log.records_of_kinds, KINDS)
    return resolved(options.as_json(), records)


async def _begin(log: RunLog, journal: RunJournal, hands: Hands, notes: Sequence[str]) -> Result:
    """Carry a new run; one that what the user gave keeps from asking any model leaves no trace."""

    async def tell(place: Journal, _: None) -> None:
        for note in notes:
            place.emit(Noted(text=note))

    # At a place of their own: what the run itself says is numbered from its beginning, also on replay.
    await journal.branch("notes", tell, None)
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
    except UserError:
        # What the user gave keeps it from going on: it can be given otherwise, to the run as it was.
        await journal.withdraw()
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
        await refill.make_room(journal, folder, own=not options.out, aside=own_folder(journal.run_id))
    before = await asyncio.to_thread(standing, folder, records)
    pins = Pins(file=data_folder() / "pins.json", ask=hands.approve_change)
    import_modules(options.tools, options.tools_folder)
    async with open_tools([*options.tools, *hands.tools], folder, pins=pins) as toolset:
        model = hands.model or _model(journal, options)
        try:
            toolset = await pinned(journal, toolset, options)
            if refill is not None:
                await refill.apply(journal, toolset)
            budget = _budget(journal, options, records)
            embedder = CountedEmbedder(hands.embedder or local_embedder(), journal)
            means = Means(model=model, budget=budget, domain=hands.domain, embedder=embedder)
            making = await making_of(journal, options, means)
            workshop = workshop_of(
                options,
                toolset,
                model=model,
                budget=budget,
                embedder=embedder,
                ask=hands.approve,
                making=making,
            )
            task = await read_task(journal, journal.task, options)
            outcome = await run_task(journal, task, workshop)
        except NeedsDecision as error:
            return _bare(journal.run_id, options.domain, status="needs_decision", message=error.message)
        finally:
            if hands.model is None:
                await model.aclose()
    if making is None:
        files = await asyncio.to_thread(artifacts, folder, records, before, own=not options.out)
    else:
        files = await _delivered(log, journal, folder, making.domain, outcome)
    return result_of(journal.run_id, options, outcome, files)


async def _delivered(
    log: RunLog, journal: RunJournal, folder: Path, domain: Domain, outcome: Outcome
) -> list[str]:
    """Put what teams made into the run's folder, with a record of how it came about; return the files."""
    if domain.product not in outcome.products:
        return []
    await journal.flush()
    records = await asyncio.to_thread(log.records, journal.run_id)
    page, own = record_page(journal.task, records, outcome.products), own_folder(journal.run_id)
    troubles: list[str] = []
    for hand_over, place in ((deliver, folder), (deliver, own), (deliver_as_page, own)):
        try:
            files = await asyncio.to_thread(hand_over, place, domain, outcome.products, page)
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
    return replace(bare, answer=outcome.answer, score=outcome.score, artifacts=tuple(files))


def _bare(run_id: str, domain: str, *, status: Status, message: str) -> Result:
    return Result(run_id=run_id, status=status, domain=domain, answer=None, score=None, message=message)
