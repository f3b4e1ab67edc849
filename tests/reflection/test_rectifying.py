"""What becomes of a plan where a leaf fails: every operation, every bound, and what is asked and seen."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.reflection.crew import (
    AS_PLANNED,
    DANA,
    MIRA,
    OMAR,
    Stage,
    answer,
    at,
    done,
    give_back,
    plan,
    search,
)

from plait.agents.gate import GateSettings
from plait.events import Noted, PlanRectified, SubtaskStarted
from plait.models.protocol import Request
from plait.models.scripted import Answer, ScriptStep
from plait.reflection.settings import ReflectionSettings
from plait.reflection.trajectory import Effects, Trajectory

FAILS: Sequence[Answer] = ("?", "?!", "?!?")
"""An agent that gives no call: its leaf fails after three replies."""
NOT_DONE = ScriptStep("no", when="A colleague was asked")
SPLIT = plan("split", "1. Find that of dana", "2. Return that of dana")


def failing(subtask: int | str) -> list[Any]:
    return [at(subtask, reply) for reply in FAILS]


def statuses(trajectory: Trajectory) -> Mapping[str, str]:
    return {id: run.status for id, run in trajectory.runs.items()}


def operations(stage: Stage) -> list[tuple[str, str]]:
    return [(event.subtask, event.operation) for event in stage.memory.of(PlanRectified)]


async def test_a_leaf_that_failed_is_split_and_its_parts_reach_it() -> None:
    stage = Stage(
        planner=[SPLIT],
        tool=[
            *failing(1),
            at("1-1", search("dana")),
            at("1-1", done("found")),
            at("1-2", give_back(DANA)),
            at("1-2", done()),
            at(2, done()),
        ],
    )
    trajectory = await stage.act("1. Bring back that of dana", "2. Tell omar")
    assert statuses(trajectory) == {"1": "split", "1-1": "succeeded", "1-2": "succeeded", "2": "succeeded"}
    assert not trajectory.failed
    assert stage.calls == ["search dana", f"return {DANA}"]
    assert stage.memory.of(PlanRectified) == [
        PlanRectified(
            subtask="1",
            operation="split",
            subtasks=[
                {"id": "1-1", "goal": "Find that of dana", "depends_on": []},
                {"id": "1-2", "goal": "Return that of dana", "depends_on": ["1-1"]},
            ],
            deleted=[],
        )
    ]
    # What depended on the failed leaf waits for its parts, and sees what they found.
    [last] = [prompt for prompt in stage.prompts("tool") if "subtask 2]" in prompt]
    assert f"loan_id {DANA} of dana" in last
    assert [event.id for event in stage.memory.of(SubtaskStarted)] == ["1", "1-1", "1-2", "2"]


async def test_what_must_come_first_is_added_before_and_the_leaf_is_tried_again() -> None:
    stage = Stage(
        planner=[plan("add before", "1. Find that of dana => its id is known")],
        tool=[
            *failing(1),
            at("1a", search("dana")),
            at("1a", done("found")),
            at("1b", give_back(DANA)),
            at("1b", done()),
        ],
    )
    trajectory = await stage.act("1. Return that of dana")
    assert statuses(trajectory) == {"1": "failed", "1a": "succeeded", "1b": "succeeded"}
    assert not trajectory.failed
    [event] = stage.memory.of(PlanRectified)
    assert event.subtasks == [
        {"id": "1a", "goal": "Find that of dana", "depends_on": [], "milestone": "its id is known"},
        {"id": "1b", "goal": "Return that of dana", "depends_on": ["1a"]},
    ]
    assert f"loan_id {DANA}" in stage.prompts("tool")[5]


async def test_another_way_is_added_after_and_takes_the_place_of_the_leaf() -> None:
    stage = Stage(
        planner=[plan("add after", "1. Look for omar instead")],
        tool=[*failing(1), at("1a", search("omar")), at("1a", done()), at(2, done())],
    )
    trajectory = await stage.act("1. Look for dana", "2. Tell mira")
    assert statuses(trajectory) == {"1": "failed", "1a": "succeeded", "2": "succeeded"}
    assert not trajectory.failed


async def test_what_fails_and_is_not_needed_is_deleted_and_the_rest_goes_on() -> None:
    stage = Stage(planner=[plan("delete 2")], tool=[at(1, done()), *failing(2), at(3, done())])
    trajectory = await stage.act("1. Look", "2. Look once more", "3. Tell")
    assert statuses(trajectory) == {"1": "succeeded", "3": "succeeded"}
    assert not trajectory.failed
    assert stage.memory.of(PlanRectified)[0].deleted == ["2"]
    # The plan as it is: the deleted line is gone from what the next leaf is told.
    assert "2. Look once more" not in stage.prompts("tool")[-1]


async def test_a_leaf_that_waits_can_be_deleted_and_the_failed_one_is_given_up() -> None:
    stage = Stage(planner=[plan("delete 2")], tool=[at(1, search("dana")), *failing(1)])
    trajectory = await stage.act("1. Look", "2. Tell (after 1)", "3. Ask (after 2)")
    assert statuses(trajectory) == {"1": "failed", "3": "skipped"}
    assert trajectory.failed


async def test_what_changed_the_world_cannot_be_deleted() -> None:
    spoilt = plan("delete 1"), plan("give up")
    stage = Stage(
        planner=spoilt,
        tool=[search("dana"), give_back(DANA), *FAILS, "no"],
    )
    trajectory = await stage.act("1. Return that of dana", "2. Tell (after 1)")
    assert statuses(trajectory) == {"1": "failed", "2": "skipped"}
    assert "only these can be deleted: 2" in stage.prompts("planner")[1]


async def test_a_leaf_that_is_given_up_leaves_the_others_to_go_on() -> None:
    stage = Stage(planner=[plan("give up")], tool=[*failing(1), at(2, done())])
    trajectory = await stage.act("1. Look", "2. Tell (independent)", "3. Ask (after 1)")
    assert statuses(trajectory) == {"1": "failed", "2": "succeeded", "3": "skipped"}
    assert trajectory.failed
    assert operations(stage) == [("1", "give_up")]


async def test_where_no_reply_can_be_used_the_leaf_is_given_up() -> None:
    stage = Stage(planner=["as you like", plan("split", "1. Only one")], tool=[*FAILS])
    trajectory = await stage.act("1. Look")
    assert statuses(trajectory) == {"1": "failed"}
    assert operations(stage) == [("1", "give_up")]
    assert "given up" in stage.memory.of(Noted)[0].text
    assert (
        "the first line must be one of: split, add before, add after, give up" in stage.prompts("planner")[1]
    )


async def test_the_planner_sees_the_plan_what_was_tried_and_what_was_changed() -> None:
    stage = Stage(
        planner=[plan("give up")],
        tool=[
            at(1, search("omar")),
            at(1, done("found omar")),
            at(2, search("dana")),
            at(2, give_back(DANA)),
            *failing(2),
            NOT_DONE,
            at(4, done()),
        ],
    )
    await stage.act(
        "1. Find omar", "2. Return those of dana (independent)", "3. Tell (after 2)", "4. Ask (independent)"
    )
    [prompt] = stage.prompts("planner")
    for line in (
        "1. Find omar\n",
        "2. Return those of dana (failed)",
        "3. Tell (todo)",
        "4. Ask\n",
    ):
        assert line in prompt
    assert f"loan_id {DANA} of dana" in prompt
    assert f'Changed, and stays so: return_loan(loan_id="{DANA}")' in prompt
    assert OMAR not in prompt
    assert prompt.endswith("Failed: 2. Return those of dana")


async def test_what_a_failed_leaf_changed_is_not_done_again_by_its_parts() -> None:
    stage = Stage(
        planner=[SPLIT],
        tool=[
            *(at(1, reply) for reply in (search("dana"), give_back(DANA), *FAILS)),
            NOT_DONE,
            at("1-1", search("dana")),
            at("1-1", done()),
            at("1-2", give_back(DANA)),
            at("1-2", done("it was returned before")),
        ],
    )
    effects = Effects()
    trajectory = await stage.act("1. Return those of dana and omar", effects=effects)
    assert not trajectory.failed
    assert stage.calls.count(f"return {DANA}") == 1
    assert [step.call for step in effects.done] == [f'return_loan(loan_id="{DANA}")']


async def test_parts_are_not_shown_the_failed_calls_of_what_they_stand_for() -> None:
    stage = Stage(
        planner=[SPLIT],
        tool=[
            *(at(1, reply) for reply in (search("lena"), search("dana"), *FAILS)),
            *(at("1-1", reply) for reply in (done(),)),
            *(at("1-2", reply) for reply in (done(),)),
        ],
    )
    await stage.act("1. Return those of dana and lena")
    first = next(prompt for prompt in stage.prompts("tool") if "subtask 1-1]" in prompt)
    assert f"loan_id {DANA} of dana" in first
    assert "the card of lena is blocked" not in first
    assert "1-2. Return that of dana" in first
    assert "1. Return those of dana and lena" not in first


async def test_what_was_reached_by_parts_is_gone_on_from_in_the_next_round() -> None:
    stage = Stage(
        planner=[plan("1. Bring back that of dana"), SPLIT, plan("1. Bring back that of dana")],
        tool=[
            *failing(1),
            *(at("1-1", reply) for reply in (search("dana"), done())),
            *(at("1-2", reply) for reply in (give_back(DANA), done())),
            "no",
            at(1, done("it was done")),
        ],
        answer=[answer("Hm.", score=3), answer("It is returned.")],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 2)
    assert stage.calls == ["search dana", f"return {DANA}"]
    assert f'return_loan(loan_id="{DANA}")' in stage.prompts("tool")[-1]


# Bounds.


async def test_a_round_is_rectified_at_most_as_often_as_set() -> None:
    more = [plan("add after", "1. Look there"), plan("add after", "1. Look elsewhere")]
    for limit in (0, 1, 2):
        settings = replace(ReflectionSettings(), rectifications=limit)
        ids = ["1", "1a", "1aa"][: limit + 1]
        stage = Stage(planner=more[:limit], tool=[x for id in ids for x in failing(id)], settings=settings)
        trajectory = await stage.act("1. Look")
        assert statuses(trajectory) == dict.fromkeys(ids, "failed")
        assert trajectory.failed
        assert len(operations(stage)) == limit


async def test_without_rectification_a_failed_leaf_costs_no_call() -> None:
    stage = Stage(tool=[*FAILS], settings=AS_PLANNED)
    trajectory = await stage.act("1. Look", "2. Tell")
    assert statuses(trajectory) == {"1": "failed", "2": "skipped"}
    assert stage.memory.of(PlanRectified) == []


async def test_which_leaf_takes_the_last_rectification_follows_the_plan_and_not_the_clock() -> None:
    second_failed = asyncio.Event()

    async def late(_: Request) -> str:
        await second_failed.wait()
        return "?"

    def last_of_second(_: Request) -> str:
        second_failed.set()
        return "?!?"

    stage = Stage(
        planner=[plan("add after", "1. Look there")],
        tool=[
            *(at(1, reply) for reply in (late, "?!", "?!?")),
            *(at(2, reply) for reply in ("?", "?!", last_of_second)),
            at("1a", done()),
        ],
        settings=replace(ReflectionSettings(), rectifications=1),
    )
    trajectory = await stage.act("1. Look", "2. Ask (independent)")
    assert statuses(trajectory) == {"1": "failed", "1a": "succeeded", "2": "failed"}
    assert operations(stage) == [("1", "add")]


async def test_the_same_rectification_is_never_made_again_in_any_round() -> None:
    other = plan("add after", "1. Look there")
    stage = Stage(
        planner=[plan("1. Look"), other, plan("give up"), plan("1. Look"), other, plan("give up")],
        tool=[*failing(1), *failing("1a"), *failing(1)],
        answer=[answer("No.")],
        settings=ReflectionSettings(rounds=2),
    )
    await stage.solve()
    assert operations(stage) == [("1", "add"), ("1a", "give_up"), ("1", "give_up")]
    assert "tried already" in stage.prompts("planner")[-1]


async def test_a_goal_that_failed_is_not_planned_again_as_a_part_of_itself() -> None:
    again = plan("split", "1. Look", "2. Tell")
    stage = Stage(planner=[again, again], tool=[*FAILS])
    await stage.act("1. Look")
    assert operations(stage) == [("1", "give_up")]
    assert "the plan has this line already: Look" in stage.prompts("planner")[1]


async def test_no_more_than_eight_leaves_are_added_to_a_plan() -> None:
    def parts(*goals: str) -> str:
        return plan("split", *(f"{n}. {goal} (independent)" for n, goal in enumerate(goals, start=1)))

    first, second = parts("a", "b", "c", "d"), parts("e", "f", "g", "h")
    stage = Stage(
        planner=[first, second],
        tool=[*failing(1), *failing("1-1"), *failing("1-1-1"), *(at(f"1-{n}", done()) for n in (2, 3, 4))]
        + [at(f"1-1-{n}", done()) for n in (2, 3, 4)],
        settings=replace(ReflectionSettings(), rectifications=9),
    )
    trajectory = await stage.act("1. Look")
    assert len(trajectory.runs) == 9
    assert operations(stage) == [("1", "split"), ("1-1", "split")]


async def test_leaves_at_the_third_level_are_not_split() -> None:
    deeper = [plan("split", f"1. a{n}", f"2. b{n}") for n in (1, 2)]
    stage = Stage(
        planner=[*deeper, plan("split", "1. a3", "2. b3"), plan("give up")],
        tool=[*failing(1), *failing("1-1"), *failing("1-1-1")],
        settings=replace(ReflectionSettings(), rectifications=9),
    )
    await stage.act("1. Look")
    assert operations(stage) == [("1", "split"), ("1-1", "split"), ("1-1-1", "give_up")]
    assert "must be one of: add before" in stage.prompts("planner")[-1]


# The gate.


async def test_a_weak_rectification_is_revised_once_and_then_the_best_one_counts() -> None:
    weak = plan("add after", "1. Look there", score=3, critique="too vague")
    better = plan("add after", "1. Look in the shelf", score=5)
    stage = Stage(planner=[weak, better], tool=[*FAILS, done()])
    trajectory = await stage.act("1. Look")
    assert trajectory.runs["1a"].subtask.goal == "Look in the shelf"
    assert "too vague" in stage.prompts("planner")[1]


async def test_without_the_planners_gate_it_is_asked_for_no_score_and_what_is_plainly_wrong_stays_out() -> (
    None
):
    settings = replace(ReflectionSettings(), planner=GateSettings(threshold=9, enabled=False))
    first = plan("add after", "1. Look", score=None)
    stage = Stage(planner=[first, plan("give up", score=None)], tool=[*FAILS], settings=settings)
    await stage.act("1. Look")
    assert operations(stage) == [("1", "give_up")]
    assert "# score" not in stage.prompts("planner")[0].split("# Task")[0]


async def test_a_line_of_the_prompts_example_and_a_lost_number_go_back() -> None:
    copied = plan("split", "1. Extend the loan of lena by a week", "2. Look for 7")
    lost = plan("split", "1. Find it", "2. Return it")
    stage = Stage(planner=[copied, lost], tool=[*FAILS, done(), done()], task="Return loan 7")
    trajectory = await stage.act("1. Return loan 7")
    assert "is from the example" in stage.prompts("planner")[1]
    # Lost numbers are told, and let through where the tries are used up.
    assert statuses(trajectory) == {"1": "split", "1-1": "succeeded", "1-2": "succeeded"}


async def test_what_would_lose_a_number_of_the_task_is_not_deleted() -> None:
    lose = plan("delete 1")
    stage = Stage(planner=[lose, lose], tool=[*failing(1), at(2, done())], task="Return loan 7 and tell mira")
    trajectory = await stage.act("1. Return loan 7", "2. Tell mira (independent)")
    assert statuses(trajectory) == {"1": "failed", "2": "succeeded"}
    assert "lose these numbers of the task: 7" in stage.prompts("planner")[1]


async def test_the_happy_path_asks_nothing_more() -> None:
    stage = Stage(
        planner=[plan("1. Return that of dana")],
        tool=[search("dana"), give_back(DANA), done()],
        answer=[answer("It is returned.")],
    )
    await stage.solve()
    assert sum(len(stage.prompts(role)) for role in stage.models) == 5


async def test_effects_of_parts_keep_the_plans_order() -> None:
    stage = Stage(
        planner=[plan("split", "1. Find that of dana", "2. Give back that of dana")],
        tool=[
            *failing(1),
            *(at(2, reply) for reply in (search("omar"), give_back(OMAR), done())),
            *(at("1-1", reply) for reply in (search("dana"), done())),
            *(at("1-2", reply) for reply in (give_back(DANA), done())),
            *(at(3, reply) for reply in (search("mira"), give_back(MIRA), done())),
        ],
    )
    await stage.act(
        "1. Return that of dana", "2. Return that of omar (independent)", "3. Return that of mira"
    )
    effects = [call for call in stage.calls if call.startswith("return")]
    assert effects == [f"return {DANA}", f"return {OMAR}", f"return {MIRA}"]
