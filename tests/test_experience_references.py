"""Workflows as references, end to end: over real tools, a real log and memory, and scripts."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.test_experience_runs import ANSWER, OFFICE, OTHER_DAY, REMARKS, TASK, THOUGHT, first_run, search

from plait.errors import ModelError
from plait.events import PlanMade, PlanRectified, StepDiverged, WorkflowRecalled
from plait.experience.situation import kept_situation
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import Answer, ScriptedModel, ScriptStep, prompt
from plait.outfit.hands import Hands
from plait.runner import resume, start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.task import Result

PLANNED = OFFICE.changed({"without": ("execution-experience",)})
"""Nothing is done without a model, so that there is a plan to be made."""
TOOLS = "calendar.search_events, calendar.delete_event"
REFERENCE = f"<reference>\n1. {OTHER_DAY}\nTools: {TOOLS}\n</reference>"


@dataclass(frozen=True, kw_only=True)
class Done:
    """A run and what was asked in it."""

    result: Result
    prompts: Sequence[str]


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(
    log: RunLog, task: str, script: Sequence[Answer | ScriptStep], options: Options = PLANNED
) -> Done:
    async with ScriptedModel(list(script)) as model:
        result = await start(task, options, Hands(model=model, log=log, embedder=HashEmbedder()))
        return Done(result=result, prompts=[prompt(request) for request in model.requests])


def of(log: RunLog, run_id: str, kind: type) -> list[Any]:
    return [record.event for record in log.records(run_id) if isinstance(record.event, kind)]


async def test_a_task_like_an_earlier_one_is_planned_with_its_workflow_in_view(log: RunLog) -> None:
    first = await run(log, TASK, first_run("00000256"))
    assert "<reference>" not in first.prompts[0]
    again = await run(log, OTHER_DAY, first_run("00000185", OTHER_DAY, 14))
    assert REFERENCE in again.prompts[0]
    # References cost no call; who acts is shown lessons, and there are none.
    assert again.result.usage.model_calls == first.result.usage.model_calls == 5
    assert all("<reference>" not in each for each in again.prompts[1:])
    assert again.result.experience["workflows_recalled"] == 1


async def test_a_line_that_is_copied_with_its_tools_is_a_goal_without_a_milestone(log: RunLog) -> None:
    await run(log, TASK, first_run("00000256"))
    _, *rest = first_run("00000185", OTHER_DAY, 14)
    again = await run(log, OTHER_DAY, [f"1. {OTHER_DAY} => {TOOLS}{REMARKS}", *rest])
    [made] = of(log, again.result.run_id, PlanMade)
    assert made.subtasks == [{"id": "1", "goal": OTHER_DAY, "depends_on": []}]


async def test_a_run_that_is_taken_up_again_is_advised_as_it_was(log: RunLog) -> None:
    script: list[Answer] = [*first_run("00000256")]
    with pytest.raises(ModelError):
        await start(
            TASK,
            PLANNED,
            Hands(
                model=ScriptedModel([*script[:2], ModelError("it is gone")]), log=log, embedder=HashEmbedder()
            ),
            run_id="broken",
        )
    # Another run teaches meanwhile what would be shown to a plan that is made now.
    await run(log, OTHER_DAY, first_run("00000185", OTHER_DAY, 14))
    async with ScriptedModel(script[2:]) as model:
        result = await resume("broken", Hands(model=model, log=log, embedder=HashEmbedder()))
    assert result.status == "succeeded"
    assert of(log, "broken", StepDiverged) == []
    assert of(log, "broken", WorkflowRecalled) == []


async def test_a_leaf_that_failed_is_rectified_with_what_its_goal_and_the_task_call_to_mind(
    log: RunLog,
) -> None:
    await run(log, TASK, first_run("00000256"))
    task = f"{OTHER_DAY} and tell me who is free"
    work = "# Work on {}:".format
    # Both leaves are at work at once: what each is asked is told by its place.
    script = [
        ScriptStep(
            f"1. {OTHER_DAY}\n2. Tell me who is free (independent){REMARKS}", when="as numbered lines"
        ),
        *(ScriptStep("I do not know.", when=work("1")) for _ in range(3)),
        ScriptStep(f'{THOUGHT}done(result="everybody"){REMARKS}', when=work("2")),
        ScriptStep(f"add after\n1. Look at December 14{REMARKS}", when="Failed: 1."),
        ScriptStep(search(14), when=work("1a")),
        ScriptStep(f'{THOUGHT}done(result="looked"){REMARKS}', when=work("1a")),
        ScriptStep(ANSWER, when="Your answer to the user"),
    ]
    outcome = await run(log, task, script)
    assert outcome.result.status == "succeeded"
    [asked] = [each for each in outcome.prompts if f"Failed: 1. {OTHER_DAY}" in each]
    assert REFERENCE in asked
    [event] = of(log, outcome.result.run_id, PlanRectified)
    assert (event.subtask, event.operation) == ("1", "add")
    assert outcome.result.experience["rectifications"] == 1


async def test_what_a_failed_leaf_changed_keeps_the_run_from_teaching_a_pipeline(log: RunLog) -> None:
    """Its effect is in no leaf that succeeded: done again from these, the task would be half done."""
    task = "Delete my meetings on December 13"
    plan, look, delete, done, last = first_run("00000100", task)
    delete_first = first_run("00000256")[2]
    spoilt: list[Answer] = [plan, look, delete_first, *["I do not know."] * 3, "no"]
    mended: list[Answer] = [f"add after\n1. Delete the other one of December 13{REMARKS}", look, delete, done]
    outcome = await run(log, task, [*spoilt, *mended, last])
    assert outcome.result.status == "succeeded"
    kept = ("active", "provisional", "quarantined")
    assert await ExperienceStore(log).find(kind="pipeline", statuses=kept) == []
    assert len(await ExperienceStore(log).find(kind="workflow")) == 1
    # The same calls of leaves that succeeded are kept until another success settles what they leave open.
    await run(log, task, [plan, look, delete, done, last])
    found = await ExperienceStore(log).find(kind="pipeline", statuses=kept)
    assert [record.status for record in found if kept_situation(record.content) is None] == ["provisional"]
