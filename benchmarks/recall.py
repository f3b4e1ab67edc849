"""How long it takes to recall experience: `python -m benchmarks.recall`.

A memory of pipelines in an SQLite file, each with a vector of 384 numbers; a recall asks for the nearest of
a goal's vector, as a run does before each leaf. It fails when the median of a recall is above its promise,
or when anything else is found than by a comparison with every vector.

The vectors are drawn and no goals are embedded: groups of near ones, whose numbers vary less and less from
direction to direction, as those of real texts do. Vectors drawn alike in all directions, which no text has,
are the worst case for a search; they are measured without a promise.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from plait.experience.record import Experience
from plait.runtime import experience_rows
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.tables import tables

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    Vectors = NDArray[np.float32]

NUMBERS = 384
MOST = 5
RECALLS = 100
GROUP = 50
"""How many vectors are near each other."""
SPREAD = 0.45
"""How far those of a group are from their middle, where the middles are at 1 from each other."""
DECLINE = 0.5
"""How fast the directions lose weight."""
LIMIT_MS = {10_000: 5.0, 100_000: 10.0}
CHANGES = 20
CONTENT = {"nodes": ["a tool call"] * 8}


class Texts:
    """Draws vectors in groups, as those of many texts."""

    def __init__(self, count: int, generator: np.random.Generator) -> None:
        """Draw the middles of the groups, for so many vectors in all."""
        self._weights = np.arange(1, NUMBERS + 1, dtype=np.float32) ** -DECLINE
        self._turn = np.linalg.qr(generator.standard_normal((NUMBERS, NUMBERS)))[0].astype(np.float32)
        self._middles = generator.standard_normal((count // GROUP, NUMBERS), dtype=np.float32)

    def draw(self, count: int, generator: np.random.Generator) -> "Vectors":
        """Draw some of them."""
        vectors = SPREAD * generator.standard_normal((count, NUMBERS), dtype=np.float32)
        vectors += self._middles[generator.integers(0, len(self._middles), count)]
        return unit(((vectors * self._weights) @ self._turn).astype(np.float32))


def like_texts(count: int, generator: np.random.Generator) -> "Vectors":
    """Draw vectors in groups."""
    return Texts(count, generator).draw(count, generator)


def alike(count: int, generator: np.random.Generator) -> "Vectors":
    """Draw vectors with no direction before another."""
    return unit(generator.standard_normal((count, NUMBERS), dtype=np.float32))


def unit(vectors: "Vectors") -> "Vectors":
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def record(number: int, vector: Sequence[float] = ()) -> Experience:
    """Return a pipeline; the first letters of its id are its number."""
    return Experience(
        id=f"{number:012x}",
        kind="pipeline",
        domain="tools",
        goal=f"Move meeting {number} to Friday",
        key=f"move meeting <{number}> to <weekday>",
        tools=("calendar.search", "calendar.update"),
        content=CONTENT,
        run_id="benchmark",
        model="none",
        created=float(number),
        vector=vector,
    )


async def fill(log: RunLog, vectors: "Vectors") -> None:
    """Add a record for each vector, in one go."""

    def add(connection: "Connection") -> None:
        memory = record(0).memory
        experience_rows.hold(connection, memory)
        mark = experience_rows.new_change(connection, memory)
        connection.execute(
            tables().experiences.insert(),
            [
                {**experience_rows.whole_row(record(number), mark), "vector": vector.tobytes()}
                for number, vector in enumerate(vectors)
            ],
        )

    await log.transact(add)


async def recall(store: ExperienceStore, query: "Vectors") -> tuple[set[int], float]:
    """Return the numbers of the nearest records, and how many milliseconds that took."""
    vector = [float(number) for number in query]
    started = time.perf_counter()
    found = await store.nearest(vector, MOST, kind="pipeline", domain="tools")
    milliseconds = (time.perf_counter() - started) * 1e3
    return {int(one.id, 16) for one, _ in found}, milliseconds


def best(vectors: "Vectors", query: "Vectors") -> set[int]:
    """Return the numbers of the nearest records, by comparing with every vector."""
    cosines = vectors.astype(np.float64) @ query.astype(np.float64)
    return {int(number) for number in np.argsort(-cosines)[:MOST]}


async def measure(name: str, vectors: "Vectors", queries: "Vectors", limit_ms: float | None) -> bool:
    """Print how recalls go in a memory of some vectors; say whether the promise is kept."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/plait.db"
        log = RunLog.open(url)
        await fill(log, vectors)
        store = ExperienceStore(log, most_of_a_kind=len(vectors) + CHANGES)
        _, first = await recall(store, queries[0])
        recalled = [await recall(store, query) for query in queries]
        changed = await after_changes(store, RunLog.open(url), queries, len(vectors))
        await log.close()
    times = [milliseconds for _, milliseconds in recalled]
    right = sum(
        len(found & best(vectors, query)) for (found, _), query in zip(recalled, queries, strict=True)
    )
    median, share = statistics.median(times), right / MOST / len(queries)
    promise = f" (limit {limit_ms:.0f})" if limit_ms else ""
    print(
        f"{len(vectors)} records, {name}: {median:.2f} ms a recall{promise}, worst {max(times):.1f};"
        f" found {share:.3f} of the nearest {MOST}; first recall {first:.0f} ms, after a change by another"
        f" process {changed:.0f} ms"
    )
    return share == 1.0 and (limit_ms is None or median <= limit_ms)


async def after_changes(store: ExperienceStore, other: RunLog, queries: "Vectors", there: int) -> float:
    """Return how long a recall takes right after a record was added through another connection."""
    second = ExperienceStore(other, most_of_a_kind=there + CHANGES)
    times: list[float] = []
    for number in range(CHANGES):
        await second.add(record(there + number, [float(one) for one in queries[number]]))
        found, milliseconds = await recall(store, queries[number])
        if there + number not in found:
            raise RuntimeError(f"record {there + number} was added and is not found")
        times.append(milliseconds)
    await other.close()
    return statistics.median(times)


async def full(vectors: "Vectors") -> None:
    """Print what adding to a full memory takes, and counting a use."""
    with tempfile.TemporaryDirectory() as folder:
        log = RunLog.open(f"sqlite:///{folder}/plait.db")
        await fill(log, vectors)
        store = ExperienceStore(log, most_of_a_kind=len(vectors))
        adding, using = [], []
        for number in range(len(vectors), len(vectors) + CHANGES):
            started = time.perf_counter()
            await store.add(record(number))
            added = time.perf_counter()
            await store.used(record(number).id, succeeded=True)
            using.append((time.perf_counter() - added) * 1e3)
            adding.append((added - started) * 1e3)
        await log.close()
    print(
        f"{len(vectors)} records, full: {statistics.median(adding):.1f} ms to add one and forget one,"
        f" {statistics.median(using):.1f} ms to count a use"
    )


def main() -> int:
    """Print all measurements."""
    generator = np.random.default_rng(7)
    kept = True
    for count, limit_ms in LIMIT_MS.items():
        vectors = like_texts(count + RECALLS, generator)
        kept &= asyncio.run(measure("like texts", vectors[:count], vectors[count:], limit_ms))
    asyncio.run(full(like_texts(min(LIMIT_MS), generator)))
    vectors = alike(max(LIMIT_MS) + RECALLS, generator)
    asyncio.run(measure("alike in all directions", vectors[:-RECALLS], vectors[-RECALLS:], None))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
