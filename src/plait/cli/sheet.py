"""A sheet of text that pages are written on, and what is written the same on every page.

Knows nothing of what a page is about. Where nobody looks at a terminal, in a file or a pipe, no line is
wrapped.
"""

from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from plait.cli.story import ModelCall
from plait.cli.words import clean, score_text, usage_text
from plait.events import Gated

INDENT = 2

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


def write_gate(sheet: Sheet, level: int, gate: Gated) -> None:
    """Write what a gate said of one reply."""
    style = {"passed": "green", "revised": "yellow", "forced": "yellow"}.get(gate.verdict, "red")
    needs = f" (needs {gate.threshold:g})" if gate.score is not None and gate.score < gate.threshold else ""
    head = Text.assemble(f"try {gate.attempt}: ", (score_text(gate.score) + needs, "magenta"), "  ")
    taken = f": try {gate.taken} is taken" if gate.taken not in (0, gate.attempt) else ""
    sheet.write(level, head.append(gate.verdict + taken, style))
    for problem in gate.problems:
        sheet.write(level + 1, f"problem: {problem}", "red")
    if gate.critique:
        sheet.write(level + 1, f"critique: {gate.critique}")


def write_prompt(sheet: Sheet, level: int, model: ModelCall, prompts: Prompts) -> None:
    """Write a whole prompt and its reply."""
    for message in prompts(model.prompt) if model.prompt else ():
        sheet.write(level, f"--- {message['role']}", "bold blue")
        sheet.write(level, message["content"], "dim")
    sheet.write(
        level, f"--- reply of the {model.role} ({model.finish}, {usage_text(model.usage)})", "bold blue"
    )
    sheet.write(level, model.text)
    sheet.write(level, "---", "bold blue")
