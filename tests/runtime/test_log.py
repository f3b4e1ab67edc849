"""Runs are started, listed, found, taken over and removed; two processes never write to one run."""

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.script import Step, never

from plait.errors import LogError, UserError
from plait.events import FeedbackGiven, Noted, RunFinished, RunResumed, RunStarted
from plait.runtime import store
from plait.runtime.jobs import result_of
from plait.runtime.log import RunLog
from plait.runtime.writer import Writer


async def test_life_of_a_run(log: RunLog) -> None:
    journal = await log.start("r1", "do it", {"teams": 4})
    assert (journal.run_id, journal.path, journal.task, journal.options) == (
        "r1",
        "run",
        "do it",
        {"teams": 4},
    )
    assert [(run.run_id, run.status, run.live) for run in log.runs()] == [("r1", "running", True)]

    await journal.close()
    assert [(run.status, run.live) for run in log.runs()] == [("interrupted", False)]

    journal = await log.resume("r1", {"teams": 1})
    assert journal.options == {"teams": 1}
    assert journal.task == "do it"
    await journal.finish("succeeded", {"answer": 42})
    assert [(run.status, run.live, run.task) for run in log.runs()] == [("succeeded", False, "do it")]

    log.append("r1", FeedbackGiven(verdict="right"))
    log.append("r1", FeedbackGiven(verdict="wrong", comment="after all"))
    events = [record.event for record in log.records("r1")]
    assert [type(event) for event in events] == [
        RunStarted,
        RunResumed,
        RunFinished,
        FeedbackGiven,
        FeedbackGiven,
    ]
    assert [record.epoch for record in log.records("r1")] == [1, 2, 2, 2, 2]


async def test_changed_options_hold_for_later_processes_too(log: RunLog) -> None:
    await (await log.start("r1", "t", {"a": 1, "b": 1})).close()
    await (await log.resume("r1", {"a": 2})).close()

    assert (await log.resume("r1")).options == {"a": 2, "b": 1}


async def test_seconds_add_up_over_processes(log: RunLog) -> None:
    journal = await log.start("r1", "t", {})
    assert journal.seconds == 0
    await journal.call("a", Step(), {})
    await journal.close()
    worked = log.runs()[0].seconds

    journal = await log.resume("r1")
    assert journal.seconds == pytest.approx(worked)
    await journal.finish("succeeded", {})
    assert log.runs()[0].seconds > worked > 0


async def test_runs_are_listed_newest_first(log: RunLog) -> None:
    for number in range(4):
        await log.start(f"r{number}", "t", {})

    assert [run.run_id for run in log.runs()] == ["r3", "r2", "r1", "r0"]
    assert [run.run_id for run in log.runs(limit=2)] == ["r3", "r2"]


async def test_an_id_is_used_once(log: RunLog) -> None:
    await (await log.start("r1", "t", {})).close()

    with pytest.raises(UserError, match="already a run 'r1'"):
        await log.start("r1", "t", {})
    assert not log.runs()[0].live


async def test_find(log: RunLog) -> None:
    for run_id in ("ab", "abc", "abd", "x%y", "xzy"):
        await log.start(run_id, "t", {})

    assert log.find("abc") == "abc"
    assert log.find("ab") == "ab"
    assert log.find("x%") == "x%y"
    with pytest.raises(UserError, match="no run 'q': the latest are xzy, x%y, abd"):
        log.find("q")
    with pytest.raises(UserError, match="several runs begin with 'a': abd, abc, ab; give more"):
        log.find("a")


async def test_find_among_none(log: RunLog) -> None:
    with pytest.raises(UserError, match="there are no runs yet"):
        log.find("q")


async def test_unknown_runs(log: RunLog) -> None:
    for act in (log.records, log.remove, lambda run_id: log.append(run_id, Noted(text="x"))):
        with pytest.raises(UserError, match="no run 'gone'"):
            act("gone")
    with pytest.raises(UserError, match="no run 'gone'"):
        await log.resume("gone")


async def test_a_live_run_is_left_alone(log: RunLog) -> None:
    await log.start("r1", "t", {})

    for act in (log.remove, lambda run_id: log.append(run_id, Noted(text="x"))):
        with pytest.raises(UserError, match=r"run 'r1' is running in process \d+"):
            act("r1")
    with pytest.raises(UserError, match=r"run 'r1' is running in process \d+"):
        await log.resume("r1")


