"""Run a task, or take a run up again: what `plait run`, `plait resume` and Python callers use.

Puts a run together (log, journal, tools, model, budget), hands it to the weave and records how it
ended. Knows nothing of the terminal.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

from pydantic import TypeAdapter

from plait.errors import NeedsDecision, UserError
from plait.events import ModelRetried, Record
from plait.journal import JSON, JSONObject
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.ledger import entries, totals
from plait.models.paths import runs_folder
from plait.models.protocol import LanguageModel, Settings
from plait.models.resolve import resolve_model
from plait.models.typed import schema_of
from plait.runtime.journal import RunJournal
from plait.runtime.log import Decision, RunLog
from plait.runtime.options import Options
from plait.runtime.report import report, result_json
from plait.task import Result, Task
from plait.tools.approval import ApprovalPolicy, AskUser
from plait.tools.executor import Executor
from plait.tools.sources import Toolset, open_tools
from plait.tools.tool import Tool
from plait.verdict import command_check
from plait.weave import Workshop, run_task

ToolSource: TypeAlias = str | Tool | Callable[..., Any]
"""`pkg.module`, `file.py`, an MCP configuration, an OpenAPI document, or a tool or function itself."""


@dataclass(frozen=True, kw_only=True)
class Hands:
    """What a caller lends a run besides its options; none of it is recorded."""

    tools: Sequence[ToolSource] = ()
    """Tools and functions of this process, besides the sources in the options."""
    model: LanguageModel | None = None
    """Used instead of the model that the options name."""
    on_event: Callable[[Record], None] | None = None
    approve: AskUser | None = None
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
        return await _carry(log, journal, options, hands)


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
        UserError: there is no such run, it is live, or it has succeeded already.
    """
    async with _Log(hands) as log:
        journal = await log.resume(log.find(run_id), changes, decision=decision)
        return await _carry(log, journal, Options.from_json(journal.options), hands)


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


async def _carry(log: RunLog, journal: RunJournal, options: Options, hands: Hands) -> Result:
    """Run a claimed run to its end and give it back, whatever happens."""
    if hands.on_event is not None:
        journal.observe(hands.on_event)
    try:
        result = await _outcome(log, journal, options, hands)
        await journal.flush()
        result = report(await asyncio.to_thread(log.records, journal.run_id), result)
        await journal.finish(result.status, result_json(result))
        return result
    except asyncio.CancelledError:
        result = Result(
            run_id=journal.run_id, status="cancelled", domain=options.domain, answer=None, score=None
        )
        await asyncio.shield(journal.finish(result.status, result_json(result)))
        raise
    finally:
        await journal.close()


async def _outcome(log: RunLog, journal: RunJournal, options: Options, hands: Hands) -> Result:
    folder = Path(options.out).absolute() if options.out else runs_folder() / journal.run_id
    folder.mkdir(parents=True, exist_ok=True)
    empty = Result(run_id=journal.run_id, status="failed", domain=options.domain, answer=None, score=None)
    async with open_tools([*options.tools, *hands.tools], folder) as toolset:
        workshop = await _workshop(log, journal, options, hands, toolset)
        task = Task(text=journal.task, files=[Path(f) for f in options.files], returns=options.returns)
        try:
            outcome = await run_task(journal, task, workshop)
        except NeedsDecision as error:
            return replace(empty, status="needs_decision", message=error.message)
        finally:
            if hands.model is None:
                await workshop.model.aclose()
    progress = outcome.progress
    return replace(
        empty,
        status=outcome.status,
        message=outcome.message,
        answer=progress.answer,
        score=progress.score,
        artifacts=sorted(str(path) for path in folder.iterdir()) if folder.is_dir() else (),
    )


async def _workshop(
    log: RunLog, journal: RunJournal, options: Options, hands: Hands, toolset: Toolset
) -> Workshop:
    tools = await _pinned(journal, toolset)
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
    return Workshop(
        model=model,
        tools=tools,
        notes=toolset.notes,
        executor=Executor(tools, policy),
        budget=Budget(options.limits(), spent=replace(spent, seconds=journal.seconds)),
        reflection=options.reflection(),
        embedder=local_embedder(),
        settings=Settings(temperature=options.temperature, seed=options.seed),
        prompts=Path(options.prompts) if options.prompts else None,
        check=command_check(options.check, Path.cwd()) if options.check else None,
    )


async def _pinned(journal: RunJournal, toolset: Toolset) -> list[Tool]:
    """Return the tools as they were when the run began, so that its prompts stay what they were."""

    async def describe(_: JSONObject) -> JSON:
        return [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in toolset.tools
        ]

    recorded = cast("list[Mapping[str, Any]]", await journal.call("tools", describe, {}))
    live = {tool.name: tool for tool in toolset.tools}
    if missing := [item["name"] for item in recorded if item["name"] not in live]:
        raise UserError(f"the run began with tools that are not there now: {', '.join(missing)}")
    return [
        replace(live[item["name"]], description=item["description"], parameters=item["parameters"])
        for item in recorded
    ]
