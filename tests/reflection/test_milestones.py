"""Milestones: how they are written, what shows them without a model, and when a second opinion is asked."""

from typing import Any

import pytest
from tests.reflection.crew import AS_PLANNED, DANA, Script, Stage, call, done, give_back, plan, search

from plait.errors import ToolError
from plait.events import PlanMade
from plait.models.scripted import ScriptStep
from plait.reflection.milestones import shown
from plait.reflection.plan import read_plan
from plait.reflection.planner import make_plan
from plait.reflection.trajectory import Step
from plait.tools.functions import from_function, tool

BACK = "1. Return that of dana => it is back"
YES, NO = (ScriptStep(word, when="It has succeeded when: it is back") for word in ("yes", "no"))


# How they are written.


@pytest.mark.parametrize(
    ("line", "goal", "milestone"),
    [
        ("1. Return it => it is back", "Return it", "it is back"),
        ("1. Return it=>it is back", "Return it", "it is back"),
        ("1. Return it => it is back (independent)", "Return it", "it is back"),
        ("1. Return it (independent) => it is back", "Return it", "it is back"),
        ("1. Return it", "Return it", ""),
        ("1. Return it =>", "Return it", ""),
        ("1. => Return it", "Return it", ""),
        ("1. Return it => " + "x" * 121, "Return it => " + "x" * 121, ""),
    ],
)
def test_a_line_may_end_with_a_milestone(line: str, goal: str, milestone: str) -> None:
    [subtask] = read_plan(line).subtasks
    assert (subtask.goal, subtask.milestone, subtask.depends_on) == (goal, milestone, ())


def test_a_milestone_is_logged_where_there_is_one() -> None:
    assert read_plan("1. Look\n2. Return it => it is back").as_json() == [
        {"id": "1", "goal": "Look", "depends_on": []},
        {"id": "2", "goal": "Return it", "depends_on": ["1"], "milestone": "it is back"},
    ]


async def planned(stage: Stage) -> str:
    await make_plan(stage.journal, stage.crew, (), 1)
    return stage.prompts("planner")[0]


async def test_a_task_with_an_arrow_of_its_own_has_no_milestones() -> None:
    stage = Stage(planner=[plan("1. Rename a => b", "2. Tell them all")], task="Rename a => b, tell them all")
    await planned(stage)
    [event] = stage.memory.of(PlanMade)
    assert [subtask["goal"] for subtask in event.subtasks] == ["Rename a => b", "Tell them all"]
    assert "milestone" not in event.subtasks[0]


async def test_only_a_task_of_several_things_is_told_of_milestones() -> None:
    one = Stage(planner=[plan("1. Cancel my first meeting")], task="Cancel my first meeting")
    both = Stage(planner=[plan("1. Cancel it")], task="Cancel my meeting and tell them all")
    assert '" => "' not in await planned(one)
    assert '" => "' in await planned(both)


async def test_the_agent_is_told_the_milestone_of_its_subtask() -> None:
    stage = Stage(tool=[search("dana"), give_back(DANA), done()])
    await stage.act(BACK)
    assert "# Subtask: Return that of dana\nIt is done when: it is back\n" in stage.prompts("tool")[0]


def test_names_of_tools_after_the_arrow_are_no_milestone() -> None:
    """References show which tools were called in the same place."""
    names = ("shelf.find", "shelf.give")
    one, both, other = read_plan(
        "1. Look => shelf.find\n2. Give => shelf.find, shelf.give.\n3. Tell => shelf.find has told",
        tools=names,
    ).subtasks
    assert (one.goal, one.milestone, both.milestone) == ("Look", "", "")
    assert other.milestone == "shelf.find has told"


# What shows them.


def taken(name: str, *, ok: bool = True, effect: bool = False, text: str = "found") -> Step:
    return Step(tool=name, arguments={}, ok=ok, observation=text, effect=effect)


TOOLS = {each.name: each for each in Stage().crew.tools}
CHANGED, REFUSED = taken("return_loan", effect=True), taken("return_loan", effect=True, ok=False)
FOUND, EMPTY, WRONG = taken("search_loans"), taken("search_loans", text="[]"), taken("search_loans", ok=False)


