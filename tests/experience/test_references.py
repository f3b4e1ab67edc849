"""What a goal calls to mind besides a pipeline: similar workflows and lessons that fit, and nothing else."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from tests.support.memory_journal import Memory as Records
from tests.support.memory_journal import MemoryJournal

from plait.errors import LogError, UserError
from plait.events import LessonRecalled, Noted, WorkflowRecalled
from plait.experience.exploitation.references import (
    LESSONS,
    MOST_CHARACTERS,
    WORKFLOWS,
    Readers,
    References,
    Reminders,
)
from plait.experience.record import Experience
from plait.experience.settings import ExperienceSettings
from plait.experience.words.goals import key_of
from plait.models.embeddings import HashEmbedder
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

GOAL = "Delete my next meeting with Olivia"
NEAR = "Delete my last meeting with Olivia at noon"
"""Other words, and near in meaning for an embedder that counts words."""


def record(id: str, goal: str = GOAL, **more: Any) -> Experience:
    values: dict[str, Any] = {
        "id": id,
        "kind": "workflow",
        "domain": "tools",
        "goal": goal,
        "key": key_of(goal),
        "tools": ("find", id),
        "content": {"text": f"text of {id}"},
        "run_id": "r",
        "model": "m",
        "created": float(int(id, 16)),
    }
    return Experience(**{**values, **more})


class Asked:
    """An embedder that knows what it was asked."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += texts
        return await HashEmbedder().embed(texts)


