"""Rounds: when the next begins, what ends them, which answer is kept, and what the user's check does."""

from dataclasses import replace
from typing import Any

import pytest
from tests.reflection.crew import (
    AS_PLANNED,
    DANA,
    MIRA,
    OMAR,
    Stage,
    answer,
    call,
    done,
    give_back,
    plan,
    search,
)

from plait.errors import BudgetExhausted, ToolError
from plait.events import LoopBroken, Noted, RoundFinished, RoundStarted
from plait.models.scripted import Answer
from plait.reflection.settings import ReflectionSettings
from plait.tools.functions import from_function, tool
from plait.verdict import Check, Verdict


def oracle(*right: str) -> Check:
    async def check(text: str) -> Verdict:
        return Verdict(right=text in right, output="the oracle has spoken")

    return check


def goals(count: int) -> list[Answer]:
    """One-line plans that differ from round to round."""
    return [plan(f"1. Way {number}") for number in range(1, count + 1)]


def rounds(stage: Stage) -> list[bool]:
    """For each round that began, whether it passed."""
    finished = stage.memory.of(RoundFinished)
    assert [event.round for event in stage.memory.of(RoundStarted)] == [event.round for event in finished]
    return [event.passed for event in finished]


async def test_a_task_can_pass_in_its_first_round() -> None:
    stage = Stage(
        planner=[plan("1. Return that of dana")],
        tool=[search("dana"), give_back(DANA), done()],
        answer=[answer("It is returned.", score=9)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 1)
    assert (progress.answer, progress.score) == ("It is returned.", 9)
    assert rounds(stage) == [True]
    assert stage.calls == ["search dana", f"return {DANA}"]


async def test_a_weak_answer_starts_a_second_round() -> None:
    stage = Stage(
        planner=goals(2),
        tool=[done(), done()],
        answer=[answer("Perhaps.", score=4), answer("Yes.", score=9)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 2, "Yes.")
    assert rounds(stage) == [False, True]


async def test_the_limit_of_rounds_ends_the_task_with_its_best_answer() -> None:
    stage = Stage(
        planner=goals(3),
        tool=[done()] * 3,
        answer=[answer("a", score=4), answer("b", score=7), answer("c", score=5)],
        settings=ReflectionSettings(rounds=3),
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (False, 3)
    assert (progress.answer, progress.score) == ("b", 7)


async def test_of_equally_scored_answers_the_later_is_kept() -> None:
    settings = ReflectionSettings(rounds=2)
    script = [answer("a", score=5), answer("b", score=5)]
    stage = Stage(planner=goals(2), tool=[done()] * 2, answer=script, settings=settings)
    assert (await stage.solve()).answer == "b"


async def test_a_failed_execution_starts_the_next_round_without_an_answer() -> None:
    stage = Stage(
        planner=goals(2),
        tool=["?", "?!", "?!?", done()],
        answer=[answer("Yes.")],
        settings=AS_PLANNED,
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 2)
    assert len(stage.prompts("answer")) == 1


async def test_in_the_last_round_a_failed_execution_is_answered_too_but_does_not_pass() -> None:
    stage = Stage(
        planner=goals(1),
        tool=["?", "?!", "?!?"],
        answer=[answer("I could not.", score=10)],
        settings=replace(AS_PLANNED, rounds=1),
    )
    progress = await stage.solve()
    assert (progress.passed, progress.answer) == (False, "I could not.")


async def test_without_any_plan_the_task_itself_is_worked_on() -> None:
    stage = Stage(planner=["a", "b", "c"], tool=[done()], answer=[answer("Yes.")])
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 1, "Yes.")


async def test_a_round_whose_answer_cannot_be_read_is_followed_by_another() -> None:
    stage = Stage(planner=goals(2), tool=[done()] * 2, answer=["", "", "", answer("Yes.")])
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 2, "Yes.")


async def test_rounds_that_go_as_one_before_are_stopped() -> None:
    stage = Stage(
        planner=[plan("1. The same way")] * 2, tool=[done()] * 2, answer=[answer("Perhaps.", score=4)] * 2
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (False, 2, "Perhaps.")
    assert [event.times for event in stage.memory.of(LoopBroken)] == [2]


async def test_a_loop_over_two_rounds_is_noticed_too() -> None:
    ways: list[Answer] = [plan("1. One way"), plan("1. Another way"), plan("1. One way")]
    stage = Stage(planner=ways, tool=[done()] * 3, answer=[answer("Perhaps.", score=4)] * 3)
    assert (await stage.solve()).rounds == 3


async def test_an_effect_of_the_first_round_is_not_done_again_in_the_second() -> None:
    stage = Stage(
        planner=goals(2),
        tool=[search("dana"), give_back(DANA), done(), search("dana"), give_back(DANA), done("done before")],
        answer=[answer("Perhaps.", score=4), answer("Yes.")],
    )
    await stage.solve()
    assert stage.calls.count(f"return {DANA}") == 1


async def test_the_users_check_overrules_a_good_score() -> None:
    stage = Stage(
        planner=goals(2),
        tool=[done()] * 2,
        answer=[answer("Wrong.", score=10), answer("Right.", score=8)],
        check=oracle("Right."),
    )
    progress = await stage.solve()
    assert (progress.passed, progress.answer, progress.score) == (True, "Right.", 8)
    assert rounds(stage) == [False, True]
    assert "the oracle has spoken" in stage.prompts("planner")[1]


async def test_a_check_that_is_never_content_fails_the_task() -> None:
    settings = ReflectionSettings(rounds=1)
    script = [answer("Wrong.", score=10)]
    stage = Stage(planner=goals(1), tool=[done()], answer=script, settings=settings, check=oracle())
    progress = await stage.solve()
    assert (progress.passed, progress.answer) == (False, "Wrong.")


async def test_a_check_is_asked_once_and_on_record() -> None:
    stage = Stage(planner=goals(1), tool=[done()], answer=[answer("Right.")], check=oracle("Right."))
    await stage.solve()
    assert stage.memory.results["run/round-1/check"] == {"right": True, "output": "the oracle has spoken"}


async def test_a_typed_answer_is_checked_as_json() -> None:
    seen: list[str] = []

    async def check(text: str) -> Verdict:
        seen.append(text)
        return Verdict(right=True, output="")

    reply = '{"output": {"answer": {"who": "Zoë"}}, "critique": "fine", "score": 9}'
    returns: dict[str, Any] = {
        "type": "object",
        "properties": {"who": {"type": "string"}},
        "required": ["who"],
    }
    stage = Stage(planner=goals(1), tool=[done()], answer=[reply], returns=returns, check=check)
    assert (await stage.solve()).answer == {"who": "Zoë"}
    assert seen == ['{"who": "Zoë"}']


@pytest.mark.parametrize("role", ["planner", "tool", "answer"])
async def test_a_budget_that_ends_keeps_the_best_answer_so_far(role: str) -> None:
    used_up = BudgetExhausted("used up", limit="calls")
    script: dict[str, Any] = {
        "planner": goals(2),
        "tool": [done(), done()],
        "answer": [answer("Perhaps.", score=4), answer("Yes.")],
    }
    script[role][1] = used_up
    later = {"planner": ["tool", "answer"], "tool": ["answer"], "answer": []}[role]
    for other in later:
        script[other].pop()
    stage = Stage(**script)
    with pytest.raises(BudgetExhausted):
        await stage.solve()
    stage.assert_done()
    assert (stage.progress.answer, stage.progress.passed, stage.progress.rounds) == ("Perhaps.", False, 2)


async def test_what_an_earlier_round_did_is_done_and_only_answered_anew_where_a_second_opinion_says_so() -> (
    None
):
    stage = Stage(
        planner=[plan("1. Return that of dana")] * 2,
        tool=[search("dana"), give_back(DANA), done(), "yes"],
        answer=[answer("Hm.", score=3), answer("It is returned.", score=9)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 2)
    assert stage.calls == ["search dana", f"return {DANA}"]
    assert DANA in stage.prompts("answer")[1]
    assert stage.endings == {"1": "succeeded"}


async def test_what_a_users_check_says_wrong_is_gone_on_with_and_not_taken_for_done() -> None:
    async def check(answer: str) -> Verdict:
        return Verdict(right="omar" in answer, output="that of omar was meant")

    stage = Stage(
        planner=[plan("1. Return the older loan")] * 2,
        tool=[search("dana"), give_back(DANA), done(), search("omar"), give_back(OMAR), done()],
        answer=[answer("That of dana is returned."), answer("That of omar is returned.")],
        check=check,
    )
    assert (await stage.solve()).rounds == 2
    assert stage.calls == ["search dana", f"return {DANA}", "search omar", f"return {OMAR}"]


async def test_without_its_gate_an_agent_goes_on_from_what_an_earlier_round_did_unasked() -> None:
    stage = Stage(
        planner=[plan("1. Return that of dana")] * 2,
        tool=[search("dana"), give_back(DANA), done(), done()],
        answer=[answer("Hm.", score=3), answer("It is returned.", score=9)],
        settings=ReflectionSettings().without(["tool-gate"]),
    )
    assert (await stage.solve()).rounds == 2
    assert stage.calls == ["search dana", f"return {DANA}"]


async def test_what_an_earlier_round_changed_is_gone_on_from_and_not_done_anew() -> None:
    stage = Stage(
        planner=[plan("1. Return that of dana")] * 2,
        tool=[search("dana"), give_back(DANA), done(), "no", done()],
        answer=[answer("Hm.", score=3), answer("It is returned.", score=9)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 2)
    assert stage.calls == ["search dana", f"return {DANA}"]
    assert f'return_loan(loan_id="{DANA}")' in stage.prompts("tool")[4]
    assert DANA in stage.prompts("answer")[1]
    assert stage.endings == {"1": "succeeded"}


async def test_what_an_earlier_round_left_half_done_is_finished() -> None:
    stage = Stage(
        planner=[plan("1. Return those of dana and omar")] * 2,
        tool=[search("dana"), give_back(DANA), done(), search("omar"), give_back(OMAR), done()],
        answer=[answer("That of omar is still open.", score=3), answer("Both are returned.", score=9)],
    )
    assert (await stage.solve()).passed
    assert stage.calls == ["search dana", f"return {DANA}", "search omar", f"return {OMAR}"]


async def test_what_an_earlier_round_only_looked_up_is_looked_up_again() -> None:
    stage = Stage(
        planner=[plan("1. Look for dana")] * 2,
        tool=[search("dana"), done(), search("dana"), done()],
        answer=[answer("Hm.", score=3), answer("There is one.", score=9)],
    )
    assert (await stage.solve()).passed
    assert len(stage.prompts("tool")) == 4


FOUND: list[Answer] = [search("dana"), done()]


async def test_a_round_that_learns_nothing_and_answers_no_better_is_the_last() -> None:
    stage = Stage(
        planner=[plan("1. Find that of dana"), plan("1. Look for that of dana")],
        tool=[*FOUND, *FOUND],
        answer=[answer("Perhaps.", score=4), answer("Hardly.", score=4)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (False, 2, "Hardly.")
    assert any("round 2 is the last" in event.text for event in stage.memory.of(Noted))
    assert stage.memory.of(LoopBroken) == []


async def test_a_round_that_answers_better_is_followed_by_another() -> None:
    stage = Stage(
        planner=[plan("1. Find that of dana"), plan("1. Look for that of dana"), plan("1. See that of dana")],
        tool=[*FOUND, *FOUND, *FOUND],
        answer=[answer("Perhaps.", score=4), answer("Likely.", score=5), answer("Yes.", score=9)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 3, "Yes.")


async def test_a_round_with_a_new_call_is_followed_by_another() -> None:
    stage = Stage(
        planner=[plan("1. Find that of dana"), plan("1. Find that of omar"), plan("1. Say it")],
        tool=[*FOUND, search("omar"), done(), done()],
        answer=[answer("Perhaps.", score=4), answer("Hardly.", score=4), answer("Yes.", score=9)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 3)


async def test_the_first_answer_is_better_than_none() -> None:
    stage = Stage(
        planner=[plan("1. Find that of dana")] * 3,
        tool=[search("dana"), "?", "?!", "?!?", *FOUND, *FOUND],
        answer=[answer("Perhaps.", score=0), answer("Yes.", score=9)],
        settings=AS_PLANNED,
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 3, "Yes.")


FOUND_IN_TURN: list[Answer] = [step for who in ("dana", "omar", "mira") for step in (search(who), done())]


async def test_two_rounds_in_a_row_that_bring_nothing_are_enough() -> None:
    stage = Stage(
        planner=goals(3),
        tool=FOUND_IN_TURN,
        answer=[answer("a", score=4), answer("b", score=4), answer("c", score=3)],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (False, 3, "b")
    told = [event.text for event in stage.memory.of(Noted)]
    assert any("one of 2 in a row" in text and "round 3 is the last" in text for text in told)


@pytest.mark.parametrize("helps", ["a better answer", "a change"])
async def test_what_brings_something_begins_the_count_anew(helps: str) -> None:
    better, changes = helps == "a better answer", helps == "a change"
    third: list[Answer] = [search("mira"), *([give_back(MIRA)] if changes else []), done()]
    stage = Stage(
        planner=goals(5),
        tool=[*FOUND_IN_TURN[:4], *third, search("nobody"), done(), search("dana"), done()],
        answer=[
            *(answer("a", score=4), answer("b", score=4), answer("c", score=5 if better else 4)),
            *(answer("d", score=4), answer("e", score=9)),
        ],
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds) == (True, 5)


async def test_with_a_check_of_the_user_the_rounds_go_on() -> None:
    stage = Stage(
        planner=[plan("1. Find that of dana"), plan("1. Look for that of dana"), plan("1. See that of dana")],
        tool=[*FOUND, *FOUND, *FOUND],
        answer=[answer("a", score=9), answer("b", score=9), answer("c", score=9)],
    )
    stage.crew = replace(stage.crew, check=oracle("c"))
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 3, "c")


async def test_where_a_tool_failed_another_round_may_go_better() -> None:
    @tool(effect="reads")
    async def look() -> str:
        return "A shelf."

    @tool(effect="reads")
    async def ring() -> str:
        raise ToolError("503")

    steps: list[Answer] = [call("look()"), call("ring()"), done()]
    stage = Stage(
        task="Look and ring",
        planner=[plan(f"1. Look and ring, way {number}") for number in range(1, 4)],
        tool=steps * 3,
        answer=[answer("a", score=4), answer("b", score=4), answer("c", score=9)],
        tools=[from_function(each, source="tests") for each in (look, ring)],
        settings=AS_PLANNED,
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 3, "c")