@pytest.mark.parametrize("kind", ["file", pytest.param("postgres", marks=pytest.mark.postgres)])
async def test_two_logs_see_each_other(kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(f"{kind}_url")
    one, two = RunLog.open(url), RunLog.open(url)
    journal = await one.start("r1", "t", {})
    await journal.call("a", Step("done"), {})

    assert [(run.status, run.live) for run in two.runs()] == [("running", True)]
    with pytest.raises(UserError, match="is running in process"):
        await two.resume("r1")
    with pytest.raises(UserError, match="is running in process"):
        two.remove("r1")
    await one.close()

    taken = await two.resume("r1")
    assert await taken.call("a", never(), {}) == "done"
    await two.close()


async def test_an_older_epoch_cannot_write(url: str, log: RunLog, monkeypatch: pytest.MonkeyPatch) -> None:
    zombie = await log.start("r1", "t", {})
    await zombie.call("a", Step(), {})
    await log._keeper.release("r1")  # pyright: ignore[reportPrivateUsage]  # As if its lock were lost.
    owner = await log.resume("r1")

    with pytest.raises(LogError, match="'r1' was taken over by another process"):
        await zombie.call("b", Step("zombie"), {})
    with pytest.raises(LogError, match="taken over"):
        zombie.emit(Noted(text="zombie"))
    assert await owner.call("b", Step("owner"), {}) == "owner"
    assert [record.epoch for record in log.records("r1") if record.path == "run/b"] == [2]


async def test_a_removed_run_leaves_nothing(file_url: str) -> None:
    log = RunLog.open(file_url)
    for run_id in ("r1", "r2"):
        journal = await log.start(run_id, f"secret-of-{run_id}", {})
        await journal.call("a", Step(f"private-{run_id}" * 2000), {})
        await journal.finish("succeeded", {})
    log.remove("r1")

    folder = Path(file_url.removeprefix("sqlite:///")).parent
    bytes_on_disk = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert [run.run_id for run in log.runs()] == ["r2"]
    await log.close()
    assert b"secret-of-r2" in bytes_on_disk
    assert b"private-r1" not in bytes_on_disk
    assert b"secret-of-r1" not in bytes_on_disk


async def test_the_log_survives_its_process_object(file_url: str) -> None:
    log = RunLog.open(file_url)
    journal = await log.start("r1", "t", {})
    journal.emit(Noted(text="queued and not awaited"))
    await log.close()
    await log.close()

    reader = RunLog.open(file_url)
    assert reader.records("r1")[-1].event == Noted(text="queued and not awaited")
    reader.close_now()


async def test_the_default_place_is_the_data_folder(own_data_folder: Path) -> None:
    log = RunLog.open()
    await log.start("r1", "t", {})
    await log.close()

    rows = sqlite3.connect(own_data_folder / "plait.db").execute("SELECT run_id FROM runs").fetchall()
    assert rows == [("r1",)]


async def test_an_address_in_the_environment(file_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_DATABASE_URL", file_url)
    log = RunLog.open()
    await log.start("r1", "t", {})
    await log.close()

    assert sqlite3.connect(file_url.removeprefix("sqlite:///")).execute("SELECT * FROM runs").fetchall()


async def test_a_task_of_broken_text_is_listed(log: RunLog) -> None:
    journal = await log.start("r1", "half \ud83d of a pair", {})
    await journal.close()

    assert log.runs()[0].task == "half ? of a pair"
    assert (await log.resume("r1")).task == "half \ud83d of a pair"


async def test_what_was_taken_up_in_vain_is_as_it_was_unless_it_went_on(log: RunLog) -> None:
    journal = await log.start("r1", "task", {"a": 1})
    await journal.call("one", Step("kept"), {})
    await journal.finish("failed", {"status": "failed"})
    before, listed = log.records("r1"), log.runs()

    journal = await log.resume("r1", {"a": 2})
    journal.emit(Noted(text="in vain"))
    await journal.withdraw()
    await journal.close()
    assert (log.records("r1"), log.runs()) == (before, listed)

    journal = await log.resume("r1", {"a": 3})
    await journal.call("two", Step("new"), {})
    await journal.withdraw()
    await journal.close()
    journal = await log.resume("r1")
    assert journal.options == {"a": 3}
    assert await journal.call("two", never(), {}) == "new"
    await journal.close()


async def test_a_refused_claim_leaves_no_trace_though_others_are_written_with_it(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    await journal.finish("failed", {})
    other = await log.start("r2", "task", {})
    before = log.runs()

    def claim(connection: Any) -> None:
        run = store.select_run(connection, "r1")
        assert run is not None
        store.claim_run(connection, run, owner="nobody", now=0.0)
        raise UserError("refused")

    with held(log):
        refused = log._keeper.writer.queued(claim)  # pyright: ignore[reportPrivateUsage]
        other.emit(Noted(text="together"))
    with pytest.raises(UserError, match="refused"):
        await result_of(refused)
    await other.flush()
    assert [run.status for run in log.runs()] == [run.status for run in before]
    assert [record.event for record in log.records("r2")][1:] == [Noted(text="together")]
    journal = await log.resume("r1")
    assert [record.epoch for record in log.records("r1")] == [1, 1, 2]


@contextlib.contextmanager
def held(log: RunLog) -> Iterator[None]:
    """Keep the writer busy, so that what is queued meanwhile is committed together."""
    go_on = threading.Event()
    begun = threading.Event()

    def wait(_: object) -> None:
        begun.set()
        go_on.wait(10)

    log._keeper.writer.queued(wait, writes=False)  # pyright: ignore[reportPrivateUsage]
    begun.wait(10)
    try:
        yield
    finally:
        go_on.set()


async def test_who_stops_waiting_for_a_start_does_not_hold_the_run(log: RunLog) -> None:
    with held(log):
        starting = asyncio.ensure_future(log.start("r1", "task", {}))
        await asyncio.sleep(0)
        starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert [run.live for run in log.runs()] == [False]
    await (await log.resume("r1")).close()


async def test_a_start_that_is_refused_takes_no_lock_from_who_holds_it(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    with pytest.raises(UserError, match="is running"):
        await log.start("r1", "another", {})
    with pytest.raises(UserError, match="is running"):
        await log.resume("r1")
    await journal.finish("succeeded", {})
    with pytest.raises(UserError, match="already a run 'r1'"):
        await log.start("r1", "another", {})
    assert [(run.task, run.live) for run in log.runs()] == [("task", False)]


@pytest.mark.parametrize("waits_for", ["lock", "claim"])
async def test_who_stops_waiting_for_a_run_does_not_hold_it(log: RunLog, waits_for: str) -> None:
    journal = await log.start("r1", "task", {})
    await journal.finish("failed", {})
    before, listed = log.records("r1"), log.runs()

    with held(log):
        resuming = asyncio.ensure_future(log.resume("r1"))
        await asyncio.sleep(0)
        if waits_for == "lock":
            resuming.cancel()
    if waits_for == "claim":
        with held(log):
            await asyncio.sleep(0.05)
            resuming.cancel()
            await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await resuming
    assert (log.records("r1"), [run.status for run in log.runs()]) == (before, [run.status for run in listed])
    journal = await log.resume("r1")
    with pytest.raises(UserError, match="is running"):
        await log.resume("r1")
    await journal.close()


@pytest.mark.parametrize("waits_for", ["start", "lock", "claim"])
async def test_who_stops_waiting_while_the_log_is_closed_is_cancelled(log: RunLog, waits_for: str) -> None:
    await (await log.start("r1", "task", {})).close()
    closing: list[asyncio.Task[None]] = []

    async def close_and_cancel() -> None:
        closing.append(asyncio.create_task(log.close()))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.sleep(0)

    with held(log):
        waiting = asyncio.ensure_future(
            log.start("r2", "task", {}) if waits_for == "start" else log.resume("r1")
        )
        await asyncio.sleep(0)
        if waits_for != "claim":
            await close_and_cancel()
    if waits_for == "claim":
        with held(log):
            await asyncio.sleep(0.05)
            await close_and_cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await closing[0]


def test_what_is_queued_while_the_log_is_closed_is_done_or_refused(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = log._keeper.writer  # pyright: ignore[reportPrivateUsage]
    closed, closers = [False], list[threading.Thread]()

    def is_closed(_: Writer) -> bool:
        now = closed[0]
        if not closers:  # Asked by who wants something done: just then another closes the log.
            closers.append(threading.Thread(target=writer.close, daemon=True))
            closers[0].start()
            closers[0].join(0.2)
        return now

    slow = property(is_closed, lambda _, value: closed.__setitem__(0, value))
    monkeypatch.setattr(Writer, "_closed", slow, raising=False)
    done: list[int] = []
    asking = threading.Thread(target=lambda: done.append(writer.run(lambda _: 1)), daemon=True)
    asking.start()
    asking.join(5)
    assert done == [1]
