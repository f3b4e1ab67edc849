"""A database of an older Plait is brought to the newest schema, and nothing in it is lost."""

from collections.abc import Iterator

import pytest
import sqlalchemy
from tests.runtime.records import pipeline
from tests.runtime.script import Step

from plait.runtime import migrations
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.tables import tables

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


async def test_the_migrations_lead_to_the_tables_that_statements_are_made_of(log: RunLog) -> None:
    found = await log.transact(_columns, writes=False)

    assert found == {
        table.name: {column.name for column in table.c} for table in tables().metadata.sorted_tables
    }


def _columns(connection: sqlalchemy.Connection) -> dict[str, set[str]]:
    inspected = sqlalchemy.inspect(connection)
    return {
        name: {column["name"] for column in inspected.get_columns(name)}
        for name in inspected.get_table_names()
    }
