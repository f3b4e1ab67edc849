"""The plan-and-execute baseline: a plan, a loop for each step, and a replanner after each."""

import pytest
from tests.support.desk import LOST, READ, REFUSED, TASK, Desk, add, done, killed_and_resumed, work
from tests.support.gbnf import accepts
from tests.support.memory_journal import Memory, MemoryJournal

from plait.bench.baselines.plan_execute import PLAN_STEPS, REPLANNINGS, STEP_REPLIES, plan_execute
from plait.errors import BudgetExhausted, ReplyError
from plait.events import Gated, Noted, PlanMade
from plait.models.budget import Limits
from plait.models.protocol import Grammar, Request
from plait.models.scripted import ScriptedModel

PLAN = "1. Note the bread\n2. Note the milk"
BREAD = [add("bread"), done("Bread is note 1.")]
MILK = [add("milk"), done("Milk is note 2.")]
REST = "1. Note the milk"
ANSWER = "answer: Both are noted."
SOLVED = [PLAN, *BREAD, REST, *MILK, ANSWER]


def goals(memory: Memory) -> list[list[str]]:
    return [[str(step["goal"]) for step in plan.subtasks] for plan in memory.of(PlanMade)]


def last(request: Request) -> str:
    return request.messages[-1].content


def takes(request: Request, reply: str) -> bool:
    assert isinstance(request.form, Grammar)
    return accepts(request.form.gbnf, reply)


async def test_each_step_sees_what_came_out_of_those_before_and_the_replanner_answers() -> None:
    memory, desk = Memory(), Desk()
    async with ScriptedModel(SOLVED) as model:
        assert await plan_execute(MemoryJournal(memory), work(model, desk)) == "Both are noted."
        planning, _, _, first, second, _, final = model.requests
    assert desk.notes == ["bread", "milk"]
    assert goals(memory) == [["Note the bread", "Note the milk"]]
    assert [event.role for event in memory.of(Gated)] == [
        "planner",
        *["executor"] * 2,
        "replanner",
        *["executor"] * 2,
        "replanner",
    ]
    assert TASK in last(planning)
    assert takes(planning, PLAN)
    assert not takes(planning, ANSWER)
    assert "1. Note the milk" in last(first)
    assert takes(first, ANSWER)
    assert takes(first, REST)
    for request in (second, final):
        assert "result: Bread is note 1." in last(request)
        assert 'took effect: add_note(text="bread")' in last(request)
    assert "left:\nnone" in last(final)


async def test_the_replanner_may_answer_before_the_plan_is_through() -> None:
    desk = Desk()
    async with ScriptedModel([PLAN, *BREAD, "**Answer:** bread\n1. and nothing else"]) as model:
        answer = await plan_execute(MemoryJournal(Memory()), work(model, desk))
    assert answer == "bread\n1. and nothing else"
    assert desk.notes == ["bread"]


async def test_the_replanner_may_revise_what_is_left() -> None:
    memory, desk = Memory(), Desk()
    revised = "1. Read the notes\n2. Note the cheese"
    script = [PLAN, *BREAD, revised, READ, done("bread"), "1. Note the cheese", add("cheese"), done("3.")]
    async with ScriptedModel([*script, "answer: Done."]) as model:
        assert await plan_execute(MemoryJournal(memory), work(model, desk)) == "Done."
    assert (desk.notes, desk.looks) == (["bread", "cheese"], 1)
    assert goals(memory) == [["Note the bread", "Note the milk"], ["Read the notes", "Note the cheese"]]
    assert [plan.round for plan in memory.of(PlanMade)] == [1, 2]


async def test_after_the_third_revision_the_plan_is_carried_out_and_only_an_answer_is_taken() -> None:
    memory = Memory()
    revisions = [
        reply
        for number in range(1, REPLANNINGS + 1)
        for reply in (done("-"), f"1. Try {number}\n2. Try {number} again")
    ]
    ending = [done("-"), done("-"), "1. Once more", "answer: Enough."]
    async with ScriptedModel([REST, *revisions, *ending]) as model:
        assert await plan_execute(MemoryJournal(memory), work(model, Desk())) == "Enough."
        final = model.requests[-2]
    assert REPLANNINGS == 3
    assert [event.role for event in memory.of(Gated)][-4:] == [
        "executor",
        "executor",
        "replanner",
        "replanner",
    ]
    assert len(memory.of(PlanMade)) == 1 + REPLANNINGS
    assert takes(final, "answer: Enough.")
    assert not takes(final, "1. Once more")


