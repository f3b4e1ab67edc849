"""What of a record leaves: the same way with invented values, and questions about what looks personal."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from tests.experience.office_steps import SCHEMAS, delete, search, step
from tests.experience.shared_records import deleting, learned, line_of, pipeline_record, workflow_record

from plait.errors import UserError
from plait.experience.consolidation.lessons import Lesson
from plait.experience.consolidation.workflow import Workflow, WorkflowStep
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.paper_form import from_json
from plait.experience.pipelines.pipeline import Constant, FromGoal, Slot, Unknown
from plait.experience.pipelines.slots import slot_values
from plait.experience.pipelines.soundness import problems_of
from plait.experience.record import Experience
from plait.experience.sharing.personal import names_secret
from plait.experience.sharing.records import shared
from plait.experience.words.derive import Way

MAIL: Mapping[str, Any] = {"recipient": "raj.patel@atlas.com", "subject": "Sync", "body": "See you"}
SEND = "Send an email to raj.patel@atlas.com with the subject 'Sync' and the body 'See you'"


def with_constant(value: Any, name: str = "duration") -> Experience:
    """Return a record whose first call has a constant."""
    pipeline = from_json(deleting().content)
    calls = pipeline.calls
    first = replace(calls[0], arguments={**calls[0].arguments, name: Constant(value=value)})
    nodes = [first if node.name == first.name else node for node in pipeline.nodes]
    return pipeline_record(replace(pipeline, nodes=nodes))


def december(words: str) -> date | None:
    days = {
        "March 14, 2024": date(2024, 3, 14),
        "December 14": date(2023, 12, 14),
        "yesterday": date(2023, 12, 14),
    }
    return days.get(words)


def test_what_leaves_says_nothing_of_who_learned_it_and_when() -> None:
    line = shared(deleting()).line
    for kept in ("aa11", "run-of-alice", "December", "2023", "00000256"):
        assert kept not in line
    assert json.loads(line).keys() == {"kind", "domain", "goal", "tools", "model", "content"}


def test_what_leaves_fills_its_slots_for_another_as_it_did_for_its_owner() -> None:
    found = shared(deleting())
    pipeline = from_json(found.record.content)
    assert problems_of(pipeline, SCHEMAS) == []
    assert found.record.goal == "Delete my first meeting on March 14, 2024"
    values = slot_values(pipeline, "Delete my first meeting on December 14", december)
    assert values == {"time_min": "2023-12-14 00:00:00", "time_max": "2023-12-14 23:59:59"}


def test_texts_and_addresses_in_slots_are_invented_and_filled_by_another_goal() -> None:
    pipeline = learned(SEND, step("email.send_email", "Email sent successfully.", **MAIL))
    found = shared(pipeline_record(pipeline))
    assert found.doubts == ()
    for value in MAIL.values():
        assert value not in found.line
    told = from_json(found.record.content)
    other = "Send an email to a@b.com with the subject 'Hi' and the body 'Bye'"
    filled = slot_values(told, other, december)
    assert filled == slot_values(pipeline, other, december)
    assert filled is not None
    assert set(filled.values()) == {"a@b.com", "Hi", "Bye"}


def test_the_same_record_always_leaves_as_the_same_line() -> None:
    assert shared(deleting()).line == shared(deleting(id="zz", created=9.0, uses=8, run_id="other")).line


@pytest.mark.parametrize(
    ("value", "name", "why"),
    [
        ("raj.patel@atlas.com", "recipient", "an e-mail address"),
        ("Raj", "participant", "it may be a name"),
        ("raj patel", "participant", "it may be a name"),
        ("00000256", "customer", "it may be an id"),
        ("see you on December 13", "note", "a name or a date"),
        ("Dear all, please find my notes of the meeting below", "body", "a long text"),
        ("https://atlas.example/board", "where", "an address of a page"),
        ("/home/alice/notes.txt", "file", "a path"),
        ("@alice", "to", "a name of an account"),
        ("sk-" + "a1b2" * 8, "note", "it has the form of a secret"),
        ("ghp_" + "A" * 36, "note", "it has the form of a secret"),
        ("a plain word", "api_key", "an argument of that name holds a secret"),
        (["done", {"owner": "olivia"}], "filters", "it may be a name"),
        (4915112345678, "number", "a number that may be an amount or an id"),
    ],
)
def test_a_constant_that_looks_personal_is_asked_about(value: Any, name: str, why: str) -> None:
    found = [doubt for doubt in shared(with_constant(value, name)).doubts if doubt.why == why]
    assert found, shared(with_constant(value, name)).doubts


@pytest.mark.parametrize("value", [None, True, 30, 0.5, "", [], {}, "completed", "in progress", "high"])
def test_a_plain_setting_leaves_without_a_question(value: Any) -> None:
    assert shared(with_constant(value)).doubts == ()


def test_a_secret_of_the_environment_is_found_whatever_it_looks_like() -> None:
    record = with_constant("open sesame")
    [doubt] = shared(record, secrets=["open sesame"]).doubts
    assert doubt.why == "it has the form of a secret"


def setting(goal: str, **arguments: Any) -> Experience:
    """Return what a run teaches that made one call."""
    call = Step(tool="set", arguments=arguments, observation="Done.", ok=True, effect=True)
    return pipeline_record(learned(goal, call))


def milestone_record(milestone: str) -> Experience:
    record = workflow_record("Let them in")
    steps = [WorkflowStep(goal="Find it", milestone=milestone)]
    return replace(record, content=Workflow(goal=record.goal, steps=steps).as_json())


@pytest.mark.parametrize(
    ("record", "where", "why"),
    [
        (
            setting("Set the password to swordfish", password="swordfish"),
            "password of set",
            "an argument of that name holds a secret",
        ),
        (
            setting("Set it to swordfish", key="swordfish"),
            "key of set",
            "an argument of that name holds a secret",
        ),
        (setting("Set it to swordfish", to="swordfish"), "to of set", "it may be a name"),
        (setting("Lock the door with 482", pin=482), "pin of set", "an argument of that name holds a secret"),
        (setting("Set the pin to 482", to=482), "goal", "it speaks of a secret"),
        (workflow_record("Set my password to swordfish", "Set it"), "goal", "it speaks of a secret"),
        (
            workflow_record("Let them in", "Find it", "Type the pin 482"),
            "steps[1].goal",
            "it speaks of a secret",
        ),
        (
            milestone_record("the password is swordfish"),
            "steps[0].milestone",
            "it speaks of a secret",
        ),
    ],
)
def test_a_secret_that_the_goal_says_in_its_own_words_is_asked_about(
    record: Experience, where: str, why: str
) -> None:
    assert (where, why) in [(doubt.where, doubt.why) for doubt in shared(record).doubts]


@pytest.mark.parametrize(
    "name",
    [
        *("userPin", "pinCode", "userPIN", "PINCode", "PIN1", "pin2", "userPasscode", "userPassword"),
        *(
            "apiKey2",
            "pass",
            "user_pass",
            "userPass",
            "door code",
            "doorCode",
            "entry_codes",
            "security-code",
        ),
    ],
)
def test_the_name_of_a_secret_is_known_however_it_is_written(name: str) -> None:
    assert names_secret(name)
    why = "an argument of that name holds a secret"
    assert why in [doubt.why for doubt in shared(with_constant(482, name)).doubts]


@pytest.mark.parametrize(
    "name", ["spinner", "pinned", "compassHeading", "tokenizer", "countryCode", "shipping1"]
)
def test_a_name_that_only_holds_such_letters_is_no_secret(name: str) -> None:
    assert not names_secret(name)


def test_a_plain_word_or_a_short_number_of_the_goal_leaves_without_a_question() -> None:
    record = setting("Set the priority to high and delay it by 30 minutes", priority="high", minutes=30)
    assert shared(record).doubts == ()


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("openai:gpt-4o", ""),
        ("anthropic:claude-3-5-sonnet-20241022", ""),
        ("Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf", ""),
        ("https://alice:wonderland1@models.example/v1", "it has the form of a secret"),
        ("http://models.acme.example/v1", "an address of a page"),
        ("local:/home/alice/model.gguf", "a path"),
        ("the-secret-model", "it holds a secret"),
    ],
)
def test_the_name_of_a_model_may_tell_something_too(model: str, why: str) -> None:
    found = shared(deleting(model=model), secrets=["the-secret-model"]).doubts
    assert [(doubt.where, doubt.why) for doubt in found] == ([("model", why)] if why else [])


def test_a_value_of_the_goal_in_a_constant_is_told() -> None:
    record = with_constant("list of December 13", "label")
    assert "a value of the goal stands in it" in [doubt.why for doubt in shared(record).doubts]


def test_names_of_nodes_and_comments_lose_what_somebody_wrote_into_them() -> None:
    pipeline = from_json(deleting().content)
    names = {"search_events": "find_what_olivia_has", "delete_event": "drop_it"}
    text = json.dumps(deleting().content)
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    edges = json.loads(text)["edges"]
    edges[0]["comments"] = ["as raj@atlas.com asked on December 13"]
    record = replace(deleting(), content={**json.loads(text), "edges": edges})
    found = shared(record)
    assert "olivia" not in found.line
    assert "raj@atlas.com" not in found.line
    assert [node.name for node in from_json(found.record.content).calls] == ["search_events", "delete_event"]
    assert len(from_json(found.record.content).edges) == len(pipeline.edges)


def changed(**slot: Any) -> Experience:
    """Return a record whose first slot is another."""
    pipeline = from_json(deleting().content)
    first, *others = pipeline.slots
    return pipeline_record(replace(pipeline, slots=[replace(first, **slot), *others]))


@pytest.mark.parametrize(
    ("slot", "why"),
    [
        ({"said": "December", "example": "december", "ways": ()}, "only the words of its own goal say"),
        ({"said": "December 13", "example": "mine", "ways": ()}, "only the words of its own goal say"),
        ({"said": "meeting", "example": "stranger", "ways": ()}, "the goal does not say 'stranger'"),
        ({"ways": (Way(how="day", spans=(5,)),)}, "a value that its goal does not have"),
        (
            {"ways": (Way(how="day", spans=(0,)), Way(how="text", spans=(0,)))},
            "from other values than its own",
        ),
        ({"ways": (Way(how="number*60", spans=(0,)),)}, "from other values than its own"),
    ],
)
def test_a_slot_that_no_other_goal_would_fill_keeps_its_record_here(slot: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        shared(changed(**slot))


def test_a_day_that_was_told_from_the_day_of_the_run_does_not_tell_that_day() -> None:
    tomorrow: Mapping[str, Any] = {"time_min": "2023-12-01 00:00:00", "time_max": "2023-12-01 23:59:59"}
    pipeline = learned("Delete my first meeting tomorrow", search(**tomorrow), delete("00000256"))
    found = shared(pipeline_record(pipeline))
    assert "2023" not in found.line
    values = slot_values(from_json(found.record.content), "Delete my first meeting yesterday", december)
    assert values == {"time_min": "2023-12-14 00:00:00", "time_max": "2023-12-14 23:59:59"}


def test_a_slot_that_only_the_calendar_fills_keeps_nothing_of_the_day_of_its_run() -> None:
    slot = {"said": "", "example": "2023-11-30 00:00:00", "ways": (Way(how="today+0"),)}
    assert line_of(changed(**slot))["content"]["slots"][0] == {
        "name": "time_min",
        "example": "2024-03-14 00:00:00",
        "said": "",
        "ways": [{"how": "today+0", "spans": []}],
    }


def test_an_example_of_what_is_not_known_stays_here() -> None:
    pipeline = from_json(deleting().content)
    nodes = [
        replace(node, arguments={"event_id": Unknown(example="00000256")}) if node.effect else node
        for node in pipeline.nodes
    ]
    line = shared(pipeline_record(replace(pipeline, nodes=nodes))).line
    assert "00000256" not in line


def test_a_record_that_nobody_could_import_is_refused() -> None:
    with pytest.raises(UserError, match="which nobody sees"):
        shared(workflow_record("Delete my \u202emeeting", "Delete it"))
    with pytest.raises(UserError, match="no name of a domain"):
        shared(deleting(domain="/home/alice/domain.toml"))
    content = {name: value for name, value in deleting().content.items() if name != "tool_digests"}
    with pytest.raises(UserError, match="which tools"):
        shared(deleting(content=content))


def test_the_steps_of_a_workflow_lose_the_values_of_its_goal_and_their_own() -> None:
    record = workflow_record(
        "Cancel my next meeting with olivia on December 13",
        "Find the meeting with Olivia on December 13",
        "Delete event 00000256 and write to raj@atlas.com",
        tools=["calendar.delete_event"],
    )
    found = shared(record)
    assert found.doubts == ()
    steps = found.record.content["steps"]
    assert isinstance(steps, list)
    assert [step["goal"] for step in steps if isinstance(step, Mapping)] == [
        "Find the meeting with Robin on March 14, 2024",
        "Delete event 10000001 and write to casey@example.com",
    ]


def test_what_looks_personal_in_a_step_is_asked_about() -> None:
    record = workflow_record("Copy my notes", "Read ~/notes/alice.txt", "Open https://atlas.example/x")
    assert [doubt.why for doubt in shared(record).doubts] == ["a path", "an address of a page"]


def test_a_slot_of_a_shared_word_stays_as_it_is() -> None:
    assert line_of(deleting())["content"]["slots"] == [
        {"name": name, "example": example, "said": "March 14, 2024", "ways": [{"how": "day", "spans": [0]}]}
        for name, example in (("time_min", "2024-03-14 00:00:00"), ("time_max", "2024-03-14 23:59:59"))
    ]
    pipeline = from_json(deleting().content)
    slots = [*pipeline.slots, Slot(name="what", example="meeting", said="meeting")]
    nodes = [
        replace(node, arguments={**node.arguments, "query": Constant(value="")}) if node.tool else node
        for node in pipeline.nodes
    ]
    nodes[1] = replace(nodes[1], arguments={**nodes[1].arguments, "query": FromGoal(slot="what")})
    record = pipeline_record(replace(pipeline, slots=slots, nodes=nodes))
    assert line_of(record)["content"]["slots"][-1] == {
        "name": "what",
        "example": "meeting",
        "said": "meeting",
        "ways": [],
    }


def test_a_lesson_leaves_as_it_is_under_a_goal_without_values() -> None:
    lesson = Lesson(tool="calendar.search_events", failure="failed", arguments=[])
    record = replace(
        workflow_record("Count my meetings with olivia", "x", tools=lesson.tools),
        kind="lesson",
        content=lesson.as_json(),
    )
    found = shared(record)
    assert found.record.content == lesson.as_json()
    assert found.record.goal == "Count my meetings with robin"
    assert found.doubts == ()
