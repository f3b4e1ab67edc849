"""Workflows from plan trees, by the paper's own case, and as files from others."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from plait.errors import UserError
from plait.experience.consolidation.workflow import (
    MAXIMUM_CHARACTERS,
    MAXIMUM_STEPS,
    Workflow,
    WorkflowStep,
    tools_of,
    workflows,
)
from plait.experience.investigation.tree import Goal, GoalStatus, Step


def goal(text: str, status: GoalStatus = "succeeded", *subgoals: Goal, tools: str = "", **more: Any) -> Goal:
    """A goal, with its id for its text; of `tools`, those with a `!` failed."""
    steps = [
        Step(tool=name.rstrip("!"), arguments={}, observation="", ok=not name.endswith("!"), effect=False)
        for name in tools.split()
    ]
    return Goal(id=text, text=text, status=status, subgoals=subgoals, steps=steps, **more)


def lines(root: Goal) -> dict[str, list[str]]:
    """Return the workflows of a tree: goal to the goals of its steps."""
    return {workflow.goal: [step.goal for step in workflow.steps] for workflow in workflows(root)}


def test_the_papers_own_case_gives_the_papers_own_workflows() -> None:
    """ICE, section 4.3 and figure 4: subgoal 2 was split into 2.1, which failed, then 2.2 and 2.3 came."""
    second = goal("2", "succeeded", goal("2.1", "failed"), goal("2.2"), goal("2.3"))
    root = goal("blog post", "succeeded", goal("1"), second, goal("3"))
    assert lines(root) == {"blog post": ["1", "2.2", "2.3", "3"], "2": ["2.2", "2.3"]}


def test_an_attempt_that_others_stand_for_is_pruned_and_what_was_added_is_a_step() -> None:
    root = goal("root", "succeeded", goal("1", "failed", tools="read"), goal("1a"), goal("1b"), goal("2"))
    assert lines(root) == {"root": ["1a", "1b", "2"]}


def test_a_task_that_was_split_itself_is_told_once() -> None:
    split = goal("task", "succeeded", goal("a"), goal("b"), tools="read")
    assert [workflow.goal for workflow in workflows(goal("task", "succeeded", split))] == ["task"]
    both = goal("task", "succeeded", split, goal("c"))
    assert len(workflows(both)) == 2


def test_a_failed_subgoal_is_pruned_with_all_below_it() -> None:
    failed = goal("1", "failed", goal("1-1"), goal("1-2", "succeeded", goal("1-2-1")))
    root = goal("root", "succeeded", failed, goal("2"))
    assert lines(root) == {"root": ["2"], "1-2": ["1-2-1"]}


@pytest.mark.parametrize("status", ["todo", "doing", "failed", "skipped"])
def test_a_goal_that_was_not_reached_has_no_workflow_and_a_leaf_that_was_not_is_no_step(
    status: GoalStatus,
) -> None:
    assert workflows(goal("root", status, goal("1"))) == []
    assert lines(goal("root", "succeeded", goal("1", status), goal("2"))) == {"root": ["2"]}
    assert workflows(goal("root", "succeeded", goal("1", status))) == []


def test_a_task_that_was_never_split_has_no_workflow() -> None:
    assert workflows(goal("root")) == []


def test_a_step_has_its_milestone_and_the_tools_that_worked_each_once() -> None:
    leaf = goal("1", tools="find find! read! find send read!", milestone="it is sent")
    (workflow,) = workflows(goal("root", "succeeded", leaf))
    assert workflow.steps == (WorkflowStep(goal="1", milestone="it is sent", tools=("find", "send")),)


def test_the_tools_of_a_split_goal_are_those_of_its_workflow() -> None:
    root = goal(
        "root",
        "succeeded",
        goal("1", tools="find send"),
        goal("2", "failed", tools="burn"),
        goal("3", tools="send check"),
    )
    assert tools_of(root) == ["find", "send", "check"]
    assert tools_of(root.subgoals[1]) == ["burn"]


def test_what_is_learned_can_always_be_read_again() -> None:
    document = "broken \ud800\0 " + "word " * MAXIMUM_CHARACTERS
    leaf = goal(document, tools=" ".join(f"tool_{n}" for n in range(MAXIMUM_STEPS + 1)), milestone=document)
    (workflow,) = workflows(goal(document, "succeeded", leaf))
    assert workflow.goal.startswith("broken ?\ufffd word word")
    assert workflow.goal.endswith("…")
    assert Workflow.from_json(json.loads(json.dumps(workflow.as_json()))) == workflow


def test_a_line_that_is_too_long_for_a_reference_is_no_workflow() -> None:
    leaves = [goal(str(number)) for number in range(MAXIMUM_STEPS + 1)]
    assert workflows(goal("root", "succeeded", *leaves)) == []
    assert len(lines(goal("root", "succeeded", *leaves[1:]))["root"]) == MAXIMUM_STEPS


GOOD: Mapping[str, Any] = {"goal": "root", "steps": [{"goal": "1", "milestone": "", "tools": ["find"]}]}


def test_a_file_may_leave_out_what_has_a_default_and_say_more() -> None:
    read = Workflow.from_json({"goal": "root", "steps": [{"goal": "1", "colour": "red"}], "version": 2})
    assert read == Workflow(goal="root", steps=(WorkflowStep(goal="1"),))


def changed(**fields: Any) -> Any:
    return {**GOOD, **fields}


def stepped(**fields: Any) -> Any:
    return changed(steps=[{"goal": "1", **fields}])


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ([], r"the workflow must be an object, not \[\]"),
        (None, "the workflow must be an object, not None"),
        ({"steps": [{"goal": "1"}]}, "its goal must be a text, not None"),
        (changed(goal=" \n"), r"its goal must be a text, not ' \\n'"),
        (
            changed(goal="x" * (MAXIMUM_CHARACTERS + 1)),
            "its goal must be of 2000 characters at most, not 2001",
        ),
        (changed(goal="a\0b"), "its goal must be a text of whole characters"),
        (changed(goal="a\ud800"), r"its goal must be a text of whole characters, not 'a\\ud800'"),
        ({"goal": "root"}, "its steps must be a list, not None"),
        (changed(steps={"1": {}}), "its steps must be a list"),
        (changed(steps="1"), "its steps must be a list"),
        (changed(steps=[]), "its steps must be 1 to 64, not 0"),
        (changed(steps=[{"goal": "1"}] * 65), "its steps must be 1 to 64, not 65"),
        (changed(steps=[{"goal": "1"}, 7]), "step 2 must be an object, not 7"),
        (stepped(goal=True), "the goal of step 1 must be a text, not True"),
        (stepped(milestone=["x"]), r"the milestone of step 1 must be a text, not \['x'\]"),
        (stepped(milestone="x" * 2_001), "the milestone of step 1 must be of 2000 characters at most"),
        (stepped(tools="find"), "the tools of step 1 must be a list, not 'find'"),
        (stepped(tools=["t"] * 65), "the tools of step 1 must be 0 to 64, not 65"),
        (stepped(tools=["find", ""]), "a tool of step 1 must be a text, not ''"),
        (stepped(tools=[{"n": "x" * 5_000}]), "a tool of step 1 must be a text, not "),
    ],
)
def test_what_is_no_workflow_is_refused_in_one_short_line(value: Any, wrong: str) -> None:
    with pytest.raises(UserError, match=wrong) as refused:
        Workflow.from_json(value)
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 200
