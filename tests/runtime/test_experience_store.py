"""Experience is kept, replaced, counted, found and forgotten; several processes may do so at once."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.conftest import NOW
from tests.runtime.records import NEAR, execute, ids, nearest, pipeline
from tests.runtime.test_faults import limit_pages, refused

from plait.errors import LogError, UserError
from plait.experience.record import ExperienceStatus, Memory
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

ROOT = Path(__file__).parents[2]


# Keeping


async def test_a_record_is_kept_as_it_is_returned(store: ExperienceStore) -> None:
    memory: Memory = store
    record = pipeline(
        "a1",
        content={"nodes": [1, 2.5, None, {"deep": "ü"}]},
        status="provisional",
        source="file.json",
        uses=3,
        successes=2,
        failures=1,
        failures_in_a_row=1,
        last_used=5.0,
        vector=(0.0, 3.0, 4.0),
    )
    kept = await memory.add(record)

    assert kept == record == await memory.get("a1")
    assert kept.vector == (await memory.get("a1")).vector == pytest.approx((0.0, 0.6, 0.8))


async def test_text_that_databases_do_not_take_is_replaced(store: ExperienceStore) -> None:
    kept = await store.add(pipeline("a1", goal="half \ud83d\0", content={"said": "half \ud83d\0"}))

    assert kept.goal == "half ?\N{REPLACEMENT CHARACTER}"
    assert kept.content == {"said": "half \ud83d\0"}
    assert await store.get("a1") == kept
    assert await store.find(memory="\ud83d\0", domain="\0") == []


async def test_content_that_is_no_json_is_refused_at_once(store: ExperienceStore) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        await store.add(pipeline("a1", content={"number": float("nan")}))
    assert await store.find() == []


async def test_what_is_learned_again_replaces_the_old_and_its_counts_go_on(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", key="same", vector=NEAR))
    used = await store.used("a1", succeeded=True)
    again = await store.add(pipeline("b2", key="same", created=200.0, content={"new": True}))

    assert again == replace(
        pipeline("a1", key="same", created=200.0, content={"new": True}),
        goal="goal of b2",
        run_id="run-b2",
        uses=1,
        successes=1,
        last_used=used.last_used,
    )
    assert await store.find() == [again]
    assert await nearest(store) == ["a1"]


@pytest.mark.parametrize(
    "difference",
    [{"memory": "m"}, {"kind": "workflow"}, {"domain": "d"}, {"key": "k"}, {"tools": ("read",)}],
)
async def test_records_that_differ_in_what_they_are_for_stand_beside_each_other(
    store: ExperienceStore, difference: dict[str, Any]
) -> None:
    for record in (pipeline("a1", key="same"), replace(pipeline("a2", key="same"), **difference)):
        assert await store.add(record) == record
    assert (await store.get("a1"), await store.get("a2")) == (
        pipeline("a1", key="same"),
        replace(pipeline("a2", key="same"), **difference),
    )


@pytest.mark.parametrize(
    ("old", "new", "source", "kept", "content"),
    [
        ("active", "active", "own", "active", "new"),
        ("provisional", "active", "own", "active", "new"),
        ("provisional", "provisional", "own", "provisional", "new"),
        ("suspended", "active", "own", "active", "new"),
        ("suspended", "provisional", "own", "provisional", "new"),
        ("quarantined", "active", "own", "active", "new"),
        ("quarantined", "provisional", "own", "provisional", "new"),
        ("quarantined", "quarantined", "own", "quarantined", "new"),
        ("quarantined", "active", "file.json", "quarantined", "new"),
        ("quarantined", "quarantined", "file.json", "quarantined", "new"),
        ("active", "active", "file.json", "active", "new"),
        # What is trusted less takes no place.
        ("active", "provisional", "own", "active", "old"),
        ("active", "quarantined", "file.json", "active", "old"),
        ("provisional", "quarantined", "file.json", "provisional", "old"),
        ("suspended", "quarantined", "file.json", "suspended", "old"),
    ],
)
async def test_the_status_of_what_is_learned_again(
    store: ExperienceStore,
    old: ExperienceStatus,
    new: ExperienceStatus,
    source: str,
    kept: ExperienceStatus,
    content: str,
) -> None:
    await store.add(pipeline("a1", key="same", status=old, content={"is": "old"}, failures_in_a_row=1))
    again = await store.add(
        pipeline("b2", key="same", status=new, source=source, content={"is": "new"}, failures_in_a_row=0)
    )

    assert (again.id, again.status, again.content) == ("a1", kept, {"is": content})
    assert again.failures_in_a_row == (0 if (old, content) == ("suspended", "new") else 1)
    assert await store.get("a1") == again


async def test_an_id_that_is_taken_is_not_used_twice(store: ExperienceStore) -> None:
    await store.add(pipeline("a1"))
    copy = await store.add(pipeline("a1", memory="copy"))

    assert copy.id != "a1"
    assert int(copy.id, 16)
    assert await store.add(pipeline("a1", memory="copy")) == copy
    assert (ids(await store.find()), ids(await store.find(memory="copy"))) == (["a1"], [copy.id])


# Finding


async def test_ids_are_found_by_their_beginning(store: ExperienceStore) -> None:
    for number, id in enumerate(("ab", "abc", "abd", "f0")):
        await store.add(pipeline(id, created=float(number)))

    assert [(await store.get(id)).id for id in ("ab", "abc", "f")] == ["ab", "abc", "f0"]
    for unknown in ("q", "", "F", "a%", "abcd"):
        with refused(UserError, f"no experience '{unknown}': the latest are f0, abd, abc"):
            await store.get(unknown)
    with refused(UserError, "several experiences begin with 'a': ab, abc, abd; give more of the id"):
        await store.get("a")


async def test_records_that_are_not_there(store: ExperienceStore) -> None:
    for act in (
        lambda: store.get("a1"),
        lambda: store.used("a1", succeeded=True),
        lambda: store.change("a1", status="active"),
        lambda: store.find_id("a1"),
    ):
        with refused(UserError, "there is no experience 'a1': nothing was learned yet"):
            await act()
    await store.embedded("a1", NEAR)
    await store.add(pipeline("a12"))
    with refused(UserError, "there is no experience 'a1': the latest are a12"):
        await store.used("a1", succeeded=True)


async def test_records_are_found_newest_first_by_every_filter(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", created=1.0, vector=NEAR))
    await store.add(pipeline("a2", created=2.0, kind="workflow", tools=()))
    await store.add(pipeline("a3", created=3.0, domain="story", tools=("read",)))
    await store.add(pipeline("a4", created=4.0, status="suspended", tools=("write",)))
    await store.add(pipeline("a5", created=5.0, memory="m"))

    assert ids(await store.find()) == ["a4", "a3", "a2", "a1"]
    assert ids(await store.find(memory="m")) == ["a5"]
    assert ids(await store.find(memory="none")) == []
    assert ids(await store.find(kind="workflow")) == ["a2"]
    assert ids(await store.find(domain="story")) == ["a3"]
    assert ids(await store.find(statuses=["suspended", "quarantined"])) == ["a4"]
    assert ids(await store.find(tools={"read", "more"})) == ["a3", "a2"]
    assert ids(await store.find(tools=())) == ["a2"]
    assert ids(await store.find(key="key of a3")) == ["a3"]
    assert ids(await store.find(key="key of a3", domain="tools")) == []
    assert ids(await store.find(tools={"read", "write"}, kind="pipeline", domain="tools")) == ["a4", "a1"]
    assert all(record.vector == () for record in await store.find())


async def test_a_damaged_record_hides_no_other(store: ExperienceStore, log: RunLog) -> None:
    for id in ("a1", "a2", "a3", "a4"):
        await store.add(pipeline(id, vector=NEAR, created=float(id[1])))
    await execute(log, "UPDATE experiences SET content = '{\"half' WHERE id = 'a2'")
    await execute(log, "UPDATE experiences SET tools = '[1]' WHERE id = 'a3'")
    await execute(log, "UPDATE experiences SET status = 'odd' WHERE id = 'a4'")

    assert ids(await store.find()) == ["a1"]
    assert await nearest(store, most=1) == ["a1"]
    assert [error.message for error in await store.damaged()] == [
        "experience 'a4' cannot be read, as its status is 'odd': remove it",
        "experience 'a3' cannot be read, as its tools is '[1]': remove it",
        "experience 'a2' cannot be read, as its content is '{\"half': remove it",
    ]
    for id in ("a2", "a3", "a4"):
        with refused(LogError, f"experience '{id}' cannot be read"):
            await store.get(id)
        with refused(LogError, f"experience '{id}' cannot be read"):
            await store.used(id, succeeded=True)
        assert await store.find_id(id) == id
    await store.remove(["a2", "a3", "a4"])
    assert await store.damaged() == []


# Counting


async def test_uses_are_counted(store: ExperienceStore) -> None:
    await store.add(pipeline("a1"))
    await store.used("a1", succeeded=True)
    record = await store.used("a1", succeeded=False)

    assert (record.uses, record.successes, record.failures, record.failures_in_a_row) == (2, 1, 1, 1)
    assert (record.last_used, record.status) == (NOW, "active")
    assert await store.get("a1") == record


async def test_two_failures_in_a_row_suspend_a_pipeline_and_no_workflow(store: ExperienceStore) -> None:
    await store.add(pipeline("a1"))
    await store.add(pipeline("a2", status="provisional"))
    await store.add(pipeline("a3", kind="workflow"))
    await store.add(pipeline("a4", status="quarantined"))
    statuses: dict[str, list[str]] = {
        id: [(await store.used(id, succeeded=succeeded)).status for succeeded in (False, True, False, False)]
        for id in ("a1", "a2", "a3", "a4")
    }

    assert statuses == {
        "a1": ["active", "active", "active", "suspended"],
        "a2": ["provisional", "active", "active", "suspended"],
        "a3": ["active"] * 4,
        "a4": ["quarantined"] * 4,
    }
    assert (await store.used("a1", succeeded=True)).status == "suspended"


async def test_what_is_made_active_again_may_fail_once(store: ExperienceStore) -> None:
    await store.add(pipeline("a1"))
    for _ in range(2):
        await store.used("a1", succeeded=False)
    await store.change("a1", status="active")

    assert [(await store.used("a1", succeeded=False)).status for _ in range(2)] == ["active", "suspended"]
    await store.change("a1", status="quarantined")
    assert (await store.get("a1")).status == "quarantined"


async def test_uses_counted_at_once_are_all_counted(store: ExperienceStore, other: ExperienceStore) -> None:
    await store.add(pipeline("a1"))
    await asyncio.gather(*(one.used("a1", succeeded=True) for one in (store, other) for _ in range(20)))

    assert (await store.get("a1")).successes == 40


async def test_two_that_add_the_same_at_once_keep_one(store: ExperienceStore, other: ExperienceStore) -> None:
    for round in range(5):
        added = await asyncio.gather(
            *(
                one.add(pipeline(f"{name}{number}{round}", key=f"same {round}"))
                for name, one in (("a", store), ("b", other))
                for number in range(4)
            )
        )
        assert len({record.id for record in added}) == 1
    assert len(await store.find()) == 5


async def test_two_processes_at_once(url: str, store: ExperienceStore) -> None:
    command = [sys.executable, "-m", "tests.runtime.learner", url]
    children = [await asyncio.create_subprocess_exec(*command, name, "12", cwd=ROOT) for name in ("a", "b")]
    assert [await child.wait() for child in children] == [0, 0]

    records = await store.find()
    (shared,) = [record for record in records if record.key == "shared"]
    assert len(records) == 25
    assert (shared.uses, shared.successes, shared.failures) == (24, 12, 12)
    assert len(await nearest(store, most=100)) == 24


# Copying


async def test_a_copy_holds_what_the_memory_holds_and_goes_its_own_way(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR, uses=2, successes=2))
    await store.add(pipeline("a2", kind="workflow", status="suspended"))
    await store.add(pipeline("b1", memory="copy"))

    await store.copy("default", "copy")

    copied = await store.find(memory="copy")
    assert sorted(record.goal for record in copied) == ["goal of a1", "goal of a2"]
    assert {(record.uses, record.status) for record in copied} == {(2, "active"), (0, "suspended")}
    assert len(await nearest(store, memory="copy")) == 1
    await store.add(pipeline("c1", memory="copy", vector=NEAR))
    await store.remove([record.id for record in copied])
    assert sorted(ids(await store.find())) == ["a1", "a2"]
    assert await nearest(store) == ["a1"]


async def test_what_is_damaged_is_not_copied(store: ExperienceStore, log: RunLog) -> None:
    await store.add(pipeline("a1"))
    await store.add(pipeline("a2"))
    await execute(log, "update experiences set content = '{' where id = 'a1'")
    await store.copy("default", "copy")
    assert [record.goal for record in await store.find(memory="copy")] == ["goal of a2"]
    assert await store.damaged(memory="copy") == []


async def test_a_memory_is_forgotten_with_its_name(store: ExperienceStore, log: RunLog) -> None:
    await store.add(pipeline("a1", vector=NEAR))
    await store.copy("default", "copy")
    await store.forget("copy")
    await store.forget("never heard of")
    assert await store.find(memory="copy") == []
    names = await log.transact(lambda c: c.exec_driver_sql("select name from memories").scalars().all())
    assert list(names) == ["default"]
    assert await nearest(store) == ["a1"]
    await store.add(pipeline("c1", memory="copy", vector=NEAR))
    assert await nearest(store, memory="copy") == ["c1"]


# Forgetting


async def test_what_is_removed_is_gone(store: ExperienceStore) -> None:
    for id in ("a1", "a2", "a3"):
        await store.add(pipeline(id, memory=f"memory of {id}"))
    await store.remove(["a1", "none", "a2"])
    await store.remove([])

    assert [len(await store.find(memory=f"memory of {id}")) for id in ("a1", "a2", "a3")] == [0, 0, 1]


async def test_a_removed_record_leaves_nothing_on_the_disk(file_url: str) -> None:
    log = RunLog.open(file_url)
    store = ExperienceStore(log)
    for id in ("a1", "a2"):
        await store.add(pipeline(id, content={"private": f"private-{id}" * 2000}))
    await store.remove(["a1"])

    folder = Path(file_url.removeprefix("sqlite:///")).parent
    bytes_on_disk = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    await log.close()
    assert b"private-a2" in bytes_on_disk
    assert b"private-a1" not in bytes_on_disk


WEEK = 7 * 24 * 3600.0


async def test_a_full_memory_forgets_the_least_useful(log: RunLog) -> None:
    store = ExperienceStore(log, most_of_a_kind=5)
    least_useful_first = [
        pipeline("a1", created=8 * WEEK, successes=1, status="suspended"),
        pipeline("a2", created=10 * WEEK, status="quarantined"),
        pipeline("a3", created=1 * WEEK, last_used=3 * WEEK, successes=1, failures=2, uses=3),
        pipeline("a4", created=2.5 * WEEK),
        pipeline("a5", created=1 * WEEK, last_used=2 * WEEK, successes=1, uses=1, status="provisional"),
    ]
    for record in reversed(least_useful_first):
        await store.add(record)
    await store.add(pipeline("c1", kind="workflow", created=0.0))
    await store.add(pipeline("c2", memory="m", created=0.0))
    there = [record.id for record in least_useful_first]
    for number in range(4):
        new = await store.add(pipeline(f"b{number}", created=20 * WEEK + number, vector=NEAR))
        there = [*there[1:], new.id]
        assert set(ids(await store.find(kind="pipeline"))) == set(there)

    await store.add(pipeline("d1", created=0.0, vector=NEAR))  # The oldest by far, and yet just added.
    # What has served is older than all others, and stays.
    assert set(ids(await store.find(kind="pipeline"))) == {"a5", "b1", "b2", "b3", "d1"}
    assert set(await nearest(store)) == {"b1", "b2", "b3", "d1"}
    assert ids(await store.find(kind="workflow")) == ["c1"]
    assert ids(await store.find(memory="m")) == ["c2"]


async def test_what_serves_or_was_approved_outlives_what_does_not(log: RunLog) -> None:
    store = ExperienceStore(log, most_of_a_kind=3, clock=lambda: NOW)
    for id in ("a1", "a2", "a3"):
        await store.add(pipeline(id, created=1.0))
    await store.used("a1", succeeded=True)
    await store.change("a2", status="suspended")
    await store.change("a2", status="active")
    for number in range(3):
        await store.add(pipeline(f"b{number}", created=1e9 + number))
        assert set(ids(await store.find())) == {"a1", "a2", f"b{number}"}

    await store.used("a2", succeeded=False)  # No more than what was never used, and older.
    await store.add(pipeline("b4", created=1e9))
    assert set(ids(await store.find())) == {"a1", "b2", "b4"}


async def test_a_memory_that_is_exactly_full_forgets_nothing(log: RunLog) -> None:
    store = ExperienceStore(log, most_of_a_kind=2)
    await store.add(pipeline("a1"))
    await store.add(pipeline("a2"))
    await store.add(pipeline("a3", key="key of a2"))  # Learned again: none is added.
    assert set(ids(await store.find())) == {"a1", "a2"}

    await store.add(pipeline("a4"))  # Of two that are alike in all, the one with the first id goes.
    assert set(ids(await store.find())) == {"a2", "a4"}


async def test_nobody_is_approved_by_being_added(store: ExperienceStore) -> None:
    assert not (await store.add(pipeline("a1", approved=True))).approved
    await store.change("a1", status="active")
    assert (await store.get("a1")).approved
    again = await store.add(pipeline("a2", key="key of a1"))
    assert (again.id, again.approved) == ("a1", True)
    await store.change("a1", status="suspended")
    assert not (await store.get("a1")).approved


async def test_another_order_of_the_same_tools_is_the_same_way(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", key="same", tools=("read", "write")))
    await store.used("a1", succeeded=True)
    kept = await store.add(pipeline("a2", key="same", tools=("write", "read")))
    assert (kept.id, kept.content, kept.successes) == ("a1", {"made": "a1"}, 1)

    for _ in range(2):
        await store.used("a1", succeeded=False)
    assert (await store.get("a1")).status == "suspended"
    again = await store.add(pipeline("a3", key="same", tools=("write", "read")))
    assert (again.id, again.content, again.status) == ("a1", {"made": "a3"}, "active")
    assert (again.uses, again.failures, again.failures_in_a_row) == (3, 2, 0)
    assert await store.find() == [again]


async def test_an_import_cannot_drive_out_what_is_in_use(log: RunLog) -> None:
    store = ExperienceStore(log, most_of_a_kind=3)
    for id in ("a1", "a2"):
        await store.add(pipeline(id))
    for number in range(5):
        await store.add(pipeline(f"b{number}", created=1e9, status="quarantined", source="file.json"))

    assert ids(await store.find()) == ["b4", "a2", "a1"]


# What goes wrong


async def test_a_full_disk_is_said_and_what_was_kept_stays(file_url: str) -> None:
    log = RunLog.open(file_url)
    store = ExperienceStore(log)
    await store.add(pipeline("a1", vector=NEAR))
    assert await nearest(store) == ["a1"]
    await log.transact(limit_pages, writes=False)

    large = store.add(pipeline("a2", vector=NEAR, content={"large": "y" * 10_000_000}))
    adding, found = await asyncio.gather(large, nearest(store), return_exceptions=True)
    assert isinstance(adding, LogError)
    assert "the disk is full" in adding.message
    assert found == ["a1"]
    await store.add(pipeline("a3", vector=NEAR, created=200.0))
    assert await nearest(store) == ["a3", "a1"]
    await log.close()


async def test_the_log_goes_on_beside_it(store: ExperienceStore, log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    await store.add(pipeline("a1"))
    await journal.finish("succeeded", {})

    assert [run.status for run in log.runs()] == ["succeeded"]
    assert json.dumps((await store.get("a1")).content) == '{"made": "a1"}'
