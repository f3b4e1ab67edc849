"""`plait show`: what happened in a recorded run.

Knows nothing of how a run works; it reads the log and prints.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console

from plait.cli.pages import Sheet, write_story
from plait.cli.story import Story
from plait.cli.telling import tell
from plait.events import PromptPart, Record
from plait.runtime.codec import dumps
from plait.runtime.log import RunLog, RunSummary
from plait.runtime.prompts import restore
from plait.runtime.report import current, plan_items


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    prompts: Annotated[bool, typer.Option("--prompts", help="Print the prompt of every model call.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with all events.")] = False,
) -> None:
    """Show what happened in a run: plan, scores, critiques, calls, memory, answer."""
    log = RunLog.open()
    try:
        summary, records = read_run(log, run)
    finally:
        log.close_now()
    story = tell(records, status=summary.status)
    if as_json:
        sys.stdout.write(dumps(as_object(summary, story, records, prompts=prompts)) + "\n")
        return
    parts = {record.event.id: record.event for record in records if isinstance(record.event, PromptPart)}
    sheet = Sheet(Console(highlight=False), (lambda head: restore(parts, head)) if prompts else None)
    write_story(sheet, story, summary.seconds)


def read_run(log: RunLog, prefix: str) -> tuple[RunSummary, list[Record]]:
    """Return a run and its records.

    Raises:
        UserError: no run, or several, begin with `prefix`.
        LogError: the log cannot be read.
    """
    run_id = log.find(prefix)
    summary = next(run for run in log.runs() if run.run_id == run_id)
    return summary, log.records(run_id)


def as_object(
    summary: RunSummary, story: Story, records: Sequence[Record], *, prompts: bool = False
) -> dict[str, Any]:
    """Return a run as one JSON object; `prompts` adds the whole prompt of each model call by its path."""
    value = {
        "run": asdict(summary),
        "result": story.result,
        "plan": _plan(story, records),
        "events": [asdict(record) for record in records],
    }
    if prompts:
        value["prompts"] = _prompts(records)
    return value


def _plan(story: Story, records: Sequence[Record]) -> Sequence[Mapping[str, Any]]:
    """Return the plan as the result has it, or as far as it came."""
    if story.result is not None and story.result.get("plan"):
        return story.result["plan"]
    executors = {item.id: item.executor for item in plan_items(current(records))}
    return [
        {
            "id": subtask.id,
            "goal": subtask.goal,
            "status": subtask.status,
            "executor": executors.get(subtask.id, "react"),
            "depends_on": list(subtask.depends_on),
        }
        for subtask in story.plan
    ]


def _prompts(records: Sequence[Record]) -> dict[str, list[dict[str, str]]]:
    parts = {record.event.id: record.event for record in records if isinstance(record.event, PromptPart)}
    heads = {
        record.path: str(record.event.args["prompt"])
        for record in records
        if record.event.kind == "step_recorded" and record.event.args.get("prompt")
    }
    return {path: restore(parts, head) for path, head in heads.items()}
