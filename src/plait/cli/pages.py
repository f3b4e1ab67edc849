"""The written story of a run, top to bottom: what `plait show` prints.

Knows nothing of databases. Everything is written through a `Sheet`, indented, as wide as the terminal; in
a pipe no line is wrapped.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from plait.cli.story import ModelCall, Round, Step, Story, Subtask, ToolUse, Try
from plait.cli.tree import BAD, STATUS_STYLES, happening_line
from plait.cli.words import (
    cached_text,
    clean,
    count_text,
    money_text,
    score_text,
    seconds_text,
    settings_text,
    usage_text,
    value_text,
)
from plait.events import Gated, MemoryCleared, MemoryWritten
from plait.models.callform import format_call
from plait.task import Usage

INDENT = 2
OBSERVATION_LINES = 12
"""Of an observation as many lines are shown; the whole is in `--json`."""
LINE_CHARACTERS = 600

Prompts = Callable[[str], Sequence[Mapping[str, str]]]
"""Restores a whole prompt from the id of its last part."""


class Sheet:
    """Writes indented text to a console."""

    def __init__(self, console: Console, prompts: Prompts | None = None) -> None:
        self._console = console
        self.prompts = prompts

    def write(self, level: int, text: str | Text, style: str = "") -> None:
        """Write text, line by line where it has several, `level` steps from the left margin."""
        if isinstance(text, str):
            for row in clean(text).split("\n"):
                self._write(level, Text(row, style=style))
        else:
            self._write(level, text)

    def _write(self, level: int, text: Text) -> None:
        text.no_wrap, text.overflow = None, None
        if self._console.is_terminal:
            self._console.print(Padding(text, (0, 0, 0, INDENT * level)))
        else:
            self._console.print(Text(" " * INDENT * level).append_text(text), soft_wrap=True)

    def table(self, table: Table) -> None:
        """Write a table."""
        self._console.print(table)

    def gap(self) -> None:
        """Write an empty line."""
        self._console.print()


def write_story(sheet: Sheet, story: Story, seconds: float) -> None:
    """Write a whole run.

    Args:
        sheet: Where to.
        story: What happened.
        seconds: Seconds of work, as the log knows them.
    """
    _write_head(sheet, story, seconds)
    for round in story.rounds:
        sheet.gap()
        _write_round(sheet, round)
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


def _write_round(sheet: Sheet, round: Round) -> None:
    team = f"team {round.team}, " if round.team else ""
    sheet.write(0, f"{team}round {round.number}" if round.number else f"{team}steps", "bold")
    if round.planning or any(subtask.id for subtask in round.subtasks):
        sheet.write(1, "plan", "bold")
    _write_tries(sheet, 2, round.planning, plan_follows=bool(round.subtasks))
    for subtask in round.subtasks:
        if subtask.id:
            after = f" (after {', '.join(subtask.depends_on)})" if subtask.depends_on else ""
            sheet.write(2, f"{subtask.id}. {subtask.goal}{after}: {subtask.status}")
    for subtask in round.subtasks:
        _write_subtask(sheet, subtask)
    if round.answering:
        sheet.write(1, "answer", "bold")
        _write_tries(sheet, 2, round.answering)
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
        style = STATUS_STYLES.get(subtask.status, "red")
        sheet.write(2, f"{subtask.status}: {subtask.result}", style)


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
            _write_gate(sheet, level, attempt.gate)
            if before is not None or attempt.gate.verdict != "passed" or not plan_follows:
                _write_output(sheet, level + 1, attempt.gate, before)
            before = attempt.gate
        elif attempt.model:
            sheet.write(level, f"try {attempt.attempt}: replied; its gate is not on record", "yellow")
        if attempt.model and sheet.prompts:
            _write_prompt(sheet, level + 1, attempt.model, sheet.prompts)


def _write_gate(sheet: Sheet, level: int, gate: Gated) -> None:
    style = {"passed": "green", "revised": "yellow", "forced": "yellow"}.get(gate.verdict, "red")
    needs = f" (needs {gate.threshold:g})" if gate.score is not None and gate.score < gate.threshold else ""
    head = Text.assemble(f"try {gate.attempt}: ", (score_text(gate.score) + needs, "magenta"), "  ")
    sheet.write(level, head.append(gate.verdict, style))
    for problem in gate.problems:
        sheet.write(level + 1, f"problem: {problem}", "red")
    if gate.critique:
        sheet.write(level + 1, f"critique: {gate.critique}")


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


def _write_prompt(sheet: Sheet, level: int, model: ModelCall, prompts: Prompts) -> None:
    for message in prompts(model.prompt) if model.prompt else ():
        sheet.write(level, f"--- {message['role']}", "bold blue")
        sheet.write(level, message["content"], "dim")
    sheet.write(
        level, f"--- reply of the {model.role} ({model.finish}, {usage_text(model.usage)})", "bold blue"
    )
    sheet.write(level, model.text)
    sheet.write(level, "---", "bold blue")


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
    if message := str((story.result or {}).get("message", "")):
        sheet.write(0, f"{story.status.replace('_', ' ')}: {message}", BAD)
    if story.usage_by_role:
        sheet.table(_usage_table(story, seconds))
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


def _usage_table(story: Story, seconds: float) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("role")
    for name in ("calls", "tokens in", "cached", "tokens out", "seconds", "money"):
        table.add_column(name, justify="right", no_wrap=True)
    for role, usage in story.usage_by_role.items():
        table.add_row(role, *_usage_cells(usage, usage.seconds))
    table.add_row("all, with tools", *_usage_cells(story.usage, seconds), style="bold")
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
