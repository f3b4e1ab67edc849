"""Pipelines that a model makes of what worked: over real tools, a real log and scripts."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plait.errors import ModelError, UserError
from plait.events import ExperienceStored, Noted, PipelineEnded, RunFinished, StepRecorded
from plait.experience.pipelines.paper_form import from_json
from plait.experience.pipelines.pipeline import Condition, Pipeline
from plait.experience.record import Experience
from plait.models.embeddings import HashEmbedder
from plait.models.ledger import entries
from plait.models.protocol import Request, Typed
from plait.models.scripted import ScriptedModel
from plait.outfit import teaching
from plait.outfit.consolidating import MADE_BY
from plait.outfit.hands import Hands
from plait.outfit.teaching import LEARNED_FROM
from plait.replaying import canonical, replay
from plait.runner import resume, start, stopped
from plait.runtime.experience_store import ExperienceStore
from plait.runtime.log import RunLog
from plait.runtime.options import Options
from plait.runtime.report import result_json
from plait.task import Result

OFFICE = Options(tools=("plait.tools.office",), yes=True, consolidate="model")
COMPILED = replace(OFFICE, consolidate="")
TASK = "Delete my first meeting on December 13"
REMARKS = "\n# critique: As asked.\n# score: 10"
THOUGHT = "# thought: As asked.\n"
BOUNDS = 'time_min="2023-12-13 00:00:00", time_max="2023-12-13 23:59:59"'
SCRIPT = [
    f"1. {TASK}{REMARKS}",
    f"{THOUGHT}calendar.search_events({BOUNDS}){REMARKS}",
    f'{THOUGHT}calendar.delete_event(event_id="00000256"){REMARKS}',
    f'{THOUGHT}done(result="deleted"){REMARKS}',
    f"It is deleted.{REMARKS}",
]
EMPTY = {"node": "look", "field": "", "comparison": "empty", "value": ""}


def edge(before: str, after: str, condition: dict[str, str] | None = None, *comments: str) -> dict[str, Any]:
    return {"from_node": before, "to_node": after, "comments": list(comments), "condition": condition}


LINE = [edge("start", "look"), edge("look", "drop", None, "mind the day"), edge("drop", "end")]
BRANCH = [*LINE, edge("look", "end", EMPTY, "nothing to delete")]


def reply(edges: Sequence[dict[str, Any]] = BRANCH, **changes: Any) -> str:
    nodes = [
        {"node_name": "look", "tool_name": "calendar.search_events", "call": 1},
        {"node_name": "drop", "tool_name": "calendar.delete_event", "call": 2},
    ]
    return json.dumps({"pipeline_name": "delete the first", "nodes": nodes, "edges": list(edges), **changes})


@pytest.fixture
async def log() -> AsyncIterator[RunLog]:
    log = RunLog.open()
    yield log
    await log.close()


async def run(log: RunLog, said: str, replies: Sequence[Any] = (), options: Options = OFFICE) -> Result:
    async with ScriptedModel(list(replies)) as model:
        return await start(said, options, Hands(model=model, log=log, embedder=HashEmbedder()))


async def stored(log: RunLog) -> Experience:
    [record] = await ExperienceStore(log).find(kind="pipeline")
    return record


async def learned(log: RunLog) -> Pipeline:
    return from_json((await stored(log)).content)


def of(log: RunLog, result: Result, kind: type) -> list[Any]:
    return [record.event for record in log.records(result.run_id) if isinstance(record.event, kind)]


def notes(log: RunLog, result: Result) -> list[str]:
    return [note.text for note in of(log, result, Noted) if "compiled" in note.text]


async def test_a_model_makes_the_pipeline_and_its_branch_is_walked_without_one(log: RunLog):
    first = await run(log, TASK, [*SCRIPT, reply()])
    assert (first.status, first.usage.model_calls) == ("succeeded", 6)
    record = await stored(log)
    assert (record.status, record.content[MADE_BY]) == ("active", "model")
    assert [event.by_model for event in of(log, first, ExperienceStored) if event.of == "pipeline"] == [True]
    pipeline = from_json(record.content)
    assert Condition(node="look", field="", comparison="empty", value="") in [
        edge.condition for edge in pipeline.edges
    ]
    assert [entry.strand for entry in entries(log.records(first.run_id))].count("experience") == 1
    # With a meeting it is deleted, and on a day without one there is nothing to do.
    other = await run(log, "Delete my first meeting on December 14")
    assert (other.status, other.usage.model_calls) == ("succeeded", 0)
    assert "Event deleted successfully" in str(other.answer)
    none = await run(log, "Delete my first meeting on December 24")
    assert (none.status, none.usage.model_calls) == ("succeeded", 0)
    assert str(none.answer).startswith("There was nothing to do")
    assert [event.left for event in of(log, none, PipelineEnded)] == [""]


async def test_what_is_asked_shows_no_word_that_a_tool_wrote(log: RunLog):
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return reply()

    await run(log, TASK, [*SCRIPT, answer])
    text = "\n".join(message.content for message in asked[0].messages)
    assert 'calendar.search_events(time_min=<the goal\'s "December 13">' in text
    assert "event_id=<event_id of the first row of call 1>" in text
    assert "rows: 4 with event_id, event_name" in text
    assert "santiago" not in text
    assert "00000256" not in text
    assert isinstance(asked[0].form, Typed)
    tools = asked[0].form.schema["properties"]["nodes"]["items"]["properties"]["tool_name"]
    assert tools == {"enum": ["calendar.search_events", "calendar.delete_event"]}


WRONG = {
    "no JSON": "I would rather not.",
    "too few edges": reply(LINE[:1]),
    "an orphan": reply([edge("start", "look"), edge("look", "end"), edge("drop", "end")]),
    "no end": reply(LINE[:2]),
    "a branch that nothing decides": reply([*LINE, edge("look", "end")]),
    "another tool than the call's": reply(
        nodes=[{"node_name": "look", "tool_name": "calendar.delete_event", "call": 1}]
    ),
    "a call twice": reply(
        nodes=[
            {"node_name": name, "tool_name": "calendar.search_events", "call": 1} for name in ("look", "drop")
        ]
    ),
    "a node called start": reply(
        nodes=[{"node_name": "start", "tool_name": "calendar.search_events", "call": 1}]
    ),
    "no source": reply(nodes=[{"node_name": "drop", "tool_name": "calendar.delete_event", "call": 2}]),
    "without the effect": reply(
        [edge("start", "look"), edge("look", "end")],
        nodes=[{"node_name": "look", "tool_name": "calendar.search_events", "call": 1}],
    ),
    "the other way round": reply(
        [edge("start", "look"), edge("look", "drop", EMPTY), edge("look", "end"), edge("drop", "end")]
    ),
    "words before an effect": reply([*LINE, edge("look", "end", {"words": "it is a holiday"})]),
    "a field that there is not": reply(
        [*LINE, edge("look", "end", {"node": "look", "field": "x", "comparison": "=", "value": "1"})]
    ),
    "two ways that may both hold": reply(
        [
            *LINE,
            edge("look", "end", {"node": "look", "field": "duration", "comparison": "=", "value": "1"}),
            edge("look", "end", {"node": "look", "field": "duration", "comparison": "!=", "value": "2"}),
        ]
    ),
}


REASONS = {
    "no JSON": "The reply is not JSON",
    "too few edges": "The reply does not fit the asked form: edges",
    "an orphan": "node 'drop' is an orphan: no way leads to it from start",
    "no end": "no way leads from node 'start' to end",
    "a branch that nothing decides": "cannot be decided: edges without a condition compete",
    "another tool than the call's": "node 'look' calls calendar.delete_event, and call 1 is of another tool",
    "a call twice": "node 'drop': each node needs a name and a call of its own",
    "a node called start": "node 'start': each node needs a name and a call of its own",
    "no source": "node 'drop' takes a value from call 1: add a node for it",
    "without the effect": "it does not lead over the calls that were needed (2), in their order, to end",
    "the other way round": "it does not lead over the calls that were needed (2), in their order, to end",
    "words before an effect": "only words decide what follows 'look', and it changes the world",
    "a field that there is not": "the result of 'look' has no 'x' to compare",
    "two ways that may both hold": "cannot be decided: = '1' and != '2' may both hold",
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_what_fails_the_checks_is_repaired_once(log: RunLog, wrong: str):
    prompts: list[str] = []

    def mended(request: Request) -> str:
        prompts.append(request.messages[0].content)
        return reply()

    await run(log, TASK, [*SCRIPT, WRONG[wrong], mended])
    assert "Your last reply cannot be used:\n- " in prompts[0]
    assert REASONS[wrong] in prompts[0].split("cannot be used:\n- ")[1].splitlines()[0]
    assert (await stored(log)).content[MADE_BY] == "model"


@pytest.mark.parametrize("wrong", ["no JSON", "words before an effect", "without the effect"])
async def test_what_fails_twice_is_compiled(log: RunLog, wrong: str):
    result = await run(log, TASK, [*SCRIPT, WRONG[wrong], WRONG[wrong]])
    assert (result.status, result.usage.model_calls) == ("succeeded", 7)
    record = await stored(log)
    assert (record.status, MADE_BY in record.content) == ("active", False)
    assert len(notes(log, result)) == 1
    assert [edge.condition for edge in (await learned(log)).edges] == [None, None, None]
    assert (await run(log, TASK)).usage.model_calls == 0


async def test_a_model_that_fails_costs_a_note(log: RunLog):
    result = await run(log, TASK, [*SCRIPT, ModelError("the endpoint is gone")])
    assert (result.status, result.answer) == ("succeeded", "It is deleted.")
    assert notes(log, result) == ["a pipeline is compiled without a model: the endpoint is gone"]
    assert (await stored(log)).status == "active"


async def test_a_prompt_that_does_not_fit_costs_a_note(log: RunLog, tmp_path: Path):
    (tmp_path / "consolidate.md").write_text("Write down {{everything}}.")
    options = replace(OFFICE, prompts=str(tmp_path))
    result = await run(log, TASK, SCRIPT, options)
    assert (result.status, result.usage.model_calls) == ("succeeded", 5)
    [note] = notes(log, result)
    assert note.startswith("a pipeline is compiled without a model: ")
    assert "consolidate.md" in note
    record = await stored(log)
    assert (record.status, MADE_BY in record.content) == ("active", False)
    assert (await run(log, TASK)).usage.model_calls == 0


async def test_a_run_that_is_cancelled_while_it_is_learned_from_keeps_its_outcome(log: RunLog):
    asked = asyncio.Event()

    async def hang(_: Request) -> str:
        asked.set()
        await asyncio.Event().wait()
        return reply()

    going = asyncio.create_task(run(log, TASK, [*SCRIPT, hang]))
    await asked.wait()
    going.cancel()
    with pytest.raises(asyncio.CancelledError):
        await going
    [summary] = log.runs()
    assert (summary.status, summary.live) == ("succeeded", False)
    ended = [each.event for each in log.records(summary.run_id) if isinstance(each.event, RunFinished)]
    assert [event.result["answer"] for event in ended] == ["It is deleted."]
    kept = stopped(summary.run_id, "cancelled", "cancelled")
    assert kept is not None
    assert (kept.status, kept.answer) == ("succeeded", "It is deleted.")
    result = await resume(summary.run_id, Hands(log=log))
    assert result.answer == "It is deleted."


async def test_what_is_quarantined_is_shown_to_no_model(log: RunLog, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(teaching, "tainted", lambda *_, **__: True)
    result = await run(log, TASK, SCRIPT)
    assert (result.status, result.usage.model_calls, notes(log, result)) == ("succeeded", 5, [])
    assert (await stored(log)).status == "quarantined"


async def test_a_run_whose_budget_is_used_up_learns_by_compiling(log: RunLog):
    result = await run(log, TASK, SCRIPT, OFFICE.changed({"max_calls": 5}))
    assert (result.status, result.usage.model_calls) == ("succeeded", 5)
    assert len(notes(log, result)) == 1
    assert MADE_BY not in (await stored(log)).content


async def test_nobody_is_asked_unless_the_user_or_the_preset_says_so(log: RunLog):
    assert (await run(log, TASK, SCRIPT, COMPILED)).usage.model_calls == 5
    other = replace(OFFICE, memory="other", consolidate="", preset="paper")
    assert (await run(log, TASK, [*SCRIPT, reply()], other)).usage.model_calls == 6
    third = replace(other, memory="third", consolidate="compiled")
    assert (await run(log, TASK, SCRIPT, third)).usage.model_calls == 5


async def test_it_is_replayed_and_not_asked_again_on_resume(log: RunLog):
    result = await run(log, TASK, [*SCRIPT, reply()])
    assert canonical(await replay(result.run_id, log.records(result.run_id))) == canonical(
        result_json(result)
    )
    second = await run(log, "Delete my first meeting on December 15", options=OFFICE)
    assert second.usage.model_calls == 0


async def test_a_run_killed_after_the_question_does_not_ask_again(
    log: RunLog, monkeypatch: pytest.MonkeyPatch
):
    async def killed(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ExperienceStore, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            await run(log, TASK, [*SCRIPT, reply()])
    [run_id] = [each.run_id for each in log.runs()]
    async with ScriptedModel([]) as model:
        result = await resume(run_id, Hands(model=model, log=log, embedder=HashEmbedder()))
    assert (result.status, result.usage.model_calls) == ("succeeded", 6)
    assert (await stored(log)).content[MADE_BY] == "model"


NEXT = {"sofia": "00000027", "yuki": "00000062", "raj": "00000093"}


def cancel(name: str) -> list[str]:
    return [
        f"1. Cancel my next meeting with {name}{REMARKS}",
        f'{THOUGHT}calendar.search_events(query="{name}", time_min="2023-11-30 00:00:00"){REMARKS}',
        f'{THOUGHT}calendar.delete_event(event_id="{NEXT[name]}"){REMARKS}',
        *SCRIPT[3:],
        reply(LINE),
    ]


async def test_an_effect_in_doubt_still_waits_for_two_runs_that_agree(log: RunLog):
    exact = OFFICE.changed({"preset": "paper"})  # Without records of what was done as it was.
    await run(log, "Cancel my next meeting with sofia", cancel("sofia"), exact)
    waiting = await stored(log)
    assert (waiting.status, MADE_BY in waiting.content) == ("provisional", True)
    assert LEARNED_FROM in waiting.content
    second = await run(log, "Cancel my next meeting with yuki", cancel("yuki"), exact)
    assert second.usage.model_calls == 6  # What waits is not used.
    agreed = await stored(log)
    assert (agreed.status, agreed.content[MADE_BY]) == ("active", "model")
    # The edges are the model's, and the rows those that both runs took.
    assert (await learned(log)).edges[1].comments == ("mind the day",)
    third = await run(log, "Cancel my next meeting with raj", options=exact)
    assert (third.status, third.usage.model_calls) == ("succeeded", 0)
    assert NEXT["raj"] in str(third.answer)


MAILED = f"{TASK} and send an email to raj.patel@atlas.com with the subject 'budget' and the body 'Thanks'"
MAIL = 'email.send_email(recipient="raj.patel@atlas.com", subject="budget", body="Thanks")'
MAILING = [f"1. {MAILED}{REMARKS}", *SCRIPT[1:3], f"{THOUGHT}{MAIL}{REMARKS}", *SCRIPT[3:]]


async def test_an_effect_that_the_goal_asks_for_is_never_left_out(log: RunLog):
    nodes = [*json.loads(reply())["nodes"], {"node_name": "mail", "tool_name": "email.send_email", "call": 3}]
    line = [*LINE[:2], edge("drop", "mail"), edge("mail", "end")]
    skipping = reply([*line, edge("look", "end", EMPTY)], nodes=nodes)
    await run(log, MAILED, [*MAILING, skipping, reply(line, nodes=nodes)])
    assert EMPTY["comparison"] not in str([edge.condition for edge in (await learned(log)).edges])
    # On a day without a meeting the agent takes over, and sends the mail.
    script = [*MAILING[3:4], *SCRIPT[3:]]
    other = await run(log, MAILED.replace("December 13", "December 24"), script, COMPILED)
    assert other.status == "succeeded"
    [ended] = of(log, other, PipelineEnded)
    assert ended.left == "look found nothing"


async def test_a_name_that_is_not_found_is_looked_for_by_the_agent(log: RunLog):
    goal = "Delete my first meeting with santiago on December 13"
    searched = f'{THOUGHT}calendar.search_events(query="santiago", {BOUNDS}){REMARKS}'
    script = [f"1. {goal}{REMARKS}", searched, *SCRIPT[2:]]
    await run(log, goal, [*script, reply(BRANCH), reply(LINE)])
    assert (await stored(log)).content[MADE_BY] == "model"
    other = await run(log, goal.replace("santiago", "Santiago Martinez"), script[1:], COMPILED)
    assert other.usage.model_calls > 0
    assert [ended.left for ended in of(log, other, PipelineEnded)] == ["look found nothing"]


async def test_words_of_a_tool_in_it_wait_for_approval(log: RunLog):
    copied = [*LINE[:1], edge("look", "drop", None, "project progress update"), LINE[2]]
    await run(log, TASK, [*SCRIPT, reply(copied)])
    assert (await stored(log)).status == "quarantined"
    assert (await run(log, TASK, [*SCRIPT, reply()])).usage.model_calls == 6


def test_an_unknown_way_is_refused():
    with pytest.raises(UserError, match="--consolidate 'gold' is unknown; there are: compiled, model"):
        Options(consolidate="gold")


def steps(log: RunLog, result: Result) -> list[str]:
    records = log.records(result.run_id)
    return [
        record.path
        for record in records
        if isinstance(record.event, StepRecorded) and record.event.step == "model"
    ]


async def test_its_steps_have_places_of_their_own(log: RunLog):
    result = await run(log, TASK, [*SCRIPT, WRONG["no JSON"], reply()])
    assert [path for path in steps(log, result) if "consolidate" in path] == [
        "run/consolidate-1/try-1",
        "run/consolidate-1/try-2",
    ]


READS = "Show me the meetings with santiago on December 13"
READING = [
    f"1. {READS}{REMARKS}",
    f'{THOUGHT}company_directory.find_email_address(name="santiago"){REMARKS}',
    f'{THOUGHT}calendar.search_events(query="santiago.martinez@atlas.com", {BOUNDS}){REMARKS}',
    *SCRIPT[3:],
]
NODES = [
    {"node_name": "ask", "tool_name": "company_directory.find_email_address", "call": 1},
    {"node_name": "look", "tool_name": "calendar.search_events", "call": 2},
]
FORK = [
    edge("start", "ask"),
    edge("ask", "look", {"words": "one address was found"}),
    edge("ask", "end"),
    edge("look", "end"),
]


def judged(number: str, asked: list[str]) -> Any:
    def answer(request: Request) -> str:
        asked.append(request.messages[-1].content)
        return number

    return answer


@pytest.mark.parametrize(("number", "made"), [("1", 2), ("0", 1)])
async def test_words_before_reads_are_judged_by_a_model_at_the_walk(log: RunLog, number: str, made: int):
    await run(log, READS, [*READING, reply(FORK, nodes=NODES)])
    assert ((await stored(log)).status, (await stored(log)).content[MADE_BY]) == ("active", "model")
    asked: list[str] = []
    other = READS.replace("santiago", "dmitri")
    second = await run(log, other, [judged(number, asked), SCRIPT[-1]])
    assert second.usage.model_calls == 2
    assert "0. none of these\n1. one address was found" in asked[0]
    assert "dmitri.ivanov@atlas.com" in asked[0]
    [ended] = of(log, second, PipelineEnded)
    assert (ended.calls, ended.left, ended.judged) == (made, "", 1)
    assert canonical(await replay(second.run_id, log.records(second.run_id))) == canonical(
        result_json(second)
    )


async def test_where_nobody_says_which_way_the_agent_goes_on(log: RunLog):
    await run(log, READS, [*READING, reply(FORK, nodes=NODES)])
    search = READING[2].replace("santiago.martinez", "dmitri.ivanov")
    script = [judged("7", []), search, *SCRIPT[3:]]
    second = await run(log, READS.replace("santiago", "dmitri"), script, COMPILED)
    [ended] = of(log, second, PipelineEnded)
    assert ended.left == "nobody could say which way leads on from ask"
    assert (ended.calls, ended.judged) == (1, 0)
