"""Which pipelines may run by themselves: those whose goals say all that was done, with nothing to judge."""

from dataclasses import replace
from typing import Any

import pytest
from tests.experience.office_steps import DAY, EVENTS, SCHEMAS, compiled, delete, search, step

from plait.experience.consolidation.caution import (
    loses_choice,
    needed,
    not_told,
    rests_on_others,
    taken_from,
    why_not,
    with_answers,
)
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import FromGoal, Node, Pipeline, Slot
from plait.experience.pipelines.results import answer_shape
from plait.experience.pipelines.walk import Left, Walk

FIRST = "Delete my first meeting on December 13"
HEAD, ONE, *_ = EVENTS.splitlines()
ALONE = f"{HEAD}\n{ONE}"
DONE = delete("00000256")


def reason(goal: str, *steps: Step) -> str | None:
    """Return why what was learned may not run; None where nothing is learned at all."""
    pipeline = compiled(goal, steps)
    return None if pipeline is None else why_not(pipeline, steps, SCHEMAS, {"calendar.search_events": 5})


@pytest.mark.parametrize(
    ("goal", "steps"),
    [
        (FIRST, [search(**DAY), DONE]),
        ("Delete my meeting on December 13", [search(ALONE, **DAY), DONE]),
        (
            "Delete my meeting with santiago on December 13",
            [search(ALONE, query="santiago", **DAY), DONE],
        ),
        ("Delete the meeting 00000256", [DONE]),
        ("How many meetings do I have on December 13?", [search(**DAY)]),
    ],
)
def test_what_the_goal_says_whole_may_run(goal: str, steps: list[Step]) -> None:
    assert reason(goal, *steps) == ""


@pytest.mark.parametrize(
    ("goal", "steps", "why"),
    [
        # What was asked for played no part in the calls: another time it would not either.
        ("Delete my meeting with sofia on December 13", [search(ALONE, **DAY), DONE], "'sofia' goes into"),
        ("Delete the 'Expo' meeting on December 13", [search(ALONE, **DAY), DONE], "'Expo' goes into"),
        ("Delete my first 2 meetings on December 13", [search(**DAY), DONE], "does not make"),
        # A choice among things.
        ("Delete my last meeting on December 13", [search(**DAY), delete("00000120")], "'last'"),
        ("Delete my next meeting on December 13", [search(**DAY), DONE], "'next'"),
        (
            "Delete all my meetings on December 13",
            [search(**DAY), DONE, delete("00000100"), delete("00000120")],
            "'all'",
        ),
        ("Delete my first meeting on December 13 that is longer than an hour", [search(**DAY), DONE], "asks"),
        ("Delete my first meeting on December 13 except those with Sam", [search(**DAY), DONE], "goes into"),
        # Which row is meant.
        ("Delete my meeting on December 13", [search(**DAY), DONE], "does not make"),
        (
            FIRST,
            [search("\n".join([HEAD, *reversed(EVENTS.splitlines()[1:])]), **DAY), DONE],
            "is not sure",
        ),
        # A read that feeds no call was looked at to judge something.
        (
            "Delete my first meeting on December 13 as long as sofia has none",
            [search(**DAY), search(ALONE, query="sofia"), DONE],
            "it does not make the calls",
        ),
        (
            "Who has more meetings: Sofia or Amir?",
            [search(query="Sofia"), search(ALONE, query="Amir")],
            "it does not make the calls",
        ),
    ],
)
def test_what_was_settled_by_an_agent_may_not(goal: str, steps: list[Step], why: str) -> None:
    found = reason(goal, *steps)
    assert found is None or why in found
    assert found != ""


def test_what_is_needed_are_the_steps_that_found_or_did_something() -> None:
    looked = search(**DAY)
    failed = delete("00000001", "There is none.", ok=False)
    empty = search("No events found.", query="x")
    again = search("\n".join([HEAD, *EVENTS.splitlines()[2:]]), **DAY)
    assert needed([empty, looked, looked, failed, DONE, again]) == [looked, DONE]
    assert needed([looked, empty]) == [looked]
    assert needed([]) == []


@pytest.mark.parametrize(
    ("told", "event_id", "again"),
    [
        ('{"event_name": "progress update"}', "00000256", True),
        ('{"event_name": "evaluation"}', "00000256", False),
        ('{"event_name": "progress update"}', "00000100", False),
        ('{"event_name": "progress update", "room": "7"}', "00000256", False),
        ('{"locked_by": "progress update"}', "00000256", False),
    ],
)
def test_a_look_at_a_record_that_tells_nothing_more_is_not_needed(
    told: str, event_id: str, again: bool
) -> None:
    look = step("calendar.get_event_information_by_id", told, event_id=event_id, field="event_name")
    assert needed([search(**DAY), look, DONE]) == [search(**DAY), *([] if again else [look]), DONE]
    assert needed([look, DONE]) == [look, DONE]
    assert (reason(FIRST, search(**DAY), look, DONE) == "") is again


def test_a_narrower_search_is_needed_though_it_brings_nothing_new() -> None:
    steps = [search(**DAY), search(ALONE, query="update", **DAY), DONE]
    assert needed(steps) == steps


