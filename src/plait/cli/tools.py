"""`plait tools`: what a model sees of a source of tools.

Knows nothing of how a source is read. Listing calls no tool; it does start MCP servers, as their tools
can be had from them alone.
"""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from plait.models.callspec import CallSpec, signature
from plait.paths import pins_file
from plait.tools.pins import Pins
from plait.tools.sources import Toolset, open_tools
from plait.tools.tool import Tool

app = typer.Typer(help="See what a model sees of a source of tools.", no_args_is_help=True)


@app.command("list")
def listing(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="A module (pkg.module), a Python file, an MCP configuration, or an OpenAPI document.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Accept tools of MCP servers that are new or have changed.")
    ] = False,
) -> None:
    """Show the tools of one source or more: their calls as a model sees them, and their effects."""
    toolset, changed = asyncio.run(read(sources, accept=accept))
    if as_json:
        print(json.dumps(_as_object(toolset, changed), ensure_ascii=False))
    else:
        _show(toolset, changed)


async def read(sources: Sequence[str], *, accept: bool = False) -> tuple[Toolset, list[str]]:
    """Return the tools, and the names of those that changed and are not accepted."""
    changed: list[str] = []

    async def note(tool: Tool) -> bool:
        changed.append(tool.name)
        return True

    pins = Pins(file=pins_file(), ask=note, accept=accept, write=accept)
    with tempfile.TemporaryDirectory(prefix="plait-tools-") as folder:
        async with open_tools(sources, Path(folder), pins=pins) as toolset:
            return toolset, changed


def _as_object(toolset: Toolset, changed: Sequence[str]) -> dict[str, Any]:
    return {
        "notes": toolset.notes,
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "effect": tool.effect,
                "source": tool.source,
                "timeout_seconds": tool.timeout_seconds,
                "observation_characters": tool.observation_characters,
                "changed": tool.name in changed,
            }
            for tool in toolset.tools
        ],
    }


def _show(toolset: Toolset, changed: Sequence[str]) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if toolset.notes:
        console.print(escape(toolset.notes))
    for tool in toolset.tools:
        style = "green" if tool.effect == "reads" else "yellow"
        seen = CallSpec(name=tool.name, description=tool.description, parameters=tool.parameters)
        mark = "  [bold red]changed[/]" if tool.name in changed else ""
        console.print(f"[{style}]{tool.effect:<8}[/]{escape(signature(seen, details=True))}{mark}")
    reading = sum(tool.effect == "reads" for tool in toolset.tools)
    console.print(
        f"{len(toolset.tools)} tools: {reading} only read, {len(toolset.tools) - reading} change something"
    )
    if changed:
        console.print("Look at what changed; accept it with --accept, or runs will refuse it.")
