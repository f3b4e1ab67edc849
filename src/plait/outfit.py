"""Fits a run out: from its options and what the caller lends to the workshop that the weave works in.

Knows nothing of how runs begin, end or are resumed. What it reads from the world (tools, input files)
is recorded at the beginning, so that a resumed, forked or replayed run sees the same.
"""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from plait.errors import UserError
from plait.events import Record, RunStarted, StepRecorded
from plait.journal import JSON, Journal, JSONObject
from plait.models.budget import Budget
from plait.models.embeddings import local_embedder
from plait.models.paths import runs_folder
from plait.models.protocol import LanguageModel, Settings
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Task
from plait.tools.approval import ApprovalPolicy, AskUser
from plait.tools.executor import Executor
from plait.tools.pins import AskChanged
from plait.tools.sources import Toolset
from plait.tools.tool import Tool
from plait.verdict import command_check
from plait.weave import Workshop, task_text

ToolSource: TypeAlias = str | Tool | Callable[..., Any]
"""`pkg.module`, `file.py`, an MCP configuration, an OpenAPI document, or a tool or function itself."""

SERVER_MESSAGES = "mcp-"
"""What the names of files begin with that are no work of the run."""


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


NO_HANDS = Hands()


def workshop_of(
    options: Options,
    toolset: Toolset,
    *,
    model: LanguageModel,
    budget: Budget,
    ask: AskUser | None = None,
) -> Workshop:
    """Return everything a run works with, as its options say."""
    policy = ApprovalPolicy(
        yes=options.yes,
        allow=options.allow,
        deny=options.deny,
        max_effects=options.max_effects,
        dry_run=options.dry_run,
        ask=ask,
    )
    return Workshop(
        model=model,
        tools=toolset.tools,
        notes=toolset.notes,
        executor=Executor(toolset.tools, policy),
        budget=budget,
        reflection=options.reflection(),
        embedder=local_embedder(),
        settings=Settings(temperature=options.temperature, seed=options.seed),
        prompts=Path(options.prompts) if options.prompts else None,
        check=command_check(options.check, Path.cwd()) if options.check else None,
    )


def run_folder(run_id: str, options: Options) -> Path:
    """Make and return the folder that a run's tools work in.

    Raises:
        UserError: it cannot be made.
    """
    folder = Path(options.out) if options.out else runs_folder() / run_id
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    return folder


def artifacts(folder: Path) -> list[str]:
    """Return the files a run left in its folder, without the messages of servers."""
    return sorted(
        str(path) for path in folder.iterdir() if path.is_file() and not path.name.startswith(SERVER_MESSAGES)
    )


async def pinned(journal: Journal, toolset: Toolset, options: Options) -> Toolset:
    """Return the tools as they were when the run began, so that its prompts stay what they were.

    Raises:
        UserError: a tool that the run began with is missing.
    """
    recorded = await described_tools(journal, toolset, options)
    live = {tool.name: tool for tool in toolset.tools}
    described = cast("list[Mapping[str, Any]]", recorded["tools"])
    if missing := [item["name"] for item in described if item["name"] not in live]:
        raise UserError(f"the run began with tools that are not there now: {', '.join(missing)}")
    tools = [
        replace(live[item["name"]], description=item["description"], parameters=item["parameters"])
        for item in described
    ]
    return replace(toolset, tools=tools, notes=str(recorded["notes"]))


async def described_tools(journal: Journal, toolset: Toolset, options: Options) -> Mapping[str, Any]:
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

    sources: JSONObject = {"sources": list(options.tools)}
    return cast("Mapping[str, Any]", await journal.call("tools", describe, sources))


async def read_task(journal: Journal, text: str, options: Options) -> Task:
    """Return the task with its input files as they were when the run began."""
    files = [Path(file) for file in options.files]

    async def read(_: JSONObject) -> JSON:
        return task_text(text, files)

    whole = await journal.call("task", read, {"task": text, "files": list(options.files)})
    return Task(text=str(whole), returns=options.returns)


@dataclass(frozen=True, kw_only=True)
class Refill:
    """How the folder of a fork comes to the state at the fork: copied effects are applied to a fresh one."""

    step: str
    """Name of the step that says it is done."""
    effects: Sequence[StepRecorded]
    """Copied effects, in their order."""

    async def apply(self, journal: Journal, toolset: Toolset) -> None:
        """Apply the effects of tools that keep their state in the folder, and of no others.

        Raises:
            UserError: one of them cannot be applied again.
        """
        live = {tool.name: tool for tool in toolset.tools if tool.name in toolset.in_folder}

        async def refill(_: JSONObject) -> JSON:
            calls = [step.args for step in self.effects if step.args["tool"] in live]
            for call in calls:
                await _again(live[call["tool"]], call["arguments"])
            return {"applied": len(calls)}

        await journal.call(self.step, refill, {})


def refill_of(run_id: str, records: Sequence[Record]) -> Refill | None:
    """Return what the folder of a run still needs; None if it is no fork, or its folder is ready."""
    step = f"folder-{run_id}"
    if not any(isinstance(r.event, RunStarted) and r.event.forked_from for r in records):
        return None
    if any(record.path == f"run/{step}" for record in records):
        return None
    steps = [record.event for record in records if isinstance(record.event, StepRecorded)]
    return Refill(step=step, effects=[step for step in steps if step.step == "effect"])


def empty(folder: Path, *, own: bool) -> None:
    """Make the folder of a fork as new; one that the user named must be so already.

    Raises:
        UserError: the user's folder holds something.
    """
    if own:
        shutil.rmtree(folder)
        folder.mkdir()
    elif any(folder.iterdir()):
        raise UserError(f"a fork begins in an empty folder, and --out {str(folder)!r} is not empty")


async def _again(tool: Tool, arguments: Mapping[str, Any]) -> None:
    try:
        async with asyncio.timeout(tool.timeout_seconds):
            await tool.run(arguments)
    except Exception as error:
        # It was done once, so it failing now means that the tool has changed.
        said = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{tool.name} cannot be applied again for the fork: {said}") from error
