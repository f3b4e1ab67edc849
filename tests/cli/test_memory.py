"""`plait memory`: what is there, shown, approved, forgotten and counted."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from plait.cli.app import run
from plait.cli.memory import nearest_to
from plait.errors import UserError
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.pipelines.paper_form import as_json
from plait.experience.pipelines.pipeline import END, START, Edge, FromGoal, Node, Pipeline, Slot
from plait.experience.record import Experience
from plait.models.embeddings import HashEmbedder
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog

GOAL = "Find the meetings of Olivia"
FOUND = Pipeline(
    name="find",
    purpose=GOAL,
    nodes=[
        Node(name=START),
        Node(name="find", tool="calendar.find", arguments={"who": FromGoal(slot="who")}),
        Node(name=END),
    ],
    edges=[Edge(from_node=START, to_node="find"), Edge(from_node="find", to_node=END)],
    slots=[Slot(name="who", example="olivia", said="Olivia")],
)
PIPELINE = Experience(
    id="aa11",
    kind="pipeline",
    domain="tools",
    goal=GOAL,
    key="find the meetings of <name>",
    tools=["calendar.find"],
    content=as_json(FOUND),
    run_id="run-1",
    model="local:small",
    created=1.0,
)
STEPS = [WorkflowStep(goal=GOAL, tools=["calendar.find"])]
WORKFLOW = replace(
    PIPELINE, id="bb22", kind="workflow", content=Workflow(goal=GOAL, steps=STEPS).as_json(), created=2.0
)


def with_store(do: Callable[[ExperienceStore], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        log = RunLog.open()
        try:
            return await do(ExperienceStore(log))
        finally:
            await log.close()

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def kept() -> None:
    async def keep(store: ExperienceStore) -> None:
        for record in (PIPELINE, WORKFLOW, replace(PIPELINE, id="cc33", memory="work")):
            await store.add(record)

    with_store(keep)


def test_a_memory_is_listed_newest_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["id", "bb22", "aa11"]
    assert "pipeline" in lines[2]
    assert GOAL in lines[2]


def test_where_no_terminal_is_a_record_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    long = " ".join([GOAL, *("and of Omar" for _ in range(20))])
    with_store(lambda store: store.add(replace(WORKFLOW, id="dd44", goal=long, key="long", created=3.0)))
    assert run(["memory", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["id", "dd44", "bb22", "aa11"]
    assert lines[1].endswith(long)
    assert lines[2].endswith(GOAL)


def test_on_a_terminal_a_long_goal_goes_on_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Console, "is_terminal", True)
    monkeypatch.setenv("COLUMNS", "60")
    assert run(["memory", "list"]) == 0
    lines = Text.from_ansi(capsys.readouterr().out).plain.splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 60


def test_other_memories_are_listed_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "list", "--memory", "work", "--json"]) == 0
    [record] = json.loads(capsys.readouterr().out)
    assert (record["id"], record["memory"], record["goal"]) == ("cc33", "work", GOAL)
    assert run(["memory", "list", "--memory", "none"]) == 0
    assert "The memory 'none' is empty" in capsys.readouterr().out


def test_a_pipeline_is_shown_with_where_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "show", "aa"]) == 0
    shown = capsys.readouterr().out
    assert f"goal: {GOAL}" in shown
    assert "run run-1, local:small" in shown
    assert "calendar.find" in shown
    assert "served: 0 of 0 uses" in shown


def test_a_workflow_is_shown_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "show", "bb22"]) == 0
    assert f"1. {GOAL}  (calendar.find)" in capsys.readouterr().out


def test_a_pipeline_is_drawn_and_a_workflow_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "show", "aa11", "--mermaid"]) == 0
    assert capsys.readouterr().out.startswith("flowchart TD\n")
    assert run(["memory", "show", "bb22", "--mermaid"]) == 2
    assert "only a pipeline is drawn" in capsys.readouterr().err


def test_a_record_is_printed_as_json_with_its_content(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "show", "aa11", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["content"]["pipeline_purpose"] == GOAL
    assert "vector" not in record


def test_what_is_near_in_meaning_is_found_first() -> None:
    async def search(store: ExperienceStore) -> list[str]:
        await store.add(replace(PIPELINE, id="ee55", key="count the invoices", tools=["count"]))
        found = await nearest_to(store, "find the meetings of Fatima", "default", HashEmbedder())
        assert await store.without_vector(memory="default", kind="pipeline", domain="tools") == []
        return [record.id for record, _ in found]

    assert with_store(search) == ["bb22", "aa11", "ee55"]


def test_what_was_learned_where_something_was_made_is_found_too() -> None:
    async def search(store: ExperienceStore) -> list[str]:
        await store.add(replace(WORKFLOW, id="ff66", domain="software", key="a game of chess"))
        found = await nearest_to(store, "a game of chess", "default", HashEmbedder())
        return [record.id for record, _ in found]

    assert with_store(search)[0] == "ff66"


@pytest.mark.parametrize("status", ["quarantined", "suspended"])
def test_a_record_that_waits_or_failed_is_approved(status: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with_store(lambda store: store.change("aa11", status=status))
    assert run(["memory", "approve", "aa"]) == 2
    assert "it makes these calls" in capsys.readouterr().out
    assert run(["memory", "approve", "aa", "--yes"]) == 0
    assert capsys.readouterr().out.endswith("Approved: aa11.\n")
    assert with_store(lambda store: store.get("aa11")).status == "active"


def test_records_are_forgotten_when_that_is_said_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", "rm", "aa", "bb"]) == 2
    assert "cannot be undone: add --yes to do it" in capsys.readouterr().err
    assert run(["memory", "rm", "aa", "aa11", "bb", "--yes"]) == 0
    assert capsys.readouterr().out == "Removed 2 records.\n"
    assert with_store(lambda store: store.find()) == []


def test_another_embedder_may_be_used_after_the_vectors_are_forgotten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def compare(store: ExperienceStore, *vector: float) -> list[str]:
        await store.embedded("aa11", (1.0, 0.0, 0.0))
        found = await store.nearest(vector, 5, memory="default", kind="pipeline", domain="tools")
        return [record.id for record, _ in found]

    with pytest.raises(UserError) as refused:
        with_store(lambda store: compare(store, 1.0, 0.0))
    command = refused.value.message.partition("plait ")[2]
    assert command == "memory forget-vectors --memory default"
    assert run(command.split()) == 0
    assert "has no vectors now" in capsys.readouterr().out
    waiting = with_store(
        lambda store: store.without_vector(memory="default", kind="pipeline", domain="tools")
    )
    assert [record.id for record in waiting] == ["aa11"]
    assert run(["memory", "forget-vectors", "--memory", "../x"]) == 2


def test_figures_are_those_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    async def use(store: ExperienceStore) -> None:
        await store.add(replace(PIPELINE, id="dd44", key="another", tools=["calendar.find", "x"]))
        await store.add(replace(PIPELINE, id="ee55", key="that waits", status="provisional"))
        await store.used("aa11", succeeded=True)
        await store.used("aa11", succeeded=False)

    with_store(use)
    assert run(["memory", "stats", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "workflows": 1,
        "pipelines": 3,
        "lessons": 0,
        "not_in_use": 1,
        "uses": 2,
        "successes": 1,
        "failures": 1,
        "reutilization_rate": 0.5,
    }
    assert run(["memory", "stats"]) == 0
    assert "reutilization rate: 0.5" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["show", "zz"], ["approve", "zz"], ["rm", "zz", "--yes"]])
def test_what_is_not_there_is_said_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["memory", *words]) == 2
    said = capsys.readouterr().err
    assert "'zz'" in said
    assert said.count("\n") == 1
