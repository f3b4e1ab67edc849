"""Inter-reflection: which memory is written when, who is shown it, and when it is forgotten."""

from dataclasses import replace

import pytest
from tests.reflection.crew import AS_PLANNED, DANA, DEFAULT, Stage, answer, at, done, give_back, plan, search

from plait.events import MemoryCleared, MemoryWritten
from plait.reflection.settings import ReflectionSettings

BLOCKED = "the card of lena is blocked"
"""What the library says about lena."""


def written(stage: Stage, memory: str) -> list[str]:
    return [event.entry for event in stage.memory.of(MemoryWritten) if event.memory == memory]


def cleared(stage: Stage, memory: str) -> list[int]:
    return [event.entries for event in stage.memory.of(MemoryCleared) if event.memory == memory]


async def test_a_failed_call_is_written_and_shown_at_the_next_choice() -> None:
    stage = Stage(tool=[search("lena"), search("dana"), done()])
    await stage.act("1. Look")
    [entry] = written(stage, "short_term")
    assert 'search_loans(who="lena")' in entry
    assert BLOCKED in entry
    before, after, _ = stage.prompts("tool")
    assert entry not in before
    assert entry in after


async def test_a_search_that_found_nothing_is_written_too() -> None:
    stage = Stage(tool=[search("nobody"), search("dana"), done()])
    await stage.act("1. Look")
    [entry] = written(stage, "short_term")
    assert 'search_loans(who="nobody")' in entry
    assert entry in stage.prompts("tool")[1]


async def test_a_success_writes_nothing() -> None:
    stage = Stage(tool=[search("dana"), give_back(DANA), done()])
    await stage.act("1. Look")
    assert stage.memory.of(MemoryWritten) == []
    assert stage.memory.of(MemoryCleared) == []


async def test_the_own_critique_of_a_forced_choice_is_written_and_shown() -> None:
    weak = [
        search(who, score=score, critique=f"doubts about {who}")
        for who, score in (("dana", 5), ("omar", 3), ("mira", 4))
    ]
    stage = Stage(tool=[*weak, done()])
    await stage.act("1. Look")
    *refused, entry = written(stage, "short_term")
    assert ["doubts about dana" in refused[0], "doubts about omar" in refused[1]] == [True, True]
    assert "doubts about dana" in entry
    assert 'search_loans(who=\\"dana\\")' in entry or 'search_loans(who="dana")' in entry
    assert stage.calls == ["search dana"]
    assert entry in stage.prompts("tool")[3]


async def test_short_term_memory_is_cleared_by_success() -> None:
    stage = Stage(tool=[search("lena"), search("dana"), done()])
    await stage.act("1. Look")
    assert cleared(stage, "short_term") == [1]


@pytest.mark.parametrize("end", ["steps", "replies"])
async def test_short_term_memory_is_not_cleared_by_failure(end: str) -> None:
    more = [] if end == "steps" else ["?", "?!", "?!?"]
    settings = replace(AS_PLANNED, steps=1 if end == "steps" else 8)
    stage = Stage(tool=[search("lena"), *more], settings=settings)
    await stage.act("1. Look")
    assert stage.endings == {"1": "failed"}
    assert written(stage, "short_term") != []
    assert cleared(stage, "short_term") == []


async def test_short_term_memory_belongs_to_one_subtask() -> None:
    stage = Stage(tool=[at(1, search("lena")), at(1, done()), at(2, done())])
    await stage.act("1. Look", "2. Look elsewhere (independent)")
    [second] = [prompt for prompt in stage.prompts("tool") if "subtask 2]" in prompt]
    assert BLOCKED not in second


async def test_short_term_memory_of_one_round_is_unknown_in_the_next() -> None:
    settings = replace(AS_PLANNED, steps=1, long_term=False)
    stage = Stage(
        planner=[plan("1. Look"), plan("1. Look")],
        tool=[search("lena"), done()],
        answer=[answer("Yes.")],
        settings=settings,
    )
    await stage.solve()
    assert BLOCKED not in stage.prompts("tool")[1]


