"""Plan trees, plans and workflows of runs whose plan was rectified: straight, broken off and forked ones."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.experience.recorded import called, on_record, statuses, trajectories, worked
from tests.reflection.crew import DANA, Stage, answer, at, done, give_back, plan, search
from tests.support import bindery, notebook

from plait.errors import ModelError
from plait.events import PlanMade, PlanRectified, Record, SubtaskFinished, SubtaskStarted
from plait.experience.consolidation.workflow import workflows
from plait.experience.investigation.investigate import investigate
from plait.experience.investigation.planned import planned, rectifications
from plait.experience.investigation.tree import Goal
from plait.models.protocol import Request
from plait.models.scripted import Answer, FunctionModel
from plait.outfit.hands import Hands
from plait.runner import fork, resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Result

FUNCTIONS = (notebook.write_line, notebook.read_page)
YES = Options(yes=True, without=("experience",))
"""Each run stands for itself: none is a reference for the next."""
FAILS: Sequence[Answer] = ("?", "?!", "?!?")


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "notebook.txt"
    monkeypatch.setenv("NOTEBOOK", str(file))
    return file


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


def tree(records: Sequence[Record]) -> Goal:
    found = investigate(records)
    assert found is not None
    return found


def hands(log: RunLog, model: Any = bindery.answer) -> Hands:
    return Hands(tools=FUNCTIONS, model=FunctionModel(model), log=log)


def failing(*, at: int) -> Any:
    asked: list[Request] = []

    def reply(request: Request) -> Answer:
        asked.append(request)
        return ModelError("it is gone") if len(asked) > at else bindery.answer(request)

    return reply


def lines(root: Goal) -> dict[str, list[str]]:
    return {workflow.goal: [step.goal for step in workflow.steps] for workflow in workflows(root)}


def lasting(result: Result) -> Any:
    """What must be the same however often a run was broken off."""
    usage = result.usage
    told = result.status, result.answer, result.plan, result.experience, result.reflection
    return told, usage.model_calls, usage.tool_calls


async def test_a_goal_that_was_split_is_an_inner_node_that_ends_as_its_parts_do(
    log: RunLog, written: Path
) -> None:
    result = await start(bindery.TASK, YES, hands(log))
    root = tree(log.records(result.run_id))
    assert statuses(root) == dict.fromkeys(("", "1", "1-1", "1-2", "2", "3"), "succeeded")
    assert [goal.text for goal in root.goals()][1:4] == [
        "Fill the covers",
        "Fill the front cover",
        "Fill the back cover",
    ]
    assert root.subgoals[0].subgoals[0].milestone == "line 2 is written"
    assert trajectories(root) == {
        "1-1": ["write_line(number=2)"],
        "1-2": ["write_line(number=3)"],
        "2": ["write_line(number=5)"],
        "3": ["read_page(number=4)"],
    }
    # What the failed leaf did itself is not lost: whoever repeats the run must know of it.
    assert [step.arguments for step in root.astray()] == [{"number": 1}]
    assert sorted(notebook.lines(written)) == bindery.WRITES
    assert lines(root) == {
        bindery.TASK: ["Fill the front cover", "Fill the back cover", "Fill the spine", "Look at all"],
        "Fill the covers": ["Fill the front cover", "Fill the back cover"],
    }


async def test_the_report_tells_the_plan_as_it_came_to_be(log: RunLog) -> None:
    result = await start(bindery.TASK, YES, hands(log))
    assert [(item.id, item.status, item.depends_on) for item in result.plan] == [
        ("1", "split", ()),
        ("1-1", "succeeded", ()),
        ("1-2", "succeeded", ("1-1",)),
        ("2", "succeeded", ()),
        ("3", "succeeded", ("1",)),
    ]
    assert (result.experience["rectifications"], result.experience["subtasks"]) == (1, 4)
    assert (result.status, result.usage.model_calls) == ("succeeded", bindery.MODEL_CALLS)


@pytest.mark.parametrize("number", range(bindery.MODEL_CALLS))
async def test_a_run_that_was_broken_off_anywhere_goes_on_as_if_it_had_not_been(
    number: int, log: RunLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    straight = await start(bindery.TASK, YES, hands(log))
    written = tmp_path / "of the broken one"
    monkeypatch.setenv("NOTEBOOK", str(written))
    with pytest.raises(ModelError):
        await start(bindery.TASK, YES, hands(log, failing(at=number)), run_id="broken")
    assert tree(log.records("broken")).status == "doing"
    result = await resume("broken", hands(log))
    assert lasting(result) == lasting(straight)
    assert tree(log.records("broken")) == tree(log.records(straight.run_id))
    assert sorted(notebook.lines(written)) == bindery.WRITES


@pytest.mark.parametrize("place", ["/subtask-1/rectify", "/subtask-1-2", "/subtask-3", "/answer"])
async def test_a_fork_that_goes_the_same_way_has_the_same_tree(place: str, log: RunLog) -> None:
    first = await start(bindery.TASK, YES, hands(log))
    forked = await fork(first.run_id, f"round-1{place}", {"temperature": 0.9}, hands(log))
    assert tree(log.records(forked.run_id)) == tree(log.records(first.run_id))
    assert forked.plan == first.plan


async def test_every_first_part_of_a_log_has_a_tree(log: RunLog) -> None:
    result = await start(bindery.TASK, YES, hands(log))
    records = log.records(result.run_id)
    seen = [statuses(tree(records[:length])).get("1", "") for length in range(1, len(records) + 1)]
    assert list(dict.fromkeys(seen)) == ["", "todo", "doing", "failed", "split", "succeeded"]


async def test_what_was_added_stands_beside_the_failed_one_and_what_was_deleted_is_gone(log: RunLog) -> None:
    stage = Stage(
        planner=[
            plan("1. Return that of dana", "2. Look once more (independent)", "3. Tell (after 1)"),
            plan("add before", "1. Find that of dana"),
            plan("delete 2"),
        ],
        tool=[
            *(at(1, reply) for reply in FAILS),
            *(at(2, reply) for reply in FAILS),
            *(at("1a", reply) for reply in (search("dana"), done())),
            *(at("1b", reply) for reply in (give_back(DANA), done())),
            at(3, done()),
        ],
        answer=[answer("It is returned.")],
    )
    records = await worked(log, stage, ends="succeeded")
    root = tree(records)
    assert statuses(root) == {
        "": "succeeded",
        "1": "failed",
        "2": "succeeded",
        "3": "succeeded",
        "4": "succeeded",
    }
    assert [goal.text for goal in root.subgoals] == [
        "Return that of dana",
        "Find that of dana",
        "Return that of dana",
        "Tell",
    ]
    assert lines(root) == {stage.crew.task: ["Find that of dana", "Return that of dana", "Tell"]}
    assert rectifications(records) == 2


async def test_a_goal_whose_parts_failed_failed_and_teaches_nothing_of_itself(log: RunLog) -> None:
    stage = Stage(
        planner=[
            plan("1. Bring it back", "2. Look (independent)"),
            plan("split", "1. Find it", "2. Return it"),
            plan("give up"),
            plan("1. Look"),
        ],
        tool=[
            *(at(1, reply) for reply in FAILS),
            at(2, done()),
            *(at("1-1", reply) for reply in FAILS),
            at(1, done()),
        ],
        answer=[answer("So it is.")],
    )
    root = tree(await worked(log, stage, ends="succeeded"))
    assert statuses(root) == {
        "": "succeeded",
        "1": "failed",
        "1-1": "failed",
        "1-1-1": "failed",
        "1-1-2": "skipped",
        "1-2": "succeeded",
        "2": "succeeded",
    }
    assert lines(root) == {stage.crew.task: ["Look"]}


async def test_a_goal_that_its_parts_reached_carries_what_they_did_into_the_next_round(log: RunLog) -> None:
    stage = Stage(
        planner=[
            plan("1. Bring back that of dana"),
            plan("split", "1. Find that of dana", "2. Return that of dana"),
            plan("1. Bring back that of dana"),
        ],
        tool=[
            *(at(1, reply) for reply in FAILS),
            *(at("1-1", reply) for reply in (search("dana"), done())),
            *(at("1-2", reply) for reply in (give_back(DANA), done())),
            "yes",
        ],
        answer=[answer("Hm.", score=3), answer("It is returned.")],
    )
    root = tree(await worked(log, stage, ends="succeeded"))
    assert trajectories(root)["2"] == ['search_loans(who="dana")', f'return_loan(loan_id="{DANA}")']


# Written by hand.


def rectified(place: str, operation: Any, *goals: str, deleted: Sequence[str] = ()) -> Any:
    letters = "abc" if operation == "add" else ("-1", "-2", "-3")
    subtasks = [
        {"id": f"{place}{letter}", "goal": goal, "depends_on": []}
        for letter, goal in zip(letters, goals, strict=False)
    ]
    event = PlanRectified(subtask=place, operation=operation, subtasks=subtasks, deleted=list(deleted))
    return f"run/round-1/subtask-{place}/rectify!0", event


def made(*goals: str) -> Any:
    subtasks = [{"id": str(n), "goal": goal, "depends_on": []} for n, goal in enumerate(goals, start=1)]
    return "run/round-1/plan!0", PlanMade(round=1, subtasks=subtasks)


def ended(place: str, status: Any) -> Any:
    return f"run/round-1/subtask-{place}!1", SubtaskFinished(id=place, status=status, result="")


def begun(place: str) -> Any:
    return f"run/round-1/subtask-{place}!0", SubtaskStarted(id=place, goal="")


def test_a_rectification_of_a_way_that_was_not_gone_again_does_not_count() -> None:
    """A run taken up with another model may reach a leaf that failed; the old event stays on record."""
    before = [made("Look"), begun("1"), ended("1", "failed"), rectified("1", "split", "a", "b")]
    assert statuses(tree(on_record(*before))) == {"": "doing", "1": "split", "1-1": "todo", "1-2": "todo"}
    again = on_record(*before, ended("1", "succeeded"))
    assert statuses(tree(again)) == {"": "doing", "1": "succeeded"}
    assert rectifications(again) == 0
    failed_anew = on_record(*before, ended("1", "succeeded"), ended("1", "failed"))
    assert statuses(tree(failed_anew)) == {"": "doing", "1": "failed"}


def test_calls_of_the_rectification_are_none_of_the_leaf() -> None:
    place = "run/round-1/subtask-1"
    records = on_record(
        made("Look"),
        begun("1"),
        called(f"{place}/step-1", "read", n=1),
        ended("1", "failed"),
        called(f"{place}/rectify", "read", n=2),
        rectified("1", "give_up"),
    )
    assert trajectories(tree(records)) == {"1": ["read(n=1)"]}
    assert rectifications(records) == 0


def test_a_plan_that_was_damaged_has_an_end() -> None:
    circle = PlanRectified(
        subtask="1", operation="split", subtasks=[{"id": "1", "goal": "again"}], deleted=[]
    )
    records = on_record(
        made("Look"), begun("1"), ended("1", "failed"), ("run/round-1/subtask-1/rectify!0", circle)
    )
    [line] = planned(records, 1)
    assert [each.id for each in line.items()] == ["1", "1"]