@pytest.mark.parametrize(
    ("goal", "steps", "enough"),
    [
        ("Return it", [FOUND, CHANGED], True),
        ("Return it", [FOUND], False),
        ("Return it", [], False),
        ("Return it", [FOUND, REFUSED], False),
        ("Return it", [REFUSED, CHANGED], True),
        ("Return it", [CHANGED, taken("tell", effect=True, ok=False)], False),
        ("Cancel it", [FOUND], False),
        ("Bring it back", [FOUND], True),
        ("Find the loans", [FOUND], True),
        ("Find the loans", [EMPTY], False),
        ("Find the loans", [WRONG], False),
        ("Find 'Return it'", [FOUND], True),
        ("Find the loans", [EMPTY, FOUND], True),
        ("Find the loans", [CHANGED], True),
    ],
)
def test_evidence_is_an_effect_that_was_asked_for_or_something_found(
    goal: str, steps: list[Step], enough: bool
) -> None:
    assert shown(goal, steps, TOOLS) is enough


# When a second opinion is asked.


@pytest.mark.parametrize("line", [BACK, "1. Return that of dana"])
async def test_where_evidence_is_there_nobody_is_asked(line: str) -> None:
    stage = Stage(tool=[search("dana"), give_back(DANA), done()])
    assert (await stage.act(line)).runs["1"].status == "succeeded"
    assert len(stage.prompts("tool")) == 3


async def test_without_a_milestone_an_agent_is_believed() -> None:
    stage = Stage(tool=[search("dana"), done()])
    assert (await stage.act("1. Return that of dana")).runs["1"].status == "succeeded"


async def test_what_is_said_and_not_shown_is_asked_and_may_hold_all_the_same() -> None:
    stage = Stage(tool=[search("dana"), done("it was back before"), YES])
    run = (await stage.act(BACK)).runs["1"]
    assert (run.status, run.result) == ("succeeded", "it was back before")
    prompt = stage.prompts("tool")[-1]
    for shown_line in ("Return that of dana", f"loan_id {DANA}", "it was back before"):
        assert shown_line in prompt


async def test_an_agent_that_is_not_believed_hears_of_it_once_and_can_go_on() -> None:
    stage = Stage(tool=[search("dana"), done(), NO, give_back(DANA), done()])
    run = (await stage.act(BACK)).runs["1"]
    assert (run.status, stage.calls) == ("succeeded", ["search dana", f"return {DANA}"])
    assert "it is not done: it is back" in stage.prompts("tool")[3]


async def test_an_agent_that_insists_has_failed() -> None:
    stage = Stage(tool=[search("dana"), done(), NO, done(), NO], settings=AS_PLANNED)
    run = (await stage.act(BACK)).runs["1"]
    assert (run.status, run.result) == (
        "failed",
        "a second opinion: its milestone is not reached: it is back",
    )


async def test_a_loop_that_is_broken_off_is_no_success_where_a_milestone_is_not_reached() -> None:
    stage = Stage(tool=[search("dana")] * 3, settings=AS_PLANNED)
    assert (await stage.act(BACK)).runs["1"].status == "failed"


async def test_without_the_tool_gate_nobody_is_asked() -> None:
    script: Script = [search("dana", score=None), done(score=None)]
    stage = Stage(tool=script, settings=AS_PLANNED.without(["tool-gate"]))
    assert (await stage.act(BACK)).runs["1"].status == "succeeded"


async def test_an_effect_that_failed_for_good_is_asked_about() -> None:
    @tool(effect="changes")
    async def return_loan(loan_id: str) -> str:
        """Return a loan."""
        raise ToolError("the desk is closed")

    replies: list[Any] = [call(f'return_loan(loan_id="{DANA}")'), done("closed"), NO, done("closed"), NO]
    stage = Stage(
        task=f"Return {DANA}",
        tools=[from_function(return_loan, source="tests")],
        tool=replies,
        settings=AS_PLANNED,
    )
    assert (await stage.act(BACK)).runs["1"].status == "failed"
