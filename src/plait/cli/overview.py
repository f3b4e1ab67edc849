"""The help of `plait` itself: its commands in panels, in the look of the help of each command.

Knows nothing of which commands there are. Typer's own drawing of the same page first loads a Markdown
reader and a syntax highlighter, which takes longer than everything else together.
"""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup


class OverviewGroup(TyperGroup):
    """A group of commands whose help is drawn quickly."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        console = Console(highlight=False)
        usage = Text.assemble((" Usage: ", "yellow"), f"{ctx.command_path} [OPTIONS] COMMAND [ARGS]...")
        console.print(Padding(usage, (1, 0)))
        console.print(Padding(self.help or "", (0, 1, 1, 1)))
        console.print(_panel("Options", self._options()))
        panels = dict.fromkeys(str(command.rich_help_panel) for command in self._listed())
        for title in panels:
            console.print(_panel(title, self._lines(title)))
        console.print(Padding(self.epilog or "", (1, 1)))

    def _options(self) -> Sequence[tuple[str, str]]:
        options = [("  ".join(param.opts), str(getattr(param, "help", ""))) for param in self.params]
        return [*options, ("--help", "Show this message and exit.")]

    def _listed(self) -> Sequence[Any]:
        return [command for command in self.commands.values() if not command.hidden]

    def _lines(self, panel: str) -> Sequence[tuple[str, str]]:
        return [
            (command.name, command.help) for command in self._listed() if command.rich_help_panel == panel
        ]


def _panel(title: str, rows: Sequence[tuple[str, str]]) -> Panel:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold cyan", no_wrap=True, min_width=9)
    table.add_column()
    for row in rows:
        table.add_row(*row)
    return Panel(table, title=title, title_align="left", border_style="dim")
