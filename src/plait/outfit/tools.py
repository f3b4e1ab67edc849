"""The tools of a run, as they were when it began.

Knows nothing of where tools come from.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, cast

from plait.errors import LogError, UserError
from plait.journal import JSON, Journal, JSONObject
from plait.reflection.dates import DAYS, today_of
from plait.runtime.options import Options
from plait.tools.sources import Toolset


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
    """Return the tools and notes as recorded at the beginning of the run; the notes say what day it was.

    Raises:
        LogError: the record cannot be read.
    """

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
        return {"notes": _dated(toolset.notes), "tools": tools}

    sources: JSONObject = {"sources": list(options.tools)}
    recorded = cast("Mapping[str, Any]", await journal.call("tools", describe, sources))
    try:
        for tool in recorded["tools"]:
            _ = tool["name"], tool["description"], tool["parameters"], tool["effect"], recorded["notes"]
    except (KeyError, TypeError) as error:
        raise LogError(f"the tools on record cannot be read: {str(recorded)[:80]!r}") from error
    return recorded


def _dated(notes: str) -> str:
    """Return notes that say what day it is: no agent knows."""
    if today_of(notes) is not None:
        return notes
    today = date.today()
    return f"Today is {DAYS[today.weekday()].title()}, {today.isoformat()}.\n{notes}".strip()