def test_an_effect_that_is_answered_otherwise_is_no_success() -> None:
    steps = [search(**DAY), DONE]
    pipeline = compiled(FIRST, steps)
    assert pipeline is not None
    pipeline = with_answers(pipeline, steps)
    values = {slot.name: slot.example for slot in pipeline.slots}
    walk = Walk(pipeline=pipeline, values=values, parameters=SCHEMAS)
    [name] = [node.name for node in pipeline.nodes if node.effect]
    refused = replace(DONE, observation="Event not found.")
    assert walk.next([steps[0], refused]) == Left(
        reason=f"{name} answered otherwise than when it was learned"
    )
    assert not isinstance(walk.next([steps[0], DONE]), Left)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Event 00000300 created.", "Event 00000301 created.", True),
        ("Sent to ann@x.org.", "Sent to bob@x.org.", True),
        ("Deleted.", "Not found.", False),
        ("Done", "done", True),
    ],
)
def test_answers_are_compared_without_what_was_called_with(one: str, other: str, same: bool) -> None:
    first, second = {"to": "ann@x.org"}, {"to": "bob@x.org"}
    assert (answer_shape(one, first) == answer_shape(other, second)) is same


def test_a_message_that_was_sent_says_all_that_was_done() -> None:
    goal = "Send an email to ann@x.org titled 'News' saying 'It works'"
    sent = step("email.send_email", "Email sent.", recipient="ann@x.org", subject="News", body="It works")
    assert reason(goal, sent) == ""


@pytest.mark.parametrize(
    ("part", "task", "loses"),
    [
        ("Delete my first meeting", "Delete my first meeting. Also mail Sam.", False),
        ("Delete my first meeting", "If it is with Sam, delete my first meeting", True),
        ("If it is with Sam, delete my first meeting", "If it is with Sam, delete my first meeting", False),
        ("Delete the meetings with Sam", "Delete all the meetings with Sam except the first", True),
        ("Delete my first meeting", "Unless it is with Sam, delete my first meeting", True),
        ("Delete my first meeting", "Delete my first meeting in case it rains", True),
    ],
)
def test_a_part_that_lost_a_choice_of_its_task_is_told(part: str, task: str, loses: bool) -> None:
    assert loses_choice(part, task) is loses


@pytest.mark.parametrize(
    ("goal", "points"),
    [
        ("Delete it", True),
        ("Mail the results to Sam", True),
        ("Delete the meeting that was found", True),
        ("Delete my first meeting on December 13", False),
    ],
)
def test_a_part_that_points_at_others_is_told(goal: str, points: bool) -> None:
    assert rests_on_others(goal) is points


def test_a_constant_that_only_the_whole_task_says_is_told() -> None:
    moved = step(
        "project_management.update_task", task_id="00000001", field="list_name", new_value="Completed"
    )
    part, whole = "Move the task 00000001", "Set the task 00000001 to completed"
    pipeline = compiled(part, [moved])
    assert pipeline is not None
    assert not taken_from(pipeline, whole)  # It is not known, so nothing runs.
    choice = step("project_management.update_task", task_id="00000001", field="board", new_value="x")
    chosen = compiled("Change the task 00000001 to x", [choice])
    assert chosen is not None
    assert taken_from(chosen, "Change the board of the task 00000001 to x") == ["board"]


@pytest.mark.parametrize(
    ("goal", "word"),
    [
        ("Delete the archived email from raj", "archived"),
        ("Delete the new email from raj", "new"),
        ("Delete the flagged email of raj", "flagged"),
        ("Delete the task of raj in the backlog", "backlog"),
        ("Delete the email of raj and tell me what it said", "tell"),
    ],
)
def test_a_word_that_may_say_which_one_is_meant_must_have_gone_into_a_call(goal: str, word: str):
    pipeline = Pipeline(
        name="",
        purpose=goal,
        nodes=[Node(name="find", tool="find", arguments={"query": FromGoal(slot="who")})],
        edges=[],
        slots=[Slot(name="who", example="raj", said="raj")],
    )
    assert f"'{word}'" in not_told(pipeline)
    plain = replace(pipeline, purpose="Please delete the email of raj and then archive it")
    assert not_told(plain) == ""


SCHEMA = {
    "properties": {
        "path": {"type": "string"},
        "permanently": {"type": "boolean", "default": False},
        "level": {"enum": [1, 2, 3], "default": 1},
        "note": {"enum": ["", "As asked"]},
        "labels": {"type": "array"},
    }
}


@pytest.mark.parametrize(
    ("goal", "chosen", "why"),
    [
        ("Delete the file notes.txt", {"permanently": True}, "permanently of delete may have been chosen"),
        ("Delete the file notes.txt", {"level": 3}, "level of delete may have been chosen"),
        ("Delete the file notes.txt", {"note": "As asked"}, "note of delete may have been chosen"),
        ("Delete the file notes.txt", {"unknown": False}, "unknown of delete may have been chosen"),
        ("Delete the file notes.txt", {"permanently": False, "level": 1, "note": "", "labels": []}, ""),
        ("Delete the file notes.txt", {"note": None}, ""),
        ("Delete the file notes.txt permanently", {"permanently": True}, ""),
        ("Delete the file notes.txt with level 3", {"level": 3}, ""),
    ],
)
def test_a_constant_of_an_effect_that_neither_goal_nor_tool_says_was_chosen(
    goal: str, chosen: dict[str, Any], why: str
) -> None:
    arguments = {"path": "notes.txt", **chosen}
    call = Step(tool="delete", arguments=arguments, observation="", ok=True, effect=True)
    found = compiled(goal, [call], tools={"delete": SCHEMA})
    assert found is not None
    assert why_not(found, [call], {"delete": SCHEMA}) == why
