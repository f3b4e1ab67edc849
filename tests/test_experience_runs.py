"""Experience end to end: what a run learned serves the next one, over real tools, a real log and scripts."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from plait.errors import LogError
from plait.events import ExperienceStored, Noted, PipelineEnded, PipelineRecalled, Record, StepRecorded
from plait.experience.consolidation.lessons import Lesson
from plait.experience.pipelines.paper_form import from_json
from plait.experience.words.goals import key_of
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import ScriptedModel
from plait.outfit.hands import Hands
from plait.outfit.learning import GOALS_OF_A_LESSON, unlearn
from plait.outfit.teaching import LEARNED_FROM
from plait.replaying import canonical, replay
from plait.runner import resume, start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import Result

OFFICE = Options(tools=("plait.tools.office",), yes=True)
TASK = "Delete my first meeting on December 13"
OTHER_DAY = "Delete my first meeting on December 14"
REMARKS = "\n# critique: As asked.\n# score: 10"
THOUGHT = "# thought: As asked.\n"
ANSWER = f"It is deleted.{REMARKS}"


def search(day: int) -> str:
    bounds = f'time_min="2023-12-{day} 00:00:00", time_max="2023-12-{day} 23:59:59"'
    return f"{THOUGHT}calendar.search_events({bounds}){REMARKS}"


def first_run(event: str, task: str = TASK, day: int = 13) -> list[str]:
    """Return the replies of a run that plans, looks, deletes and answers."""
    delete = f'{THOUGHT}calendar.delete_event(event_id="{event}"){REMARKS}'
    return [f"1. {task}{REMARKS}", search(day), delete, f'{THOUGHT}done(result="deleted"){REMARKS}', ANSWER]


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(log: RunLog, task: str, script: Sequence[str], options: Options = OFFICE) -> Result:
    """Run a task over a script that must be used up."""
    async with ScriptedModel(list(script)) as model:
        return await start(task, options, Hands(model=model, log=log, embedder=HashEmbedder()))


def calls(log: RunLog, result: Result) -> list[str]:
    """Return the tool calls of a run, as `tool(first argument)`."""
    steps = [r.event for r in log.records(result.run_id) if isinstance(r.event, StepRecorded)]
    made = [step.args for step in steps if step.step in ("tool", "effect")]
    return [f"{args['tool']}({next(iter(args['arguments'].values()), '')})" for args in made]


def of(log: RunLog, result: Result, kind: type) -> list[Any]:
    return [record.event for record in log.records(result.run_id) if isinstance(record.event, kind)]


async def test_the_same_task_again_asks_no_model(log: RunLog):
    first = await run(log, TASK, first_run("00000256"))
    assert first.status == "succeeded"
    assert first.usage.model_calls == 5
    assert first.experience["stored"] == {"workflows": 1, "pipelines": 1, "lessons": 0}
    again = await run(log, TASK, [])
    assert again.status == "succeeded"
    assert again.usage.model_calls == 0
    assert calls(log, again) == calls(log, first)
    assert [item.executor for item in again.plan] == ["pipeline"]
    assert again.experience["pipelines_executed"] == 1
    assert again.experience["pipeline_share"] == 1.0
    # What was done, and to what: an identifier says nothing to a user.
    assert again.answer == (
        'calendar.delete_event(event_id="00000256"): Event deleted successfully. (event_name project'
        " progress update, participant_email santiago.martinez@atlas.com,"
        " event_start 2023-12-13 09:00:00, duration 60)"
    )
    [ended] = of(log, again, PipelineEnded)
    assert (ended.calls, ended.left) == (2, "")


async def test_an_answer_of_a_given_form_is_written_by_a_model(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    schema = {"type": "object", "properties": {"done": {"type": "boolean"}}, "required": ["done"]}
    reply = '{"output": {"answer": {"done": true}}, "critique": "As asked.", "score": 10}'
    typed = await run(log, OTHER_DAY, [reply], OFFICE.changed({"returns": schema}))
    assert (typed.status, typed.usage.model_calls) == ("succeeded", 1)
    assert typed.answer == {"done": True}


async def test_another_day_of_the_same_kind_is_done_with_its_own_values(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    other = await run(log, OTHER_DAY, [])
    assert other.status == "succeeded"
    search_call, delete_call = calls(log, other)
    assert search_call == "calendar.search_events(2023-12-14 00:00:00)"
    assert delete_call.startswith("calendar.delete_event(")
    assert delete_call != "calendar.delete_event(00000256)"
    [recalled] = of(log, other, PipelineRecalled)
    assert recalled.goal == TASK
    assert set(recalled.slots.values()) == {"2023-12-14 00:00:00", "2023-12-14 23:59:59"}


@pytest.mark.parametrize(
    "task",
    [
        "Delete my last meeting on December 13",
        "Delete all my meetings on December 13",
        "Rename my first meeting on December 13 to Sync",
        "Do not delete my first meeting on December 13",
    ],
)
async def test_a_task_that_asks_for_something_else_is_planned_anew(log: RunLog, task: str):
    await run(log, TASK, first_run("00000256"))
    script = [f"1. {task}{REMARKS}", f'{THOUGHT}done(result="nothing"){REMARKS}', ANSWER]
    other = await run(log, task, script)
    assert of(log, other, PipelineRecalled) == []
    assert [item.executor for item in other.plan] == ["react"]


@pytest.mark.parametrize(
    "options", [OFFICE.changed({"without": ("experience",)}), OFFICE.changed({"memory": "other"})]
)
async def test_without_experience_or_in_another_memory_nothing_is_recalled(log: RunLog, options: Options):
    await run(log, TASK, first_run("00000256"))
    other = await run(log, TASK, first_run("00000256"), options)
    assert other.usage.model_calls == 5
    assert of(log, other, PipelineRecalled) == []


async def test_without_experience_nothing_is_stored(log: RunLog):
    result = await run(log, TASK, first_run("00000256"), OFFICE.changed({"without": ("experience",)}))
    assert of(log, result, ExperienceStored) == []
    assert await ExperienceStore(log).find() == []


async def test_a_run_that_was_only_rehearsed_teaches_nothing(log: RunLog):
    rehearsed = OFFICE.changed({"dry_run": True})
    await run(log, TASK, first_run("00000256"), rehearsed)
    assert await ExperienceStore(log).find() == []


WEAK = "I do not know.\n# critique: It says nothing.\n# score: 1"
ONCE = OFFICE.changed({"rounds": 1})


async def test_what_a_failed_run_did_well_is_used_only_after_a_success(log: RunLog):
    failed = await run(log, TASK, [*first_run("00000256")[:-1], WEAK], ONCE)
    assert failed.status == "failed"
    [stored] = of(log, failed, ExperienceStored)
    assert (stored.of, stored.status) == ("pipeline", "provisional")
    store = ExperienceStore(log)
    again = await run(log, TASK, first_run("00000256"))
    assert of(log, again, PipelineRecalled) == []
    assert [record.status for record in await store.find(kind="pipeline")] == ["active"]
    used = await run(log, OTHER_DAY, [])
    assert used.usage.model_calls == 0


async def test_a_failed_run_takes_nothing_from_what_a_success_taught(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    off = ONCE.changed({"without": ("execution-experience",)})
    failed = await run(log, TASK, [*first_run("00000256")[:-1], WEAK], off)
    assert failed.status == "failed"
    assert of(log, failed, ExperienceStored) == []
    statuses = {record.status for record in await ExperienceStore(log).find()}
    assert statuses == {"active"}


async def test_what_waits_for_a_second_success_is_not_lost_for_a_failed_run(log: RunLog):
    await run(log, TASK, [*first_run("00000256")[:-1], WEAK], ONCE)
    store = ExperienceStore(log)
    [record] = await store.find(kind="pipeline")
    awaits = {"runs": ["earlier"], "day": ""}
    await store.add(replace(record, content={**record.content, LEARNED_FROM: awaits}))
    failed = await run(log, TASK, [*first_run("00000256")[:-1], WEAK], ONCE)
    assert of(log, failed, ExperienceStored) == []
    [kept] = await store.find(kind="pipeline")
    assert kept.content[LEARNED_FROM] == awaits


async def test_of_a_failed_run_the_parts_that_did_something_teach(log: RunLog):
    task = f"{TASK} and tell me the address of sofia"
    plan = f"1. {TASK}\n2. Tell me the address of sofia{REMARKS}"
    asks = f'{THOUGHT}company_directory.find_email_address(name="sofia"){REMARKS}'
    told = f'{THOUGHT}done(result="sofia.santos@atlas.com"){REMARKS}'
    script = [plan, *first_run("00000256")[1:-1], asks, told, WEAK]
    failed = await run(log, task, script, ONCE)
    assert failed.status == "failed"
    pipelines = await ExperienceStore(log).find(kind="pipeline")
    assert {(pipeline.goal, pipeline.status) for pipeline in pipelines} == {
        (TASK, "provisional"),
        ("Tell me the address of sofia", "provisional"),
    }
    assert await ExperienceStore(log).find(kind="workflow") == []


async def test_without_experience_of_execution_no_pipeline_is_walked_and_still_learned(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    off = OFFICE.changed({"without": ("execution-experience",)})
    other = await run(log, OTHER_DAY, first_run(await _first_of(log, 14), OTHER_DAY, 14), off)
    assert (other.status, other.usage.model_calls) == ("succeeded", 5)
    assert of(log, other, PipelineRecalled) == []
    assert {stored.of for stored in of(log, other, ExperienceStored)} == {"pipeline"}
    # The workflow was a reference and served, so it stays as it is.
    [workflow] = await ExperienceStore(log).find(kind="workflow")
    assert (workflow.goal, workflow.successes) == (TASK, 1)


async def test_without_experience_of_planning_pipelines_are_walked(log: RunLog):
    off = OFFICE.changed({"without": ("planning-experience",)})
    first = await run(log, TASK, first_run("00000256"), off)
    assert first.experience["stored"]["workflows"] == 1
    other = await run(log, OTHER_DAY, [], off)
    assert other.experience["pipelines_executed"] == 1


async def _first_of(log: RunLog, day: int) -> str:
    """Return the id of the first meeting of a day, which a scripted model has to know."""
    looking = f"Tell me my first meeting on December {day}"
    script = [f"1. {looking}{REMARKS}", search(day), f'{THOUGHT}done(result="seen"){REMARKS}', ANSWER]
    result = await run(log, looking, script, OFFICE.changed({"without": ("experience",)}))
    [step] = [step for step in of(log, result, StepRecorded) if step.step == "tool"]
    return str(step.result["text"].splitlines()[1].split(" | ")[0])


MENDED = [
    f"1. Tell me my next meeting with santiago{REMARKS}",
    f'{THOUGHT}calendar.search_events(query="santiago the great"){REMARKS}',
    f'{THOUGHT}company_directory.find_email_address(name="santiago"){REMARKS}',
    f'{THOUGHT}calendar.search_events(query="santiago.martinez@atlas.com"){REMARKS}',
    f'{THOUGHT}done(result="progress update"){REMARKS}',
    f"It is progress update.{REMARKS}",
]
LESSON = (
    "calendar.search_events with words as query found nothing; with an address from"
    " company_directory.find_email_address as query it found something."
)


async def test_a_search_that_had_to_be_mended_teaches_a_lesson(log: RunLog):
    result = await run(log, "Tell me my next meeting with santiago", MENDED)
    assert result.status == "succeeded"
    assert result.experience["stored"]["lessons"] == 1
    [record] = await ExperienceStore(log).find(kind="lesson")
    assert Lesson.from_json(record.content).text == LESSON
    assert record.key == key_of("Tell me my next meeting with santiago")
    assert list(record.tools) == ["calendar.search_events", "company_directory.find_email_address"]


async def test_a_lesson_is_kept_for_the_task_and_for_the_part_that_it_was_learned_at(log: RunLog):
    part, other = "Tell me my next meeting with santiago", "Also tell me the address of sofia"
    plan = f"1. {part}\n2. {other}{REMARKS}"
    known = [f'{THOUGHT}company_directory.find_email_address(name="sofia"){REMARKS}', MENDED[-2]]
    await run(log, f"{part}. {other}", [plan, *MENDED[1:-1], *known, MENDED[-1]])
    lessons = await ExperienceStore(log).find(kind="lesson")
    assert {record.goal for record in lessons} == {f"{part}. {other}", part}
    assert {Lesson.from_json(record.content).text for record in lessons} == {LESSON}


async def test_a_failed_run_teaches_lessons_too(log: RunLog):
    failed = await run(log, "Tell me my next meeting with santiago", [*MENDED[:-1], WEAK], ONCE)
    assert failed.status == "failed"
    assert failed.experience["stored"]["lessons"] == 1


@pytest.mark.parametrize(
    "changes", [{"preset": "paper", "consolidate": "compiled"}, {"without": ("experience",)}]
)
async def test_what_is_beyond_the_paper_or_off_teaches_no_lesson(log: RunLog, changes: dict[str, Any]):
    await run(log, "Tell me my next meeting with santiago", MENDED, OFFICE.changed(changes))
    assert await ExperienceStore(log).find(kind="lesson") == []


async def test_the_same_lesson_is_kept_under_few_goals(log: RunLog):
    for wanted in ("next", "last", "first", "second", "longest", "shortest", "latest"):
        task = f"Tell me my {wanted} meeting with santiago"
        await run(log, task, [f"1. {task}{REMARKS}", *MENDED[1:]])
    lessons = await ExperienceStore(log).find(kind="lesson")
    assert len(lessons) == GOALS_OF_A_LESSON


async def test_where_the_pipeline_leads_no_further_the_agent_goes_on_from_there(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    empty = "Delete my first meeting on December 24"
    script = [*[f'{THOUGHT}done(result="there is none"){REMARKS}'] * 2, ANSWER]
    result = await run(log, empty, script)
    [ended] = of(log, result, PipelineEnded)
    assert ended.left == "search_events found nothing"
    assert calls(log, result)[0] == "calendar.search_events(2023-12-24 00:00:00)"
    assert [item.executor for item in result.plan] == ["react"]
    [record] = await ExperienceStore(log).find(kind="pipeline", statuses=("active",))
    assert (record.uses, record.successes, record.failures) == (1, 0, 1)


async def test_a_run_that_found_nothing_to_delete_does_not_teach_to_delete_nothing(log: RunLog):
    script = [*[f'{THOUGHT}done(result="there is none"){REMARKS}'] * 2, ANSWER]
    task = "Delete my first meeting on December 24"
    found = await run(log, task, [f"1. {task}{REMARKS}", search(24), *script])
    assert found.status == "succeeded"
    assert await ExperienceStore(log).find(kind="pipeline") == []


async def test_uses_are_counted_and_a_second_failure_suspends(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    await run(log, OTHER_DAY, [])
    store = ExperienceStore(log)
    [record] = await store.find(kind="pipeline")
    assert (record.uses, record.successes, record.failures) == (1, 1, 0)
    for _ in range(2):
        await store.used(record.id, succeeded=False)
    result = await run(
        log,
        OTHER_DAY,
        [*first_run("00000001", OTHER_DAY, 14)[:2], f'{THOUGHT}done(result="x"){REMARKS}', ANSWER],
    )
    assert of(log, result, PipelineRecalled) == []


async def test_an_effect_of_a_pipeline_needs_the_same_leave(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    denied = Options(tools=("plait.tools.office",), deny=("calendar.delete_event",))
    script = [f'{THOUGHT}done(result="not allowed"){REMARKS}', ANSWER]
    result = await run(log, TASK, script, denied)
    assert calls(log, result) == ["calendar.search_events(2023-12-13 00:00:00)"]
    [ended] = of(log, result, PipelineEnded)
    assert ended.left == "delete_event failed"


async def test_a_run_by_pipeline_is_replayed_from_its_records_alone(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    result = await run(log, OTHER_DAY, [])
    again = await replay(result.run_id, log.records(result.run_id))
    assert canonical(again) == canonical(result_json(result))


async def test_a_run_by_pipeline_that_was_cut_short_goes_on_where_it_was(log: RunLog):
    await run(log, TASK, first_run("00000256"))

    def cut(record: Record) -> None:
        if isinstance(record.event, StepRecorded) and record.event.step == "effect":
            going.cancel()

    async with ScriptedModel([]) as model:
        hands = Hands(model=model, log=log, embedder=HashEmbedder(), on_event=cut)
        going = asyncio.create_task(start(OTHER_DAY, OFFICE, hands, run_id="cut"))
        with pytest.raises(asyncio.CancelledError):
            await going
    # What it recalled is on record: that the memory forgot it meanwhile changes nothing.
    store = ExperienceStore(log)
    await store.remove([record.id for record in await store.find()])
    async with ScriptedModel([]) as model:
        result = await resume("cut", Hands(model=model, log=log, embedder=HashEmbedder()))
    assert result.status == "succeeded"
    assert len(_effects(log, "cut")) == 1


def _records(log: RunLog, run_id: str) -> list[Any]:
    return log.records(run_id) if any(run.run_id == run_id for run in log.runs()) else []


def _effects(log: RunLog, run_id: str) -> list[Any]:
    events = [record.event for record in _records(log, run_id)]
    return [event for event in events if isinstance(event, StepRecorded) and event.step == "effect"]


async def test_a_pipeline_with_a_text_of_a_tool_is_not_used_before_it_is_approved(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    store = ExperienceStore(log)
    [record] = await store.find(kind="pipeline")
    await store.change(record.id, status="quarantined")
    refused = await run(log, TASK, first_run("00000256"))
    assert of(log, refused, PipelineRecalled) == []
    await store.change(record.id, status="active")
    used = await run(log, TASK, [])
    assert len(of(log, used, PipelineRecalled)) == 1


async def test_a_planted_pipeline_whose_goal_matches_but_does_something_else_is_not_run(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    store = ExperienceStore(log)
    [record] = await store.find(kind="pipeline")
    pipeline = from_json(record.content)
    assert pipeline.purpose == TASK
    await store.remove([record.id])
    planted = replace(record, source="friend.jsonl", run_id="", status="quarantined")
    await store.add(planted)
    result = await run(log, TASK, first_run("00000256"))
    assert of(log, result, PipelineRecalled) == []


async def test_what_a_run_taught_or_used_that_the_user_calls_wrong_is_not_used(log: RunLog):
    store = ExperienceStore(log)
    wrong = await run(log, TASK, first_run("00000256"))
    assert await unlearn(store, "other", log.records(wrong.run_id)) == {}
    assert list((await unlearn(store, "default", log.records(wrong.run_id))).values()) == ["active"] * 2
    again = await run(log, TASK, first_run("00000256"))
    assert of(log, again, PipelineRecalled) == []
    # It is learned again from a run that nobody calls wrong.
    used = await run(log, OTHER_DAY, [])
    assert used.usage.model_calls == 0
    await unlearn(store, "default", log.records(used.run_id))
    assert {record.status for record in await store.find(kind="pipeline")} == {"suspended"}


@pytest.mark.parametrize("broken", ["find", "add"])
async def test_a_memory_that_fails_costs_no_result(log: RunLog, monkeypatch: pytest.MonkeyPatch, broken: str):
    async def fails(*_: Any, **__: Any) -> Any:
        raise LogError("the disk is full")

    monkeypatch.setattr(ExperienceStore, broken, fails)
    result = await run(log, TASK, first_run("00000256"))
    assert result.status == "succeeded"
    said = [event.text for event in of(log, result, Noted)]
    assert any("the disk is full" in text for text in said)


async def test_a_use_is_counted_once_however_often_its_run_is_taken_up(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    denied = ONCE.changed({"yes": False, "deny": ("calendar.delete_event",)})
    given_up = f'{THOUGHT}done(result="not allowed"){REMARKS}'
    failed = await run(log, OTHER_DAY, [given_up, WEAK], denied)
    assert failed.status == "failed"
    async with ScriptedModel([]) as model:
        await resume(failed.run_id, Hands(model=model, log=log))
    [record] = await ExperienceStore(log).find(kind="pipeline")
    assert (record.uses, record.failures) == (1, 1)


async def test_a_part_of_a_task_is_not_done_by_what_was_learned_of_a_whole_one(log: RunLog):
    await run(log, TASK, first_run("00000256"))
    task = f"Tell me who my first meeting on December 13 is with, and if it is with sofia, {TASK.lower()}"
    plan = f"1. Tell me who my first meeting on December 13 is with\n2. {TASK}{REMARKS}"
    look = [search(13), f'{THOUGHT}done(result="not with sofia"){REMARKS}']
    leave = f'{THOUGHT}done(result="nothing to delete"){REMARKS}'
    result = await run(log, task, [plan, *look, leave, ANSWER])
    assert of(log, result, PipelineRecalled) == []
    assert calls(log, result) == ["calendar.search_events(2023-12-13 00:00:00)"]
