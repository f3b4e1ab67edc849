"""`plait resume`: take up a run that was stopped or killed.

Knows nothing of how a run is shown or carried out.
"""

from typing import Annotated, Any

import typer

from plait.cli.flags import LIMIT_OPTIONS, changes_of, with_flags
from plait.cli.running import carry_out
from plait.errors import UserError
from plait.runner import resume
from plait.runtime.log import Decision, RunLog


def _command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    retry: Annotated[bool, typer.Option("--retry", help="Do an effect in doubt again.")] = False,
    assume_done: Annotated[
        bool, typer.Option("--assume-done", help="Take an effect in doubt as done.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    **given: Any,
) -> None:
    """Take a run up where it stopped; nothing that finished is done or paid for again.

    An option that is not given stays as the run had it.
    """
    if retry and assume_done:
        raise UserError("--retry and --assume-done exclude each other: say one")
    decision: Decision | None = "retry" if retry else "assume-done" if assume_done else None
    log = RunLog.open()
    try:
        run_id = log.find(run)
        earlier = log.records(run_id)
    finally:
        log.close_now()
    carry_out(
        run_id,
        lambda hands: resume(run_id, hands, changes=changes_of(given), decision=decision),
        as_json=as_json,
        earlier=earlier,
    )


command = with_flags(_command, LIMIT_OPTIONS, kept=True)
