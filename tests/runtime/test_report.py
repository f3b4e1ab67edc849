"""The result of a run from its records, also where it went another way than before."""

from collections.abc import AsyncIterator, Callable

import pytest

from plait.models.protocol import Request
from plait.models.scripted import FunctionModel, prompt
from plait.outfit.hands import Hands
from plait.replaying import canonical, replay
from plait.runner import resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import GateCounts, Result
from plait.tools.functions import tool

REMARKS = "\n# critique: As asked.\n# score: "


@tool(effect="reads")
def look(what: str) -> str:
    """Look."""
    return f"seen {what}"


def answering(plan: str, score: int) -> Callable[[Request], str]:
    """Return a model that plans so, looks once in each subtask and thinks so much of its answer."""

    def answer(request: Request) -> str:
        text = prompt(request)
        tail = "\n".join(message.content for message in request.messages[1:])
        if "You are the planner" in text:
            return f"{plan}{REMARKS}10"
        if "You are the tool agent" in text:
            call = 'done(result="okay")' if "<result>\nseen" in tail else 'look(what="alpha")'
            return f"{call}{REMARKS}10"
        return f"It is seen.{REMARKS}{score}"

    return answer


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open("sqlite://")
    yield log
    await log.close()


def hands(log: RunLog, plan: str, score: int, name: str) -> Hands:
    return Hands(tools=[look], model=FunctionModel(answering(plan, score), name=name), log=log)


async def taken_up(log: RunLog, rounds: int, plan: str) -> Result:
    weak = hands(log, "1. look at alpha", score=1, name="weak")
    first = await start("look at alpha and look again", Options(rounds=rounds), weak)
    assert (first.status, first.reflection.rounds) == ("failed", rounds)
    result = await resume(first.run_id, hands(log, plan, score=10, name="strong"))
    replayed = await replay(result.run_id, log.records(result.run_id))
    assert canonical(replayed) == canonical(result_json(result))
    return result


async def test_what_another_model_did_anew_counts_once(log: RunLog) -> None:
    result = await taken_up(log, 1, "1. look at alpha\n2. look at alpha again")
    assert result.status == "succeeded"
    assert [(item.id, item.status) for item in result.plan] == [("1", "succeeded"), ("2", "succeeded")]
    assert result.reflection.gates["answer"] == GateCounts(passed=1)


async def test_rounds_that_came_to_nothing_do_not_count(log: RunLog) -> None:
    result = await taken_up(log, 2, "1. look at alpha")
    assert (result.status, result.reflection.rounds) == ("succeeded", 1)
    assert [(item.id, item.status) for item in result.plan] == [("1", "succeeded")]
    assert result.reflection.gates["planner"] == GateCounts(passed=1)
    assert result.reflection.gates["answer"] == GateCounts(passed=1)
