"""References and lessons end to end: what a run taught is shown to those who plan and act in the next one."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from plait.errors import UserError
from plait.events import LessonRecalled, Noted, TextsEmbedded, WorkflowRecalled
from plait.models.embeddings import Embedder, HashEmbedder
from plait.models.scripted import ScriptedModel, prompt
from plait.outfit.hands import Hands
from plait.replaying import canonical, replay
from plait.runner import start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import Result

OFFICE = Options(tools=("plait.tools.office",), yes=True)
REMARKS = "\n# critique: As asked.\n# score: 10"
THOUGHT = "# thought: As asked.\n"
SANTIAGO = "Tell me my next meeting with santiago"
SOFIA = "Tell me my next meeting with sofia"
LESSON = (
    "calendar.search_events with words as query found nothing; with an address from"
    " company_directory.find_email_address as query it found something."
)


def script(task: str, *, straight: bool = False) -> list[str]:
    """Return the replies of a run that looks for a name in vain, and then for the address."""
    name = task.rpartition(" ")[2]
    vain = f'{THOUGHT}calendar.search_events(query="{name} the great"){REMARKS}'
    address = {"santiago": "santiago.martinez", "sofia": "sofia.santos"}[name]
    return [
        f"1. {task}{REMARKS}",
        *([] if straight else [vain]),
        f'{THOUGHT}company_directory.find_email_address(name="{name}"){REMARKS}',
        f'{THOUGHT}calendar.search_events(query="{address}@atlas.com"){REMARKS}',
        f'{THOUGHT}done(result="it is there"){REMARKS}',
        f"It is there.{REMARKS}",
    ]


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(
    log: RunLog,
    task: str,
    replies: Sequence[str],
    options: Options = OFFICE,
    embedder: Embedder | None = None,
) -> tuple[Result, list[str]]:
    """Run a task over a script that must be used up; return its result and the prompts in order."""
    hands = Hands(log=log, embedder=embedder or HashEmbedder())
    async with ScriptedModel(list(replies)) as model:
        result = await start(task, options, replace(hands, model=model))
    return result, [prompt(request) for request in model.requests]


def of(log: RunLog, result: Result, kind: type) -> list[Any]:
    return [record.event for record in log.records(result.run_id) if isinstance(record.event, kind)]


async def test_what_was_learned_is_shown_to_who_plans_and_to_who_acts(log: RunLog):
    await run(log, SANTIAGO, script(SANTIAGO))
    off = OFFICE.changed({"without": ("execution-experience",)})
    result, prompts = await run(log, SOFIA, script(SOFIA, straight=True), off)
    assert result.status == "succeeded"
    planner, *acting, answer = prompts
    assert f"1. {SOFIA}\nTools: company_directory.find_email_address, calendar.search_events" in planner
    assert LESSON in planner
    assert all(LESSON in text for text in acting)
    assert LESSON not in answer
    assert "santiago" not in "".join(prompts)
    assert result.experience["workflows_recalled"] == 1
    assert of(log, result, TextsEmbedded) == []
    records = await ExperienceStore(log).find(kind="lesson")
    assert [(record.uses, record.successes) for record in records] == [(1, 1)]
    again = await replay(result.run_id, log.records(result.run_id))
    assert canonical(again) == canonical(result_json(result))


NEAR = "Tell me my next long meeting with santiago"
"""Other words of the same kind, and near for an embedder that counts words."""


async def test_a_goal_that_is_near_is_told_the_tools_that_another_needed(log: RunLog):
    await run(log, SANTIAGO, script(SANTIAGO))
    replies = [f"1. {NEAR}{REMARKS}", *script(SANTIAGO, straight=True)[1:]]
    result, [planner, *_] = await run(log, NEAR, replies)
    assert result.experience["workflows_recalled"] == 1
    assert "<reference>\nTools: company_directory.find_email_address, calendar.search_events\n" in planner
    assert SANTIAGO not in planner
    assert result.usage.embedding_calls == len(of(log, result, TextsEmbedded)) > 0
    again = await replay(result.run_id, log.records(result.run_id))
    assert canonical(again) == canonical(result_json(result))


class Missing:
    """An embedder that cannot be had."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise UserError("there is no network")


async def test_without_an_embedder_the_run_goes_on_and_says_so_once(log: RunLog):
    await run(log, SANTIAGO, script(SANTIAGO))
    replies = [f"1. {NEAR}{REMARKS}", *script(SANTIAGO, straight=True)[1:]]
    result, prompts = await run(log, NEAR, replies, embedder=Missing())
    assert result.status == "succeeded"
    assert "<reference>" not in "".join(prompts)
    said = [event.text for event in of(log, result, Noted)]
    assert said.count("nothing is recalled: there is no network") == 1


@pytest.mark.parametrize("without", [("experience",), ("planning-experience", "execution-experience")])
async def test_switched_off_it_asks_what_a_run_with_an_empty_memory_asks(log: RunLog, without: Sequence[str]):
    _, before = await run(log, SANTIAGO, script(SANTIAGO))
    result, prompts = await run(log, SANTIAGO, script(SANTIAGO), OFFICE.changed({"without": without}))
    assert prompts == before
    assert of(log, result, WorkflowRecalled) + of(log, result, LessonRecalled) == []


async def test_lessons_go_beyond_the_paper(log: RunLog):
    await run(log, SANTIAGO, script(SANTIAGO))
    off = OFFICE.changed({"without": ("execution-experience",), "preset": "paper", "consolidate": "compiled"})
    result, prompts = await run(log, SOFIA, script(SOFIA, straight=True), off)
    assert len(of(log, result, WorkflowRecalled)) == 1
    assert LESSON not in "".join(prompts)
