"""A chain of steps for a process that is killed: `python -m tests.runtime.chain URL RUN WORLD [STEP]`.

Every step that is really done leaves a line in the file WORLD, written through to the disk. STEP names
one in whose midst the process kills itself.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from plait.journal import Journal
from plait.runtime.log import RunLog

STEPS = 11


def is_effect(number: int) -> bool:
    return number % 3 == 2


async def chain(journal: Journal, world: Path, fatal: str = "") -> list[Any]:
    """Run eleven steps, each with the result of the one before as its argument."""
    results: list[Any] = []
    for number in range(STEPS):
        name = f"{'effect' if is_effect(number) else 'call'}-{number}"

        async def step(args: Any, name: str = name) -> Any:
            if fatal == f"before {name}":
                os.kill(os.getpid(), signal.SIGKILL)
            write_through(world, name)
            if fatal == f"after {name}":
                os.kill(os.getpid(), signal.SIGKILL)
            await asyncio.sleep(0.004)
            return {"after": args["before"], "name": name}

        kind = "effect" if is_effect(number) else "value"
        before = (results[-1] or {}).get("name", "assumed") if results else None
        results.append(await journal.call(name, step, {"before": before}, kind=kind))
        print(name, flush=True)
    return results


def write_through(world: Path, line: str) -> None:
    descriptor = os.open(world, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{line}\n".encode())
    os.fsync(descriptor)
    os.close(descriptor)


async def main(url: str, run_id: str, world: Path, fatal: str = "") -> None:
    log = RunLog.open(url)
    journal = await log.start(run_id, "chain", {})
    print("started", flush=True)
    results = await chain(journal, world, fatal)
    await journal.finish("succeeded", {"answer": results})
    await log.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), *sys.argv[4:]))
