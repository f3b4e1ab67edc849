"""The Reflexion baseline: trials, a judgement or a heuristic after each, and reflections that are kept."""

import pytest
from tests.support.desk import LOST, READ, REFUSED, Desk, add, done, killed_and_resumed, work
from tests.support.gbnf import accepts
from tests.support.memory_journal import Memory, MemoryJournal

from plait.bench.baselines.reflexion import DONE_BEFORE, MEMORY, STEPS, reflexion
from plait.errors import BudgetExhausted, ReplyError
from plait.events import Gated, LoopBroken, MemoryWritten
from plait.models.budget import Limits
from plait.models.protocol import Grammar
from plait.models.scripted import ScriptedModel

SOLVED_IN_TWO = [add("bread"), done("Bread."), "no", "I forgot the milk.", add("milk"), done("Both."), "yes"]


def roles(memory: Memory) -> list[str]:
    return [event.role for event in memory.of(Gated)]


async def test_a_trial_that_is_judged_solved_is_the_last() -> None:
    memory, desk = Memory(), Desk()
    async with ScriptedModel([add("bread"), done("Bread."), "yes"]) as model:
        assert await reflexion(MemoryJournal(memory), work(model, desk)) == "Bread."
        judged = model.requests[-1]
    assert desk.notes == ["bread"]
    assert roles(memory) == ["baseline", "baseline", "evaluator"]
    assert [message.role for message in judged.messages][-3:] == ["user", "assistant", "user"]
    assert "Bread." in judged.messages[-2].content
    assert isinstance(judged.form, Grammar)
    assert accepts(judged.form.gbnf, "no")
    assert not accepts(judged.form.gbnf, "maybe")


async def test_the_next_trial_reads_the_reflection_and_what_was_changed() -> None:
    memory, desk = Memory(), Desk()
    async with ScriptedModel(SOLVED_IN_TWO) as model:
        assert await reflexion(MemoryJournal(memory), work(model, desk)) == "Both."
        reflecting, second = model.requests[3], model.requests[4]
    assert desk.notes == ["bread", "milk"]
    assert isinstance(reflecting.form, Grammar)
    assert accepts(reflecting.form.gbnf, "I forgot the milk.\nI add it.")
    assert [message.role for message in second.messages] == ["system", "user"]
    shown = second.messages[-1].content
    assert "Trial 1: I forgot the milk." in shown
    assert 'add_note(text="bread") -> <result>white note 1 is written</result>' in shown
    assert [event.entry for event in memory.of(MemoryWritten)] == ["Trial 1: I forgot the milk."]


async def test_the_third_trial_is_the_last_and_is_not_judged() -> None:
    failing = [done("Nothing."), "no", "Do something."]
    memory = Memory()
    async with ScriptedModel([*failing, *failing, done("Still nothing.")]) as model:
        assert await reflexion(MemoryJournal(memory), work(model, Desk())) == "Still nothing."
    assert roles(memory).count("evaluator") == 2
    assert len(memory.of(MemoryWritten)) == 2


async def test_the_memory_holds_the_latest_three_reflections() -> None:
    script = [
        reply for number in range(1, 6) for reply in (done("Nothing."), "no", f"Lesson {number} of five.")
    ]
    async with ScriptedModel([*script, done("Nothing.")]) as model:
        await reflexion(MemoryJournal(Memory()), work(model, Desk()), trials=6)
        shown = model.requests[-1].messages[-1].content
    assert MEMORY == 3
    assert [number for number in range(1, 6) if f"Lesson {number}" in shown] == [3, 4, 5]
    assert "Trial 5: Lesson 5 of five." in shown


async def test_the_same_call_with_the_same_result_a_fourth_time_is_reflected_on_without_a_judgement() -> None:
    memory = Memory()
    looks = [READ.replace("I look", f"I look a {number}th time") for number in range(1, 5)]
    async with ScriptedModel([*looks, "I only looked.", done("None."), "yes"]) as model:
        assert await reflexion(MemoryJournal(memory), work(model, Desk())) == "None."
        reflecting = model.requests[4].messages
    assert [broken.times for broken in memory.of(LoopBroken)] == [4]
    assert roles(memory) == ["baseline"] * 4 + ["self-reflection", "baseline", "evaluator"]
    assert [message.role for message in reflecting[-2:]] == ["assistant", "user"]
    assert "over and over" in reflecting[-1].content


