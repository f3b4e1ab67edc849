"""Every switch of MIRROR's Table 3 shows in what the models are asked, and in what follows."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.reflection.crew import Stage, answer, done, plan, search
from tests.support.gbnf import accepts

from plait.events import Gated, MemoryWritten
from plait.models.protocol import FunctionCalling, Grammar, Reply, ToolCall
from plait.reflection.settings import ReflectionSettings

WEAK, STRONG = 2, 10
ROLES = ("planner", "tool", "answer")
BARE = {
    "planner": plan("1. Look", score=None),
    "tool": done(score=None),
    "answer": answer("Yes.", score=None),
}
"""Replies without critique and score."""
REMARKED = {"planner": plan("1. Look", score=9), "tool": done(score=9), "answer": answer("Yes.", score=9)}


def off(*switches: str) -> ReflectionSettings:
    return ReflectionSettings().without(switches)


def asks_for_remarks(stage: Stage, role: str) -> bool:
    """Whether the grammar of a role's first request takes the reply with remarks, and not the bare one."""
    form = stage.models[role].requests[0].form
    assert isinstance(form, Grammar)
    remarked, bare = accepts(form.gbnf, REMARKED[role]), accepts(form.gbnf, BARE[role])
    assert remarked is not bare
    return remarked


@pytest.mark.parametrize(
    ("switches", "gated"),
    [
        ([], {"planner", "tool", "answer"}),
        (["planner-gate"], {"tool", "answer"}),
        (["tool-gate"], {"planner", "answer"}),
        (["answer-gate"], {"planner", "tool"}),
        (["gates"], set[str]()),
        (["memories"], {"planner", "tool", "answer"}),
        (["reflection"], set[str]()),
    ],
)
async def test_a_gate_that_is_off_asks_for_no_critique_and_no_score(
    switches: Sequence[str], gated: set[str]
) -> None:
    script = {role: [REMARKED[role] if role in gated else BARE[role]] for role in ROLES}
    stage = Stage(
        planner=script["planner"], tool=script["tool"], answer=script["answer"], settings=off(*switches)
    )
    assert (await stage.solve()).passed
    assert {role for role in ROLES if asks_for_remarks(stage, role)} == gated
    # The criteria of a role are in its prompt or not; what the words are is no matter here.
    replies: dict[str, Any] = {role: [REMARKED[role]] for role in ROLES}
    whole = Stage(**replies)
    await whole.solve()
    for role in ROLES:
        assert (stage.prompts(role) == whole.prompts(role)) is (role in gated)


@pytest.mark.parametrize("role", ["planner", "tool"])
async def test_a_weak_reply_costs_a_revision_only_where_its_gate_is_on(role: str) -> None:
    weak = {"planner": plan("1. Look about", score=WEAK), "tool": done("so so", score=WEAK)}
    for on in (True, False):
        script: dict[str, Any] = {each: [REMARKED[each]] for each in ROLES}
        script[role] = [weak[role], REMARKED[role]] if on else [weak[role]]
        stage = Stage(**script, settings=off() if on else off(f"{role}-gate"))
        await stage.solve()
        verdicts = [event.verdict for event in stage.memory.of(Gated) if event.role == role]
        assert verdicts == (["revised", "passed"] if on else ["passed"])


async def test_without_the_answer_gate_a_weak_answer_ends_the_task() -> None:
    stage = Stage(
        planner=[REMARKED["planner"]],
        tool=[done()],
        answer=[answer("Perhaps.", score=WEAK)],
        settings=off("answer-gate"),
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (True, 1, "Perhaps.")


def two_rounds(settings: ReflectionSettings) -> Stage:
    """A failed call in the first round, a weak answer at its end, and a second round."""
    return Stage(
        planner=[plan("1. Look"), plan("1. Look again")],
        tool=[search("lena"), done(), done()],
        answer=[answer("Perhaps.", score=WEAK, critique="a mere guess"), answer("Yes.")],
        settings=settings,
    )


@pytest.mark.parametrize(
    ("switches", "kept"),
    [
        ([], {"short_term", "long_term"}),
        (["short-term"], {"long_term"}),
        (["long-term"], {"short_term"}),
        (["memories"], set[str]()),
    ],
)
async def test_a_memory_that_is_off_is_not_written_and_not_shown(switches: list[str], kept: set[str]) -> None:
    stage, whole = two_rounds(off(*switches)), two_rounds(off())
    for each in (stage, whole):
        await each.solve()
    assert {event.memory for event in stage.memory.of(MemoryWritten)} == kept
    same_choice = stage.prompts("tool")[1] == whole.prompts("tool")[1]
    same_plan = stage.prompts("planner")[1] == whole.prompts("planner")[1]
    assert (same_choice, same_plan) == ("short_term" in kept, "long_term" in kept)
    assert ("a mere guess" in stage.prompts("planner")[1]) is ("long_term" in kept)


async def test_without_reflection_there_is_one_round_and_one_call_for_each_reply() -> None:
    stage = Stage(
        planner=[plan("1. Look", score=WEAK)],
        tool=[search("lena", score=WEAK), "?", "?!", "?!?"],
        answer=[answer("No.", score=WEAK)],
        settings=off("reflection"),
    )
    progress = await stage.solve()
    assert (progress.passed, progress.rounds, progress.answer) == (False, 1, "No.")
    assert stage.memory.of(MemoryWritten) == []


async def test_function_calling_changes_the_form_of_the_tool_agents_replies_alone() -> None:
    call = ToolCall(name="done", arguments={"result": "looked", "own_critique": "fits", "own_score": STRONG})
    stage = Stage(
        planner=[REMARKED["planner"]],
        tool=[Reply(text="", finish="tool_calls", tool_calls=(call,))],
        answer=[REMARKED["answer"]],
        settings=ReflectionSettings(function_calling=True),
    )
    assert (await stage.solve()).passed
    forms = {role: type(stage.models[role].requests[0].form) for role in ROLES}
    assert forms == {"planner": Grammar, "tool": FunctionCalling, "answer": Grammar}
