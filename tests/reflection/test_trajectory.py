"""Trajectories: what counts as found, and how calls and results are shown."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from plait.reflection.crew_prompts import CrewPrompts, Hints
from plait.reflection.plan import read_plan
from plait.reflection.round_text import trajectory_text
from plait.reflection.trajectory import (
    OLD_CHARACTERS,
    SHOWN_CHARACTERS,
    Effects,
    Step,
    Trajectory,
    observations,
    shown,
)
from plait.tools.rendering import NO_RESULT
from plait.tools.tool import Tool


async def _look(_: Mapping[str, Any]) -> str:
    return "seen"


LOOK = Tool(
    name="look",
    description="Look at something.",
    parameters={
        "type": "object",
        "properties": {"at": {}, "times": {"type": "integer"}, "by": {"type": "string", "default": "hand"}},
    },
    effect="changes",
    run=_look,
    source="test",
)


def step(observation: str, *, ok: bool = True, effect: bool = False, thought: str = "") -> Step:
    return Step(
        tool="look", arguments={"at": "it"}, ok=ok, observation=observation, effect=effect, thought=thought
    )


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "[]",
            " {} ",
            "None",
            "null",
            "No events found.",
            "no loan matches",
            "No open loans were found!",
        ),
        *("No results.", "Event not found.", NO_RESULT),
    ],
)
def test_a_read_that_found_nothing_is_empty(text: str) -> None:
    assert step(text).empty
    assert not step(text, effect=True).empty
    assert not step(text, ok=False).empty


@pytest.mark.parametrize("text", ["[1]", "No events found, but 2 tasks", "dana", "0"])
def test_a_read_that_found_something_is_not_empty(text: str) -> None:
    assert not step(text).empty


@pytest.mark.parametrize(("status", "failed"), [("succeeded", False), ("failed", True), ("skipped", True)])
def test_a_round_failed_where_one_subtask_did(status: str, failed: bool) -> None:
    trajectory = Trajectory.of(read_plan("1. find\n2. tell"))
    trajectory.runs["1"].status = "succeeded"
    trajectory.runs["2"].status = status  # pyright: ignore[reportAttributeAccessIssue]
    assert trajectory.failed is failed


def test_an_effect_is_known_by_its_exact_call() -> None:
    effects = Effects(done=[step("ok", effect=True)], doubtful=[replace(step("?"), tool="order")])
    assert effects.has(LOOK, {"at": "it"})
    assert not effects.has(LOOK, {"at": "that"})
    assert effects.may_have(replace(LOOK, name="order"), {"at": "it"})
    assert not effects.may_have(LOOK, {"at": "it"})


def test_an_effect_is_the_same_in_any_order_and_with_its_defaults_written_out() -> None:
    done = replace(step("ok", effect=True), arguments={"at": "it", "times": 2})
    effects = Effects(done=[done])
    assert effects.has(LOOK, {"times": 2, "at": "it"})
    assert effects.has(LOOK, {"times": 2, "at": "it", "by": "hand"})
    assert not effects.has(LOOK, {"times": 2, "at": "it", "by": "eye"})
    assert not effects.has(LOOK, {"times": 3, "at": "it"})


def test_results_are_delimited_and_thoughts_lead_their_calls() -> None:
    assert (
        shown([step("found", thought="where?")])
        == '# thought: where?\nlook(at="it")\n<result>\nfound\n</result>'
    )


def test_where_results_are_long_the_oldest_are_cut_and_the_last_never() -> None:
    long = "x" * (SHOWN_CHARACTERS // 2)
    text = shown([step("a" + long), step("b" + long), step("c" + long)])
    assert text.count("[cut:") == 2
    assert "c" + long in text
    assert "a" + "x" * (OLD_CHARACTERS - 1) in text
    assert len(text) < SHOWN_CHARACTERS


def test_no_more_is_cut_than_must_be() -> None:
    text = shown([step("a" * 6_000), step("b" * 3_000), step("c" * 3_000)])
    assert text.count("[cut:") == 1
    assert "b" * 3_000 in text


def test_results_of_any_length_stay_within_what_is_shown() -> None:
    long = [
        Step(tool="find", arguments={"n": n}, ok=True, observation="x" * 40_000, effect=False)
        for n in range(3)
    ]
    texts = observations(long, 5_000)
    assert [len(text) for text in texts[:2]] == [
        OLD_CHARACTERS + len("\n[cut: make the call again to see all]")
    ] * 2
    assert texts[2] == "x" * 5_000 + "\n[cut: 35000 more characters]"


def test_prompts_of_many_subtasks_with_long_results_stay_bounded() -> None:
    trajectory = Trajectory.of(read_plan("\n".join(f"{n}. part {n}" for n in range(1, 9))))
    for run in trajectory.runs.values():
        run.steps = [
            Step(tool="find", arguments={"n": n}, ok=True, observation="y" * 9_000, effect=False)
            for n in range(4)
        ]
    last = trajectory.runs["8"]
    chat = CrewPrompts().tool("task", last, trajectory, Hints([], None), gated=True)
    assert sum(len(message.content) for message in chat) < 2 * SHOWN_CHARACTERS + 10_000
    assert len(CrewPrompts().answer("task", trajectory, None, gated=True)) < 3 * SHOWN_CHARACTERS


def test_who_writes_the_answer_sees_no_thoughts_and_the_head_of_a_subtask_only_among_several() -> None:
    for lines, heads in ((["Look"], 0), (["Look", "Tell"], 2)):
        trajectory = Trajectory.of(read_plan("\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))))
        trajectory.runs["1"].steps.append(
            Step(tool="look", arguments={}, thought="so I look", ok=True, observation="a shelf", effect=False)
        )
        told, kept = trajectory_text(trajectory), trajectory_text(trajectory, remarks=True)
        assert (told.count("Subtask"), kept.count("Subtask")) == (heads, len(lines))
        assert ("so I look" in told, "so I look" in kept) == (False, True)
        assert "a shelf" in told
