"""A process that learns and uses experience: `python -m tests.runtime.learner URL NAME TIMES [MEMORY]`."""

import asyncio
import sys

from tests.runtime.records import pipeline

from plait.experience.record import DEFAULT_MEMORY
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog


async def main(url: str, name: str, times: int, memory: str = DEFAULT_MEMORY) -> None:
    """Add one record of its own and one that all processes add, and count a use of that, so many times."""
    log = RunLog.open(url)
    store = ExperienceStore(log)
    for number in range(times):
        await store.add(pipeline(f"{name}{number:x}", vector=(1.0, float(number), 0.0), memory=memory))
        shared = await store.add(pipeline(f"f{name}{number:x}", key="shared", memory=memory))
        await store.used(shared.id, succeeded=number % 2 == 0)
    await log.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
