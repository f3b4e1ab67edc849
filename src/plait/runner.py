"""Run a task, take a run up again, fork it or replay it: what the commands and Python callers use.

Puts a run together (log, journal, tools, model, budget), hands it to the weave and records how it
ended. Knows nothing of the terminal.
"""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias, cast

from plait.errors import NeedsDecision, UserError
from plait.events import ModelRetried, Record
from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.ledger import entries, totals
from plait.models.paths import data_folder, runs_folder
from plait.models.protocol import LanguageModel, Settings
from plait.models.resolve import resolve_model
from plait.runtime.fork import fork as fork_log
from plait.runtime.journal import RunJournal
from plait.runtime.log import Decision, RunLog
from plait.runtime.options import Options
from plait.runtime.report import report, result_json
from plait.task import Result, Task
from plait.tools.approval import ApprovalPolicy, AskUser
from plait.tools.executor import Executor
from plait.tools.pins import AskChanged, Pins
from plait.tools.sources import Toolset, open_tools
from plait.tools.tool import Tool
from plait.verdict import command_check
from plait.weave import Outcome, Workshop, run_task, task_text

ToolSource: TypeAlias = str | Tool | Callable[..., Any]
"""`pkg.module`, `file.py`, an MCP configuration, an OpenAPI document, or a tool or function itself."""


@dataclass(frozen=True, kw_only=True)
class Hands:
    """What a caller lends a run besides its options; none of it is recorded."""

    tools: Sequence[ToolSource] = ()
    """Tools and functions of this process, besides the sources in the options."""
    model: LanguageModel | None = None
    """Used instead of the model that the options name; the caller closes it."""
    on_event: Callable[[Record], None] | None = None
    approve: AskUser | None = None
    """Asked about every effect that the options say nothing about."""
    approve_change: AskChanged | None = None
    """Asked when the description of a known MCP tool has changed."""
    log: RunLog | None = None
    """An open log; else one is opened and closed."""


def new_run_id() -> str:
    """Return a fresh id that sorts by time."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(3)}"


async def start(task: str, options: Options, hands: Hands = Hands(), *, run_id: str = "") -> Result:
    """Run a task from its beginning and return its result.

    Raises:
        UserError: something in the options or tools cannot be used.
        ModelError: the model cannot be reached; the run can be resumed.
        LogError: the run cannot be recorded.
    """
    if not task.strip():
        raise UserError("the task is empty: say what is to be done")
    async with _Log(hands) as log:
        journal = await log.start(run_id or new_run_id(), task, options.as_json())
        return await _carry(log, journal, hands)


async def resume(
    run_id: str,
    hands: Hands = Hands(),
    *,
    changes: Mapping[str, Any] | None = None,
    decision: Decision | None = None,
) -> Result:
    """Take a run up where it stopped; finished calls and effects are answered from the log.

    Args:
        run_id: Id or its beginning.
        hands: Tools that are functions must be given again.
        changes: Options to change, for instance a higher limit.
        decision: What to do about an effect in doubt.

    Raises:
        UserError: there is no such run or it is live.
        ModelError, LogError: as `start`.
    """
    async with _Log(hands) as log:
        journal = await log.resume(log.find(run_id), changes, decision=decision)
        return await _carry(log, journal, hands)


async def fork(
    run_id: str, from_path: str, changes: Mapping[str, Any], hands: Hands = Hands(), *, new_id: str = ""
) -> Result:
    """Run again from a place in a run, with changed options; what came before is answered from the log.

    Raises:
        UserError: there is no such run or place.
        ModelError, LogError: as `start`.
    """
    async with _Log(hands) as log:
        old_id, new_id = log.find(run_id), new_id or new_run_id()
        journal = await fork_log(log, old_id, new_id, from_path, changes)
        if (runs_folder() / old_id).is_dir():
            await asyncio.to_thread(
                shutil.copytree, runs_folder() / old_id, runs_folder() / new_id, dirs_exist_ok=True
            )
        return await _carry(log, journal, hands)


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


async def _carry(log: RunLog, journal: RunJournal, hands: Hands) -> Result:
    """Run a claimed run to its end and give it back, whatever happens."""
    try:
        await _watch(log, journal, hands)
        options = Options.from_json(journal.options)
        result = await _outcome(log, journal, options, hands)
        await journal.flush()
        result = report(await asyncio.to_thread(log.records, journal.run_id), result)
        await journal.finish(result.status, result_json(result))
        return result
    except asyncio.CancelledError:
        cancelled = empty_result(journal.run_id, "tools", status="cancelled")
        await asyncio.shield(journal.finish("cancelled", result_json(cancelled)))
        raise
    finally:
        await journal.close()


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


def empty_result(run_id: str, domain: str, **fields: Any) -> Result:
    """Return a result with no answer."""
    return replace(
        Result(run_id=run_id, status="failed", domain=domain, answer=None, score=None), **fields
    )


async def _outcome(log: RunLog, journal: RunJournal, options: Options, hands: Hands) -> Result:
    folder = Path(options.out).absolute() if options.out else runs_folder() / journal.run_id
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    pins = Pins(file=data_folder() / "pins.json", ask=hands.approve_change)
    async with open_tools([*options.tools, *hands.tools], folder, pins=pins) as toolset:
        workshop = await _workshop(log, journal, options, hands, await _pinned(journal, toolset))
        try:
            task = await read_task(journal, journal.task, options)
            outcome = await run_task(journal, task, workshop)
        except NeedsDecision as error:
            return empty_result(
                journal.run_id, options.domain, status="needs_decision", message=error.message
            )
        finally:
            if hands.model is None:
                await workshop.model.aclose()
    return result_of(journal.run_id, options, outcome, artifacts(folder))


def result_of(run_id: str, options: Options, outcome: Outcome, files: Sequence[str]) -> Result:
    """Return what the strands know of a run's end, as a result."""
    return empty_result(
        run_id,
        options.domain,
        status=outcome.status,
        message=outcome.message,
        answer=outcome.progress.answer,
        score=outcome.progress.score,
        artifacts=files,
    )


