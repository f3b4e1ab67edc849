"""The written story of a run, top to bottom: what `plait show` prints.

Knows nothing of databases. Everything is written through a `Sheet`, indented, as wide as the terminal; in
a pipe no line is wrapped.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from plait.cli.lines import BAD, STATUS_STYLES
from plait.cli.plan_words import rectified_text
from plait.cli.sheet import Sheet, write_gate, write_prompt
from plait.cli.story import ModelCall, Round, Step, Story, Subtask, ToolUse, Try
from plait.cli.teams_pages import write_agreed, write_meetings, write_teams
from plait.cli.tree import happening_line
from plait.cli.words import (
    cached_text,
    count_text,
    money_text,
    seconds_text,
    settings_text,
    tokens_text,
    value_text,
)
from plait.events import Gated, MemoryCleared, MemoryWritten
from plait.models.callform import format_call
from plait.task import Usage

OBSERVATION_LINES = 12
"""Of an observation as many lines are shown; the whole is in `--json`."""
LINE_CHARACTERS = 600


def write_story(sheet: Sheet, story: Story, seconds: float) -> None:
    """Write a whole run.

    Args:
        sheet: Where to.
        story: What happened.
        seconds: Seconds of work, as the log knows them.
    """
    _write_head(sheet, story, seconds)
    if story.teams is not None:
        write_teams(sheet, story.teams, story.calls)
    for round in story.rounds:
        sheet.gap()
        _write_round(sheet, round, story.calls)
    if story.memory or story.happenings:
        sheet.gap()
    for change in story.memory:
        _write_memory(sheet, 0, change)
    for place, event in story.happenings:
        sheet.write(0, happening_line(place, event))
    _write_end(sheet, story, seconds)


def _write_head(sheet: Sheet, story: Story, seconds: float) -> None:
    style = STATUS_STYLES.get(story.status, BAD)
    head = Text.assemble(
        ("run ", "bold"),
        (story.run_id, "bold cyan"),
        "  ",
        (story.status.replace("_", " "), style),
        f"  {seconds_text(seconds)}",
    )
    sheet.write(0, head)
    sheet.write(0, f"task: {story.task}")
    sheet.write(0, f"options: {settings_text(story.options)}", "dim")
    if story.forked_from:
        sheet.write(0, f"forked from run {story.forked_from}")
    if story.resumes or story.forked_from:
        sheet.write(0, _reuse(story))


def _reuse(story: Story) -> str:
    reused = story.reused
    what = f"{count_text(reused.model_calls, 'model call')} and {count_text(reused.tool_calls, 'tool call')}"
    times = f"resumed {count_text(story.resumes, 'time')}: " if story.resumes else ""
    return f"{times}{what} on record were answered from the log"


def _write_round(sheet: Sheet, round: Round, calls: Sequence[ModelCall]) -> None:
    team = f"team {round.team}, " if round.team else ""
    rehearsed = ", rehearsed" if round.team and round.number and round.subtasks else ""
    sheet.write(0, f"{team}round {round.number}{rehearsed}" if round.number else f"{team}steps", "bold")
    if round.planning or any(subtask.id for subtask in round.subtasks):
        sheet.write(1, "plan", "bold")
    # A team works on what all agreed on, and not on its own plan.
    follows: Sequence[Subtask] = () if round.team else round.subtasks
    _write_tries(sheet, 2, round.planning, plan_follows=bool(follows))
    for subtask in follows:
        if subtask.id:
            after = f" (after {', '.join(subtask.depends_on)})" if subtask.depends_on else ""
            milestone = f" => {subtask.milestone}" if subtask.milestone else ""
            sheet.write(2, f"{subtask.id}. {subtask.goal}{milestone}{after}: {subtask.status}")
    write_meetings(sheet, round.meetings, "plan", calls)
    if round.agreed:
        write_agreed(sheet, round.agreed)
    for subtask in round.subtasks:
        _write_subtask(sheet, subtask)
    if round.answering:
        sheet.write(1, "answer", "bold")
        _write_tries(sheet, 2, round.answering)
    write_meetings(sheet, round.meetings, "answer", calls)
    if round.check is not None:
        verdict = "right" if round.check.get("right") else "wrong"
        sheet.write(1, f"the user's check says {verdict}: {round.check.get('output', '')}")
    if round.finished:
        passed = round.finished.passed
        sheet.write(
            1, "the round passed" if passed else "the round did not pass", "green" if passed else "red"
        )


def _write_subtask(sheet: Sheet, subtask: Subtask) -> None:
    if subtask.steps or subtask.memory or subtask.result:
        sheet.write(1, f"subtask {subtask.id}: {subtask.goal}" if subtask.id else "calls", "bold")
    for step in subtask.steps:
        _write_step(sheet, step)
    for change in subtask.memory:
        _write_memory(sheet, 2, change)
    if subtask.loop:
        sheet.write(2, f"loop broken: {subtask.loop.call} came {subtask.loop.times} times", "red")
    if subtask.result:
        status = "failed" if subtask.status == "split" else subtask.status
        sheet.write(2, f"{status}: {subtask.result}", STATUS_STYLES.get(status, "red"))
    if subtask.rectifying:
        sheet.write(2, "how the plan goes on", "bold")
        _write_tries(sheet, 3, subtask.rectifying)
    if subtask.rectified:
        sheet.write(2, rectified_text(subtask.rectified), "yellow")


def _write_step(sheet: Sheet, step: Step) -> None:
    sheet.write(2, f"step {step.number}")
    _write_tries(sheet, 3, step.tries)
    if step.approval and not step.approval.allowed:
        sheet.write(3, f"not allowed by {step.approval.by}", "yellow")
    if step.use:
        call = format_call(step.use.tool, step.use.arguments)
        if call != step.chosen:
            sheet.write(3, call)
        leave = f", allowed by {step.approval.by}" if step.approval and step.approval.allowed else ""
        _write_use(sheet, step.use, leave)


def _write_use(sheet: Sheet, use: ToolUse, leave: str) -> None:
    if use.pending:
        sheet.write(3, f"begun, its result is not on record{leave}", "yellow")
        return
    if use.assumed:
        sheet.write(3, "assumed done by the user; its result is not known", "yellow")
        return
    kind = f"  {'effect' if use.effect else 'read'}, {seconds_text(use.seconds)}{leave}"
    sheet.write(3, Text.assemble(("ok", "green") if use.ok else ("failed", "red"), (kind, "dim")))
    rows = use.text.split("\n")
    for row in rows[:OBSERVATION_LINES]:
        more = len(row) - LINE_CHARACTERS
        sheet.write(4, row if more <= 0 else f"{row[:LINE_CHARACTERS]}… ({more} more characters)")
    if len(rows) > OBSERVATION_LINES:
        sheet.write(4, f"({len(rows) - OBSERVATION_LINES} more lines)", "dim")


def _write_tries(sheet: Sheet, level: int, tries: Sequence[Try], *, plan_follows: bool = False) -> None:
    before: Gated | None = None
    for attempt in tries:
        if attempt.gate:
            write_gate(sheet, level, attempt.gate)
            if before is not None or attempt.gate.verdict != "passed" or not plan_follows:
                _write_output(sheet, level + 1, attempt.gate, before)
            before = attempt.gate
        elif attempt.model:
            sheet.write(level, f"try {attempt.attempt}: replied; its gate is not on record", "yellow")
        if attempt.model and sheet.prompts:
            write_prompt(sheet, level + 1, attempt.model, sheet.prompts)


def _write_output(sheet: Sheet, level: int, gate: Gated, before: Gated | None) -> None:
    """Write what the agent gave; after a revision, what it changed."""
    if before is None or before.output is None:
        for row in output_lines(gate.output):
            sheet.write(level, row, "cyan")
    else:
        for sign, row in changes(before.output, gate.output):
            sheet.write(level, f"{sign} {row}", {"-": "red", "+": "green"}.get(sign, "dim"))


def output_lines(output: Any) -> list[str]:
    """Return what an agent gave as lines: a plan by subtask, anything else as it is."""
    if isinstance(output, list):
        return [_item_text(item) for item in output]  # pyright: ignore[reportUnknownVariableType]
    return value_text(output).split("\n") if output is not None else []


def _item_text(item: Any) -> str:
    if not isinstance(item, Mapping) or "goal" not in item:
        return value_text(item)
    subtask: Mapping[str, Any] = item  # pyright: ignore[reportUnknownVariableType]
    after = ", ".join(str(id) for id in subtask.get("depends_on", ()))
    return f"{subtask.get('id', '')}. {subtask['goal']}" + (f" (after {after})" if after else "")


def changes(before: Any, after: Any) -> list[tuple[str, str]]:
    """Return the lines of `after`, and those of `before` it dropped, each with `+`, `-` or blank."""
    rows = difflib.ndiff(output_lines(before), output_lines(after))
    return [(row[0], row[2:]) for row in rows if row[0] != "?"]


def _write_memory(sheet: Sheet, level: int, change: MemoryWritten | MemoryCleared) -> None:
    name = change.memory.replace("_", "-")
    if isinstance(change, MemoryCleared):
        entries = f"{change.entries} {'entry' if change.entries == 1 else 'entries'}"
        sheet.write(level, f"{name} memory cleared ({entries})", "dim")
        return
    sheet.write(level, f"{name} memory takes in:", "dim")
    sheet.write(level + 1, change.entry, "dim")


def _write_end(sheet: Sheet, story: Story, seconds: float) -> None:
    sheet.gap()
    if story.answer not in (None, ""):
        sheet.write(0, "answer", "bold")
        sheet.write(1, value_text(story.answer))
        sheet.gap()
    if story.teams is not None and story.result is not None:
        for path in story.result.get("artifacts", ()):
            sheet.write(0, f"file: {path}")
        sheet.gap()
    if message := str((story.result or {}).get("message", "")):
        sheet.write(0, f"{story.status.replace('_', ' ')}: {message}", BAD)
    if story.usage_by_role:
        _write_usage(sheet, story, seconds)
    if story.feedback:
        comment = f": {story.feedback.comment}" if story.feedback.comment else ""
        sheet.write(0, f"the user says the result is {story.feedback.verdict}{comment}")
    if story.status in ("interrupted", "cancelled", "budget_exhausted", "needs_decision"):
        _write_next(sheet, story)


def _write_next(sheet: Sheet, story: Story) -> None:
    """Say how to go on with a run that did not come to its own end."""
    resume = f"plait resume {story.run_id}"
    doubts = [use for use in story.uses if use.pending]
    for use in doubts:
        call = format_call(use.tool, use.arguments)
        sheet.write(0, f"in doubt: {call} was begun, and whether it was done is not known", "yellow")
    if doubts:
        sheet.write(
            0, f"look whether it was done; if so: {resume} --assume-done; if not: {resume} --retry", "bold"
        )
    elif story.status == "budget_exhausted":
        sheet.write(0, f"go on with a larger budget, for instance: {resume} --max-calls N", "bold")
    else:
        sheet.write(0, f"go on with: {resume}", "bold")


def _write_usage(sheet: Sheet, story: Story, seconds: float) -> None:
    """Write what the run took by role, and where several teams worked by team."""
    table = _usage_table("role", story.usage_by_role)
    table.add_row("all, with tools", *_usage_cells(story.usage, seconds), style="bold")
    sheet.table(table)
    if story.usage.shared_calls:
        calls = count_text(story.usage.shared_calls, "equal call")
        tokens = tokens_text(story.usage.saved_tokens)
        sheet.write(0, f"saved: {calls} at temperature 0 answered by one made before, {tokens} tokens")
    teams = sorted((name for name in story.usage_by_team if name.isdecimal()), key=int)
    if len(teams) > 1:
        shown = {f"team-{name}": story.usage_by_team[name] for name in teams}
        if "-" in story.usage_by_team:
            shown["meetings"] = story.usage_by_team["-"]
        sheet.gap()
        sheet.table(_usage_table("team", shown))


def _usage_table(head: str, usages: Mapping[str, Usage]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(head)
    for name in ("calls", "tokens in", "cached", "tokens out", "seconds", "money"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, usage in usages.items():
        table.add_row(name, *_usage_cells(usage, usage.seconds))
    return table


def _usage_cells(usage: Usage, seconds: float) -> list[str]:
    return [
        str(usage.model_calls),
        f"{usage.input_tokens:,}",
        cached_text(usage),
        f"{usage.output_tokens:,}",
        f"{seconds:.1f}",
        money_text(usage.usd),
    ]
