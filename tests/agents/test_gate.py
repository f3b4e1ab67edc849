"""The gate: what passes, what is asked again and with what, what is forced, closed or refused."""

import json
from typing import Any

import pytest
from tests.support.memory_journal import Memory, MemoryJournal

from plait.agents.agent import Agent
from plait.agents.gate import Feedback, GateSettings, Judged, Passed, Role, next_attempt, through_gate
from plait.errors import BudgetExhausted, ReplyError
from plait.events import Gated
from plait.models.budget import Budget, Limits
from plait.models.protocol import Message, Reply, Request, Settings, Text
from plait.models.scripted import Answer, CutAtLimit, ScriptedModel, prompt


def said(output: Any, score: float | None = None, **more: Any) -> str:
    """A reply; `more`: critique, problems, fatal."""
    return json.dumps({"output": output, "score": score, **more})


class Door:
    """One gate over a script; strict about what is asked, and open to look at afterwards."""

    def __init__(
        self, script: list[Answer], *, calls: int = 100, salvages: bool = False, **gate: Any
    ) -> None:
        self.salvages = salvages
        self.model = ScriptedModel(script)
        self.memory = Memory()
        self.gate = GateSettings(**{"threshold": 8.0, **gate})
        self.agent = Agent(
            role="tester",
            strand="tests",
            model=self.model,
            budget=Budget(Limits(calls=calls)),
            settings=Settings(temperature=0.2, seed=7),
        )

    def request(self, feedback: Feedback | None) -> Request:
        text = "first" if feedback is None else f"again: {feedback!r}"
        return self.agent.request([Message(role="user", content=text)], FREE_TEXT, next_attempt(feedback))

    async def read(self, reply: Reply) -> Judged[str]:
        try:
            value = json.loads(reply.text)
        except json.JSONDecodeError as error:
            raise ReplyError(f"not JSON: {reply.text!r}") from error
        return Judged(
            output=value["output"],
            shown=value["output"],
            critique=value.get("critique", ""),
            score=value["score"],
            problems=value.get("problems", ()),
            fatal=value.get("fatal", False),
        )

    async def passed(self) -> Passed[str]:
        role = Role(
            agent=self.agent,
            gate=self.gate,
            request=self.request,
            read=self.read,
            salvages=self.salvages,
        )
        passed = await through_gate(MemoryJournal(self.memory), role)
        self.model.assert_done()
        return passed

    @property
    def prompts(self) -> list[str]:
        return [prompt(request) for request in self.model.requests]

    @property
    def verdicts(self) -> list[str]:
        return [event.verdict for event in self.memory.of(Gated)]


FREE_TEXT = Text()
"""Free text: how replies are held to a form is no matter of the gate."""


async def test_a_passing_reply_costs_exactly_one_call() -> None:
    door = Door([said("good", 9)])
    passed = await door.passed()
    assert (passed.judged.output, passed.attempts, passed.forced) == ("good", 1, False)
    assert len(door.model.requests) == 1
    assert door.verdicts == ["passed"]


@pytest.mark.parametrize(("score", "calls"), [(8.0, 1), (8, 1), (7.99, 2), (None, 2)])
async def test_a_score_at_the_threshold_passes_and_one_below_does_not(
    score: float | None, calls: int
) -> None:
    script: list[Answer] = [said("first", score), said("second", 10)]
    door = Door(script[:calls])
    assert (await door.passed()).judged.output == ("first" if calls == 1 else "second")
    assert len(door.model.requests) == calls


async def test_where_the_unscored_passes_a_missing_score_is_not_asked_for_and_a_low_one_is() -> None:
    door = Door([said("program")], unscored_passes=True)
    assert ((await door.passed()).forced, door.verdicts) == (False, ["passed"])
    door = Door([said("program", 7), said("better")], unscored_passes=True)
    assert ((await door.passed()).judged.output, door.verdicts) == ("better", ["revised", "passed"])


async def test_a_weak_reply_is_revised_with_its_critique_in_view() -> None:
    door = Door([said("weak", 3, critique="forgets the date"), said("better", 8)])
    passed = await door.passed()
    assert (passed.judged.output, passed.attempts, passed.forced) == ("better", 2, False)
    assert "forgets the date" not in door.prompts[0]
    assert "forgets the date" in door.prompts[1]
    assert "weak" in door.prompts[1]
    assert door.verdicts == ["revised", "passed"]


