"""Three teams as a process of its own, which a test kills: `python -m tests.teams.child DATABASE`.

Writes a line for each request of the model.
"""

import asyncio
import sys
from typing import Any

from tests.teams.test_orchestra import Shuffled
from tests.teams.troupe import TASK, Troupe

from plait.models.protocol import Request
from plait.runtime.log import RunLog

RUN = "r1"


class Telling(Shuffled):
    """Says that it was asked before it answers."""

    def __call__(self, request: Request) -> Any:
        print("asked", flush=True)
        return super().__call__(request)


async def main(url: str) -> None:
    """Run the teams on a log at `url`."""
    log = RunLog.open(url)
    journal = await log.start(RUN, TASK, {})
    await Troupe(teams=3, voices=Telling(seed=1)).play(journal)
    await log.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
