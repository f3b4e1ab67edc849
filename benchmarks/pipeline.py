"""What a pipeline costs beside its tools: `python -m benchmarks.pipeline`.

A run that recalls a pipeline and follows it to its end, with tools that answer at once. Every call is made
with what the call before it returned. Runs with short and with long pipelines differ in nothing but the
nodes, so that the cost of one is the difference of their times, divided by that of their lengths: it holds
what the walk decides, the checks of the call, its approval and its records. A log in memory leaves out the
disk, and the walk by itself leaves out all but what is next.

It fails where a node that reads takes more than a millisecond of the processor on a log in a file; how long
it takes, which other work on the machine prolongs, is printed beside it. A call that changes the world is
recorded as intended before it is made, on the disk for good, and again when it is done: that is without a
promise, as it is the disk's matter.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from plait.errors import PlaitError
from plait.events import PipelineEnded
from plait.experience.exploitation.recall import TOOLS_KEY, digest_of
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.paper_form import as_json
from plait.experience.pipelines.pipeline import END, START, Constant, Edge, FromResult, Node, Pipeline
from plait.experience.pipelines.walk import NextCall, Walk
from plait.experience.record import Experience
from plait.experience.words.goals import key_of
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import ScriptedModel
from plait.outfit.hands import Hands
from plait.runner import start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.tools.functions import from_function, tool

SHORT, LONG = 4, 28
RUNS = 20
LIMIT_MS = 1.0
GOALS = {"read_page": "Find page 1 on the shelf", "move_page": "Move page 1 to the shelf"}
REPLY = "It is there.\n# critique: As asked.\n# score: 10"
WALKS = 200


@tool(effect="reads")
async def read_page(number: int) -> dict[str, int]:
    """Read a page.

    Args:
        number: Of the page.
    """
    return {"page": number, "next": number + 1}


@tool
async def move_page(number: int) -> dict[str, int]:
    """Move a page.

    Args:
        number: Of the page.
    """
    return {"page": number, "next": number + 1}


TOOLS = {
    "read_page": from_function(read_page, source="benchmark"),
    "move_page": from_function(move_page, source="benchmark"),
}


def pipeline(name: str, length: int) -> Pipeline:
    """Return a pipeline of so many calls, each of the page that the one before named."""
    names = [f"page{number}" for number in range(1, length + 1)]
    changes = TOOLS[name].effect == "changes"
    first = Node(name=names[0], tool=name, arguments={"number": Constant(value=1)}, effect=changes)
    nodes = [Node(name=START), first]
    nodes += [
        Node(
            name=after, tool=name, arguments={"number": FromResult(node=before, field="next")}, effect=changes
        )
        for before, after in pairwise(names)
    ]
    nodes.append(Node(name=END))
    line = [node.name for node in nodes]
    edges = [Edge(from_node=one, to_node=two) for one, two in pairwise(line)]
    return Pipeline(name="pages", purpose=GOALS[name], nodes=nodes, edges=edges)


def record(name: str, length: int) -> Experience:
    """Return the pipeline as a memory keeps it."""
    content = {**as_json(pipeline(name, length)), TOOLS_KEY: {name: digest_of(TOOLS[name])}}
    return Experience(
        id="benchmark",
        memory=f"{name}-{length}",
        kind="pipeline",
        domain="tools",
        goal=GOALS[name],
        key=key_of(GOALS[name]),
        tools=(name,),
        content=content,
        run_id="benchmark",
        model="none",
        created=1.0,
    )


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What a run took, in seconds."""

    wall: float
    processor: float


async def follow(log: RunLog, name: str, length: int) -> Taken:
    """Take the times of a run that follows a pipeline to its end."""
    options = Options(yes=True, memory=f"{name}-{length}", max_effects=2 * LONG)
    async with ScriptedModel([REPLY]) as model:
        hands = Hands(model=model, log=log, tools=(TOOLS[name],), embedder=HashEmbedder())
        started = Taken(wall=time.perf_counter(), processor=time.process_time())
        result = await start(GOALS[name], options, hands)
        taken = Taken(
            wall=time.perf_counter() - started.wall, processor=time.process_time() - started.processor
        )
    ends = [one.event for one in log.records(result.run_id) if isinstance(one.event, PipelineEnded)]
    if [(end.calls, end.left) for end in ends] != [(length, "")] or result.status != "succeeded":
        raise PlaitError(f"a pipeline of {length} calls was not followed to its end: {ends}, {result.answer}")
    return taken


async def per_node(url: str, name: str) -> Taken:
    """Return what a node takes, in milliseconds."""
    log = RunLog.open(url)
    store = ExperienceStore(log)
    for length in (SHORT, LONG):
        await store.add(record(name, length))
        await follow(log, name, length)
    short = [await follow(log, name, SHORT) for _ in range(RUNS)]
    long = [await follow(log, name, LONG) for _ in range(RUNS)]
    await log.close()
    return Taken(
        wall=least_difference([run.wall for run in short], [run.wall for run in long]),
        processor=least_difference([run.processor for run in short], [run.processor for run in long]),
    )


def least_difference(short: Sequence[float], long: Sequence[float]) -> float:
    """Return the milliseconds of a node, from the fastest runs: other work can only add to a time."""
    return (min(long) - min(short)) / (LONG - SHORT) * 1e3


def walk_alone(length: int) -> float:
    """Return how many milliseconds it takes to say what is next, over all nodes of a pipeline."""
    walk = Walk(
        pipeline=pipeline("read_page", length),
        values={},
        parameters={name: one.parameters for name, one in TOOLS.items()},
    )
    times: list[float] = []
    for _ in range(WALKS):
        steps: list[Step] = []
        started = time.process_time()
        while isinstance(move := walk.next(steps), NextCall):
            steps.append(answered(move.arguments, move.tool))
        times.append((time.process_time() - started) / (len(steps) + 1))
    return min(times) * 1e3


def answered(arguments: Any, name: str) -> Step:
    number = int(arguments["number"])
    observation = f'{{"page": {number}, "next": {number + 1}}}'
    return Step(tool=name, arguments=arguments, observation=observation, ok=True, effect=False, whole=True)


def measure(name: str, folder: Path) -> bool:
    """Print what a node takes that calls one tool; say whether the promise is kept."""
    on_disk = asyncio.run(per_node(f"sqlite:///{folder / name}.db", name))
    in_memory = asyncio.run(per_node("sqlite://", name))
    reads = TOOLS[name].effect == "reads"
    what, limit = ("reads", f" (limit {LIMIT_MS:.0f})") if reads else ("changes the world", "")
    print(
        f"a node that {what}: {on_disk.processor:.2f} ms of the processor on a log in a file{limit},"
        f" {on_disk.wall:.2f} ms in all; in memory {in_memory.processor:.2f} and {in_memory.wall:.2f} ms"
    )
    return not reads or on_disk.processor <= LIMIT_MS


def main() -> int:
    """Print all measurements."""
    for length in (SHORT, LONG):
        print(f"what is next, in a pipeline of {length} calls: {walk_alone(length):.3f} ms a node")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PLAIT_HOME"] = folder  # Where the folders of the runs are made.
        kept = [measure(name, Path(folder)) for name in TOOLS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