async def test_the_same_call_with_another_result_is_no_circle() -> None:
    memory, desk = Memory(), Desk()
    async with ScriptedModel([*[add("bread")] * 5, done("Five."), "yes"]) as model:
        assert await reflexion(MemoryJournal(memory), work(model, desk)) == "Five."
    assert desk.notes == ["bread"] * 5
    assert memory.of(LoopBroken) == []


async def test_thirty_steps_without_an_end_are_reflected_on_without_a_judgement() -> None:
    memory, desk = Memory(), Desk()
    steps = [reply for number in range(STEPS // 2) for reply in (READ, add(f"note {number}"))]
    async with ScriptedModel([*steps, "I wrote too much.", done("Enough."), "yes"]) as model:
        assert await reflexion(MemoryJournal(memory), work(model, desk)) == "Enough."
        assert f"after {STEPS} steps" in model.requests[STEPS].messages[-1].content
    assert STEPS == 30
    assert roles(memory)[STEPS:] == ["self-reflection", "baseline", "evaluator"]


async def test_a_finished_effect_is_not_made_again_in_the_next_trials() -> None:
    desk = Desk()
    again = '# thought: Again.\nadd_note(color="white", text="bread")'
    first = '# thought: First.\nadd_note(text="bread", color="white")'
    script = [first, done("Bread."), "no", "Milk too.", again, done("Again."), "no", "Milk.", again]
    async with ScriptedModel([*script, add("milk"), done("Both.")]) as model:
        assert await reflexion(MemoryJournal(Memory()), work(model, desk)) == "Both."
        shown = [request.messages[-1].content for request in (model.requests[5], model.requests[9])]
    assert desk.notes == ["bread", "milk"]
    for text in shown:
        assert text.count(DONE_BEFORE) == 1
        assert "white note 1 is written" in text


async def test_an_effect_in_doubt_is_not_made_again_either() -> None:
    desk = Desk()
    script = [add(LOST), done("Lost."), "no", "Look first.", add(LOST), READ, done("It is there."), "yes"]
    async with ScriptedModel(script) as model:
        assert await reflexion(MemoryJournal(Memory()), work(model, desk)) == "It is there."
        assert "may or may not" in model.requests[5].messages[-1].content
    assert desk.notes == [LOST]


async def test_an_effect_that_failed_may_be_tried_again() -> None:
    failing = [add(REFUSED), done("No ink."), "no", "Try again."]
    async with ScriptedModel([*failing, add(REFUSED), done("Still no ink."), "yes"]) as model:
        await reflexion(MemoryJournal(Memory()), work(model, Desk()))
        assert "again:\nnone\n" in model.requests[4].messages[-1].content
        assert DONE_BEFORE not in model.requests[5].messages[-1].content


async def test_what_cannot_be_read_is_asked_again() -> None:
    script = [done("Nothing."), "perhaps", "No!", "\n", "Do it.\n" * 9, done("Done."), "Yes."]
    memory = Memory()
    async with ScriptedModel(script) as model:
        assert await reflexion(MemoryJournal(memory), work(model, Desk())) == "Done."
        assert "reply yes or no" in model.requests[2].messages[-1].content
    assert [event.entry for event in memory.of(MemoryWritten)] == ["Trial 1: " + " ".join(["Do it."] * 4)]


async def test_an_evaluator_that_never_judges_ends_it() -> None:
    async with ScriptedModel([done("Nothing."), "perhaps", "who knows", "well"]) as model:
        with pytest.raises(ReplyError, match="evaluator"):
            await reflexion(MemoryJournal(Memory()), work(model, Desk()))


@pytest.mark.parametrize("calls", range(1, len(SOLVED_IN_TWO)))
async def test_the_budget_ends_it_at_any_reply(calls: int) -> None:
    async with ScriptedModel(SOLVED_IN_TWO[:calls]) as model:
        with pytest.raises(BudgetExhausted):
            await reflexion(MemoryJournal(Memory()), work(model, Desk(), Limits(calls=calls)))


@pytest.mark.parametrize("kill_at", range(len(SOLVED_IN_TWO)))
async def test_killed_at_any_reply_it_resumes_and_replays_without_a_call_made_twice(kill_at: int) -> None:
    answer, desk = await killed_and_resumed(reflexion, SOLVED_IN_TWO, kill_at)
    assert (answer, desk.notes) == ("Both.", ["bread", "milk"])
