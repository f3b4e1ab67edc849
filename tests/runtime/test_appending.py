"""What every commit executes: rows of any number arrive whole and in order, and owners are told apart."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from plait.runtime import appending, store
from plait.runtime.database import open_database
from plait.runtime.store import RecordRow, RunRow

MOST = appending.MOST_ROWS
TEXTS = ("", "'); DROP TABLE records; --", 'a "quoted" \\ text', "a\nb", "\N{BLACK HEART SUIT}", "%s ? :x {}")


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    """Return a connection within a transaction that is never committed."""
    database = open_database(url)
    with database.engine.connect() as connection:
        connection.info["begin"] = "BEGIN"
        yield connection
    database.engine.dispose()


def row(sequence: int, data: str = "{}") -> RecordRow:
    return RecordRow(
        run_id="r",
        sequence=sequence,
        path=f"p{sequence}",
        revision=0,
        epoch=2,
        at=sequence / 7,
        kind="noted",
        data=data,
    )


def run(run_id: str, epoch: int) -> RunRow:
    return RunRow(
        run_id=run_id, created=1.0, epoch=epoch, status="s", task="t", owner="o", claimed=1.0, seconds=0.0
    )


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, MOST - 1, MOST, MOST + 1, 2 * MOST + 37])
def test_rows_of_any_number_are_read_back_as_they_were(count: int, connection: Connection) -> None:
    rows = [row(number, TEXTS[number % len(TEXTS)]) for number in range(count)]
    appending.insert_records(connection, rows)
    assert store.select_records(connection, "r") == rows


def test_each_run_has_its_own_epoch_and_an_unknown_one_has_none(connection: Connection) -> None:
    runs = [run("one", 1), run("t\"w'o", 7), run("three", 3)]
    store.insert_runs(connection, runs)
    assert appending.epochs(connection, ["one", "t\"w'o", "none"]) == {"one": 1, "t\"w'o": 7}
    assert appending.epochs(connection, ["none"]) == {}
    assert appending.epochs(connection, []) == {}
