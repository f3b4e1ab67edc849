"""The planner over a script: plans pass its gate, broken ones go back with the reason."""

import pytest
from tests.reflection.crew import DEFAULT, TASK, Script, Stage, plan
from tests.support.gbnf import accepts

from plait.agents.gate import GateSettings
from plait.events import Noted, PlanMade
from plait.models.protocol import Grammar
from plait.reflection.plan import Plan
from plait.reflection.planner import make_plan
from plait.reflection.settings import ReflectionSettings


async def planned(stage: Stage, lessons: tuple[str, ...] = ()) -> Plan:
    made = (await make_plan(stage.journal, stage.crew, lessons, 1)).output
    stage.assert_done()
    return made


def staged(planner: Script, settings: ReflectionSettings = DEFAULT) -> Stage:
    return Stage(planner=planner, settings=settings)


async def test_a_plan_that_passes_costs_one_call_and_is_logged() -> None:
    stage = staged([plan("1. Find the loans of dana", "2. Return them")])
    made = await planned(stage)
    assert [subtask.goal for subtask in made.subtasks] == ["Find the loans of dana", "Return them"]
    assert stage.memory.of(PlanMade) == [PlanMade(round=1, subtasks=made.as_json())]
    assert len(stage.prompts("planner")) == 1


async def test_the_planner_sees_the_task_and_the_tools() -> None:
    stage = staged([plan("1. Return the loans")])
    await planned(stage)
    [prompt] = stage.prompts("planner")
    assert TASK in prompt
    assert "search_loans(who: str)" in prompt
    assert "return_loan(loan_id: str)" in prompt


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (plan("1. find (after 2)", "2. tell (after 1)"), "circle"),
        (plan("1. find (after 9)"), "after 9, which is no subtask"),
        (plan("1. find", "1. tell"), "two subtasks have the number 1"),
        (plan(*(f"{n}. part {n}" for n in range(1, 10))), "9 subtasks, 8 at most"),
        (plan("I would find it."), "no subtask"),
        ("", "no subtask"),
    ],
)
async def test_a_broken_plan_goes_back_with_the_reason_whatever_its_score(broken: str, reason: str) -> None:
    stage = staged([broken, plan("1. Return the loans")])
    assert len((await planned(stage)).subtasks) == 1
    assert reason not in stage.prompts("planner")[0]
    assert reason in stage.prompts("planner")[1]


async def test_a_weak_plan_is_revised_with_the_planners_own_critique() -> None:
    weak = plan("1. Return the loan of dana", score=6, critique="omar is forgotten")
    stage = staged([weak, plan("1. Return both loans", score=9)])
    assert [subtask.goal for subtask in (await planned(stage)).subtasks] == ["Return both loans"]
    assert "omar is forgotten" in stage.prompts("planner")[1]


@pytest.mark.parametrize(("score", "calls"), [(9, 1), (8, 2)])
async def test_the_planner_has_the_highest_threshold(score: int, calls: int) -> None:
    script = [plan("1. Return the loans", score=score), plan("1. Return all loans")]
    stage = staged(script[:calls])
    await planned(stage)
    assert len(stage.prompts("planner")) == calls


async def test_of_weak_plans_the_best_scored_is_used() -> None:
    stage = staged([plan("1. one", score=5), plan("1. two", score=7), plan("1. three", score=6)])
    assert [subtask.goal for subtask in (await planned(stage)).subtasks] == ["two"]


async def test_without_any_valid_plan_the_task_itself_is_the_plan() -> None:
    stage = staged([plan("a"), plan("b"), plan("c")])
    await planned(stage)
    [made] = stage.memory.of(PlanMade)
    assert [subtask["goal"] for subtask in made.subtasks] == [stage.crew.task]
    assert "3 tries" in stage.memory.of(Noted)[0].text


async def test_a_line_of_the_example_is_no_plan() -> None:
    copied = plan("1. Return the last book I borrowed on March 5")
    stage = staged([copied, plan("1. Return the loans")])
    await planned(stage)
    [made] = stage.memory.of(PlanMade)
    assert [subtask["goal"] for subtask in made.subtasks] == ["Return the loans"]
    assert "from the example" in stage.prompts("planner")[1]


async def test_a_plan_that_loses_a_number_is_asked_again_once() -> None:
    lost = plan("1. Return the loans")
    stage = Stage(task="Return the loans of 2019", planner=[lost, lost])
    await planned(stage)
    assert "2019" in stage.prompts("planner")[1].rpartition("What is wrong")[2]


async def test_lessons_of_earlier_rounds_are_shown() -> None:
    stage = staged([plan("1. Return the loans")])
    await planned(stage, lessons=("round one went wrong", "round two as well"))
    [prompt] = stage.prompts("planner")
    assert prompt.index("round one went wrong") < prompt.index("round two as well")


async def test_the_grammar_asks_for_remarks_only_where_there_is_a_gate() -> None:
    bare, remarked = "1. Return the loans", plan("1. Return the loans", score=9)
    gate = GateSettings(threshold=9)
    for enabled in (True, False):
        stage = staged(
            [remarked if enabled else bare],
            ReflectionSettings(planner=gate).without([] if enabled else ["planner-gate"]),
        )
        await planned(stage)
        form = stage.models["planner"].requests[0].form
        assert isinstance(form, Grammar)
        assert (accepts(form.gbnf, remarked), accepts(form.gbnf, bare)) == (enabled, not enabled)


async def test_a_task_of_one_thing_that_was_split_is_its_own_plan() -> None:
    split = plan("1. Find the loan of dana", "2. Return the loan of dana")
    stage = Stage(task="Return the loan of dana", planner=[split])
    assert [subtask.goal for subtask in (await planned(stage)).subtasks] == ["Return the loan of dana"]
    several = Stage(task="Return the loan of dana and tell her", planner=[split])
    assert len((await planned(several)).subtasks) == 2
    ungated = ReflectionSettings().without(["planner-gate"])
    bare = "1. Find the loan of dana\n2. Return the loan of dana"
    off = Stage(task="Return the loan of dana", planner=[bare], settings=ungated)
    assert len((await planned(off)).subtasks) == 2
