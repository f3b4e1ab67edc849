"""What goes wrong with a database is said in one line, and nothing on record is lost."""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
import sqlalchemy.exc
from tests.runtime.script import Step, never

from plait.errors import LogError, PlaitError, UserError
from plait.events import Noted
from plait.runtime.database import Database
from plait.runtime.log import RunLog
from plait.runtime.migrations import MIGRATIONS


@contextlib.contextmanager
def refused(error: type[PlaitError], message: str) -> Iterator[None]:
    with pytest.raises(error, match=message) as caught:
        yield
    assert "\n" not in caught.value.message


def file_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


async def make(url: str) -> None:
    log = RunLog.open(url)
    journal = await log.start("r1", "task", {})
    for number in range(40):
        await journal.call(f"step-{number}", Step("x" * 500), {})
    await log.close()


async def test_a_file_that_is_no_database(file_url: str) -> None:
    file_of(file_url).parent.mkdir()
    file_of(file_url).write_bytes(b"not a database at all" * 100)

    with refused(LogError, "plait.db' cannot be used: the file is damaged"):
        RunLog.open(file_url)
    assert file_of(file_url).read_bytes().startswith(b"not a database")


async def test_a_damaged_database(file_url: str) -> None:
    await make(file_url)
    content = file_of(file_url).read_bytes()
    page = 4096
    file_of(file_url).write_bytes(content[: 4 * page] + os.urandom(len(content) - 4 * page))

    with refused(LogError, "damaged"):
        log = RunLog.open(file_url)
        try:
            log.records("r1")
        finally:
            log.close_now()


async def test_a_damaged_record(file_url: str) -> None:
    await make(file_url)
    with sqlite3.connect(file_of(file_url)) as connection:
        connection.execute("UPDATE records SET data = '{\"half' WHERE path = 'run/step-3'")
    connection.close()
    log = RunLog.open(file_url)

    with refused(LogError, "'step_recorded' event that cannot be read"):
        log.records("r1")
    with refused(LogError, r"run 'r1': record 'run/step-3' \(step_recorded\) cannot be read"):
        await log.resume("r1")
    assert [(run.run_id, run.live) for run in log.runs()] == [("r1", False)]
    await log.close()


async def test_a_newer_database(file_url: str) -> None:
    await make(file_url)
    with sqlite3.connect(file_of(file_url)) as connection:
        connection.execute("UPDATE schema_version SET number = 99")
    connection.close()

    with refused(LogError, rf"newer Plait \(schema 99, this one knows {len(MIGRATIONS)}\): update Plait"):
        RunLog.open(file_url)


async def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with refused(LogError, r"folder of the run log .* cannot be made \(.*\): set PLAIT_HOME"):
        RunLog.open(f"sqlite:///{tmp_path / 'file' / 'below' / 'plait.db'}")


async def test_a_database_that_is_a_folder(file_url: str) -> None:
    file_of(file_url).mkdir(parents=True)

    with refused(LogError, "cannot be opened: check the permissions"):
        RunLog.open(file_url)


async def test_a_full_disk_loses_nothing_and_the_run_goes_on_later(file_url: str) -> None:
    await make(file_url)
    log = RunLog.open(file_url)
    journal = await log.resume("r1")
    log._keeper.writer.run(limit_pages, writes=False)  # pyright: ignore[reportPrivateUsage]

    with refused(LogError, "the disk is full: free some space, then resume the run"):
        await journal.call("large", Step("y" * 10_000_000), {})
    with refused(LogError, "the disk is full"):
        await journal.call("small", never(), {})
    with refused(LogError, "the disk is full"):
        journal.emit(Noted(text="small"))
    with refused(LogError, "the disk is full"):
        await journal.close()
    await log.close()

    log = RunLog.open(file_url)
    journal = await log.resume("r1")
    for number in range(40):
        assert await journal.call(f"step-{number}", never(), {}) == "x" * 500
    assert await journal.call("large", Step("y"), {}) == "y"
    await log.close()


def limit_pages(connection: Any) -> None:
    """Let the database grow by a few pages only, as a nearly full disk does."""
    driver = connection.connection.driver_connection
    pages = driver.execute("PRAGMA page_count").fetchone()[0]
    driver.execute(f"PRAGMA max_page_count={pages + 4}")


