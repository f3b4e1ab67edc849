"""The same task in the same situation: the calls of a success are made again, though no rule can be told.

Over real tools, a real log and scripts. The searches here hold an end of time that follows from nothing that
was said, as a small model's often do, so that no pipeline with slots can be used.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plait.events import PipelineEnded, PipelineRecalled, StepRecorded
from plait.experience.consolidation.as_it_was import as_it_was
from plait.experience.investigation.tree import Goal, Step
from plait.experience.record import Experience
from plait.experience.situation import AS_IT_WAS, exact_key, kept_situation, situation_of
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import ScriptedModel
from plait.outfit.hands import Hands
from plait.outfit.learning import unlearn
from plait.runner import start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Result

OFFICE = Options(tools=("plait.tools.office",), yes=True)
REMARKS = "\n# critique: As asked.\n# score: 10"
THOUGHT = "# thought: As asked.\n"
TASK = "Cancel my next meeting with sofia"
SCRIPT = [
    f"1. {TASK}{REMARKS}",
    f'{THOUGHT}calendar.search_events(query="sofia", time_min="2023-11-30 00:00:00", '
    f'time_max="2024-02-01 07:00:00"){REMARKS}',
    f'{THOUGHT}calendar.delete_event(event_id="00000027"){REMARKS}',
    f'{THOUGHT}done(result="cancelled"){REMARKS}',
    f"It is done.{REMARKS}",
]


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(log: RunLog, said: str, replies: Sequence[str] = (), options: Options = OFFICE) -> Result:
    async with ScriptedModel(list(replies)) as model:
        return await start(said, options, Hands(model=model, log=log, embedder=HashEmbedder()))


async def exact(log: RunLog, status: str = "active") -> list[Experience]:
    found = await ExperienceStore(log).find(kind="pipeline", statuses=(status,))  # pyright: ignore[reportArgumentType]
    return [record for record in found if kept_situation(record.content) is not None]


def effects(log: RunLog, result: Result) -> list[str]:
    steps = [record.event for record in log.records(result.run_id) if isinstance(record.event, StepRecorded)]
    return [step.args["arguments"]["event_id"] for step in steps if step.step == "effect"]


def left(log: RunLog, result: Result) -> list[str]:
    events = [record.event for record in log.records(result.run_id)]
    return [event.left for event in events if isinstance(event, PipelineEnded)]


async def test_the_same_task_in_the_same_situation_asks_no_model(log: RunLog):
    first = await run(log, TASK, SCRIPT)
    assert first.usage.model_calls == 5
    second = await run(log, f"  {TASK} ")
    assert (second.status, second.usage.model_calls) == ("succeeded", 0)
    assert effects(log, second) == effects(log, first) == ["00000027"]
    assert "00000027" in str(second.answer)
    [record] = await exact(log)
    assert (record.uses, record.successes) == (1, 1)


async def test_where_a_read_is_answered_otherwise_the_agent_goes_on(log: RunLog, tmp_path: Path):
    here = replace(OFFICE, out=str(tmp_path / "office"))
    await run(log, TASK, SCRIPT, here)
    # The meeting is gone, and another one is next.
    again = [SCRIPT[2].replace("00000027", "00000082"), *SCRIPT[3:]]
    second = await run(log, TASK, again, here)
    assert left(log, second) == ["calendar.search_events returned something else than when it was learned"]
    assert effects(log, second) == ["00000082"]


@pytest.mark.parametrize(
    "other", ["Cancel my next meeting with raj", "cancel my next meeting with Sofia, please"]
)
async def test_another_wording_is_planned(log: RunLog, other: str):
    await run(log, TASK, SCRIPT)
    second = await run(log, other, [SCRIPT[0].replace(TASK, other), *SCRIPT[1:]])
    assert second.usage.model_calls == 5
    assert [r for r in log.records(second.run_id) if isinstance(r.event, PipelineRecalled)] == []


async def test_on_another_day_it_is_planned(log: RunLog):
    await run(log, TASK, SCRIPT)
    store = ExperienceStore(log)
    [record] = await exact(log)
    await store.remove([record.id])
    other = situation_of("Today is Friday 2023-12-01.", OFFICE.of_agents())
    await store.add(replace(record, content={**record.content, AS_IT_WAS: other}))
    assert (await run(log, TASK, SCRIPT)).usage.model_calls == 5


async def test_what_other_days_left_for_the_same_task_goes(log: RunLog):
    await run(log, TASK, SCRIPT)
    store = ExperienceStore(log)
    [record] = await exact(log)
    there = {**record.content, AS_IT_WAS: "another day"}
    dead = replace(record, id="dead", tools=("calendar.search_events",), content=there)
    await store.add(dead)
    await store.add(replace(dead, id="same", tools=("a.b",), content=record.content))
    await store.add(replace(dead, id="approved", tools=("a.c",)))
    await store.change("approved", status="active")
    other = "Cancel my next meeting with raj"
    await store.add(replace(dead, id="of another task", key=exact_key(other), goal=other))
    await run(log, TASK, SCRIPT, OFFICE.changed({"seed": 1}))
    left = {each.id for each in await exact(log)}
    # What was made with another seed was replaced, so that its id is there still.
    assert left == {record.id, "approved", "of another task"}


async def test_what_the_user_calls_wrong_is_not_done_again(log: RunLog):
    first = await run(log, TASK, SCRIPT)
    await unlearn(ExperienceStore(log), OFFICE.memory, log.records(first.run_id))
    assert await exact(log) == []
    assert (await run(log, TASK, SCRIPT)).usage.model_calls == 5


async def test_a_task_that_a_rule_was_told_from_needs_none(log: RunLog):
    task = "Delete my meeting with the id 00000027"
    plan = f"1. {task}{REMARKS}"
    await run(log, task, [plan, *SCRIPT[2:]])
    assert await exact(log) == []
    assert len(await ExperienceStore(log).find(kind="pipeline", statuses=("active",))) == 1


async def test_a_run_that_failed_leaves_none(log: RunLog):
    result = await run(log, TASK, SCRIPT[:3], replace(OFFICE, max_calls=3))
    assert result.status == "budget_exhausted"
    assert await exact(log) == []


@pytest.mark.parametrize(
    ("other", "calls"),
    [({"rounds": 2}, 5), ({"seed": 1}, 5), ({"max_calls": 7}, 0)],
)
async def test_other_settings_choose_anew(log: RunLog, other: dict[str, Any], calls: int):
    await run(log, TASK, SCRIPT)
    second = await run(log, TASK, SCRIPT if calls else [], OFFICE.changed(other))
    assert second.usage.model_calls == calls


async def test_what_input_files_say_is_no_part_of_the_goal(log: RunLog, tmp_path: Path):
    file = tmp_path / "list.txt"
    file.write_text("eggs", encoding="utf-8")
    await run(log, TASK, SCRIPT, replace(OFFICE, files=(str(file),)))
    assert await exact(log) == []


async def test_the_paper_has_none(log: RunLog):
    await run(log, TASK, SCRIPT, replace(OFFICE, preset="paper", consolidate="compiled"))
    assert await exact(log) == []


def step(
    tool: str, observation: str = "id\n1", *, effect: bool = False, ok: bool = True, whole: bool = True
) -> Step:
    return Step(tool=tool, arguments={"q": tool}, observation=observation, ok=ok, effect=effect, whole=whole)


DO = step("do", "Done.", effect=True)


def reached(*steps: Step, goal: str = "Do it", beside: Sequence[Goal] = ()) -> Goal:
    leaf = Goal(id="1", text=goal, status="succeeded", steps=steps)
    return Goal(id="", text=goal, status="succeeded", subgoals=[leaf, *beside])


def test_what_was_asked_before_is_left_out_and_what_found_nothing_stays():
    found = as_it_was(reached(step("look"), step("look"), step("vain", "No events found."), DO), ["do"])
    assert found is not None
    assert [node.tool for node in found.calls] == ["look", "vain", "do"]
    assert [bool(node.exactly) for node in found.calls] == [True, True, False]
    assert [bool(node.answer) for node in found.calls] == [False, False, True]


@pytest.mark.parametrize(
    "root",
    [
        reached(),
        reached(step("look", whole=False), DO),
        reached(step("ping", "no answer", ok=False), DO),
        reached(step("do", "Not found.", effect=True), DO),
        reached(DO, DO),
        reached(DO, beside=[Goal(id="2", text="Ask who", status="failed", steps=[step("duty")])]),
        reached(step("look"), DO, goal="Do it and tell me how many are left"),
        reached(*(step(f"look{number}") for number in range(17))),
    ],
)
def test_what_may_rest_on_more_than_can_be_compared_is_left_out(root: Goal):
    assert as_it_was(root, ["do"]) is None


def test_a_way_has_sixteen_calls_at_most():
    assert as_it_was(reached(*(step(f"look{number}") for number in range(16))), []) is not None


def test_a_situation_is_told_by_the_notes_and_the_settings():
    told = situation_of("Today is Monday.", {"model": "m", "rounds": 5})
    assert told == situation_of("Today is Monday.", {"rounds": 5, "model": "m"})
    assert told != situation_of("Today is Tuesday.", {"model": "m", "rounds": 5})
    assert told != situation_of("Today is Monday.", {"model": "n", "rounds": 5})


def test_a_key_of_one_goal_is_no_key_of_a_kind():
    assert exact_key("Do it") == exact_key(" Do it\n") != exact_key("do it")
    assert exact_key("Do it") != exact_key("Do  it")
