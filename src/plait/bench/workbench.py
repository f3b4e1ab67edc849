"""WorkBench tasks, the replay of their gold calls, and the judge of a run's tables.

Knows nothing of models, agents or runs: it reads task files, plays calls on an office and compares
tables. A task is solved if the tables after the run equal those after the gold calls, whatever way
led there (https://github.com/olly-styles/WorkBench, commit 42f1b6dc18986f47701ca83de2d63dd4f95c59a0).
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from plait.bench.rows import files_in, numbered_rows
from plait.errors import ToolError, UserError
from plait.tools.office import DECLARATIONS, Office
from plait.tools.office.tables import Table

_CASE_COUNTS = ("status", "list_name", "board")
"""Columns whose upper and lower case the judge tells apart."""


@dataclass(frozen=True, kw_only=True)
class WorkbenchTask:
    """One row of a task file."""

    query: str
    gold: Sequence[str]
    """Calls such as `calendar.delete_event.func(event_id="00000236")`; may be empty."""
    template: str
    """What all tasks of a kind have in common, with places for their values."""
    phrasing: str
    """The words in which the template is said here, with the same places."""
    domains: Sequence[str]
    file: str
    """Name of the task file."""
    index: int
    """Row in the file, from 0."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One parsed gold call."""

    tool: str
    arguments: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What a run did to the tables, held against the gold calls."""

    correct: bool
    side_effects: bool
    """Unwanted effects: something changed and the task is not correct."""
    gold_changes: bool
    """Whether the gold calls change anything; a run that does nothing solves all other tasks."""


def load_tasks(source: Path | Sequence[Path]) -> Sequence[WorkbenchTask]:
    """Read tasks from files in WorkBench's format, in order, or from all CSV files of a folder.

    Raises:
        UserError: no file, or a row that is no task; the message names file and line.
    """
    paths = files_in(source, "*.csv") if isinstance(source, Path) else source
    return [
        _task(row, path=path, line=line, index=index)
        for path in paths
        for index, (line, row) in enumerate(numbered_rows(path, ("query", "answer")))
    ]


def parse_call(text: str) -> Call:
    """Read a gold call without running it.

    Raises:
        UserError: not a call of an office tool with plain text arguments.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        raise UserError(f"gold call {text[:200]!r} is not Python") from exc
    if not isinstance(tree, ast.Call):
        raise UserError(f"gold call {text[:200]!r} is not a call")
    name = ast.unparse(tree.func).removesuffix(".func")
    declaration = DECLARATIONS.get(name)
    if declaration is None:
        raise UserError(f"gold call {text[:200]!r} names no office tool")
    positional = [_text_of(value, text) for value in tree.args]
    named = {keyword.arg or "**": _text_of(keyword.value, text) for keyword in tree.keywords}
    try:
        return Call(tool=name, arguments=declaration.arguments(positional, named))
    except ToolError as exc:
        raise UserError(f"gold call {text[:200]!r}: {exc.message}") from exc


def replay(calls: Sequence[str], folder: Path) -> Sequence[object]:
    """Play gold calls on the tables in `folder` and return what each answered.

    Raises:
        UserError: a call that cannot be read; then none is played.
        ToolError: a table cannot be saved.
    """
    return _play([parse_call(call) for call in calls], Office(folder))


def judge(predicted_folder: Path, gold_calls: Sequence[str], *, error: bool = False) -> Judgement:
    """Compare the tables a run left with those after the gold calls.

    Args:
        predicted_folder: The run's tables; one that is missing counts as untouched.
        gold_calls: What would have solved the task.
        error: Whether the run ended with an error, which is never correct.

    Raises:
        UserError: a gold call or a table of the folder cannot be read.
    """
    gold = Office(None)
    _play([parse_call(call) for call in gold_calls], gold)
    start = Office(None)
    predicted = Office(predicted_folder, save=False)
    correct = not error and not _differ(predicted, gold)
    return Judgement(
        correct=correct,
        side_effects=not correct and _differ(predicted, start),
        gold_changes=_differ(gold, start),
    )


def _play(calls: Sequence[Call], office: Office) -> Sequence[object]:
    return [DECLARATIONS[call.tool].call(office, call.arguments) for call in calls]


def _differ(one: Office, other: Office) -> bool:
    """Whether any table of two offices differs."""
    # Untouched tables share their rows, so that most comparisons end at the first test.
    return any(
        table.rows is not other.tables[name].rows and _cells(table) != _cells(other.tables[name])
        for name, table in one.tables.items()
    )


def _cells(table: Table) -> Sequence[Sequence[str]]:
    return [
        [row[column] if column in _CASE_COUNTS else row[column].lower() for column in table.columns]
        for row in table.rows
    ]


def _task(row: Mapping[str, str], *, path: Path, line: int, index: int) -> WorkbenchTask:
    try:
        gold = _list_of_text(row["answer"], "answer")
        for call in gold:
            parse_call(call)
        return WorkbenchTask(
            query=row["query"].strip(),
            gold=gold,
            template=row.get("base_template") or "",
            phrasing=row.get("chosen_template") or "",
            domains=_list_of_text(row.get("domains") or "[]", "domains"),
            file=path.name,
            index=index,
        )
    except UserError as exc:
        raise UserError(f"task file {str(path)!r}, line {line}: {exc.message}") from exc


def _list_of_text(text: str, column: str) -> Sequence[str]:
    try:
        value: object = ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as exc:
        raise UserError(f"{column} {text[:200]!r} is not a Python list") from exc
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) != len(items):
        raise UserError(f"{column} {text[:200]!r} is not a Python list of texts")
    return texts


def _text_of(value: ast.expr, call: str) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float):
        return str(value.value)
    raise UserError(f"gold call {call[:200]!r}: argument {ast.unparse(value)[:80]} is not plain text")
