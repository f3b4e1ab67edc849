"""Carry one claimed run to its end: fit it out, let the weave run it, hand over and record what came of it.

Knows nothing of how a run comes to be claimed, nor of the terminal.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TypeVar

from plait.agents.agent import Agent
from plait.errors import NeedsDecision, UserError
from plait.events import ModelRetried, Noted, Record
from plait.experience.consolidation.by_model import ROLE
from plait.experience.record import Memory
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.ledger import entries, own_records, totals
from plait.models.protocol import LanguageModel
from plait.models.resolve import resolve_model
from plait.outfit.consolidating import Consolidator
from plait.outfit.domains import DomainMeans, making_of
from plait.outfit.embedding import CountedEmbedder
from plait.outfit.ended_run import EndedRun
from plait.outfit.handing_over import RunFolder, handed_over, laid_out
from plait.outfit.hands import Hands
from plait.outfit.learning import learn
from plait.outfit.modules import import_modules
from plait.outfit.tools import pinned
from plait.outfit.workshop import read_task, workshop_of
from plait.paths import pins_file
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.journal import RunJournal
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import report, result_json
from plait.task import Result, Status
from plait.tools.pins import Pins
from plait.tools.sources import Toolset, open_tools
from plait.weave import run_task
from plait.weave.workshop import Outcome, Workshop

T = TypeVar("T")


async def carry(log: RunLog, journal: RunJournal, hands: Hands) -> Result:
    """Run a claimed run to its end and give it back, whatever happens.

    Who cancels it when there is an outcome already is answered so too, once its end is on record.
    """
    try:
        await _watch(log, journal, hands)
        end, stopped = await _outcome(log, journal, hands)
        result, stopped_late = await _whoever_cancels(_finished(log, journal, end))
    except asyncio.CancelledError:
        domain = str(journal.options.get("domain", ""))
        result = bare(journal.run_id, domain, status="cancelled", message="cancelled")
        await _whoever_cancels(_finished(log, journal, result))
        raise
    except UserError:
        # What the user gave keeps it from going on: it can be given otherwise, to the run as it was.
        await journal.withdraw()
        raise
    finally:
        await journal.close()
    if cancelled := stopped or stopped_late:
        raise cancelled
    return result


async def _whoever_cancels(work: Coroutine[None, None, T]) -> tuple[T, asyncio.CancelledError | None]:
    """Do what has to be done, whoever cancels it meanwhile.

    Returns:
        What came of it, and what cancelled it, to be raised by the caller.
    """
    task, stopped = asyncio.create_task(work), None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            stopped = error
    if stopped is not None and (failure := task.exception()) is not None:
        raise stopped from failure
    return task.result(), stopped


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
        What came of it, and what cancelled it once that was there, if anything did.
    """
    options = Options.from_json(journal.options)
    place = await laid_out(log, journal, options)
    pins = Pins(file=pins_file(), ask=hands.approve_change)
    import_modules(options.tools, options.tools_folder)
    reached: list[tuple[Workshop, Outcome]] = []
    stopped: asyncio.CancelledError | None = None
    try:
        async with open_tools([*options.tools, *hands.tools], place.folder, pins=pins) as toolset:
            try:
                stopped = await _worked(log, journal, hands, place, toolset, reached)
            except NeedsDecision as error:
                end = bare(journal.run_id, options.domain, status="needs_decision", message=error.message)
                return end, None
    except asyncio.CancelledError as error:
        if not reached:
            raise
        stopped = error  # Only the tools or the model had still to be closed.
    ((workshop, outcome),) = reached
    domain = workshop.making.domain if workshop.making is not None else None
    files, stopped_late = await _whoever_cancels(handed_over(log, journal, place, domain, outcome.products))
    return result_of(journal.run_id, options, outcome, files), stopped or stopped_late


async def _worked(
    log: RunLog,
    journal: RunJournal,
    hands: Hands,
    place: RunFolder,
    toolset: Toolset,
    reached: list[tuple[Workshop, Outcome]],
) -> asyncio.CancelledError | None:
    """Let the weave run a task, note in `reached` what with and what came of it, and learn from that.

    Returns:
        What cancelled it while it was learned from, if anything did.
    """
    options = Options.from_json(journal.options)
    model = hands.model or _model(journal, options)
    try:
        toolset = await pinned(journal, toolset, options)
        if place.refill is not None:
            await place.refill.apply(journal, toolset)
        budget = _budget(journal, options, place.records)
        workshop = await _workshop(journal, toolset, hands, model, budget, ExperienceStore(log))
        outcome = await run_task(journal, await read_task(journal, journal.task, options), workshop)
        reached.append((workshop, outcome))
        return await _learned(log, journal, workshop, outcome)
    finally:
        if hands.model is None:
            await model.aclose()


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
    ended = EndedRun(
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
    await learn(journal, workshop.memory, ended, records, log.records, _consolidator(workshop))


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
    means = DomainMeans(model=model, budget=budget, domain=hands.domain, embedder=embedder)
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
