"""A database of an older Plait is brought to the newest schema, and nothing in it is lost."""

import warnings
from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy
from sqlalchemy.exc import SAWarning
from tests.runtime.records import FAR, NEAR, nearest, pipeline
from tests.runtime.script import Step

from plait.runtime import experience_vectors, migrations
from plait.runtime.codec import digest
from plait.runtime.experience_codec import to_row
from plait.runtime.experience_rows import hold, new_change
from plait.runtime.experience_rules import worth
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.tables import tables
from plait.runtime.vectors import pack

OLD = "plait_of_old"


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.postgres)])
def old_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Return the address of a database that no Plait has opened."""
    if request.param == "file":
        yield request.getfixturevalue("file_url")
        return
    server: str = request.getfixturevalue("postgres_server")
    engine = sqlalchemy.create_engine(
        server.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {OLD}")
        yield sqlalchemy.make_url(server).set(database=OLD).render_as_string(hide_password=False)
        connection.exec_driver_sql(f"DROP DATABASE {OLD}")
    engine.dispose()


async def test_a_log_without_experience_is_brought_up_to_date(
    old_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
        log = RunLog.open(old_url)
        journal = await log.start("r1", "task", {"teams": 2})
        await journal.call("one", Step("kept"), {})
        await journal.finish("succeeded", {"answer": 1})
        runs, records = log.runs(), log.records("r1")
        assert await log.transact(migrations.version, writes=False) == 1
        await log.close()

    for _ in range(2):
        log = RunLog.open(old_url)
        assert await log.transact(migrations.version, writes=False) == len(migrations.MIGRATIONS)
        assert (log.runs(), log.records("r1")) == (runs, records)
        store = ExperienceStore(log)
        await store.add(pipeline("a1"))
        assert await store.find() == [pipeline("a1")]
        await log.close()


OF_OLD = [
    pipeline("a1", key="same", vector=NEAR, uses=3, successes=2, failures=1, last_used=50.0),
    # The same way in another order of its tools, from when each was kept by itself.
    pipeline("a2", key="same", tools=("write", "read"), uses=3, successes=3, last_used=40.0, vector=NEAR),
    pipeline("a3", status="suspended", failures=2, failures_in_a_row=2, uses=2),
    pipeline("a4", created=200.0, vector=FAR, last_used=1e9),
    pipeline("a5", uses=2, failures=2, created=1e9),
    pipeline("a6", created=1e300),
    pipeline("a7", kind="workflow", key="same", successes=1, uses=1),
    pipeline("a8", failures=9, uses=9, created=1.0),
]


async def test_a_memory_from_before_is_ranked_and_merged(
    old_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:2])
        log = RunLog.open(old_url)
        await log.transact(_write_as_of_old)
        await log.close()

    log = RunLog.open(old_url)
    store = ExperienceStore(log)
    found = {record.id: record for record in await store.find()}
    assert found == {
        **{record.id: record for record in OF_OLD[2:-1]},
        "a2": replace(OF_OLD[1], uses=6, successes=5, failures=1, last_used=50.0),
    }
    query = "SELECT id, worth FROM experiences"
    worths = await log.transact(lambda connection: connection.exec_driver_sql(query).all(), writes=False)
    # One that cannot be read has its worth too.
    ranked = {**found, "b9": OF_OLD[-1]}
    assert dict(worths) == {id: pytest.approx(worth(record)) for id, record in ranked.items()}
    assert await nearest(store) == ["a2", "a4"]
    # It goes on as one.
    again = await store.add(pipeline("b1", key="same", tools=("write", "read")))
    assert (again.id, again.successes) == ("a2", 5)
    assert log._database.is_postgres is await log.transact(experience_vectors.ready, writes=False)
    await log.close()


def _write_as_of_old(connection: sqlalchemy.Connection) -> None:
    hold(connection, "default")
    new_change(connection, "default")
    for record in OF_OLD:
        row = {**to_row(record), "identity": f"old identity of {record.id}", "key_hash": digest(record.key)}
        row |= {"changed": 1, "vector": pack(record.vector) if record.vector else None}
        del row["approved"]
        names = ", ".join(f":{name}" for name in row)
        insert = f"INSERT INTO experiences ({', '.join(row)}) VALUES ({names})"
        connection.execute(sqlalchemy.text(insert), row)
    damaged = "UPDATE experiences SET tools = 'none', id = 'b9', identity = 'b9' WHERE id = 'a8'"
    connection.execute(sqlalchemy.text(damaged))


async def test_the_migrations_lead_to_the_tables_that_statements_are_made_of(log: RunLog) -> None:
    found = await log.transact(_columns, writes=False)

    # Only where the database compares vectors itself.
    assert bool(found.pop("experience_vectors", None)) is log._database.is_postgres
    assert found == {
        table.name: {column.name for column in table.c} for table in tables().metadata.sorted_tables
    }


def _columns(connection: sqlalchemy.Connection) -> dict[str, set[str]]:
    inspected = sqlalchemy.inspect(connection)
    with warnings.catch_warnings():
        # Vectors are a type of their own.
        warnings.simplefilter("ignore", SAWarning)
        return {
            name: {column["name"] for column in inspected.get_columns(name)}
            for name in inspected.get_table_names()
        }
