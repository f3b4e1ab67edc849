"""`plait replay`: repeat a run from its log, without any model or tool.

Knows nothing of how the result is recomputed.
"""

import asyncio
import sys
from typing import Annotated

import typer

from plait.replaying import canonical, replay
from plait.runtime.log import RunLog


def command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
) -> None:
    """Recompute the result of a run from its log alone and print it; it must be the same to the byte."""
    log = RunLog.open()
    try:
        run_id = log.find(run)
        records = log.records(run_id)
    finally:
        log.close_now()
    result = asyncio.run(replay(run_id, records))
    sys.stdout.write(canonical(result).decode() + "\n")
