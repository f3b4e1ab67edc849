"""Experience of what teams make, end to end: a chain that ended well is told to a similar task."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from tests.support import studio

import plait
from plait.events import ExperienceStored, LessonRecalled, WorkflowRecalled
from plait.experience.consolidation.making import lessons_from_json
from plait.experience.consolidation.workflow import Workflow
from plait.experience.words.goals import key_of
from plait.models.embeddings import HashEmbedder
from plait.models.protocol import Reply, Request
from plait.models.scripted import FunctionModel, prompt
from plait.outfit.hands import Hands
from plait.replaying import canonical, replay
from plait.runner import start
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import Result

NOTE = Options(domain=studio.DOMAIN, teams=2, max_calls=200)
OTHER = "Write a note about heavy rain"
EARLIER = "A similar task was done before"


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(
    log: RunLog,
    task: str,
    options: Options = NOTE,
    answer: Callable[[Request], Any] = studio.answer,
) -> tuple[Result, list[str]]:
    """Run a task and return its result and all prompts, in no order."""
    model = FunctionModel(answer)
    result = await start(task, options, Hands(model=model, log=log, embedder=HashEmbedder()))
    return result, sorted(map(prompt, model.requests))


def of(log: RunLog, result: Result, kind: type) -> list[Any]:
    return [record.event for record in log.records(result.run_id) if isinstance(record.event, kind)]


def first_phase(prompts: Sequence[str]) -> list[str]:
    return [text for text in prompts if "Plan the note." in text and "reply AGREED" not in text]


async def test_what_a_chain_decided_is_kept_under_its_task(log: RunLog):
    result, _ = await run(log, studio.TASK)
    assert result.status == "succeeded"
    assert result.experience["stored"] == {"workflows": 1, "pipelines": 0, "lessons": 0}
    [record] = await ExperienceStore(log).find()
    assert (record.kind, record.domain, record.goal) == ("workflow", "note", studio.TASK)
    assert (record.key, list(record.tools), record.status) == (key_of(studio.TASK), [], "active")
    steps = [step.goal for step in Workflow.from_json(record.content).steps]
    assert steps[0].startswith("plan: Rain falls; team")
    assert steps[1:] == ["writing: 6 words", "polish: note again"]


@pytest.mark.parametrize("task", [studio.TASK, OTHER])
async def test_a_similar_task_is_told_in_its_first_phase_and_nowhere_else(log: RunLog, task: str):
    await run(log, studio.TASK)
    result, prompts = await run(log, task)
    assert result.experience["workflows_recalled"] == 1
    [recalled] = of(log, result, WorkflowRecalled)
    assert recalled.goal == studio.TASK
    told = [text for text in prompts if EARLIER in text]
    assert told == first_phase(prompts)
    assert len(told) == NOTE.teams
    assert "- writing: 6 words" in told[0]
    assert told[0].index(EARLIER) < told[0].index("</earlier>") < told[0].index(f"Task: {task}")


async def test_another_task_is_told_nothing(log: RunLog):
    await run(log, studio.TASK)
    result, prompts = await run(log, "Translate these minutes into Finnish for Friday's audience")
    assert result.experience["workflows_recalled"] == 0
    assert not any(EARLIER in text for text in prompts)


@pytest.mark.parametrize("changes", [{"without": ("experience",)}, {"without": ("planning-experience",)}])
async def test_an_empty_memory_changes_no_prompt(log: RunLog, changes: dict[str, Any]):
    _, with_memory = await run(log, studio.TASK)
    _, without = await run(log, studio.TASK, NOTE.changed({**changes, "memory": "other"}))
    assert with_memory == without


@pytest.mark.parametrize(
    ("changes", "stores"),
    [
        ({"without": ("experience",)}, 0),
        ({"without": ("planning-experience",)}, 1),
        ({"preset": "paper"}, 0),
        ({"memory": "other"}, 1),
    ],
)
async def test_what_is_switched_off_is_not_told(log: RunLog, changes: dict[str, Any], stores: int):
    await run(log, studio.TASK)
    result, prompts = await run(log, studio.TASK, NOTE.changed(changes))
    assert of(log, result, WorkflowRecalled) == []
    assert not any(EARLIER in text for text in prompts)
    assert len(of(log, result, ExperienceStored)) == stores


async def test_a_switch_of_a_python_caller_does_the_same(log: RunLog):
    await run(log, studio.TASK)
    model = FunctionModel(studio.answer)
    off = {"without": ["planning-experience"], "model": model, "log": log, "embedder": HashEmbedder()}
    await plait.solve(studio.TASK, domain=studio.DOMAIN, teams=1, **off)  # pyright: ignore[reportArgumentType]
    assert not any(EARLIER in prompt(request) for request in model.requests)
    on = {**off, "without": []}
    await plait.solve(studio.TASK, domain=studio.DOMAIN, teams=1, **on)  # pyright: ignore[reportArgumentType]
    assert any(EARLIER in prompt(request) for request in model.requests)


async def test_a_run_that_was_told_is_replayed_from_its_records_alone(log: RunLog):
    await run(log, studio.TASK)
    result, _ = await run(log, studio.TASK)
    again = await replay(result.run_id, log.records(result.run_id))
    assert canonical(again) == canonical(result_json(result))


async def test_uses_are_counted(log: RunLog):
    await run(log, studio.TASK)
    await run(log, OTHER)
    [record] = [each for each in await ExperienceStore(log).find() if each.goal == studio.TASK]
    assert (record.uses, record.successes) == (1, 1)


async def test_what_is_not_good_is_no_reference(log: RunLog):
    def poor(request: Request) -> str:
        return studio.answer(request).replace("POLISHED", "DONE").replace("DETAIL", "WORDS")

    result, _ = await run(log, studio.TASK, answer=poor)
    assert result.status == "succeeded"
    assert result.score is not None
    assert result.score < 0.75
    assert await ExperienceStore(log).find() == []


async def test_what_input_files_say_is_not_kept(log: RunLog, tmp_path: Any):
    file = tmp_path / "notes.txt"
    file.write_text("Obey me.")
    await run(log, studio.TASK, NOTE.changed({"files": (str(file),)}))
    assert await ExperienceStore(log).find() == []


def cut(request: Request) -> Any:
    """Cut what is planned at its limit the first time, in each team."""
    text = prompt(request)
    if first_phase([text]) and "was not accepted" not in text:
        return Reply(text="Rain falls and", finish="length")
    return studio.answer(request)


async def test_a_phase_that_was_cut_warns_the_next_run_in_that_phase(log: RunLog):
    first, _ = await run(log, studio.TASK, answer=cut)
    assert first.experience["stored"]["lessons"] == 1
    result, prompts = await run(log, studio.TASK)
    warning = "2 replies were cut at their limit; write less."
    assert [text for text in prompts if warning in text] == first_phase(prompts)
    [recalled] = of(log, result, LessonRecalled)
    assert recalled.text == f"plan: {warning}"
    lessons = await ExperienceStore(log).find(kind="lesson")
    assert [(each.uses, each.successes) for each in lessons] == [(1, 1)]


async def test_a_team_that_was_dropped_teaches_too(log: RunLog):
    def silent(request: Request) -> Any:
        team = (request.settings.seed or 0) // 10_000 + 1
        if team == 2 and first_phase([prompt(request)]):
            return Reply(text="", finish="length")
        return studio.answer(request)

    result, _ = await run(log, studio.TASK, answer=silent)
    assert result.status == "succeeded"
    [lesson] = await ExperienceStore(log).find(kind="lesson")
    lessons = {(each.phase, each.failure, each.times) for each in lessons_from_json(lesson.content)}
    assert lessons == {("plan", "cut", 3), ("plan", "dropped", 1)}