async def test_one_run_that_fails_leaves_the_others(file_url: str) -> None:
    log = RunLog.open(file_url)
    doomed, other = await log.start("r1", "task", {}), await log.start("r2", "task", {})
    log._keeper.writer.run(limit_pages, writes=False)  # pyright: ignore[reportPrivateUsage]
    doomed.emit(Noted(text="y" * 10_000_000))

    assert await other.call("small", Step("fine"), {}) == "fine"
    with refused(LogError, "the disk is full"):
        await doomed.flush()
    await log.close()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("no address", "PLAIT_DATABASE_URL is not a database address"),
        ("postgresql://u:secret@here:port/x", "PLAIT_DATABASE_URL is not a database address"),
        ("postgresql://[::1/x", "PLAIT_DATABASE_URL is not a database address"),
        ("sqlite+nothing://", "PLAIT_DATABASE_URL is not a database address"),
        ("sqlite:///:memory:?timeout=long", "PLAIT_DATABASE_URL is not a database address"),
        ("mysql://localhost/x", "databases of kind 'mysql' are not supported"),
        ("oracle9://localhost/x", "databases of kind 'oracle9' are not supported"),
    ],
)
async def test_addresses_that_are_none(address: str, message: str) -> None:
    with refused(UserError, message):
        RunLog.open(address)


async def test_a_postgres_that_is_not_there() -> None:
    with refused(LogError, r"postgresql.*//user:\*\*\*@127\.0\.0\.1:1/plait' cannot be used: .*refused"):
        RunLog.open("postgresql://user:secret@127.0.0.1:1/plait")


@pytest.mark.postgres
async def test_a_postgres_that_went_away_for_a_moment(
    postgres_url: str, postgres_engine: sqlalchemy.Engine
) -> None:
    log = RunLog.open(postgres_url)
    journal = await log.start("r1", "task", {})
    await journal.call("one", Step("kept"), {})
    with postgres_engine.begin() as connection:
        query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        connection.exec_driver_sql(f"{query} AND datname = current_database()")

    assert await journal.call("two", Step("done"), {}) == "done"
    # The locks had a connection of their own.
    other = RunLog.open(postgres_url)
    with refused(UserError, "is running"):
        await other.resume("r1")
    await log.start("r2", "task", {})
    await journal.finish("succeeded", {})

    journal = await other.resume("r1")
    assert await journal.call("one", never(), {}) == "kept"
    assert await journal.call("two", never(), {}) == "done"
    await other.close()
    await log.close()


async def test_a_connection_lost_before_or_after_the_commit(
    file_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = RunLog.open(file_url)
    journal = await log.start("r1", "task", {})
    for after in (False, True):
        lose_once(log, monkeypatch, after=after)
        await journal.call(f"step, {after}", Step("done"), {})
        lose_once(log, monkeypatch, after=after)
        await log.start(f"other, {after}", "task", {})
    lose_once(log, monkeypatch, after=True)
    await journal.finish("succeeded", {})
    assert [record.path for record in log.records("r1")] == [
        "run!run_started!0",
        "run/step, False",
        "run/step, True",
        "run!run_finished!0",
    ]
    assert len(log.runs()) == 3
    await log.close()


def lose_once(log: RunLog, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """Let the connection break in the next transaction, before it is committed or right after."""
    begin, done = Database.begin, threading.Event()
    gone = sqlalchemy.exc.OperationalError("COMMIT", {}, OSError("gone"), connection_invalidated=True)

    @contextlib.contextmanager
    def breaks(self: Database, connection: Any, *, writes: bool, durable: bool) -> Iterator[None]:
        with begin(self, connection, writes=writes, durable=durable):
            yield
            if writes and not done.is_set() and not after:
                done.set()
                raise gone
        if writes and not done.is_set():
            done.set()
            raise gone

    monkeypatch.setattr(Database, "begin", breaks)


async def test_a_closed_log_says_so(file_url: str) -> None:
    log = RunLog.open(file_url)
    journal = await log.start("r1", "task", {})
    await log.close()

    with pytest.raises(RuntimeError, match="run log is closed"):
        await journal.call("ask", Step(), {})
