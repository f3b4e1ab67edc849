"""`plait run`: solve a task.

Knows nothing of how a run is shown or carried out.
"""

from typing import Annotated, Any

import typer

from plait.cli.flags import changes_of, with_flags
from plait.cli.running import carry_out
from plait.runner import new_run_id, start
from plait.runtime.options import chosen


def _command(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done, in your words.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    **given: Any,
) -> None:
    """Solve a task with tools, or make a program or a story with teams, and show how."""
    options = chosen(changes_of(given))
    run_id = new_run_id()
    carry_out(run_id, lambda hands: start(task, options, hands, run_id=run_id), as_json=as_json)


command = with_flags(_command)
