"""The answer agent over a script: text or a typed value, scored, never revised in place."""

import json
from typing import Any

import pytest
from tests.reflection.crew import DANA, TASK, Script, Stage, answer
from tests.support.gbnf import accepts

from plait.agents.gate import Passed
from plait.errors import ReplyError
from plait.events import Gated
from plait.models.protocol import Grammar, Typed
from plait.models.scripted import CutAtLimit, HalfJson, WrongTypes
from plait.reflection.answer_agent import write_answer
from plait.reflection.plan import read_plan
from plait.reflection.settings import ReflectionSettings
from plait.reflection.trajectory import Step, Trajectory

COUNT = {"type": "object", "properties": {"loans": {"type": "integer"}}, "required": ["loans"]}


def history() -> Trajectory:
    trajectory = Trajectory.of(read_plan("1. Find the loans of dana\n2. Return them"))
    trajectory.runs["1"].status, trajectory.runs["1"].result = "succeeded", "dana has one loan"
    trajectory.runs["1"].steps.append(
        Step(tool="search_loans", arguments={"who": "dana"}, ok=True, observation=DANA, effect=False)
    )
    trajectory.runs["2"].status, trajectory.runs["2"].result = "failed", "the desk is closed"
    return trajectory


async def written(stage: Stage) -> Passed[Any]:
    passed = await write_answer(stage.journal, stage.crew, history())
    stage.assert_done()
    return passed


def typed(value: Any, score: int = 9) -> str:
    return json.dumps({"output": {"answer": value}, "critique": "fine", "score": score})


async def test_the_whole_trajectory_is_shown_with_how_each_subtask_ended() -> None:
    stage = Stage(answer=[answer("Dana has one loan.")])
    passed = await written(stage)
    assert (passed.judged.output, passed.judged.score) == ("Dana has one loan.", 10)
    [prompt] = stage.prompts("answer")
    parts = (
        TASK,
        "Find the loans of dana",
        'search_loans(who="dana")',
        DANA,
        "dana has one loan",
        "the desk is closed",
    )
    for part in parts:
        assert part in prompt


@pytest.mark.parametrize(("score", "verdict"), [(8, "passed"), (7.5, "closed"), (None, "closed")])
async def test_a_weak_answer_is_not_revised_in_place(score: float | None, verdict: str) -> None:
    stage = Stage(answer=[answer("One.", score=score)])
    assert (await written(stage)).judged.output == "One."
    assert [event.verdict for event in stage.memory.of(Gated)] == [verdict]
    assert len(stage.prompts("answer")) == 1


@pytest.mark.parametrize(
    "unusable", ["", "# critique: nothing to say\n# score: 10", CutAtLimit(text="and on")]
)
async def test_what_is_no_answer_is_asked_again(unusable: Any) -> None:
    stage = Stage(answer=[unusable, answer("One.")])
    passed = await written(stage)
    assert (passed.judged.output, passed.attempts) == ("One.", 2)


async def test_an_answer_of_a_type_is_json_under_its_schema() -> None:
    stage = Stage(answer=[typed({"loans": 1})], returns=COUNT)
    passed = await written(stage)
    assert (passed.judged.output, passed.judged.critique, passed.judged.score) == ({"loans": 1}, "fine", 9)
    form = stage.models["answer"].requests[0].form
    assert isinstance(form, Typed)
    assert set(form.schema["properties"]) == {"output", "critique", "score"}


@pytest.mark.parametrize(
    "wrong", [HalfJson(text=typed({"loans": 1})), WrongTypes(), typed({"loan": 1}), "one"]
)
async def test_an_answer_that_does_not_fit_its_type_is_asked_again(wrong: Any) -> None:
    stage = Stage(answer=[wrong, typed({"loans": 2})], returns=COUNT)
    assert (await written(stage)).judged.output == {"loans": 2}


async def test_an_answer_that_never_fits_fails() -> None:
    stage = Stage(answer=["one", "two", "three"], returns=COUNT)
    with pytest.raises(ReplyError, match="answer agent in 3 tries"):
        await written(stage)


@pytest.mark.parametrize(
    ("returns", "reply", "output"),
    [(None, "One.", "One."), (COUNT, '{"answer": {"loans": 1}}', {"loans": 1})],
)
async def test_without_its_gate_an_answer_has_no_remarks(returns: Any, reply: str, output: Any) -> None:
    script: Script = [reply]
    off = ReflectionSettings().without(["answer-gate"])
    stage = Stage(answer=script, returns=returns, settings=off)
    passed = await written(stage)
    assert (passed.judged.output, passed.judged.score) == (output, None)
    form = stage.models["answer"].requests[0].form
    if isinstance(form, Typed):
        assert set(form.schema["properties"]) == {"answer"}
    else:
        assert isinstance(form, Grammar)
        assert accepts(form.gbnf, "One.")
        assert not accepts(form.gbnf, answer("One.", score=9))