@pytest.mark.parametrize("revisions", [0, 1, 3])
async def test_revisions_are_bounded_and_then_the_best_scored_passes_forced(revisions: int) -> None:
    scores = [5, 7, 6, 1][: revisions + 1]
    door = Door([said(f"try {n}", score) for n, score in enumerate(scores)], revisions=revisions)
    passed = await door.passed()
    assert passed.judged.score == max(scores)
    assert passed.forced
    assert passed.attempts == revisions + 1
    assert door.verdicts == ["revised"] * revisions + ["forced"]


async def test_of_equally_scored_replies_the_one_that_was_thought_over_most_passes() -> None:
    door = Door([said("one", 6), said("two", 6), said("three", 5)])
    assert (await door.passed()).judged.output == "two"


async def test_a_later_try_sees_the_try_before_it_and_no_older_one() -> None:
    door = Door([said("one", 1, critique="alpha"), said("two", 2, critique="beta"), said("three", 9)])
    await door.passed()
    assert "beta" in door.prompts[2]
    assert "alpha" not in door.prompts[2]


async def test_the_same_weak_reply_again_ends_the_tries() -> None:
    door = Door([said("same", 6), said("same", 5)], revisions=5)
    passed = await door.passed()
    assert (passed.judged.score, passed.attempts, passed.forced) == (6, 2, True)


async def test_the_same_reply_passes_once_it_is_scored_high_enough() -> None:
    door = Door([said("same", 6), said("same", 8)])
    passed = await door.passed()
    assert (passed.forced, passed.judged.score) == (False, 8)


async def test_an_unreadable_reply_is_asked_again_with_the_error() -> None:
    door = Door(["{half", said("whole", 9)])
    assert (await door.passed()).judged.output == "whole"
    assert "not JSON: '{half'" in door.prompts[1]
    [unread, _] = door.memory.of(Gated)
    assert (unread.verdict, unread.score, unread.output) == ("revised", None, None)
    assert "not JSON" in unread.problems[0]


async def test_a_reply_cut_at_the_limit_is_never_used_however_good_it_looks() -> None:
    door = Door([CutAtLimit(text=said("cut", 10)), said("short", 8)])
    assert (await door.passed()).judged.output == "short"
    assert "cut at" in door.prompts[1]


async def test_a_reply_that_went_in_circles_is_never_used() -> None:
    door = Door([Reply(text=said("again and again", 10), finish="repetition"), said("once", 8)])
    assert (await door.passed()).judged.output == "once"
    assert "over and over" in door.prompts[1]


async def test_where_a_role_salvages_the_rest_of_a_circling_reply_is_better_than_nothing() -> None:
    circling = Reply(text=said("again", 10), finish="repetition")
    door = Door([circling, "x", "y"], salvages=True)
    passed = await door.passed()
    assert (passed.judged.output, passed.forced) == ("again", True)
    door = Door([circling, said("weak", 2), "y"], salvages=True)
    assert (await door.passed()).judged.output == "weak"
    with pytest.raises(ReplyError):
        await Door([circling, "x", "y"]).passed()


async def test_with_no_usable_reply_in_all_tries_the_gate_fails_with_the_last_reason() -> None:
    door = Door(["x", CutAtLimit(), "y"])
    with pytest.raises(ReplyError, match="tester agent in 3 tries: not JSON: 'y'"):
        await door.passed()
    door.model.assert_done()
    assert door.verdicts == ["revised", "revised", "failed"]


async def test_a_readable_try_is_kept_when_later_ones_are_not() -> None:
    door = Door([said("weak", 2), "x", CutAtLimit()])
    passed = await door.passed()
    assert (passed.judged.output, passed.forced) == ("weak", True)


async def test_a_problem_is_asked_again_however_high_the_score() -> None:
    door = Door([said("made up", 10, problems=["unknown id"]), said("looked up", 8)])
    assert (await door.passed()).judged.output == "looked up"
    assert "unknown id" in door.prompts[1]


