"""The nearest experience is found, at once after any change by whatever process, and whatever is damaged."""

import asyncio
import sys
from collections.abc import Sequence

import pytest
from tests.runtime.records import FAR, NEAR, execute, ids, nearest, pipeline, waiting
from tests.runtime.test_faults import refused

from plait.errors import LogError, UserError
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog


async def test_the_nearest_come_first_and_of_equals_the_newest(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=(0.8, 0.6, 0.0), created=1.0))
    await store.add(pipeline("a2", vector=(2.0, 0.0, 0.0), created=2.0))
    await store.add(pipeline("a3", vector=(0.8, 0.6, 0.0), created=3.0))
    await store.add(pipeline("a4", vector=(-1.0, 0.0, 0.0), created=4.0))
    found = await store.nearest((3.0, 0.0, 0.0), 10, kind="pipeline", domain="tools")

    assert [(record.id, pytest.approx(cosine)) for record, cosine in found] == [
        ("a2", 1.0),
        ("a3", 0.8),
        ("a1", 0.8),
        ("a4", -1.0),
    ]
    assert [record.vector for record, _ in found] == [()] * 4
    assert await nearest(store, most=2) == ["a2", "a3"]
    assert await nearest(store, most=0) == []


async def test_only_active_records_of_the_place_that_have_a_vector_are_near(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR))
    await store.add(pipeline("a2"))
    await store.add(pipeline("a3", vector=NEAR, memory="m"))
    await store.add(pipeline("a4", vector=NEAR, kind="workflow"))
    await store.add(pipeline("a5", vector=NEAR, domain="story"))
    for status in ("provisional", "suspended", "quarantined"):
        await store.add(pipeline(f"b{len(status)}", vector=NEAR, status=status))

    assert await nearest(store) == ["a1"]
    assert await nearest(store, memory="m") == ["a3"]
    assert await nearest(store, kind="workflow") == ["a4"]
    assert await nearest(store, domain="story") == ["a5"]
    assert await nearest(store, domain="none") == []


async def test_what_calls_other_tools_is_not_near(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR, tools=("read", "write")))
    await store.add(pipeline("a2", vector=FAR, tools=("read",)))
    await store.add(pipeline("a3", vector=(0.0, 0.0, 1.0), tools=()))

    assert await nearest(store, tools=["write", "read", "more"], most=1) == ["a1"]
    assert await nearest(store, tools=["read"], most=1) == ["a2"]
    assert await nearest(store, tools=["read"]) == ["a2", "a3"]
    assert await nearest(store, tools=[]) == ["a3"]


async def test_a_search_sees_every_change_at_once(store: ExperienceStore, other: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR))
    for writer, reader in ((store, other), (other, store), (store, store)):
        assert await nearest(reader) == ["a1"]
        await writer.add(pipeline("a2", vector=FAR))
        assert await nearest(reader) == ["a1", "a2"]
        await writer.embedded("a2", NEAR)
        await writer.embedded("a1", FAR)
        assert await nearest(reader) == ["a2", "a1"]
        await writer.change("a2", status="quarantined")
        assert await nearest(reader) == ["a1"]
        await writer.change("a2", status="active")
        for _ in range(2):
            assert await nearest(reader) == ["a2", "a1"]
            await writer.used("a2", succeeded=False)
        assert await nearest(reader) == ["a1"]
        await writer.add(pipeline("a3", key="key of a2", status="active"))
        assert await nearest(reader) == ["a2", "a1"]
        # One goes and one comes between two searches.
        await writer.remove(["a2"])
        await writer.add(pipeline("a4", vector=NEAR))
        assert await nearest(reader) == ["a4", "a1"]
        await writer.remove(["a4"])


async def test_a_record_found_has_its_newest_counts(store: ExperienceStore, other: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR))
    for uses in range(3):
        found = await store.nearest(NEAR, 1, kind="pipeline", domain="tools")
        assert found[0][0].uses == uses
        await other.used("a1", succeeded=True)


async def test_searches_at_once_find_the_same(store: ExperienceStore) -> None:
    for number in range(20):
        await store.add(pipeline(f"a{number:02x}", vector=(1.0, number / 20, 0.0)))

    found = await asyncio.gather(*(nearest(store, most=5) for _ in range(20)))
    assert found == [[f"a{number:02x}" for number in range(5)]] * 20


