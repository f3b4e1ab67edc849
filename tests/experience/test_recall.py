"""Which pipeline a goal calls to mind: the same with other values, and nothing that only looks like it."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.support.memory_journal import Memory as Records
from tests.support.memory_journal import MemoryJournal

from plait.errors import LogError
from plait.events import Noted
from plait.experience.exploitation.recall import TOOLS_KEY, Recalled, Recollection, digest_of
from plait.experience.pipelines.paper_form import as_json
from plait.experience.pipelines.pipeline import (
    END,
    START,
    Constant,
    Edge,
    FromGoal,
    FromResult,
    Node,
    Pipeline,
    Slot,
    Unknown,
)
from plait.experience.record import Experience
from plait.experience.words.derive import Way
from plait.experience.words.goals import key_of
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.tools.tool import Effect, Tool


async def never(_: Any) -> Any:
    raise AssertionError("nothing is called")


def made(name: str, argument: str, effect: Effect) -> Tool:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return Tool(name=name, description="", parameters=parameters, effect=effect, run=never, source="t.py")


TOOLS = {"find": made("find", "who", "reads"), "delete": made("delete", "id", "changes")}
GOAL = "Delete my first meeting with Olivia"
FIND = Node(name="find", tool="find", arguments={"who": FromGoal(slot="who")})
DELETE = Node(
    name="delete",
    tool="delete",
    arguments={"id": FromResult(node="find", field="id", row="first")},
    effect=True,
)


def pipeline(*nodes: Node, purpose: str = GOAL) -> Pipeline:
    names = [START, *(node.name for node in nodes), END]
    edges = [Edge(from_node=one, to_node=two) for one, two in pairwise(names)]
    slots = [Slot(name="who", example="olivia", said="Olivia", ways=(Way(how="lower", spans=(0,)),))]
    every = [Node(name=START), *nodes, Node(name=END)]
    return Pipeline(name="p", purpose=purpose, nodes=every, edges=edges, slots=slots)


def experience(content: Pipeline | None = None, **more: Any) -> Experience:
    made = content or pipeline(FIND, DELETE)
    known = {node.tool: digest_of(TOOLS[node.tool]) for node in made.calls if node.tool in TOOLS}
    values: dict[str, Any] = {
        "id": "aa11",
        "kind": "pipeline",
        "domain": "tools",
        "goal": made.purpose,
        "key": key_of(made.purpose),
        "tools": list(dict.fromkeys(node.tool for node in made.calls)),
        "content": {**as_json(made), TOOLS_KEY: known},
        "run_id": "r",
        "model": "m",
        "created": 1.0,
    }
    return Experience(**{**values, **more})


@pytest.fixture
async def store() -> AsyncIterator[ExperienceStore]:
    log = RunLog.open()
    yield ExperienceStore(log)
    await log.close()


async def recalled(store: ExperienceStore, goal: str, tools: Mapping[str, Tool] = TOOLS) -> Recalled | None:
    recollection = Recollection(memory=store, domain="tools", tools=tools, date_of=lambda _: None)
    return await recollection.pipeline(MemoryJournal(Records()), goal)


@pytest.mark.parametrize(
    "goal", [GOAL, "Delete my first meeting with Fatima", "Can you please delete my first meeting with Sam?"]
)
async def test_the_same_goal_with_another_name_is_recalled(store: ExperienceStore, goal: str) -> None:
    await store.add(experience())
    found = await recalled(store, goal)
    assert found is not None
    assert (found.id, found.goal, found.pipeline) == ("aa11", GOAL, pipeline(FIND, DELETE))
    assert found.values["who"] in goal.lower()


async def test_the_same_goal_with_another_word_for_what_it_does_is_recalled(store: ExperienceStore) -> None:
    await store.add(experience())
    found = await recalled(store, "Can you cancel my first meeting with Sam?")
    assert found is not None
    assert (found.goal, found.values) == (GOAL, {"who": "sam"})
    both = {**TOOLS, "cancel": made("cancel", "id", "changes")}
    assert await recalled(store, "Can you cancel my first meeting with Sam?", both) is None
    assert await recalled(store, "Cancel my last meeting with Sam") is None


async def test_a_goal_in_its_own_words_comes_before_others(store: ExperienceStore) -> None:
    await store.add(experience())
    await store.add(experience(pipeline(FIND, DELETE, purpose="Cancel my first meeting with Ann"), id="bb22"))
    await store.used("aa11", succeeded=True)
    found = await recalled(store, "Cancel my first meeting with Sam")
    assert found is not None
    assert found.id == "bb22"


@pytest.mark.parametrize(
    "goal",
    [
        "Delete my last meeting with Olivia",
        "Delete my meetings with Olivia",
        "Delete all my meetings with Olivia",
        "Move my first meeting with Olivia",
        "Do not delete my first meeting with Olivia",
        "If I have one, delete my first meeting with Olivia",
        "Delete my first meeting after Olivia",
        "",
    ],
)
async def test_what_does_something_else_is_never_recalled(store: ExperienceStore, goal: str) -> None:
    # As if it had come to mind by its key: the words are compared all the same.
    await store.add(experience(key=key_of(goal)))
    assert await recalled(store, goal) is None


@pytest.mark.parametrize(
    "change",
    [
        {"status": "suspended"},
        {"status": "quarantined"},
        {"status": "provisional"},
        {"memory": "other"},
        {"domain": "software"},
        {"kind": "workflow"},
    ],
)
async def test_what_is_not_in_use_or_elsewhere_is_not_recalled(
    store: ExperienceStore, change: dict[str, Any]
) -> None:
    await store.add(experience(**change))
    assert await recalled(store, GOAL) is None


@pytest.mark.parametrize(
    "content",
    [
        pipeline(FIND, replace(DELETE, arguments={"id": Unknown(example="7")})),
        pipeline(
            FIND, replace(DELETE, arguments={"id": FromResult(node="find", field="id", row="undecided")})
        ),
        pipeline(FIND, replace(DELETE, arguments={})),
        pipeline(FIND, replace(DELETE, tool="erase")),
        pipeline(replace(FIND, arguments={"who": FromGoal(slot="who"), "most": Constant(value=1)}), DELETE),
    ],
)
async def test_a_pipeline_that_cannot_run_with_these_tools_is_not_recalled(
    store: ExperienceStore, content: Pipeline
) -> None:
    await store.add(experience(content))
    assert await recalled(store, GOAL) is None


async def test_of_two_the_one_that_served_better_is_recalled(store: ExperienceStore) -> None:
    await store.add(experience())
    # With the same tools there would be one.
    await store.add(replace(experience(pipeline(FIND), id="bb22", created=2.0), tools=("find",)))
    newest = await recalled(store, GOAL)
    assert newest is not None
    assert newest.id == "bb22"
    await store.used("aa11", succeeded=True)
    better = await recalled(store, GOAL)
    assert better is not None
    assert better.id == "aa11"


async def test_what_was_recalled_is_on_record_and_not_asked_again(store: ExperienceStore) -> None:
    await store.add(experience())
    recollection, records = (
        Recollection(memory=store, domain="tools", tools=TOOLS, date_of=lambda _: None),
        Records(),
    )
    first = await recollection.pipeline(MemoryJournal(records), GOAL)
    await store.remove(["aa11"])
    assert await recollection.pipeline(MemoryJournal(records), GOAL) == first
    assert await recalled(store, GOAL) is None


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Erases for ever."},
        {"effect": "reads"},
        {"source": "other.py"},
        {"parameters": {"type": "object"}},
    ],
)
async def test_another_tool_of_the_same_name_is_not_called(
    store: ExperienceStore, change: dict[str, Any]
) -> None:
    await store.add(experience())
    assert await recalled(store, GOAL, {**TOOLS, "delete": replace(TOOLS["delete"], **change)}) is None
    assert await recalled(store, GOAL, TOOLS) is not None


async def test_a_memory_that_cannot_be_read_costs_only_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, store: ExperienceStore
) -> None:
    async def broken(**_: Any) -> Any:
        raise LogError("the disk is full")

    monkeypatch.setattr(store, "find", broken)
    records = Records()
    recollection = Recollection(memory=store, domain="tools", tools=TOOLS, date_of=lambda _: None)
    assert await recollection.pipeline(MemoryJournal(records), GOAL) is None
    [noted] = records.of(Noted)
    assert noted.text == "nothing is recalled: the disk is full"


def test_a_file_of_tools_is_the_same_seen_from_another_folder():
    tool = TOOLS["delete"]
    here, there = (replace(tool, source=source) for source in ("tools.py", "/elsewhere/of/mine/tools.py"))
    assert digest_of(here) == digest_of(there)
    assert digest_of(here) != digest_of(replace(tool, source="other.py"))
    assert digest_of(replace(tool, source="https://one/api")) != digest_of(
        replace(tool, source="https://two/api")
    )