async def test_fewer_problems_outrank_a_higher_score() -> None:
    replies = [said("a", 10, problems=["p", "q"]), said("b", 4), said("c", 9, problems=["p"])]
    door = Door(list(replies))
    passed = await door.passed()
    assert (passed.judged.output, passed.forced) == ("b", True)


async def test_a_problem_that_is_not_fatal_may_be_forced_through() -> None:
    door = Door([said("a", 10, problems=["odd"]), said("b", 10, problems=["odd"])], revisions=1)
    passed = await door.passed()
    assert (passed.judged.output, passed.forced) == ("b", True)


async def test_which_try_is_let_through_is_told_where_that_is_forced() -> None:
    door = Door([said("a", 3), said("b", 6), said("c", 5)])
    await door.passed()
    assert [event.taken for event in door.memory.of(Gated)] == [0, 0, 2]
    door = Door([said("a", 9)])
    await door.passed()
    assert [event.taken for event in door.memory.of(Gated)] == [0]


async def test_a_fatal_problem_never_passes_not_even_forced() -> None:
    fatal = {"problems": ["unknown id"], "fatal": True}
    door = Door([said("a", 10, **fatal), said("b", 10, **fatal), said("c", 10, **fatal)])
    with pytest.raises(ReplyError, match="unknown id"):
        await door.passed()
    assert door.verdicts == ["revised", "revised", "failed"]


async def test_a_weak_reply_beats_a_fatal_one_with_the_highest_score() -> None:
    fatal = {"problems": ["unknown id"], "fatal": True}
    door = Door([said("weak", 1), said("a", 10, **fatal), said("b", 10, **fatal)])
    assert (await door.passed()).judged.output == "weak"


async def test_a_gate_that_is_off_takes_what_can_be_read_in_one_call() -> None:
    door = Door([said("anything")], enabled=False)
    passed = await door.passed()
    assert (passed.judged.output, passed.forced) == ("anything", False)
    assert len(door.model.requests) == 1


async def test_a_gate_that_is_off_still_checks_without_a_model() -> None:
    door = Door(["x", said("a", problems=["unknown id"], fatal=True), said("b")], enabled=False)
    assert (await door.passed()).judged.output == "b"
    assert "unknown id" in door.prompts[2]


async def test_a_gate_that_does_not_revise_closes_with_the_weak_reply() -> None:
    door = Door([said("weak", 2)], revises=False)
    passed = await door.passed()
    assert (passed.judged.output, passed.attempts, passed.forced) == ("weak", 1, False)
    assert door.verdicts == ["closed"]


async def test_a_gate_that_does_not_revise_still_asks_again_for_what_it_cannot_read() -> None:
    door = Door(["x", said("weak", 2)], revises=False)
    assert (await door.passed()).judged.output == "weak"
    assert door.verdicts == ["revised", "closed"]


async def test_each_try_is_drawn_warmer_and_with_another_seed() -> None:
    door = Door([said("a", 1), said("b", 1), said("c", 1), said("d", 1)], revisions=3)
    await door.passed()
    settings = [request.settings for request in door.model.requests]
    assert [round(each.temperature, 6) for each in settings] == [0.2, 0.5, 0.8, 1.0]
    assert [each.seed for each in settings] == [7, 8, 9, 10]


async def test_every_try_is_a_step_of_its_own_on_record() -> None:
    door = Door([said("a", 1), said("b", 9)])
    await door.passed()
    assert door.memory.kinds == {"run/try-1": "model", "run/try-2": "model"}


async def test_recorded_tries_are_not_asked_again() -> None:
    door = Door([said("a", 1), said("b", 9)])
    await door.passed()
    again = Door([])
    again.memory.results = door.memory.results
    assert (await again.passed()).judged.output == "b"
    assert again.model.requests == []


async def test_a_budget_that_ends_between_tries_ends_the_gate() -> None:
    door = Door([said("a", 1)], calls=1)
    with pytest.raises(BudgetExhausted):
        await door.passed()
    door.model.assert_done()


async def test_the_log_tells_score_threshold_critique_and_output() -> None:
    door = Door([said("a", 8, critique="fine")])
    await door.passed()
    assert door.memory.of(Gated) == [
        Gated(
            role="tester",
            attempt=1,
            score=8,
            threshold=8.0,
            critique="fine",
            problems=[],
            verdict="passed",
            output="a",
        )
    ]
