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
from typing import Any, cast

from benchmarks.model_client import endpoint

from plait.agents.agent import Agent, ask
from plait.events import Noted
from plait.journal import Journal
from plait.models.budget import Budget, Limits
from plait.models.chat import ChatModel
from plait.models.protocol import Message, Reply, Request, Settings
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


class Timed:
    """A model that notes how long it took."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name
        self.takes_grammar = False
        self.seconds = 0.0

    async def complete(self, request: Request) -> Reply:
        started = time.perf_counter()
        reply = await self._model.complete(request)
        self.seconds = time.perf_counter() - started
        return reply

    async def aclose(self) -> None:
        await self._model.aclose()


def agent_of(base_url: str) -> Agent:
    """Return an agent whose model is the endpoint."""
    model = Timed(ChatModel("benchmark", base_url, "benchmark"))
    budget = Budget(Limits(calls=10**6, tokens=10**9, usd=10**6, seconds=10**6))
    return Agent(role="tool", strand="reflection", model=model, budget=budget, settings=Settings())


async def step(journal: Journal, agent: Agent, number: int) -> None:
    """Make one recorded model call and emit one event, as the least step of a strand does."""
    await ask(journal, agent, request(number), f"step-{number}")
    journal.emit(Noted(text=f"step {number} done"))


async def one_run(url: str, base_url: str) -> None:
    """Print what a recorded call takes in all, and what of it is not the model's."""
    log, agent = RunLog.open(url), agent_of(base_url)
    timed = cast("Timed", agent.model)
    await timed.complete(request(1))  # Imports and the first connection are not part of a call.
    whole: list[float] = []
    own: list[float] = []
    for repetition in range(REPETITIONS):
        journal = await log.start(f"one-{repetition}", "benchmark", {})
        for number in range(STEPS):
            started = time.perf_counter()
            await step(journal, agent, number)
            whole.append(time.perf_counter() - started)
            own.append(whole[-1] - timed.seconds)
        await journal.finish("succeeded", {})
    await agent.model.aclose()
    await log.close()
    print(
        f"{STEPS}-step run, no latency: median {statistics.median(whole) * 1e3:.2f} ms a recorded call,"
        f" {statistics.median(own) * 1e3:.2f} ms of it not the model client's"
    )


async def many_runs(url: str, base_url: str) -> None:
    """Print how long many runs at once take, from their start to their end."""
    log, agent = RunLog.open(url), agent_of(base_url)
    await agent.model.complete(request(1))  # Imports and the first connection are not part of a call.
    await (await log.start("warm", "benchmark", {})).finish("succeeded", {})
    gc.freeze()  # as the how-to for many runs at once says

    async def run(identity: int) -> None:
        journal = await log.start(f"many-{identity}", "benchmark", {})
        for number in range(CALLS):
            await step(journal, agent, number)
        await journal.finish("succeeded", {})

    started, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for number in range(RUNS):
            group.create_task(run(number))
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    await agent.model.aclose()
    await log.close()
    print(
        f"{RUNS} runs x {CALLS} calls of {LATENCY_SECONDS * 1e3:.0f} ms: {seconds:.2f} s"
        f" (ideal {CALLS * LATENCY_SECONDS:.2f} s; own CPU {cpu_seconds / RUNS / CALLS * 1e3:.2f} ms a call)"
    )


async def growth(url: str, base_url: str) -> None:
    """Print the size of logs of more and more steps."""
    log, agent = RunLog.open(url), agent_of(base_url)
    sizes: list[str] = []
    for steps in (10, 20, 40, 80):
        journal = await log.start(f"growth-{steps}", "benchmark", {})
        for number in range(steps):
            await step(journal, agent, number)
        await journal.finish("succeeded", {})
        size = sum(len(row["data"]) + len(row["path"]) for row in await log.rows(f"growth-{steps}"))
        whole = sum(len(message.content) for step in range(steps) for message in request(step).messages)
        sizes.append(
            f"{steps} steps {size / steps / 1024:.1f} KiB a step (prompts alone {whole / steps / 1024:.1f})"
        )
    await agent.model.aclose()
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
