"""What agents of a tool task are told of earlier runs, from the memory to the guide's advice."""

from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.support.memory_journal import Memory as Records
from tests.support.memory_journal import MemoryJournal

from plait.events import LessonRecalled, WorkflowRecalled
from plait.experience.consolidation.lessons import Lesson, LessonArgument
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.exploitation.recall import Recalled, Recollection
from plait.experience.exploitation.references import MOST_GOAL
from plait.experience.pipelines.pipeline import Condition, Constant, Edge, FromResult, Node, Pipeline
from plait.experience.pipelines.results import answer_shape
from plait.experience.pipelines.walk import Walk
from plait.experience.record import Experience
from plait.experience.settings import ExperienceSettings
from plait.experience.words.goals import key_of
from plait.models.budget import Budget, Limits
from plait.models.embeddings import HashEmbedder
from plait.models.scripted import ScriptedModel
from plait.reflection.guide import Advice, Arrived, Guide, Lost
from plait.reflection.settings import ReflectionSettings
from plait.reflection.trajectory import Step
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.tools.approval import ApprovalPolicy
from plait.tools.executor import Executor
from plait.tools.tool import Effect, Tool
from plait.weave.guide import ExperienceGuide, PipelineTrail
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
    arguments=(LessonArgument(name="id", value="an identifier"),),
    worked=(LessonArgument(name="id", value="an identifier", source="find"),),
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


def day(name: str) -> Node:
    return Node(name=f"find_{name}", tool="find", arguments={"who": Constant(value=name)})


def dropping(name: str) -> Node:
    return Node(
        name=f"drop_{name}",
        tool="delete",
        arguments={"id": FromResult(node=f"find_{name}", field="id", row="first")},
        effect=True,
        answer=answer_shape("deleted", {}),
    )


def trail() -> PipelineTrail:
    """Return a way that deletes something of today and something of tomorrow, where there is any."""
    line = ["start", "find_today", "drop_today", "find_tomorrow", "drop_tomorrow", "end"]
    edges = [Edge(from_node=before, to_node=after) for before, after in pairwise(line)]
    for name, after in (("find_today", "find_tomorrow"), ("find_tomorrow", "end")):
        empty = Condition(node=name, field="", comparison="empty")
        edges.append(Edge(from_node=name, to_node=after, condition=empty))
    days = [node for name in ("today", "tomorrow") for node in (day(name), dropping(name))]
    nodes = [Node(name="start"), *days, Node(name="end")]
    pipeline = Pipeline(name="p", purpose=GOAL, nodes=nodes, edges=edges)
    parameters = {tool.name: tool.parameters for tool in TOOLS}
    return PipelineTrail(
        recalled=Recalled(id="aa", goal=GOAL, pipeline=pipeline, values={}),
        walk=Walk(pipeline=pipeline, values={}, parameters=parameters),
    )


def looked(name: str, observation: str) -> Step:
    return Step(tool="find", arguments={"who": name}, ok=True, observation=observation, effect=False)


def dropped(id: str) -> Step:
    return Step(tool="delete", arguments={"id": id}, ok=True, observation="deleted", effect=True)


ROW = '[{"id": "a7", "name": "lunch"}]'
DROPPED = 'delete(id="a7"): deleted (name lunch)'
BOTH = [looked("today", ROW), dropped("a7"), looked("tomorrow", '[{"id": "b8"}]'), dropped("b8")]


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (BOTH, f'{DROPPED}\ndelete(id="b8"): deleted'),
        ([*BOTH[:2], looked("tomorrow", "[]")], f'{DROPPED}\nfind(who="tomorrow") found nothing.'),
        (
            [looked("today", "[]"), looked("tomorrow", "[]")],
            'There was nothing to do: find(who="today") found nothing. find(who="tomorrow") found nothing.',
        ),
    ],
)
def test_what_was_done_is_told_and_what_there_was_nothing_to_do_to(steps: list[Step], told: str):
    assert trail().next(steps, {}) == Arrived()
    assert trail().told(steps) == told


def test_a_way_that_leaves_out_an_effect_is_lost():
    pipeline = trail().walk.pipeline
    away = Edge(
        from_node="drop_today",
        to_node="end",
        condition=Condition(node="find_today", field="name", comparison="=", value="lunch"),
    )
    skipping = replace(pipeline, edges=[*pipeline.edges, away])
    walk = replace(trail().walk, pipeline=skipping)
    lost = Lost(reason="nothing shows that there was nothing to do at drop_tomorrow")
    assert replace(trail(), walk=walk).next(BOTH[:2], {}) == lost
