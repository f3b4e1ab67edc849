"""`plait run`: solve a task.

Knows nothing of how a run is shown or carried out.
"""

from typing import Annotated, Any

import typer

from plait.cli.flags import changes_of, switches_of, with_flags
from plait.cli.running import carry_out
from plait.errors import UserError
from plait.outfit.settings import in_force, options_with
from plait.runner import new_run_id, start


def _command(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done, in your words.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    settings: Annotated[
        str | None,
        typer.Option(
            "--settings",
            metavar="FILE",
            help="File with options. Default: plait.toml here or in a folder above.",
        ),
    ] = None,
    no_settings: Annotated[
        bool, typer.Option("--no-settings", help="Take no options from any file.")
    ] = False,
    **given: Any,
) -> None:
    """Solve a task with tools, or make a program or a story with teams, and show how."""
    if no_settings and settings is not None:
        raise UserError("--settings and --no-settings exclude each other: say one")
    file = None if no_settings else in_force(settings)
    begun = options_with(changes_of(given), file, switches_of(given))
    run_id = new_run_id()
    carry_out(
        run_id,
        lambda hands: start(task, begun.options, hands, run_id=run_id, notes=begun.told),
        as_json=as_json,
    )


command = with_flags(_command, both_ways=True)
