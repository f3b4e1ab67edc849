"""What the Chat Completions client costs: `python -m benchmarks.model_client`.

Against an endpoint in a process of its own: agents that wait for each other nowhere, and one agent whose
endpoint answers at once, where all the time is ours and the endpoint's.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from plait.models.chat import ChatModel
from plait.models.protocol import Message, Request

AGENTS = 200
CALLS = 6
LATENCY_SECONDS = 0.1
SEQUENTIAL_CALLS = 1000
REQUEST = Request(
    messages=(
        Message(role="system", content="You are an agent. " * 100),
        Message(role="user", content="What is next? " * 50),
    )
)


@contextmanager
def endpoint(latency: float) -> Iterator[str]:
    """Start an endpoint process and yield its base URL."""
    command = [sys.executable, "-m", "tests.support.endpoint", "--latency", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


async def concurrent(base_url: str) -> tuple[float, float]:
    """Return wall-clock and CPU seconds of all agents together."""
    model = ChatModel("benchmark", base_url, "benchmark")

    async def agent() -> None:
        for _ in range(CALLS):
            await model.complete(REQUEST)

    await model.complete(REQUEST)  # imports and the first connection are not part of a call
    started, cpu = time.perf_counter(), time.process_time()
    async with asyncio.TaskGroup() as group:
        for _ in range(AGENTS):
            group.create_task(agent())
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    await model.aclose()
    return seconds, cpu_seconds


async def sequential(base_url: str) -> tuple[float, float]:
    """Return the median of wall-clock milliseconds, and the CPU milliseconds of a call."""
    model = ChatModel("benchmark", base_url, "benchmark")
    for _ in range(20):
        await model.complete(REQUEST)
    times: list[float] = []
    cpu = time.process_time()
    for _ in range(SEQUENTIAL_CALLS):
        started = time.perf_counter()
        await model.complete(REQUEST)
        times.append(time.perf_counter() - started)
    cpu_milliseconds = (time.process_time() - cpu) / SEQUENTIAL_CALLS * 1e3
    await model.aclose()
    return statistics.median(times) * 1e3, cpu_milliseconds


def main() -> None:
    """Print both measurements."""
    with endpoint(LATENCY_SECONDS) as base_url:
        seconds, cpu = asyncio.run(concurrent(base_url))
    print(
        f"{AGENTS} agents x {CALLS} calls of {LATENCY_SECONDS * 1e3:.0f} ms: {seconds:.2f} s "
        f"(ideal {CALLS * LATENCY_SECONDS:.2f} s; own CPU {cpu / AGENTS / CALLS * 1e3:.2f} ms a call)"
    )
    with endpoint(0.0) as base_url:
        median, cpu = asyncio.run(sequential(base_url))
    print(f"one after the other, no latency: median {median:.2f} ms a call, own CPU {cpu:.2f} ms a call")


if __name__ == "__main__":
    main()