@pytest.mark.parametrize("vector", [(float("nan"), 1.0, 0.0), (float("inf"), 1.0, 0.0), (0.0, 0.0, 0.0)])
async def test_vectors_without_a_direction_are_refused(
    store: ExperienceStore, vector: Sequence[float]
) -> None:
    await store.add(pipeline("a1"))
    for act in (
        lambda: store.add(pipeline("a2", vector=vector)),
        lambda: store.embedded("a1", vector),
        lambda: nearest(store, vector),
    ):
        with refused(UserError, r"a vector of 3 numbers cannot be compared, as it"):
            await act()
    assert ids(await store.find()) == ["a1"]
    assert await waiting(store) == ["a1"]


async def test_vectors_of_another_length_are_refused_until_all_are_forgotten(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR, created=1.0))
    await store.add(pipeline("a2", created=2.0))
    await store.add(pipeline("a3", memory="m", vector=(1.0, 0.0)))
    message = "the vectors of memory 'default' have 3 numbers and not 2: use the embedder"
    for act in (
        lambda: store.add(pipeline("a4", vector=(1.0, 0.0))),
        lambda: store.embedded("a2", (1.0, 0.0)),
        lambda: nearest(store, (1.0, 0.0)),
    ):
        with refused(UserError, message):
            await act()
    await store.embedded("a1", (1.0, 0.0))  # It is the only one.
    assert await nearest(store, (1.0, 0.0)) == ["a1"]

    await store.forget_vectors()
    assert await waiting(store) == ["a2", "a1"]
    assert await nearest(store) == []
    await store.embedded("a2", NEAR)
    assert await nearest(store) == ["a2"]
    assert await nearest(store, (1.0, 0.0), memory="m") == ["a3"]


async def test_vectors_can_come_later(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", created=1.0))
    await store.add(pipeline("a2", created=2.0))
    await store.add(pipeline("a3", created=3.0, memory="m"))
    await store.add(pipeline("a4", created=4.0, vector=NEAR))
    await store.add(pipeline("a5", created=5.0, status="quarantined"))
    await store.add(pipeline("a6", created=6.0, kind="workflow"))
    await store.add(pipeline("a7", created=7.0, domain="story"))
    assert await waiting(store) == ["a2", "a1"]

    await store.embedded("a1", (0.0, 0.0, 2.0))
    assert await waiting(store) == ["a2"]
    assert (await store.get("a1")).vector == (0.0, 0.0, 1.0)


async def test_without_numpy_a_search_says_what_to_install(
    file_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    log = RunLog.open(file_url)
    store = ExperienceStore(log)
    await store.add(pipeline("a1", vector=NEAR))

    assert (await store.get("a1")).vector == NEAR
    with refused(UserError, r"needs numpy, which is not installed: pip install 'plait\[local\]'"):
        await nearest(store)
    await log.close()


@pytest.mark.postgres
async def test_a_database_that_compares_vectors_needs_no_numpy(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    log = RunLog.open(postgres_url)
    store = ExperienceStore(log)
    await store.add(pipeline("a1", vector=NEAR))

    assert await nearest(store) == ["a1"]
    await log.close()


@pytest.mark.parametrize("damage", ["x'00'", "x'0000c07f0000000000000000'", "x'0000000000000000'"])
async def test_a_damaged_vector_hides_no_other(file_url: str, damage: str) -> None:
    log = RunLog.open(file_url)
    store = ExperienceStore(log)
    for id in ("a1", "a2", "a3"):
        await store.add(pipeline(id, vector=NEAR, created=float(id[1])))
    await execute(log, f"UPDATE experiences SET vector = {damage} WHERE id = 'a2'")

    assert await nearest(store) == ["a3", "a1"]
    await store.embedded("a3", FAR)
    assert await nearest(store) == ["a1", "a3"]
    await log.close()


async def test_a_vector_that_is_text_hides_no_other(file_url: str) -> None:
    log = RunLog.open(file_url)
    store = ExperienceStore(log)
    for id in ("a1", "a2"):
        await store.add(pipeline(id, vector=NEAR, created=float(id[1])))
    await execute(log, "UPDATE experiences SET vector = 'text' WHERE id = 'a2'")

    assert await nearest(store) == ["a1"]
    assert ids(await store.find()) == ["a2", "a1"]
    with refused(LogError, "experience 'a2' cannot be read, as its vector is 'text'"):
        await store.get("a2")
    await log.close()


async def test_a_change_that_is_rolled_back_is_not_remembered_by_searches(store: ExperienceStore) -> None:
    await store.add(pipeline("a1", vector=NEAR))
    # All three are written together, until the last one is refused; then each by itself.
    adding = [store.add(pipeline("a2", vector=FAR)), nearest(store), store.used("none", succeeded=True)]
    _, found, refusal = await asyncio.gather(*adding, return_exceptions=True)

    assert isinstance(refusal, UserError)
    assert found == ["a1", "a2"]
    await store.change("a1", status="suspended")
    assert await nearest(store) == ["a2"]
