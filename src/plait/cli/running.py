"""Show a run while it goes on, ask for approval, print how it ended: what `run`, `resume`, `fork` share.

Knows nothing of how a run is started.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer

from plait.cli.asking import can_ask, confirmed
from plait.cli.display import make_display
from plait.cli.words import clean, one_line
from plait.errors import PlaitError, UserError
from plait.events import Record
from plait.models.callform import format_call
from plait.outfit.hands import Hands
from plait.runner import stopped
from plait.runtime.codec import dumps
from plait.runtime.report import result_json
from plait.task import EXIT_STATUS, Result
from plait.tools.tool import Tool

SHOWN_FILES = 6

Go = Callable[[Hands], Awaitable[Result]]


def carry_out(run_id: str, go: Go, *, as_json: bool, earlier: Sequence[Record] = ()) -> None:
    """Run to the end, showing what happens on standard error and the result on standard output.

    Raises:
        PlaitError: why the run stopped; what is on record of it is printed already where that was asked.
        typer.Exit: with the exit status of how the run ended.
    """
    try:
        result = asyncio.run(_shown(go, as_json=as_json, earlier=earlier))
    except (KeyboardInterrupt, asyncio.CancelledError):
        recorded = stopped(run_id, "cancelled", "cancelled")
        if recorded is not None and recorded.status == "succeeded":
            _print(recorded, as_json=as_json)
            _say("cancelled while it was learned from; its result stands")
            raise typer.Exit(EXIT_STATUS[recorded.status]) from None
        _print_recorded(recorded, as_json=as_json)
        _say(f"cancelled; go on with: plait resume {run_id}" if recorded else "cancelled")
        raise typer.Exit(EXIT_STATUS["cancelled"]) from None
    except PlaitError as error:
        recorded = stopped(run_id, "failed", error.message)
        _print_recorded(recorded, as_json=as_json)
        if recorded and error.exit_status != UserError.exit_status:
            message = error.message.rstrip(".")
            error.message = f"{message}. Nothing is lost; go on with: plait resume {run_id}"
        raise
    _print(result, as_json=as_json)
    raise typer.Exit(EXIT_STATUS[result.status])


async def _shown(go: Go, *, as_json: bool, earlier: Sequence[Record]) -> Result:
    cancel_on_term()
    with nullcontext() if as_json else make_display(earlier) as display:

        async def ask(question: str) -> bool:
            with nullcontext() if display is None else display.paused():
                return await confirmed(question)

        async def approve(tool: Tool, arguments: Mapping[str, Any]) -> bool:
            return await ask(f"Allow {clean(format_call(tool.name, arguments))}?")

        async def approve_change(tool: Tool) -> bool:
            return await ask(
                f"The description of {tool.name} has changed: {clean(tool.description)}\nUse it?"
            )

        asks = can_ask() and not as_json
        hands = Hands(
            on_event=display,
            approve=approve if asks else None,
            approve_change=approve_change if asks else None,
        )
        return await go(hands)


def cancel_on_term() -> None:
    """Let SIGTERM end a run as Ctrl-C does: in good order."""
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _print_recorded(result: Result | None, *, as_json: bool) -> None:
    if as_json and result is not None:
        _print(result, as_json=True)


def _print(result: Result, *, as_json: bool) -> None:
    if as_json:
        print(dumps(result_json(result)))
        return
    if result.answer is not None:
        print(clean(result.answer) if isinstance(result.answer, str) else dumps(result.answer))
    if result.artifacts:
        _say(_whereabouts([Path(file) for file in result.artifacts]))
    if result.status != "succeeded":
        _say(f"{result.status.replace('_', ' ')}: {one_line(result.message)}")
    if result.status in ("needs_decision", "budget_exhausted", "failed"):
        _say(f"see what happened: plait show {result.run_id}")


def _whereabouts(files: Sequence[Path]) -> str:
    """Say where the files of a run are; a long list is cut."""
    folder = Path(os.path.commonpath([file.parent for file in files]))
    names = [str(file.relative_to(folder)) for file in files]
    more = f" and {len(names) - SHOWN_FILES} more" if len(names) > SHOWN_FILES else ""
    return f"in {one_line(str(folder))}: {one_line(', '.join(names[:SHOWN_FILES]))}{more}"


def _say(line: str) -> None:
    print(f"plait: {line}", file=sys.stderr)
