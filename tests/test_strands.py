"""Every subset of the strands, end to end: each switch makes a difference, and a killed run goes on.

Replies follow from a request alone, so that runs of any timing can be served. A run is cut off at moments
drawn from a seed, while a model call is under way, and taken up again.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest

from plait.events import (
    ActionsAgreed,
    ExperienceStored,
    Gated,
    MeetingStarted,
    Record,
    StepRecorded,
    TeamStarted,
)
from plait.models.embeddings import HashEmbedder
from plait.models.protocol import Request
from plait.models.scripted import FunctionModel, prompt
from plait.outfit.hands import Hands
from plait.outfit.settings import options_with
from plait.replaying import replay
from plait.runner import resume, start
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import Result
from plait.teams.ensemble import SEEDS_PER_TEAM

SEED = 2028
MOMENTS = 3
"""At which each combination is cut off."""
STRANDS = ("teams", "reflection", "experience")
COMBINATIONS = [
    tuple(name for name, on in zip(STRANDS, each, strict=True) if on)
    for each in product((True, False), repeat=3)
]
REMARKS = "\n# critique: As asked.\n# score: 9"
MEETING = "Solution 1\n+ a\n- b\nSolution 2\n+ c\n- d"


def team_of(request: Request) -> int:
    return (request.settings.seed or 0) // SEEDS_PER_TEAM + 1


@dataclass(frozen=True, kw_only=True)
class Work:
    """A task, what is said of it, and what a good model replies."""

    task: str
    again: str
    """Another of its kind."""
    said: Mapping[str, Any]

    def reply(self, request: Request) -> str:
        """Return a reply with its remarks, where they are asked for."""
        text = prompt(request)
        said = self.body(request, text)
        return said + REMARKS if "# critique" in text else said

    def body(self, request: Request, text: str) -> str:
        raise NotImplementedError

    def options(self, on: Sequence[str]) -> Options:
        off = [name for name in STRANDS if name not in on]
        many = {"teams": 2} if "teams" in on else {}
        return options_with({**self.said, **many, "without": off}).options


class ToolWork(Work):
    """Delete a meeting, say so; a second team would look first."""

    def body(self, request: Request, text: str) -> str:
        number = self.number_of(text)
        if "Several teams worked on this task" in text:
            if "# Strengths and weaknesses" not in text:
                return MEETING
            is_plan = "# Solution 1\n- Delete" in text
            return f"- {self.task}\n# changes: one" if is_plan else "Deleted by all.\n# changes: both"
        if "You judge an answer" in text:
            return ""
        if "You are the planner" in text:
            return f"1. Delete my meeting with the id {number}" + (" now" if team_of(request) > 1 else "")
        if "You are the answer agent" in text:
            return f"Meeting {number} is deleted, says team {team_of(request)}."
        own = text.rpartition("# Subtask:")[2] or text
        if "delete_event(" in own:
            return '# thought: Done.\ndone(result="deleted")'
        if team_of(request) > 1 and "get_event_information" not in own:
            look = f'calendar.get_event_information_by_id(event_id="{number}", field="event_name")'
            return f"# thought: I look.\n{look}"
        return f'# thought: I delete it.\ncalendar.delete_event(event_id="{number}")'

    def number_of(self, text: str) -> str:
        return next(each for each in ("00000027", "00000082") if each in text)


class ProgramWork(Work):
    """Write a program of a line."""

    def body(self, request: Request, text: str) -> str:
        if "Compare the solutions." in text:
            return MEETING
        if "# Strengths and weaknesses" in text:
            return "```python main.py\nprint('rain', 'of all')\n```\n# changes: both"
        if "reply AGREED" in text:
            return "AGREED"
        if "code block of its own" in text:
            return f"```python main.py\nprint('rain', {team_of(request)})\n```"
        return f"It rains, says team {team_of(request)}."


WORKS: Mapping[str, Work] = {
    "tools": ToolWork(
        task="Delete my meeting with the id 00000027",
        again="Delete my meeting with the id 00000082",
        said={"tools": ("plait.tools.office",), "yes": True},
    ),
    "software": ProgramWork(
        task="Print rain",
        again="Print rain again",
        said={"domain": "software", "phases": ("design", "coding", "manual"), "sandbox": False},
    ),
}


class Agents(FunctionModel):
    """Replies to all agents of a task; request number `cut_at` finds no end."""

    def __init__(self, work: Work, cut_at: int = 0) -> None:
        super().__init__(self._say, takes_grammar=True)
        self._work = work
        self._cut_at = cut_at
        self.cut = asyncio.Event()

    async def _say(self, request: Request) -> str:
        if len(self.requests) == self._cut_at:
            self.cut.set()
            await asyncio.Event().wait()
        return self._work.reply(request)


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a run left behind."""

    result: Result
    records: Sequence[Record]

    def of(self, kind: type) -> list[Any]:
        return [record.event for record in self.records if isinstance(record.event, kind)]

    @property
    def effects(self) -> list[str]:
        return [str(step.args["tool"]) for step in self.of(StepRecorded) if step.step == "effect"]

    @property
    def model_steps(self) -> int:
        return sum(step.step == "model" for step in self.of(StepRecorded))