async def test_a_replanner_that_never_answers_ends_it() -> None:
    revisions = [reply for number in range(REPLANNINGS) for reply in (done("-"), f"1. Try {number}")]
    async with ScriptedModel([REST, *revisions, done("-"), *["1. Once more"] * 3]) as model:
        with pytest.raises(ReplyError, match="replanner"):
            await plan_execute(MemoryJournal(Memory()), work(model, Desk()))


async def test_a_plan_of_more_than_eight_steps_is_cut() -> None:
    memory = Memory()
    long = "\n".join(f"{number}. Note thing {number}" for number in range(1, 13))
    async with ScriptedModel([f"The plan:\n{long}", done("-"), "answer: One is enough."]) as model:
        assert await plan_execute(MemoryJournal(memory), work(model, Desk())) == "One is enough."
        shown = last(model.requests[2])
        assert takes(model.requests[0], "\n".join(f"{number}. It" for number in range(1, PLAN_STEPS + 1)))
        assert not takes(model.requests[0], "1. It\n" * PLAN_STEPS + "2. It")
    assert PLAN_STEPS == 8
    assert goals(memory) == [[f"Note thing {number}" for number in range(1, 9)]]
    assert "7. Note thing 8" in shown
    assert "Note thing 9" not in shown


async def test_without_a_plan_the_task_itself_is_the_one_step() -> None:
    memory = Memory()
    async with ScriptedModel(["", "I plan nothing.", "1.", *BREAD, ANSWER]) as model:
        assert await plan_execute(MemoryJournal(memory), work(model, Desk())) == "Both are noted."
        assert "numbered lines" in last(model.requests[1])
    assert goals(memory) == [[TASK]]
    [noted] = memory.of(Noted)
    assert noted.text.endswith("the task itself is the plan")


async def test_a_step_that_does_not_end_is_stopped_and_told_to_the_replanner() -> None:
    desk = Desk()
    steps = [reply for number in range(STEP_REPLIES // 2) for reply in (READ, add(f"note {number}"))]
    async with ScriptedModel([REST, *steps, "answer: Too much."]) as model:
        assert await plan_execute(MemoryJournal(Memory()), work(model, desk)) == "Too much."
        shown = last(model.requests[-1])
    assert f"not finished after {STEP_REPLIES} calls" in shown
    assert '-> <result>white note 4 is written</result>\n   took effect: add_note(text="note 0")' in shown


async def test_what_took_effect_is_told_and_what_may_have_but_not_what_failed() -> None:
    async with ScriptedModel([REST, add(LOST), add(REFUSED), done("Lost."), "answer: Lost."]) as model:
        await plan_execute(MemoryJournal(Memory()), work(model, Desk()))
        shown = last(model.requests[-1])
    assert f'took effect: add_note(text="{LOST}") (may have taken effect)' in shown
    assert REFUSED not in shown


@pytest.mark.parametrize("calls", range(1, len(SOLVED)))
async def test_the_budget_ends_it_at_any_reply(calls: int) -> None:
    async with ScriptedModel(SOLVED[:calls]) as model:
        with pytest.raises(BudgetExhausted):
            await plan_execute(MemoryJournal(Memory()), work(model, Desk(), Limits(calls=calls)))


@pytest.mark.parametrize("kill_at", range(len(SOLVED)))
async def test_killed_at_any_reply_it_resumes_and_replays_without_a_call_made_twice(kill_at: int) -> None:
    answer, desk = await killed_and_resumed(plan_execute, SOLVED, kill_at)
    assert (answer, desk.notes) == ("Both are noted.", ["bread", "milk"])
