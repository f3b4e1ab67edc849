"""A command that loads its module only when it is called.

Knows nothing of which commands there are. A command module has a function `command`, or a typer
application `app` where the command has commands of its own. Listing commands loads none of them, so
that `plait --help` stays fast whatever the commands import.
"""

import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


class LazyCommand(TyperCommand):
    """Stands in the list of commands; hands over to the real one when it is called."""

    def __init__(self, name: str, *, help: str, module: str, panel: str) -> None:
        super().__init__(name=name, help=help, rich_help_panel=panel)
        self.module = module

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        # The context belongs to the real command, and so it is the real one that is then invoked.
        return self.load().make_context(info_name, args, parent, **extra)

    def load(self) -> TyperCommand | TyperGroup:
        """Import the command's module and build the command."""
        module = importlib.import_module(self.module)
        # A group even where it has a single command, so that `plait tools list` keeps its `list`.
        loaded: Any = get_group(module.app) if hasattr(module, "app") else _single(module.command)
        loaded.name = self.name
        return loaded


def _single(function: Any) -> Any:
    application = typer.Typer(add_completion=False)
    application.command()(function)
    return get_command(application)
