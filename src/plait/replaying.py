"""Replay a run: recompute its result from the log alone, without model, tools or network.

Knows nothing of the terminal. The same weave runs over the recorded steps; what comes out must be what
the run printed, to the byte.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from plait.errors import PlaitError, UserError
from plait.events import Record
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.protocol import Reply, Request
from plait.outfit import described_tools, read_task, workshop_of
from plait.runner import result_of
from plait.runtime.options import Options
from plait.runtime.replay import Replay
from plait.runtime.report import ending, report, result_json, until_end
from plait.tools.sources import Toolset
from plait.tools.tool import Tool
from plait.weave import run_task

SETTLED = ("succeeded", "failed")
"""How a run must have ended for its result to follow from its records alone."""


async def replay(run_id: str, records: Sequence[Record]) -> Mapping[str, Any]:
    """Return the recomputed result of a run.

    Raises:
        UserError: the run has not ended by itself.
        ReplayMiss: the program asks for what is not on record.
        PlaitError: the result is another than the recorded one.
    """
    finished = ending(records)
    if finished is None or finished.status not in SETTLED:
        raise UserError(f"run {run_id!r} has not come to its own end, so there is no result to replay")
    records = until_end(records)
    journal = Replay(records)
    options = Options.from_json(journal.options)
    toolset = await _toolset(journal, options)
    workshop = workshop_of(options, toolset, model=_Recorded(options.model), budget=Budget(options.limits()))
    outcome = await run_task(journal, await read_task(journal, journal.task, options), workshop)
    files = finished.result["artifacts"]
    result = result_json(report(records, result_of(run_id, options, outcome, files)))
    if canonical(result) != canonical(finished.result):
        raise PlaitError(f"run {run_id!r} replays to another result than it had: its log was changed")
    return result


def canonical(result: Mapping[str, Any]) -> bytes:
    """Return a result as bytes that are equal exactly for equal results."""
    return orjson.dumps(result, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)


async def _toolset(journal: Journal, options: Options) -> Toolset:
    recorded = await described_tools(journal, Toolset(tools=()), options)
    tools = [Tool(**item, run=_not_run, source="log") for item in recorded["tools"]]
    return Toolset(tools=tools, notes=recorded["notes"])


async def _not_run(_: Mapping[str, Any]) -> Any:
    raise PlaitError("a replay runs no tool")


class _Recorded:
    """The name of a model that is not asked."""

    takes_grammar = True

    def __init__(self, name: str) -> None:
        self.name = name

    async def complete(self, request: Request) -> Reply:
        raise PlaitError("a replay asks no model")

    async def aclose(self) -> None:
        return None
