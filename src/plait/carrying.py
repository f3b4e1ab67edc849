"""Carry one claimed run to its end: fit it out, let the weave run it, hand over and record what came of it.

Knows nothing of how a run comes to be claimed, nor of the terminal.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plait.agents.agent import Agent
from plait.domains.delivery import deliver, deliver_as_page
from plait.errors import NeedsDecision, UserError
from plait.events import ModelRetried, Noted, Record
from plait.experience.consolidation.by_model import ROLE
from plait.experience.record import Memory
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.ledger import entries, own_records, totals
from plait.models.paths import pins_file
from plait.models.protocol import LanguageModel
from plait.models.resolve import resolve_model
from plait.outfit.consolidating import Consolidator
from plait.outfit.domains import Means, making_of
from plait.outfit.embedding import CountedEmbedder
from plait.outfit.folder import artifacts, own_folder, refill_of, run_folder, standing
from plait.outfit.hands import Hands
from plait.outfit.learning import learn
from plait.outfit.modules import import_modules
from plait.outfit.tools import pinned
from plait.outfit.work import Work
from plait.outfit.workshop import read_task, workshop_of
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.journal import RunJournal
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.record_page import record_page
from plait.runtime.report import report, result_json
from plait.task import Result, Status
from plait.teams.chain import Domain
from plait.tools.pins import Pins
from plait.tools.sources import Toolset, open_tools
from plait.weave import run_task
from plait.weave.workshop import Outcome, Workshop


async def carry(log: RunLog, journal: RunJournal, hands: Hands) -> Result:
    """Run a claimed run to its end and give it back, whatever happens.

    Who cancels it while it is learned from is answered so too, once its end is on record.
    """
    try:
        await _watch(log, journal, hands)
        end, stopped = await _outcome(log, journal, hands)
        result = await _finished(log, journal, end)
    except asyncio.CancelledError:
        domain = str(journal.options.get("domain", ""))
        result = bare(journal.run_id, domain, status="cancelled", message="cancelled")
        await asyncio.shield(_finished(log, journal, result))
        raise
    except UserError:
        # What the user gave keeps it from going on: it can be given otherwise, to the run as it was.
        await journal.withdraw()
        raise
    finally:
        await journal.close()
    if stopped is not None:
        raise stopped
    return result


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


async def _outcome(
    log: RunLog, journal: RunJournal, hands: Hands
) -> tuple[Result, asyncio.CancelledError | None]:
    """Open what the run works with, let the weave run it, and hand over what was made.

    Returns:
        What came of it, and what broke off learning from it, if anything did.
    """
    options = Options.from_json(journal.options)
    records = await asyncio.to_thread(log.records, journal.run_id)
    folder = run_folder(journal.run_id, options)
    refill = refill_of(journal.run_id, records)
    if refill is not None:
        await refill.make_room(journal, folder, own=not options.out, aside=own_folder(journal.run_id))
    before = await asyncio.to_thread(standing, folder, records)
    pins = Pins(file=pins_file(), ask=hands.approve_change)
    import_modules(options.tools, options.tools_folder)
    async with open_tools([*options.tools, *hands.tools], folder, pins=pins) as toolset:
        model = hands.model or _model(journal, options)
        try:
            toolset = await pinned(journal, toolset, options)
            if refill is not None:
                await refill.apply(journal, toolset)
            budget = _budget(journal, options, records)
            workshop = await _workshop(journal, toolset, hands, model, budget, ExperienceStore(log))
            outcome = await run_task(journal, await read_task(journal, journal.task, options), workshop)
            stopped = await _learned(log, journal, workshop, outcome)
        except NeedsDecision as error:
            end = bare(journal.run_id, options.domain, status="needs_decision", message=error.message)
            return end, None
        finally:
            if hands.model is None:
                await model.aclose()
    if workshop.making is None:
        files = await asyncio.to_thread(artifacts, folder, records, before, own=not options.out)
    else:
        files = await _delivered(log, journal, folder, workshop.making.domain, outcome)
    return result_of(journal.run_id, options, outcome, files), stopped


async def _learned(
    log: RunLog, journal: RunJournal, workshop: Workshop, outcome: Outcome
) -> asyncio.CancelledError | None:
    """Learn from a run that came to its end, which is not lost for what it was to teach.

    Returns:
        What cancelled it, to be raised once the run's end is on record.
    """
    try:
        await _learn(log, journal, workshop, outcome)
    except asyncio.CancelledError as stopped:
        journal.emit(Noted(text="not all that the run teaches is kept: it was cancelled meanwhile"))
        return stopped
    return None


async def _learn(log: RunLog, journal: RunJournal, workshop: Workshop, outcome: Outcome) -> None:
    """Store what the run teaches, and count how experience served it."""
    if workshop.memory is None:
        return
    await journal.flush()
    records = await asyncio.to_thread(log.records, journal.run_id)
    making = workshop.making
    best = making.best if making is not None else None
    work = Work(
        task=journal.task,
        options=Options.from_json(journal.options),
        run_id=journal.run_id,
        tools=workshop.tools,
        notes=workshop.notes,
        succeeded=outcome.status == "succeeded",
        domain=making.domain if making is not None else None,
        products=outcome.products,
        share=outcome.score / best if best and outcome.score is not None else None,
    )
    await learn(journal, workshop.memory, work, records, log.records, _consolidator(workshop))


def _consolidator(workshop: Workshop) -> Consolidator | None:
    """Return who makes pipelines of what worked; None where no model does."""
    if workshop.recalls.consolidation != "model":
        return None
    agent = Agent(
        role=ROLE,
        strand="experience",
        model=workshop.model,
        budget=workshop.budget,
        settings=workshop.settings,
    )
    return Consolidator(agent=agent, prompts=workshop.prompts)


async def _workshop(
    journal: RunJournal,
    toolset: Toolset,
    hands: Hands,
    model: LanguageModel,
    budget: Budget,
    memory: Memory,
) -> Workshop:
    """Return all that the weave works with."""
    options = Options.from_json(journal.options)
    embedder = CountedEmbedder(hands.embedder or local_embedder(), journal)
    means = Means(model=model, budget=budget, domain=hands.domain, embedder=embedder)
    return workshop_of(
        options,
        toolset,
        model=model,
        budget=budget,
        embedder=embedder,
        ask=hands.approve,
        making=await making_of(journal, options, means),
        memory=memory,
    )


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
    end = bare(run_id, options.domain, status=outcome.status, message=outcome.message)
    return replace(end, answer=outcome.answer, score=outcome.score, artifacts=tuple(files))


def bare(run_id: str, domain: str, *, status: Status, message: str) -> Result:
    """Return the result of a run of which nothing more is known than how it ended."""
    return Result(run_id=run_id, status=status, domain=domain, answer=None, score=None, message=message)
