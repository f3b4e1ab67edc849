"""`plait feedback`: the user's own verdict on a run's result.

Knows nothing of what is done with it; it adds one event to the log.
"""

from enum import StrEnum
from typing import Annotated

import typer

from plait.cli.story import INTERRUPTED, RUNNING
from plait.errors import UserError
from plait.events import FeedbackGiven
from plait.runtime.log import RunLog


class Verdict(StrEnum):
    """What the user can say."""

    right = "right"
    wrong = "wrong"


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    verdict: Annotated[Verdict, typer.Argument(help="Whether the result is right.")],
    comment: Annotated[str, typer.Option("--comment", help="Why, in your own words.")] = "",
) -> None:
    """Say whether a run's result is right; it overrules what the run thinks of itself."""
    log = RunLog.open()
    try:
        run_id = log.find(run)
        summary = next(found for found in log.runs() if found.run_id == run_id)
        if summary.status in (RUNNING, INTERRUPTED):
            raise UserError(f"run {run_id!r} has no result yet: it is {summary.status}")
        log.append(run_id, FeedbackGiven(verdict=verdict.value, comment=comment))
    finally:
        log.close_now()
    print(f"Noted: the result of run {run_id} is {verdict.value}.")
