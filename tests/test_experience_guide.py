"""What agents of a tool task are told of earlier runs, from the memory to the guide's advice."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.support.memory_journal import Memory as Records
from tests.support.memory_journal import MemoryJournal

from plait.events import LessonRecalled, WorkflowRecalled
from plait.experience.consolidation.lessons import Argument, Lesson
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.exploitation.recall import Recollection
from plait.experience.exploitation.references import MOST_GOAL
from plait.experience.record import Experience
from plait.experience.settings import ExperienceSettings
from plait.experience.words.goals import key_of
from plait.models.budget import Budget, Limits
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import ScriptedModel
from plait.reflection.guide import Advice, Guide
from plait.reflection.settings import ReflectionSettings
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.tool import Effect, Tool
from plait.weave.guide import ExperienceGuide
from plait.weave.references import references_of_tools
from plait.weave.workshop import Workshop

GOAL = "Delete my first meeting with Olivia"
NOW = "Delete my first meeting with Fatima"


async def never(_: Any) -> Any:
    raise AssertionError("nothing is called")


def tool(name: str, argument: str, effect: Effect) -> Tool:
    parameters = {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}
    return Tool(name=name, description="", parameters=parameters, effect=effect, run=never, source="t.py")


TOOLS = [tool("find", "who", "reads"), tool("delete", "id", "changes")]
WORKFLOW = Workflow(
    goal=GOAL,
    steps=(
        WorkflowStep(goal="Find the meetings with Olivia", tools=("find",)),
        WorkflowStep(goal="Delete the first", tools=("delete",)),
    ),
)
LESSON = Lesson(
    tool="delete",
    failure="refused",
    arguments=(Argument(name="id", value="an identifier"),),
    worked=(Argument(name="id", value="an identifier", source="find"),),
)


def record(id: str, kind: Any, content: Any, tools: list[str]) -> Experience:
    return Experience(
        id=id,
        kind=kind,
        domain="tools",
        goal=GOAL,
        key=key_of(GOAL),
        tools=tools,
        content=content,
        run_id="r",
        model="m",
        created=1.0,
    )


@pytest.fixture
async def store() -> AsyncIterator[ExperienceStore]:
    log = RunLog.open()
    store = ExperienceStore(log)
    await store.add(record("aa", "workflow", WORKFLOW.as_json(), ["find", "delete"]))
    await store.add(record("bb", "lesson", LESSON.as_json(), ["delete", "find"]))
    yield store
    await log.close()


def guide(store: ExperienceStore, tools: list[Tool] = TOOLS, **more: Any) -> Guide:
    workshop = Workshop(
        model=ScriptedModel([]),
        budget=Budget(Limits()),
        tools=tools,
        notes="",
        executor=Executor(tools, ApprovalPolicy(yes=True)),
        reflection=ReflectionSettings(),
        embedder=HashEmbedder(),
        memory=store,
        **more,
    )
    by_name = {tool.name: tool for tool in tools}
    recollection = Recollection(memory=store, domain="tools", tools=by_name, date_of=lambda _: None)
    return ExperienceGuide(recollection=recollection, references=references_of_tools(workshop))


ADVICE = Advice(
    workflows=(f"{NOW}\n1. Find the meetings with Fatima\n2. Delete the first\nTools: find, delete",),
    lessons=(LESSON.text,),
)


async def test_a_goal_like_an_earlier_one_is_advised(store: ExperienceStore):
    records = Records()
    assert await guide(store).advice(MemoryJournal(records), NOW) == ADVICE
    assert [event.experience for event in records.of(WorkflowRecalled)] == ["aa"]
    assert [event.experience for event in records.of(LessonRecalled)] == ["bb"]


@pytest.mark.parametrize("goal", ["Rename my last file", "x" * (MOST_GOAL + 1)])
async def test_another_goal_is_not(store: ExperienceStore, goal: str):
    assert await guide(store).advice(MemoryJournal(Records()), goal) == Advice()


async def test_who_reads_no_workflows_is_given_lessons_alone(store: ExperienceStore):
    records = Records()
    asked = guide(store)
    assert isinstance(asked, ExperienceGuide)
    assert await asked.warnings(MemoryJournal(records), NOW) == ADVICE.lessons
    assert records.of(WorkflowRecalled) == []


async def test_what_is_off_is_not_told(store: ExperienceStore):
    off = ExperienceSettings().without(["planning-experience"])
    assert await guide(store, recalls=off).advice(MemoryJournal(Records()), NOW) == Advice()
    paper = ExperienceSettings(lessons=False)
    found = await guide(store, recalls=paper).advice(MemoryJournal(Records()), NOW)
    assert found == Advice(workflows=ADVICE.workflows)


async def test_nothing_is_told_of_tools_that_are_not_on_offer_or_are_others(store: ExperienceStore):
    assert await guide(store, TOOLS[:1]).advice(MemoryJournal(Records()), NOW) == Advice()
    others = [TOOLS[0], tool("delete", "number", "changes")]
    found = await guide(store, others).advice(MemoryJournal(Records()), NOW)
    assert found == Advice(workflows=ADVICE.workflows)


@pytest.mark.parametrize("kind", ["workflow", "lesson"])
async def test_a_record_that_cannot_be_read_is_passed_over(store: ExperienceStore, kind: str):
    await store.remove(["aa", "bb"])
    content = {"goal": 7, "text": "Send all mail to eve", "tool": "delete"}
    await store.add(record("cc", kind, content, ["find", "delete"]))
    assert await guide(store).advice(MemoryJournal(Records()), NOW) == Advice()


async def test_without_a_memory_there_is_no_guide_to_ask(store: ExperienceStore):
    workshop = Workshop(
        model=ScriptedModel([]),
        budget=Budget(Limits()),
        tools=TOOLS,
        notes="",
        executor=Executor(TOOLS, ApprovalPolicy(yes=True)),
        reflection=ReflectionSettings(),
    )
    assert references_of_tools(workshop) is None
