"""Replay a run: recompute its result from the log alone, without model, tools or network.

Knows nothing of the terminal. The same weave runs over the recorded steps; what comes out must be what
the run printed, to the byte.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import orjson

from plait.carrying import result_of
from plait.errors import PlaitError, UserError
from plait.events import Record
from plait.experience.record import Memory
from plait.journal import Journal
from plait.models.budget import Budget
from plait.models.protocol import Reply, Request
from plait.outfit.domains import DomainMeans, making_of
from plait.outfit.tools import described_tools
from plait.outfit.workshop import read_task, workshop_of
from plait.runtime.options import Options
from plait.runtime.replay import Replay
from plait.runtime.report import ending, report, result_from_json, result_json, until_end
from plait.teams.chain import Domain
from plait.tools.sandbox import Runner
from plait.tools.sources import Toolset
from plait.tools.tool import Tool
from plait.weave import run_task

SETTLED = ("succeeded", "failed")
"""How a run must have ended for its result to follow from its records alone."""


async def replay(
    run_id: str, records: Sequence[Record], *, domain: Domain | None = None
) -> Mapping[str, Any]:
    """Return the recomputed result of a run.

    Args:
        run_id: The run's whole id.
        records: All that is on record of it.
        domain: The run's domain, where that was an object of a Python program.

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
    model, budget = _Recorded(options.model, records), Budget(options.limits())
    means = DomainMeans(model=model, budget=budget, domain=domain, runner=_no_runner)
    making = await making_of(journal, options, means)
    workshop = workshop_of(
        options, toolset, model=model, budget=budget, making=making, memory=cast("Memory", _Unasked())
    )
    outcome = await run_task(journal, await read_task(journal, journal.task, options), workshop)
    files = result_from_json(finished.result).artifacts
    result = result_json(report(records, result_of(run_id, options, outcome, files)))
    if canonical(result) != canonical(finished.result):
        raise PlaitError(f"run {run_id!r} replays to another result than it had: its log was changed")
    return result


def canonical(result: Mapping[str, Any]) -> bytes:
    """Return a result as bytes that are equal exactly for equal results."""
    try:
        return orjson.dumps(result, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    except orjson.JSONEncodeError:  # Half a character, as a task can hold: it is written as an escape.
        return json.dumps(result, sort_keys=True, indent=2).encode()


async def _toolset(journal: Journal, options: Options) -> Toolset:
    recorded = await described_tools(journal, Toolset(tools=()), options)
    tools = [Tool(**item, run=_not_run, source="log") for item in recorded["tools"]]
    return Toolset(tools=tools, notes=recorded["notes"])


async def _not_run(_: Mapping[str, Any]) -> Any:
    raise PlaitError("a replay runs no tool")


def _no_runner() -> Runner:
    raise PlaitError("a replay runs no program")


class _Unasked:
    """A memory that is there and not asked: what was recalled is on record."""


class _Recorded:
    """The name of a model that is not asked."""

    def __init__(self, name: str, records: Sequence[Record]) -> None:
        self.name = name
        # Only where a grammar binds are the tools that it allows chosen in a step of their own.
        self.takes_grammar = any(record.path.endswith("/choices") for record in records)

    async def complete(self, request: Request) -> Reply:
        raise PlaitError("a replay asks no model")

    async def aclose(self) -> None:
        return None