class Missing:
    """An embedder that cannot be had."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise UserError("there is no embedder")


def read(record: Experience) -> str:
    return str(record.content["text"])


@pytest.fixture
async def store() -> AsyncIterator[ExperienceStore]:
    log = RunLog.open()
    yield ExperienceStore(log)
    await log.close()


def references(store: ExperienceStore, **more: Any) -> References:
    readers = Readers(workflow=lambda record, _, most: read(record)[:most], lesson=read)
    values: dict[str, Any] = {
        "memory": store,
        "domain": "tools",
        "readers": readers,
        "settings": ExperienceSettings(),
        "embedder": Asked(),
        "similar": 0.6,
    }
    return References(**{**values, **more})


async def found(store: ExperienceStore, goal: str = GOAL, **more: Any) -> Reminders:
    return await references(store, **more).find(MemoryJournal(Records()), goal)


def ids(found: Reminders) -> list[str]:
    return [each.id for each in (*found.workflows, *found.lessons)]


async def test_an_empty_memory_asks_no_embedder(store: ExperienceStore):
    embedder = Asked()
    assert await found(store, embedder=embedder) == Reminders()
    assert embedder.texts == []


async def test_the_same_goal_with_other_values_needs_no_embedder(store: ExperienceStore):
    await store.add(record("aa"))
    embedder = Asked()
    one = await found(store, "Delete my next meeting with Fatima", embedder=embedder)
    assert [(each.id, each.goal, each.alike) for each in one.workflows] == [("aa", GOAL, 1.0)]
    assert embedder.texts == []


async def test_a_goal_that_is_near_and_does_the_same_is_found_and_its_key_is_embedded_once(
    store: ExperienceStore,
):
    await store.add(record("aa", NEAR))
    embedder = Asked()
    one = await found(store, embedder=embedder)
    assert ids(one) == ["aa"]
    assert one.workflows[0].text == "text of aa"
    assert 0.6 <= one.workflows[0].alike < 1
    assert embedder.texts == [key_of(GOAL), key_of(NEAR)]
    assert ids(await found(store, embedder=embedder)) == ["aa"]
    assert embedder.texts == [key_of(GOAL), key_of(NEAR), key_of(GOAL)]


async def test_below_the_threshold_nothing_is_found(store: ExperienceStore):
    await store.add(record("aa", NEAR))
    alike = (await found(store)).workflows[0].alike
    assert ids(await found(store, similar=alike - 0.001)) == ["aa"]
    assert await found(store, similar=alike + 0.001) == Reminders()


async def test_near_words_for_another_operation_are_no_reference(store: ExperienceStore):
    await store.add(record("aa", "Rename my last meeting with Olivia"))
    assert await found(store, similar=0.1) == Reminders()
    readers = Readers(workflow=lambda record, _, most: read(record), lesson=read, operations=False)
    assert ids(await found(store, similar=0.1, readers=readers)) == ["aa"]


@pytest.mark.parametrize("goal", [GOAL, NEAR])
@pytest.mark.parametrize(
    "change",
    [
        {"status": "quarantined"},
        {"status": "provisional"},
        {"status": "suspended"},
        {"memory": "other"},
        {"domain": "software"},
        {"kind": "pipeline"},
        {"tools": ("find", "gone")},
    ],
)
@pytest.mark.parametrize("kind", ["workflow", "lesson"])
async def test_what_is_not_in_use_or_needs_other_tools_is_not_shown(
    store: ExperienceStore, goal: str, change: dict[str, Any], kind: str
):
    await store.add(record("aa", goal, **{"kind": kind, **change}))
    readers = Readers(workflow=lambda record, _, most: read(record), lesson=read, tools=["find", "aa", "bb"])
    assert await found(store, readers=readers) == Reminders()
    await store.add(record("bb", goal, kind=kind))
    assert ids(await found(store, readers=readers)) == ["bb"]


async def test_few_are_shown_each_once_and_the_ones_that_served_best_first(store: ExperienceStore):
    for number in range(1, 6):
        await store.add(record(f"a{number}"))
        await store.add(record(f"b{number}", kind="lesson"))
    await store.add(record("c1", content={"text": "TEXT of a1"}))
    await store.used("a1", succeeded=True)
    one = await found(store)
    assert [each.id for each in one.workflows] == ["a1", "a5"]
    assert [each.id for each in one.lessons] == ["b5", "b4", "b3"]
    assert (len(one.workflows), len(one.lessons)) == (WORKFLOWS, LESSONS)


async def test_all_that_is_shown_stays_within_its_bound(store: ExperienceStore):
    for number in range(1, 6):
        text = f"{number}" * 300
        await store.add(record(f"a{number}", content={"text": text}))
        await store.add(record(f"b{number}", kind="lesson", content={"text": text[:150]}))
    one = await found(store)
    texts = [each.text for each in (*one.workflows, *one.lessons)]
    assert texts
    assert sum(map(len, texts)) <= MOST_CHARACTERS


async def test_a_text_that_cannot_be_made_is_passed_over(store: ExperienceStore):
    await store.add(record("aa", content={"text": ""}))
    await store.add(record("bb"))
    assert ids(await found(store)) == ["bb"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ExperienceSettings(), ["aa", "bb"]),
        (ExperienceSettings(lessons=False), ["aa"]),
        (ExperienceSettings().without(["planning-experience"]), []),
        (ExperienceSettings().without(["execution-experience"]), ["aa", "bb"]),
    ],
)
async def test_each_part_can_be_off(
    store: ExperienceStore, settings: ExperienceSettings, expected: list[str]
):
    await store.add(record("aa"))
    await store.add(record("bb", kind="lesson"))
    assert ids(await found(store, settings=settings)) == expected


async def test_lessons_alone_can_be_asked_for(store: ExperienceStore):
    await store.add(record("aa"))
    await store.add(record("bb", kind="lesson"))
    records = Records()
    one = await references(store).find(MemoryJournal(records), GOAL, workflows=False)
    assert ids(one) == ["bb"]
    assert records.of(WorkflowRecalled) == []


async def test_what_was_shown_is_on_record_and_not_asked_again(store: ExperienceStore):
    await store.add(record("aa"))
    await store.add(record("bb", kind="lesson"))
    records = Records()
    first = await references(store).find(MemoryJournal(records), GOAL)
    assert records.of(WorkflowRecalled) == [WorkflowRecalled(experience="aa", goal=GOAL, alike=1.0)]
    assert records.of(LessonRecalled) == [LessonRecalled(experience="bb", text="text of bb")]
    await store.remove(["aa", "bb"])
    assert await references(store).find(MemoryJournal(records), GOAL) == first
    assert await found(store) == Reminders()


async def test_without_an_embedder_the_run_goes_on_and_says_so_once(store: ExperienceStore):
    await store.add(record("aa", NEAR))
    records = Records()
    kept = references(store, embedder=Missing())
    for place in ("one", "two"):
        assert await kept.find(MemoryJournal(records, place), GOAL) == Reminders()
    assert records.of(Noted) == [Noted(text="nothing is recalled: there is no embedder")]
    assert await found(store, embedder=None) == Reminders()


async def test_a_memory_that_cannot_be_read_costs_only_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, store: ExperienceStore
):
    async def broken(**_: Any) -> Any:
        raise LogError("the disk is full")

    monkeypatch.setattr(store, "find", broken)
    records = Records()
    assert await references(store).find(MemoryJournal(records), GOAL) == Reminders()
    assert records.of(Noted) == [Noted(text="nothing is recalled: the disk is full")]
