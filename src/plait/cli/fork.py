"""`plait fork`: run again from a place in a run, with other options.

Knows nothing of how a run is shown or carried out.
"""

from typing import Annotated, Any

import typer

from plait.cli.flags import changes_of, switches_of, with_flags
from plait.cli.running import carry_out
from plait.runner import fork, new_run_id


def _command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    from_path: Annotated[
        str, typer.Option("--from", metavar="PATH", help="Where to begin anew, for instance round-2.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    **given: Any,
) -> None:
    """Run again from a place in a run, with other options; what came before is not paid for again.

    An option that is not given stays as the run had it; only the folder is a new one, unless --out names it.
    """
    new_id = new_run_id()
    changes, switches = changes_of(given), switches_of(given)
    carry_out(
        new_id,
        lambda hands: fork(run, from_path, changes, hands, new_id=new_id, switches=switches),
        as_json=as_json,
    )


command = with_flags(_command, both_ways=True, kept=True)
