"""Postgres compares vectors itself where pgvector is there; where it is not, nothing is missed but speed."""

import asyncio
import math
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy
from tests.runtime.records import FAR, NEAR, execute, nearest, pipeline

from plait.cli import checkup
from plait.errors import UserError
from plait.runtime import experience_graph, experience_vectors
from plait.runtime.experience_graph import CANDIDATES, LEAST_ROWS, STEP_COST, least_rows_for_walk
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[2]
ROLE = "plait_without_rights"
BARE = "plait_bare"


@pytest.fixture
async def log(postgres_url: str) -> AsyncIterator[RunLog]:
    log = RunLog.open(postgres_url)
    yield log
    await log.close()


@pytest.fixture
def bare_url(postgres_server: str) -> Iterator[str]:
    """Return the address of an empty database, for a user who may install no extension."""
    engine = sqlalchemy.create_engine(
        postgres_server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE {ROLE} LOGIN")
        connection.exec_driver_sql(f"CREATE DATABASE {BARE} OWNER {ROLE}")
        url = sqlalchemy.make_url(postgres_server).set(database=BARE)
        yield url.set(username=ROLE).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {BARE} WITH (FORCE)")
        connection.exec_driver_sql(f"DROP ROLE {ROLE}")
    engine.dispose()


async def ready(log: RunLog) -> bool:
    return await log.transact(experience_vectors.ready, writes=False)


async def in_table(log: RunLog) -> list[str]:
    """Return the ids that the database has vectors of for searches."""
    query = "SELECT id FROM experience_vectors ORDER BY id"
    return await log.transact(lambda connection: list(connection.exec_driver_sql(query).scalars()))


def around(count: int, numbers: int = 3) -> Sequence[Sequence[float]]:
    """Return directions, each nearer to the first axis than the next."""
    angles = [math.pi / 2 * number / count for number in range(count)]
    return [(math.cos(angle), math.sin(angle), *[0.0] * (numbers - 2)) for angle in angles]


# When a graph is walked


@pytest.mark.parametrize(
    ("all_rows", "least"),
    [(-1.0, LEAST_ROWS), (0.0, LEAST_ROWS), (1_000.0, LEAST_ROWS), (5_000.0, 2_000), (1e6, 20_000)],
)
def test_how_many_must_fit_for_a_walk(all_rows: float, least: int) -> None:
    assert least_rows_for_walk(all_rows) == least


def test_a_walk_is_chosen_where_it_compares_less() -> None:
    for all_rows in (1e4, 1e5, 1e6):
        least = least_rows_for_walk(all_rows)
        steps = CANDIDATES * all_rows / least
        assert steps * STEP_COST == pytest.approx(least, rel=0.01)


@pytest.fixture
def walking(monkeypatch: pytest.MonkeyPatch) -> list[int | str]:
    """Walk however few there are, and note how many a walk finds; or its plan, if it is none."""
    walks: list[int | str] = []
    walk: Any = experience_graph._walk

    def noted(
        connection: sqlalchemy.Connection, values: dict[str, Any], numbers: int
    ) -> list[tuple[str, float]]:
        found = walk(connection, values, numbers)
        query = experience_graph._walk_query(values, numbers)
        plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {query}", values).scalars())
        walks.append(len(found) if f"using experience_vectors_{numbers} " in plan else plan)
        return found

    monkeypatch.setattr(experience_graph, "LEAST_ROWS", 1)
    monkeypatch.setattr(experience_graph, "STEP_COST", 0)
    monkeypatch.setattr(experience_graph, "_walk", noted)
    return walks


async def test_a_walk_finds_what_a_comparison_finds(log: RunLog, walking: list[int | str]) -> None:
    store = ExperienceStore(log)
    generator = np.random.default_rng(3)
    vectors = generator.standard_normal((300, 16))
    for number, vector in enumerate(vectors):
        tools = ("rare",) if number % 30 == 0 else ("read", "write")
        await store.add(pipeline(f"{number:03x}", vector=vector.tolist(), tools=tools))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for query in generator.standard_normal((10, 16)):
        order = [int(number) for number in np.argsort(-unit @ query)]
        assert await nearest(store, query.tolist(), most=5) == [f"{number:03x}" for number in order[:5]]
        rare = [f"{number:03x}" for number in order if number % 30 == 0]
        assert await nearest(store, query.tolist(), most=5, tools=["rare"]) == rare[:5]
    assert walking == [5] * 20


async def test_a_walk_that_finds_too_few_is_followed_by_a_comparison(
    log: RunLog, walking: list[int | str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ExperienceStore(log)
    for number, vector in enumerate(around(60)):
        await store.add(pipeline(f"{number:02x}", vector=vector, memory="many"))
    for number, vector in enumerate(around(30)):
        await store.add(pipeline(f"f{number:02x}", vector=vector, memory="few"))

    # As where a graph of millions is left after so many steps.
    monkeypatch.setattr(experience_graph, "BREADTH", 1)
    await execute(log, "ALTER DATABASE postgres SET hnsw.max_scan_tuples = 1")
    second = RunLog.open(str(log._database.engine.url.render_as_string(hide_password=False)))
    try:
        found = await nearest(ExperienceStore(second), FAR, most=30, memory="few")
        assert found == [f"f{number:02x}" for number in reversed(range(30))]
    finally:
        await second.close()
        await execute(log, "ALTER DATABASE postgres RESET hnsw.max_scan_tuples")
    (walked,) = walking
    assert isinstance(walked, int)
    assert walked < 30


async def test_a_walk_keeps_to_the_length_of_its_memory(log: RunLog, walking: list[int | str]) -> None:
    store = ExperienceStore(log)
    for numbers, memory in ((3, "short"), (5, "long")):
        for number, vector in enumerate(around(20, numbers)):
            await store.add(pipeline(f"{memory[0] == 'l':d}{number:02x}", vector=vector, memory=memory))

    for _ in range(2):
        assert await nearest(store, (1.0, 0.0, 0.0), most=2, memory="short") == ["000", "001"]
        assert await nearest(store, (1.0, *[0.0] * 4), most=2, memory="long") == ["100", "101"]
        with pytest.raises(UserError, match="the vectors of memory 'long' have 5 numbers and not 3"):
            await nearest(store, memory="long")
    await store.forget_vectors(memory="long")
    await store.embedded("101", FAR)
    assert await nearest(store, FAR, memory="long") == ["101"]
    with pytest.raises(UserError, match="the vectors of memory 'long' have 3 numbers and not 5"):
        await nearest(store, (1.0, *[0.0] * 4), memory="long")
    assert all(isinstance(walked, int) for walked in walking)


async def test_vectors_too_long_for_a_graph_are_compared(log: RunLog, walking: list[int | str]) -> None:
    store = ExperienceStore(log)
    for number, vector in enumerate(around(3, 4_001)):
        await store.add(pipeline(f"a{number}", vector=vector))

    assert await nearest(store, (0.0, 1.0, *[0.0] * 3_999)) == ["a2", "a1", "a0"]
    assert walking == []


# In step with the records


async def test_the_table_holds_what_a_search_may_find_and_no_more(log: RunLog) -> None:
    store = ExperienceStore(log, most_of_a_kind=3)
    for id in ("a1", "a2"):
        await store.add(pipeline(id, vector=NEAR, created=float(id[1])))
    await store.add(pipeline("a3", created=3.0))
    assert await in_table(log) == ["a1", "a2"]
    await store.embedded("a3", FAR)
    await store.change("a1", status="quarantined")
    assert await in_table(log) == ["a2", "a3"]
    await store.change("a1", status="active")
    await store.used("a1", succeeded=True)
    assert await in_table(log) == ["a1", "a2", "a3"]
    await store.add(pipeline("a4", vector=NEAR))  # The memory is full.
    assert await in_table(log) == ["a1", "a3", "a4"]
    await store.remove(["a3"])
    assert await in_table(log) == ["a1", "a4"]
    await store.forget_vectors()
    assert await in_table(log) == []


async def test_processes_that_bring_the_first_of_a_length_at_once(postgres_url: str, log: RunLog) -> None:
    await execute(log, "DROP INDEX IF EXISTS experience_vectors_3")
    command = [sys.executable, "-m", "tests.runtime.learner", postgres_url]
    children = [
        await asyncio.create_subprocess_exec(*command, name, "6", f"memory of {name}", cwd=ROOT)
        for name in ("a", "b", "c")
    ]
    assert [await child.wait() for child in children] == [0, 0, 0]

    assert len(await in_table(log)) == 18
    query = "SELECT count(*) FROM pg_indexes WHERE indexname = 'experience_vectors_3'"
    assert await log.transact(lambda connection: connection.exec_driver_sql(query).scalar_one()) == 1


async def test_counting_a_use_leaves_the_vectors_alone(log: RunLog) -> None:
    store = ExperienceStore(log)
    await store.add(pipeline("a1", vector=NEAR))
    query = "SELECT CAST(xmin AS text) FROM experience_vectors"
    before = await log.transact(lambda connection: connection.exec_driver_sql(query).scalar_one())
    await store.used("a1", succeeded=True)

    assert await log.transact(lambda connection: connection.exec_driver_sql(query).scalar_one()) == before


# Where the extension comes and goes


async def test_without_the_right_to_install_it_all_is_found_as_before(bare_url: str) -> None:
    log = RunLog.open(bare_url)
    store = ExperienceStore(log)
    await store.add(pipeline("a1", vector=FAR))
    await store.add(pipeline("a2", vector=NEAR))

    assert not await ready(log)
    assert await nearest(store) == ["a2", "a1"]
    await store.forget_vectors()
    assert await nearest(store) == []
    await log.close()


def test_the_checkup_says_what_an_administrator_could_do(
    bare_url: str, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_DATABASE_URL", bare_url)
    lacking = checkup.database()
    assert lacking.state == "optional"
    assert "0 runs in postgresql (PLAIT_DATABASE_URL); without pgvector" in lacking.found
    assert lacking.mend == "as an administrator of the database: CREATE EXTENSION vector"

    monkeypatch.setenv("PLAIT_DATABASE_URL", postgres_url)
    assert (checkup.database().state, checkup.database().mend) == ("ok", "")


async def test_what_was_kept_before_it_came_is_found(bare_url: str, postgres_server: str) -> None:
    log = RunLog.open(bare_url)
    early = ExperienceStore(log)
    for number, vector in enumerate(around(5)):
        await early.add(pipeline(f"a{number}", vector=vector, tools=("it's", 'a "tool"', "{}", "\\")))
    await early.add(pipeline("b1", vector=(1.0, 0.0), memory="m"))
    await early.change("a3", status="suspended")
    await execute(log, "UPDATE experiences SET vector = '\\x00' WHERE id = 'a1'")
    await execute(log, "UPDATE experiences SET tools = 'none' WHERE id = 'a2'")

    await administrate(postgres_server, "CREATE EXTENSION vector")
    late_log = RunLog.open(bare_url)
    late = ExperienceStore(late_log)
    assert await ready(log)
    assert await in_table(log) == ["a0", "a4", "b1"]
    assert await nearest(late, tools=["it's", 'a "tool"', "{}", "\\"]) == await nearest(early) == ["a0", "a4"]
    assert await nearest(late, (1.0, 0.0), memory="m") == ["b1"]
    # Who had opened the database before keeps the table in step too.
    await early.add(pipeline("c1", vector=NEAR, created=200.0))
    await early.change("a3", status="active")
    assert await nearest(late) == ["c1", "a0", "a3", "a4"]

    await administrate(postgres_server, "DROP EXTENSION vector CASCADE")
    assert not await ready(log)
    assert await nearest(early) == await nearest(late) == ["c1", "a0", "a3", "a4"]
    await late.remove(["c1"])
    await administrate(postgres_server, "CREATE EXTENSION vector")
    await late_log.close()
    again = RunLog.open(bare_url)
    assert await in_table(again) == ["a0", "a3", "a4", "b1"]
    await log.close()
    await again.close()


async def test_two_who_open_it_at_once_set_it_up_once(bare_url: str, postgres_server: str) -> None:
    log = RunLog.open(bare_url)
    for number, vector in enumerate(around(20)):
        await ExperienceStore(log).add(pipeline(f"{number:02x}", vector=vector))
    await administrate(postgres_server, "CREATE EXTENSION vector")
    logs = await asyncio.gather(*(asyncio.to_thread(RunLog.open, bare_url) for _ in range(4)))

    assert len(await in_table(log)) == 20
    for one in (log, *logs):
        await one.close()


async def test_what_is_written_while_it_is_set_up_is_not_missed(bare_url: str, postgres_server: str) -> None:
    log = RunLog.open(bare_url)
    await administrate(postgres_server, "CREATE EXTENSION vector")
    store = ExperienceStore(log)
    adding = asyncio.gather(*(store.add(pipeline(f"{number:02x}", vector=NEAR)) for number in range(40)))
    others = await asyncio.gather(*(asyncio.to_thread(RunLog.open, bare_url) for _ in range(2)))
    await adding

    assert len(await in_table(log)) == 40
    for one in (log, *others):
        await one.close()


def test_an_older_extension_is_not_used(log: RunLog, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = experience_vectors._OFFERED.replace("ARRAY[0, 8]", "ARRAY[0, 99]")
    monkeypatch.setattr(experience_vectors, "_OFFERED", newer)
    monkeypatch.setattr(experience_vectors, "_READY", "false")

    assert not log._read(experience_vectors.missing)
    monkeypatch.undo()
    assert log._read(lambda connection: experience_vectors._ask(connection, experience_vectors._OFFERED))


async def administrate(server: str, statement: str) -> None:
    """Do what an administrator does."""
    await asyncio.to_thread(_as_owner, server, statement)


def _as_owner(server: str, statement: str) -> None:
    url = sqlalchemy.make_url(server.replace("postgresql:", "postgresql+psycopg:")).set(database=BARE)
    engine = sqlalchemy.create_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(statement)
    engine.dispose()