def weak_then_good(settings: ReflectionSettings = DEFAULT) -> Stage:
    """Two rounds: the first with a call, a result and a weak answer."""
    return Stage(
        planner=[plan("1. The first way"), plan("1. The second way")],
        tool=[search("dana"), done("a loan was found"), done()],
        answer=[answer("A guess.", score=4, critique="says nothing of omar"), answer("Yes.")],
        settings=settings,
    )


async def test_a_weak_answer_writes_the_whole_round_for_the_next_plan() -> None:
    stage = weak_then_good()
    await stage.solve()
    [entry] = written(stage, "long_term")
    parts = (
        "The first way",
        'search_loans(who="dana")',
        DANA,
        "a loan was found",
        "A guess.",
        "says nothing of omar",
        "4",
    )
    for part in parts:
        assert part in entry
    first, second = stage.prompts("planner")
    assert entry not in first
    assert entry in second


async def test_a_failed_execution_is_written_too() -> None:
    stage = Stage(
        planner=[plan("1. The first way"), plan("1. The second way")],
        tool=[search("lena"), "?", "?!", "?!?", done()],
        answer=[answer("Yes.")],
        settings=AS_PLANNED,
    )
    await stage.solve()
    [entry] = written(stage, "long_term")
    assert "The first way" in entry
    assert BLOCKED in entry
    assert "failed" in entry
    assert entry in stage.prompts("planner")[1]


async def test_a_round_that_passes_writes_no_long_term_memory() -> None:
    stage = Stage(planner=[plan("1. Look")], tool=[search("dana"), done()], answer=[answer("Yes.")])
    await stage.solve()
    assert written(stage, "long_term") == []
    assert cleared(stage, "long_term") == []


async def test_rounds_add_up_and_are_cleared_when_the_task_ends() -> None:
    stage = Stage(
        planner=[plan("1. Way a"), plan("1. Way b"), plan("1. Way c")],
        tool=[done()] * 3,
        answer=[answer("x", score=1), answer("y", score=2), answer("Yes.")],
    )
    await stage.solve()
    entries = written(stage, "long_term")
    assert len(entries) == 2
    third = stage.prompts("planner")[2]
    assert third.index(entries[0]) < third.index(entries[1])
    assert cleared(stage, "long_term") == [2]


async def test_long_term_memory_is_cleared_when_the_task_fails() -> None:
    stage = Stage(
        planner=[plan("1. Look")],
        tool=[done()],
        answer=[answer("x", score=1)],
        settings=ReflectionSettings(rounds=1),
    )
    await stage.solve()
    assert cleared(stage, "long_term") == [1]


async def test_long_term_memory_is_the_planners_alone() -> None:
    stage = weak_then_good()
    await stage.solve()
    [entry] = written(stage, "long_term")
    assert all(entry not in prompt for role in ("tool", "answer") for prompt in stage.prompts(role))


async def test_without_long_term_memory_the_next_plan_starts_from_nothing() -> None:
    stage = weak_then_good(ReflectionSettings().without(["long-term"]))
    await stage.solve()
    first, second = stage.prompts("planner")
    assert "says nothing of omar" not in second
    assert second == first
    assert written(stage, "long_term") == []


async def test_without_short_term_memory_no_failure_is_told_but_those_in_view() -> None:
    script = [search("lena"), search("dana"), done()]
    told, untold = (
        Stage(tool=script),
        Stage(tool=script, settings=ReflectionSettings().without(["short-term"])),
    )
    for stage in (told, untold):
        await stage.act("1. Look")
    [entry] = written(told, "short_term")
    assert entry in told.prompts("tool")[1]
    assert entry not in untold.prompts("tool")[1]
    assert written(untold, "short_term") == []
