"""A part of a plan that says all by itself is done again by what reached it, in another plan too."""

from collections.abc import AsyncIterator, Sequence

import pytest

from plait.events import PipelineEnded, StepRecorded
from plait.experience.record import Experience
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import ScriptedModel
from plait.outfit.hands import Hands
from plait.runner import start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Result

OFFICE = Options(tools=("plait.tools.office",), yes=True)
REMARKS = "\n# critique: As asked.\n# score: 10"
THOUGHT = "# thought: As asked.\n"
ANSWER = f"It is done.{REMARKS}"
DONE = f'{THOUGHT}done(result="done"){REMARKS}'
FIRST = {13: "00000256", 14: "00000082"}
SEND = "send an email to raj.patel@atlas.com saying 'On my way' and title it 'Soon'"


def delete(day: int) -> list[str]:
    bounds = f'time_min="2023-12-{day} 00:00:00", time_max="2023-12-{day} 23:59:59"'
    return [
        f"{THOUGHT}calendar.search_events({bounds}){REMARKS}",
        f'{THOUGHT}calendar.delete_event(event_id="{FIRST[day]}"){REMARKS}',
        DONE,
    ]


MAIL = [
    f'{THOUGHT}email.send_email(recipient="raj.patel@atlas.com", subject="Soon", body="On my way"){REMARKS}',
    DONE,
]


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(log: RunLog, task: str, replies: Sequence[str], options: Options = OFFICE) -> Result:
    async with ScriptedModel(list(replies)) as model:
        return await start(task, options, Hands(model=model, log=log, embedder=HashEmbedder()))


def two(day: int, second: str) -> tuple[str, str]:
    """Return a task of two things, and its plan."""
    first = f"Delete my first meeting on December {day}"
    return f"{first}. Also {second}.", f"1. {first}\n2. {second.capitalize()}{REMARKS}"


async def taught(log: RunLog) -> list[Experience]:
    return await ExperienceStore(log).find(kind="pipeline")


def deleted(log: RunLog, result: Result) -> list[str]:
    steps = [record.event for record in log.records(result.run_id) if isinstance(record.event, StepRecorded)]
    made = [step.args["arguments"] for step in steps if step.step == "effect"]
    return [arguments["event_id"] for arguments in made if "event_id" in arguments]


async def test_what_was_a_task_is_a_part_of_another(log: RunLog):
    first = await run(log, "Delete my first meeting on December 13", [
        f"1. Delete my first meeting on December 13{REMARKS}", *delete(13), ANSWER,
    ])  # fmt: skip
    assert first.usage.model_calls == 5
    task, plan = two(14, SEND)
    second = await run(log, task, [plan, *MAIL, ANSWER])
    assert second.status == "succeeded"
    assert [item.executor for item in second.plan] == ["pipeline", "react"]
    assert deleted(log, second) == [FIRST[14]]
    assert second.experience["pipelines_executed"] == 1


async def test_what_was_a_part_is_a_task_later(log: RunLog):
    task, plan = two(13, SEND)
    await run(log, task, [plan, *delete(13), *MAIL, ANSWER])
    goals = {record.goal for record in await taught(log) if record.status == "active"}
    assert "Delete my first meeting on December 13" in goals
    again = await run(log, "Delete my first meeting on December 14", [])
    assert again.usage.model_calls == 0
    assert deleted(log, again) == [FIRST[14]]


async def test_a_part_that_points_at_another_teaches_no_pipeline(log: RunLog):
    task = "Find my first meeting on December 13 and delete it."
    plan = f"1. Find my first meeting on December 13\n2. Delete it{REMARKS}"
    find, remove, done = delete(13)
    await run(log, task, [plan, find, done, remove, done, ANSWER], OFFICE.changed({"without": ("gates",)}))
    assert "Delete it" not in {record.goal for record in await taught(log)}


async def test_a_part_that_was_done_by_a_pipeline_and_is_switched_off_is_worked_on(log: RunLog):
    task, plan = two(13, SEND)
    await run(log, task, [plan, *delete(13), *MAIL, ANSWER])
    task, plan = two(14, SEND)
    off = OFFICE.changed({"without": ("execution-experience",)})
    second = await run(log, task, [plan, *delete(14), *MAIL, ANSWER], off)
    ends = [record for record in log.records(second.run_id) if isinstance(record.event, PipelineEnded)]
    assert ends == []
    assert [item.executor for item in second.plan] == ["react", "react"]


async def test_what_an_agent_did_beside_a_pipeline_is_learned(log: RunLog):
    one = "Delete my first meeting on December 13"
    await run(log, one, [f"1. {one}{REMARKS}", *delete(13), ANSWER])
    mail = "send an email to raj.patel@atlas.com titled 'Soon' saying 'On my way'"
    task, plan = two(14, mail)
    second = await run(log, task, [plan.replace(mail.capitalize(), mail), *MAIL, ANSWER])
    goals = {record.goal for record in await taught(log) if record.run_id == second.run_id}
    assert goals == {task, mail}


async def test_a_part_done_by_a_pipeline_served_though_another_part_failed(log: RunLog):
    one = "Delete my first meeting on December 13"
    await run(log, one, [f"1. {one}{REMARKS}", *delete(13), ANSWER])
    [record] = await taught(log)
    task, plan = two(14, SEND)
    once = OFFICE.changed({"rounds": 1, "steps": 2, "without": ("gates", "rectification")})
    vain = [f'{THOUGHT}email.search_emails(query="{word}"){REMARKS}' for word in ("one", "two")]
    failed = await run(log, task, [plan, *vain, ANSWER], once)
    assert [item.status for item in failed.plan] == ["succeeded", "failed"]
    used = await ExperienceStore(log).get(record.id)
    assert (used.uses, used.successes) == (1, 1)
