"""`plait runs`: list recorded runs, and remove them with their files.

Knows nothing of what happened in a run beyond its summary and what it consumed.
"""

import asyncio
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from plait.cli.asking import can_ask, confirmed
from plait.cli.lines import BAD, STATUS_STYLES
from plait.cli.telling import tell
from plait.cli.words import age_text, count_text, domain_text, one_line, seconds_text
from plait.errors import LogError, UserError
from plait.paths import runs_folder
from plait.runtime.codec import dumps
from plait.runtime.log import RunLog, RunSummary

DEFAULT_LIMIT = 20
TASK_CHARACTERS = 120

app = typer.Typer(invoke_without_command=True, help="List runs, newest first, or remove them.")


@app.callback()
def listing(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list, newest first.")] = False,
    limit: Annotated[int, typer.Option("--limit", help="List at most so many.", min=1)] = DEFAULT_LIMIT,
) -> None:
    """List runs, newest first."""
    if context.invoked_subcommand is not None:
        return
    log = RunLog.open()
    try:
        rows = [_row(log, run) for run in log.runs(limit)]
    finally:
        log.close_now()
    if as_json:
        sys.stdout.write(dumps([_as_object(row) for row in rows]) + "\n")
    elif not rows:
        print('There are no runs yet. Start one: plait run "TASK" --tools SOURCE')
    else:
        _print_table(rows, Console(highlight=False))


@app.command("rm")
def remove(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of runs, or their beginnings.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove runs with all their records and files; this cannot be undone."""
    log = RunLog.open()
    try:
        run_ids = list(dict.fromkeys(log.find(prefix) for prefix in runs))
        if not yes and not _agreed(run_ids):
            print("Nothing was removed.")
            return
        for run_id in run_ids:
            log.remove(run_id)
            _remove_files(run_id)
            print(f"Removed run {run_id}.")
    finally:
        log.close_now()


def _agreed(run_ids: list[str]) -> bool:
    if not can_ask():
        raise UserError(f"removing {count_text(len(run_ids), 'run')} cannot be undone: add --yes to do it")
    return asyncio.run(confirmed(f"Remove {', '.join(run_ids)} with all records and files?"))


def _remove_files(run_id: str) -> None:
    folder = runs_folder() / run_id
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return  # Not every run has files.
    except OSError as error:
        raise LogError(
            f"run {run_id!r} is removed from the log, but its folder {str(folder)!r} is not:"
            f" {error.strerror}; remove it by hand"
        ) from error


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A run, and what only its records tell."""

    run: RunSummary
    domain: str = ""
    calls: int | None = None
    """None where the records cannot be read."""


def _row(log: RunLog, run: RunSummary) -> _Row:
    try:
        story = tell(log.records(run.run_id))
    except LogError:
        # `plait show` says what is wrong with it; the other runs are listed all the same.
        return _Row(run=run)
    return _Row(run=run, domain=str(story.options.get("domain", "")), calls=story.usage.model_calls)


def _as_object(row: _Row) -> dict[str, Any]:
    return {**asdict(row.run), "domain": row.domain, "model_calls": row.calls}


def _print_table(rows: Sequence[_Row], console: Console) -> None:
    """Print the runs in columns; on a terminal the task is cut where it ends."""
    now = time.time()
    cells = [("run", "age", "status", "domain", "time", "calls", "task")]
    for row in rows:
        run = row.run
        status, age = run.status.replace("_", " "), age_text(max(0.0, now - run.created))
        task = one_line(run.task, TASK_CHARACTERS)
        seconds = seconds_text(run.seconds)
        calls = "?" if row.calls is None else str(row.calls)
        cells.append((run.run_id, age, status, domain_text(row.domain) or "?", seconds, calls, task))
    widths = [max(len(texts[column]) for texts in cells) for column in range(6)]
    styles = ["dim", *(STATUS_STYLES.get(row.run.status, BAD) for row in rows)]
    for texts, style in zip(cells, styles, strict=True):
        run_id, age, status, domain, seconds, calls = (
            cell.ljust(width) for cell, width in zip(texts, widths, strict=False)
        )
        line = Text.assemble((run_id, "cyan"), f"  {age}  ", (status, style), f"  {domain}")
        line.append(f"  {seconds.strip().rjust(widths[4])}  {calls.strip().rjust(widths[5])}  {texts[6]}")
        cut = "ellipsis" if console.is_terminal else "ignore"
        console.print(line, no_wrap=True, overflow=cut, crop=console.is_terminal)