def hands(model: FunctionModel, log: RunLog) -> Hands:
    return Hands(model=model, log=log, embedder=HashEmbedder())


async def run(log: RunLog, model: FunctionModel, options: Options, task: str, run_id: str) -> Told:
    result = await start(task, options, hands(model, log), run_id=run_id)
    return Told(result=result, records=log.records(run_id))


def lasting(told: Told) -> tuple[Any, ...]:
    """Return what a killed run must have in common with one that was not."""
    result = told.result
    used = (result.usage.model_calls, result.usage.tool_calls)
    plan = [(item.goal, item.status) for item in result.plan]
    gates = (result.reflection.gates, result.reflection.rounds)
    return result.status, result.answer, used, plan, gates, result.experience, told.effects


@pytest.mark.parametrize("name", WORKS)
@pytest.mark.parametrize("on", COMBINATIONS, ids="+".join)
async def test_each_strand_does_its_part_or_is_off(name: str, on: Sequence[str], log: RunLog) -> None:
    work = WORKS[name]
    model = Agents(work)
    first = await run(log, model, work.options(on), work.task, "first")
    assert first.result.status == "succeeded", first.result.message
    assert first.effects == (["calendar.delete_event"] if name == "tools" else [])

    teams = {event.team for event in first.of(TeamStarted)}
    assert (len(teams) > 1, bool(first.of(MeetingStarted))) == ("teams" in on,) * 2
    if name == "tools":
        assert bool(first.of(ActionsAgreed)) == ("teams" in on)

    scored = [gate for gate in first.of(Gated) if gate.score is not None]
    asked = [text for request in model.requests if "# critique" in (text := prompt(request))]
    assert (bool(scored), bool(asked)) == ("reflection" in on,) * 2

    second_model = Agents(work)
    second = await run(log, second_model, work.options(on), work.again, "second")
    assert second.result.status == "succeeded", second.result.message
    assert bool(first.of(ExperienceStored)) == ("experience" in on)
    recalled = second.result.experience["workflows_recalled"] + second.result.experience["pipelines_executed"]
    assert bool(recalled) == ("experience" in on)
    if name == "tools":
        # What was learned is done without any model.
        assert (len(second_model.requests) == 0) == ("experience" in on)
    for told, run_id in ((first, "first"), (second, "second")):
        assert await replay(run_id, told.records) == result_json(told.result)


@pytest.mark.parametrize("name", WORKS)
@pytest.mark.parametrize("on", COMBINATIONS, ids="+".join)
async def test_a_killed_run_goes_on_and_nothing_is_done_twice(
    name: str, on: Sequence[str], log: RunLog
) -> None:
    work = WORKS[name]
    options = work.options(on)
    # A memory of its own for each run: none is a reference for the next.
    whole = await run(log, Agents(work), replace(options, memory="whole"), work.task, "whole")
    count = whole.model_steps
    moments = random.Random(f"{SEED} {name} {on}").sample(range(1, count + 1), min(MOMENTS, count))
    for moment in moments:
        run_id = f"cut-{moment}"
        model = Agents(work, cut_at=moment)
        own = replace(options, memory=run_id)
        task = asyncio.create_task(start(work.task, own, hands(model, log), run_id=run_id))
        await model.cut.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        before = Told(result=whole.result, records=log.records(run_id))
        assert before.model_steps < count

        again = Agents(work)
        result = await resume(run_id, hands(again, log))
        after = Told(result=result, records=log.records(run_id))
        assert len(again.requests) == count - before.model_steps, moment
        assert lasting(after) == lasting(whole), moment
        assert await replay(run_id, after.records) == result_json(result)
