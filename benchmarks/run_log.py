"""What recording costs: `python -m benchmarks.run_log`.

Against an endpoint in a process of its own and a log in an SQLite file: one run of many steps, whose
endpoint answers at once; many runs at once; how a log grows with its steps; what a waiting run holds.
"""

import asyncio
import gc
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.model_client import endpoint

from plait.events import Noted
from plait.journal import Journal
from plait.models.chat import ChatModel
from plait.models.protocol import Message, Request
from plait.runtime.log import RunLog

RUNS = 200
CALLS = 6
LATENCY_SECONDS = 0.1
STEPS = 20
REPETITIONS = 10
WAITING_RUNS = 500
RULES = "\n\n".join(
    f"Rule {number}: look before you leap, and say what you saw. " * 4 for number in range(10)
)


def request(step: int) -> Request:
    """Return the prompt of a step: what stays the same first, one fact more each time."""
    facts = "\n\n".join(
        f"Fact {number}: the meeting of day {number} was moved. " * 3 for number in range(step)
    )
    return Request(
        messages=(Message(role="system", content=RULES), Message(role="user", content=facts or "-"))
    )


async def ask(journal: Journal, model: ChatModel, step: int) -> float:
    """Make one recorded model call and return the seconds that the model took of it."""
    asked = request(step)
    seconds = 0.0

    async def complete(_: Mapping[str, Any]) -> Any:
        nonlocal seconds
        started = time.perf_counter()
        reply = await model.complete(asked)
        seconds = time.perf_counter() - started
        return {"text": reply.text, "finish": reply.finish, "usage": vars(reply.usage), "tool_calls": []}

    args = {
        "role": "tool",
        "model": model.name,
        "settings": vars(asked.settings),
        "messages": [vars(message) for message in asked.messages],
    }
    await journal.call(f"step-{step}", complete, args, kind="model")
    journal.emit(Noted(text=f"step {step} done"))
    return seconds


async def one_run(url: str, base_url: str) -> None:
    """Print what a recorded call takes in all, and what of it is not the model's."""
    log, model = RunLog.open(url), ChatModel("benchmark", base_url, "benchmark")
    await model.complete(request(1))
    whole: list[float] = []
    own: list[float] = []
    for repetition in range(REPETITIONS):
        journal = await log.start(f"one-{repetition}", "benchmark", {})
        for step in range(STEPS):
            started = time.perf_counter()
            model_seconds = await ask(journal, model, step)
            whole.append(time.perf_counter() - started)
            own.append(whole[-1] - model_seconds)
        await journal.finish("succeeded", {})
    await model.aclose()
    await log.close()
    print(
        f"{STEPS}-step run, no latency: median {statistics.median(whole) * 1e3:.2f} ms a recorded call,"
        f" {statistics.median(own) * 1e3:.2f} ms of it recording"
    )


async def many_runs(url: str, base_url: str) -> None:
    """Print how long many runs at once take, from their start to their end."""
    log, model = RunLog.open(url), ChatModel("benchmark", base_url, "benchmark")
    await model.complete(request(1))
    await (await log.start("warm", "benchmark", {})).finish("succeeded", {})

    async def run(number: int) -> None:
        journal = await log.start(f"many-{number}", "benchmark", {})
        for step in range(CALLS):
            await ask(journal, model, step)
        await journal.finish("succeeded", {})

    started, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for number in range(RUNS):
            group.create_task(run(number))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    await model.aclose()
    await log.close()
    print(
        f"{RUNS} runs x {CALLS} calls of {LATENCY_SECONDS * 1e3:.0f} ms: {seconds:.2f} s"
        f" (ideal {CALLS * LATENCY_SECONDS:.2f} s; own CPU {cpu_seconds / RUNS / CALLS * 1e3:.2f} ms a call)"
    )


async def growth(url: str, base_url: str) -> None:
    """Print the size of logs of more and more steps."""
    log, model = RunLog.open(url), ChatModel("benchmark", base_url, "benchmark")
    sizes: list[str] = []
    for steps in (10, 20, 40, 80):
        journal = await log.start(f"growth-{steps}", "benchmark", {})
        for step in range(steps):
            await ask(journal, model, step)
        await journal.finish("succeeded", {})
        size = sum(len(row["data"]) + len(row["path"]) for row in await log.rows(f"growth-{steps}"))
        whole = sum(len(message.content) for step in range(steps) for message in request(step).messages)
        sizes.append(
            f"{steps} steps {size / steps / 1024:.1f} KiB a step (prompts alone {whole / steps / 1024:.1f})"
        )
    await model.aclose()
    await log.close()
    print("log growth:", "; ".join(sizes))


async def waiting(url: str) -> None:
    """Print the memory of a run that waits for its model."""
    log = RunLog.open(url)
    await (await log.start("first", "benchmark", {})).finish("succeeded", {})
    answer = asyncio.Event()

    async def wait(_: Mapping[str, Any]) -> Any:
        await answer.wait()

    async def run(number: int) -> None:
        journal = await log.start(f"waiting-{number}", "benchmark", {})
        args = {"messages": [vars(message) for message in request(STEPS).messages]}
        await journal.call("step", wait, args, kind="model")
        await journal.finish("succeeded", {})

    gc.collect()
    before = resident_bytes()
    async with asyncio.TaskGroup() as group:
        for number in range(WAITING_RUNS):
            group.create_task(run(number))
        await asyncio.sleep(2)
        held = resident_bytes() - before
        answer.set()
    await log.close()
    print(f"memory: {held / WAITING_RUNS / 2**20:.3f} MiB for each of {WAITING_RUNS} waiting runs")


def resident_bytes() -> int:
    """Return the memory this process holds."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # macOS: the peak, in bytes.


def main() -> None:
    """Print all measurements."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/plait.db"
        with endpoint(0.0) as base_url:
            asyncio.run(one_run(url, base_url))
            asyncio.run(growth(url, base_url))
        with endpoint(LATENCY_SECONDS) as base_url:
            asyncio.run(many_runs(url, base_url))
        asyncio.run(waiting(url))


if __name__ == "__main__":
    main()