def artifacts(folder: Path) -> list[str]:
    """Return the files a run left in its folder, without the messages of servers."""
    return sorted(
        str(path) for path in folder.iterdir() if path.is_file() and not path.name.startswith("mcp-")
    )


async def _workshop(
    log: RunLog, journal: RunJournal, options: Options, hands: Hands, toolset: Toolset
) -> Workshop:
    spent = totals(entries(await asyncio.to_thread(log.records, journal.run_id)))

    def retried(reason: str, attempt: int, delay: float) -> None:
        journal.emit(ModelRetried(reason=reason, attempt=attempt, delay_seconds=delay))

    model = hands.model or resolve_model(
        options.model, base_url=options.base_url or None, on_retry=retried
    )
    policy = ApprovalPolicy(
        yes=options.yes,
        allow=options.allow,
        deny=options.deny,
        max_effects=options.max_effects,
        dry_run=options.dry_run,
        ask=hands.approve,
    )
    return workshop_of(
        options,
        toolset,
        model=model,
        executor=Executor(toolset.tools, policy),
        budget=Budget(options.limits(), spent=replace(spent, seconds=journal.seconds)),
    )


def workshop_of(
    options: Options, toolset: Toolset, *, model: LanguageModel, executor: Executor, budget: Budget
) -> Workshop:
    """Return everything a run works with, as its options say."""
    return Workshop(
        model=model,
        tools=toolset.tools,
        notes=toolset.notes,
        executor=executor,
        budget=budget,
        reflection=options.reflection(),
        embedder=local_embedder(),
        settings=Settings(temperature=options.temperature, seed=options.seed),
        prompts=Path(options.prompts) if options.prompts else None,
        check=command_check(options.check, Path.cwd()) if options.check else None,
    )


async def _pinned(journal: Journal, toolset: Toolset) -> Toolset:
    """Return the tools as they were when the run began, so that its prompts stay what they were."""
    recorded = await describe_tools(journal, toolset)
    live = {tool.name: tool for tool in toolset.tools}
    described = cast("list[Mapping[str, Any]]", recorded["tools"])
    if missing := [item["name"] for item in described if item["name"] not in live]:
        raise UserError(f"the run began with tools that are not there now: {', '.join(missing)}")
    tools = [
        replace(live[item["name"]], description=item["description"], parameters=item["parameters"])
        for item in described
    ]
    return Toolset(tools=tools, notes=str(recorded["notes"]))


async def describe_tools(journal: Journal, toolset: Toolset) -> Mapping[str, Any]:
    """Return the tools and notes as recorded at the beginning of the run."""

    async def describe(_: JSONObject) -> JSON:
        tools = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "effect": tool.effect,
            }
            for tool in toolset.tools
        ]
        return {"notes": toolset.notes, "tools": tools}

    return cast("Mapping[str, Any]", await journal.call("tools", describe, {}))


async def read_task(journal: Journal, text: str, options: Options) -> Task:
    """Return the task with its input files as they were when the run began."""
    files = [Path(file) for file in options.files]

    async def read(_: JSONObject) -> JSON:
        return task_text(text, files)

    whole = await journal.call("task", read, {"task": text})
    return Task(text=str(whole), returns=options.returns)
