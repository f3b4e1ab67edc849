"""Equal requests at temperature 0 are made once, in flight and afterwards; each has a record of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from plait.agents.agent import Agent, ask
from plait.errors import ModelError
from plait.events import StepRecorded
from plait.journal import Journal
from plait.models.budget import Budget, Limits
from plait.models.ledger import entries, totals, usage_of
from plait.models.protocol import Message, Reply, Request, Settings, Text
from plait.models.scripted import FunctionModel
from plait.runtime.log import RunLog
from plait.runtime.replay import Replay

GREEDY = Settings(temperature=0.0, seed=1, max_tokens=50)


class Slow:
    """A model that answers with the number of the request, when it is let."""

    def __init__(self, failures: int = 0) -> None:
        self.go = asyncio.Event()
        self.failures = failures
        self.asked = 0

    async def __call__(self, request: Request) -> str:
        self.asked += 1
        number = self.asked
        await self.go.wait()
        if number <= self.failures:
            raise ModelError("the model is gone")
        return f"reply {number}"


def agent_of(
    answer: Callable[[Request], str | Awaitable[str]], settings: Settings = GREEDY, calls: int = 50
) -> Agent:
    model = FunctionModel(answer)
    return Agent(role="judge", strand="s", model=model, budget=Budget(Limits(calls=calls)), settings=settings)


def question(agent: Agent, text: str = "how good?") -> Request:
    return agent.request([Message(role="user", content=text)], Text())


async def asked(journal: Journal, agent: Agent, place: str, text: str = "how good?") -> Reply:
    return await ask(journal, agent, question(agent, text), place)


def shared(log: RunLog) -> dict[str, str]:
    steps = [(record.path, record.event) for record in log.records("r1")]
    return {path: step.shared_with for path, step in steps if isinstance(step, StepRecorded)}


async def test_what_was_asked_before_is_not_asked_again(log: RunLog) -> None:
    slow = Slow()
    slow.go.set()
    journal = await log.start("r1", "task", {})
    agent = agent_of(slow)
    other = replace(agent, role="critic", settings=replace(GREEDY, seed=77))
    replies = [
        await asked(journal, agent, "a"),
        await asked(journal, other, "b"),
        await asked(journal, agent, "c", "how bad?"),
        await asked(journal, replace(agent, settings=replace(GREEDY, max_tokens=60)), "d"),
    ]
    await journal.close()
    assert [reply.text for reply in replies] == ["reply 1", "reply 1", "reply 2", "reply 3"]
    assert replies[0] == replies[1]
    assert shared(log) == {"run/a": "", "run/b": "run/a", "run/c": "", "run/d": ""}
    left = agent.budget.remaining()
    assert left.calls == 47


async def test_replies_that_are_drawn_are_never_shared(log: RunLog) -> None:
    slow = Slow()
    slow.go.set()
    journal = await log.start("r1", "task", {})
    agent = agent_of(slow, replace(GREEDY, temperature=0.1))
    assert [(await asked(journal, agent, name)).text for name in "ab"] == ["reply 1", "reply 2"]
    await journal.close()


async def test_what_is_under_way_is_waited_for(log: RunLog) -> None:
    slow = Slow()
    journal = await log.start("r1", "task", {})
    # One call is all there is: sharing needs none of its own.
    agent = agent_of(slow, calls=1)
    waiting = [asyncio.create_task(asked(journal, agent, f"team-{n}")) for n in range(5)]
    await asyncio.sleep(0.05)
    slow.go.set()
    assert {(await each).text for each in waiting} == {"reply 1"}
    await journal.close()
    assert slow.asked == 1
    assert sorted(shared(log).values()) == ["", *["run/team-0"] * 4]


async def test_a_call_that_fails_or_is_cancelled_answers_for_nobody(log: RunLog) -> None:
    slow = Slow(failures=1)
    journal = await log.start("r1", "task", {})
    agent = agent_of(slow)
    first, second = (asyncio.create_task(asked(journal, agent, name)) for name in "ab")
    await asyncio.sleep(0.05)
    slow.go.set()
    with pytest.raises(ModelError):
        await first
    assert (await second).text == "reply 2"

    slow.go.clear()
    third, fourth = (asyncio.create_task(asked(journal, agent, name, "and now?")) for name in "cd")
    await asyncio.sleep(0.05)
    third.cancel()
    await asyncio.wait([third])
    slow.go.set()
    assert (await fourth).text == "reply 4"
    await journal.close()


async def test_after_a_resume_what_is_on_record_answers(log: RunLog) -> None:
    slow = Slow()
    slow.go.set()
    journal = await log.start("r1", "task", {})
    await asked(journal, agent_of(slow), "team-2")
    await journal.close()

    # Whoever comes first now: the reply is there before its own step is met again.
    again = await log.resume("r1")
    agent = agent_of(slow)
    assert (await asked(again, agent, "team-1")).text == "reply 1"
    assert (await asked(again, agent, "team-2")).text == "reply 1"
    await again.close()
    assert slow.asked == 1
    assert shared(log) == {"run/team-2": "", "run/team-1": "run/team-2"}

    replay = Replay(log.records("r1"))
    for name in ("team-1", "team-2"):
        assert (await asked(replay, agent, name)).text == "reply 1"
    assert slow.asked == 1


async def test_a_part_of_the_budget_pays_for_no_call_that_nobody_made(log: RunLog) -> None:
    async def spent(journal: Journal) -> list[float]:
        whole = Budget(Limits())
        parts = [whole.part(name, 0.5) for name in ("team-1", "team-2")]
        for number, part in enumerate(parts):
            await asked(journal, replace(agent_of(lambda _: "good"), budget=part), f"team-{number}")
        return [part.spent.calls for part in parts]

    journal = await log.start("r1", "task", {})
    assert await spent(journal) == [1, 0]
    await journal.close()
    again = await log.resume("r1")
    assert await spent(again) == [1, 0]
    await again.close()
    assert await spent(Replay(log.records("r1"))) == [1, 0]


async def test_the_ledger_says_what_was_saved(log: RunLog) -> None:
    journal = await log.start("r1", "task", {})
    agent = agent_of(lambda request: "good")
    replies = [await asked(journal, agent, name) for name in "abc"]
    await journal.close()
    records = log.records("r1")
    cost = replies[0].usage.input_tokens + replies[0].usage.output_tokens
    used = usage_of(records)
    assert (used.model_calls, used.shared_calls, used.saved_tokens) == (1, 2, 2 * cost)
    assert used.input_tokens + used.output_tokens == cost > 0
    assert [entry.shared for entry in entries(records)] == [False, True, True]
    # So a resumed run is not charged for what it did not ask.
    assert totals(entries(records)).model_calls == 1
