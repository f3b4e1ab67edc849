"""Opens the sources a user names and gathers their tools: modules, files, MCP servers, OpenAPI services.

Knows nothing of runs, approval or models. A source is found by its form: `pkg.module`, `path/file.py`,
a JSON or YAML file with "mcpServers" or "openapi", or the address of an OpenAPI document.
"""

import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plait.errors import UserError
from plait.tools.arguments import argument_check, identifier, without_faults
from plait.tools.documents import fetch_document, read_document
from plait.tools.functions import from_function
from plait.tools.mcp import open_mcp
from plait.tools.mcp_config import read_servers
from plait.tools.modules import module_tools
from plait.tools.openapi import openapi_tools
from plait.tools.openapi_calls import Caller
from plait.tools.pins import Pins
from plait.tools.tool import Tool

Source = str | Tool | Callable[..., Any]

_DOCUMENTS = (".json", ".yaml", ".yml")


@dataclass(frozen=True, kw_only=True)
class Toolset:
    """The tools of all sources of a run."""

    tools: Sequence[Tool]
    notes: str = ""
    """What the sources' authors want agents to know; goes into prompts."""
    in_folder: frozenset[str] = frozenset()
    """Names of the tools that keep their state in the run's folder and nowhere else."""


@dataclass(frozen=True, kw_only=True)
class _Opened:
    """One source that was opened."""

    label: str
    tools: Sequence[Tool]
    notes: str = ""
    in_folder: bool = False
    is_document: bool = False
    """Whether its schemas are those of a document or a server, which the user can hardly mend."""


@contextlib.asynccontextmanager
async def open_tools(
    sources: Sequence[Source], folder: Path, *, pins: Pins | None = None
) -> AsyncGenerator[Toolset]:
    """Open all sources and yield their tools; connections are closed at the end.

    Args:
        sources: What the user named; tools and functions are taken as they are.
        folder: The run's folder, for tools that keep state and for the messages of servers.
        pins: Known descriptions of MCP tools; None: do not compare.

    Raises:
        UserError: a source cannot be found, read, started or has no tools, or two tools share a name.
    """
    async with contextlib.AsyncExitStack() as stack:
        opened: list[_Opened] = []
        for source in sources:
            group = await _open(source, folder, stack, pins)
            if not group.tools:
                raise UserError(f"{group.label}: no tools found in it")
            opened.append(replace(group, tools=[_checked(tool, group) for tool in group.tools]))
        tools = _distinct([(group.label, group.tools) for group in opened])
        in_folder = [group.in_folder for group in opened for _ in group.tools]
        yield Toolset(
            tools=tools,
            notes="\n".join(group.notes for group in opened if group.notes),
            in_folder=frozenset(tool.name for tool, bound in zip(tools, in_folder, strict=True) if bound),
        )


async def _open(source: Source, folder: Path, stack: contextlib.AsyncExitStack, pins: Pins | None) -> _Opened:
    if isinstance(source, Tool):
        return _Opened(label=source.source, tools=[source])
    if not isinstance(source, str):
        label = getattr(source, "__module__", None) or "python"
        return _Opened(label=label, tools=[from_function(source, source=label)])
    if source.startswith(("http://", "https://")):
        document = await fetch_document(source)
        tools = await _openapi(document, source, source, stack)
        return _Opened(label=source, tools=tools, is_document=True)
    if source.endswith(_DOCUMENTS):
        document = read_document(Path(source))
        tools = await _from_document(document, source, folder, stack, pins)
        return _Opened(label=source, tools=tools, is_document=True)
    found = module_tools(source, folder)
    return _Opened(label=source, tools=found.tools, notes=found.notes, in_folder=found.in_folder)


def _checked(tool: Tool, group: _Opened) -> Tool:
    """Return a tool whose schema can be checked against.

    Raises:
        UserError: it is no JSON schema.
    """
    try:
        argument_check(tool)
        return tool
    except UserError:
        if not group.is_document:
            raise
    mended = replace(tool, parameters=without_faults(tool.parameters))
    argument_check(mended)
    return mended


async def _from_document(
    document: Mapping[str, Any],
    source: str,
    folder: Path,
    stack: contextlib.AsyncExitStack,
    pins: Pins | None,
) -> list[Tool]:
    if "mcpServers" in document:
        servers = read_servers(document, source=source)
        return await stack.enter_async_context(open_mcp(servers, folder, pins=pins))
    if "openapi" in document or "swagger" in document:
        return await _openapi(document, source, "", stack)
    raise UserError(f'{source}: has neither "mcpServers" nor "openapi" at its top')


async def _openapi(
    document: Mapping[str, Any], source: str, location: str, stack: contextlib.AsyncExitStack
) -> list[Tool]:
    import aiohttp

    session = await stack.enter_async_context(aiohttp.ClientSession())
    try:
        return openapi_tools(document, source=source, location=location, caller=Caller(session))
    except RecursionError as exc:
        raise UserError(f"{source}: is nested too deep to be read") from exc


def _distinct(groups: Sequence[tuple[str, Sequence[Tool]]]) -> list[Tool]:
    """Make names unique: tools that share one across sources get their source's name in front.

    Raises:
        UserError: two tools of one source share a name, or sources of one name do.
    """
    owners: dict[str, set[str]] = {}
    for label, tools in groups:
        for tool in tools:
            owners.setdefault(tool.name, set()).add(label)
    seen: dict[str, str] = {}
    distinct: list[Tool] = []
    for label, tools in groups:
        for tool in tools:
            name = f"{_stem(label)}.{tool.name}" if len(owners[tool.name]) > 1 else tool.name
            if name in seen:
                raise UserError(
                    f"two tools are called {name!r}: from {seen[name]!r} and {label!r}; rename one"
                )
            seen[name] = label
            distinct.append(replace(tool, name=name))
    return distinct


def _stem(label: str) -> str:
    """Return the short name of a source: a file's without its ending, a module's last part."""
    last = label.rstrip("/").replace("\\", "/").split("/")[-1]
    for ending in (".py", *_DOCUMENTS):
        last = last.removesuffix(ending)
    return identifier(last.split(".")[-1] if "/" not in label else last)
