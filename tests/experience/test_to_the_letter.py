"""Where the words of a goal went into a call, every letter of them counts; how one asks never does."""

from typing import Any

import pytest

from plait.experience.consolidation.compile import Success, compile_success
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.slots import slot_values
from plait.experience.words.goals import agree, to_the_letter


def values(learned: str, goal: str, **arguments: Any) -> dict[str, str] | None:
    """Return what a goal says in the slots of a pipeline that was learned from one call."""
    call = Step(tool="act", arguments=arguments, observation="Done.", ok=True, effect=True)
    found = compile_success(Success(goal=learned, steps=[call]), tools={})
    assert found is not None
    return slot_values(found.pipeline, goal, lambda _: None)


@pytest.mark.parametrize(
    ("learned", "goal", "arguments"),
    [
        ("Delete the folder ./build", "Delete the folder /build", {"path": "./build"}),
        ("Delete the folder /build", "Delete the folder ./build", {"path": "/build"}),
        ("Delete the folder my build", "Delete the folder my  build", {"path": "my build"}),
        ("Delete the folder .", "Delete the folder", {"path": "folder"}),
        ("Delete the file notes.txt", "Delete the file Notes.txt", {"path": "notes.txt"}),
        (
            "Send Ann a message: please call the office",
            "Send Bob a message: I need to call the office",
            {"to": "Ann", "body": "please call the office"},
        ),
        (
            "Send Ann a message: cancel the order",
            "Send Bob a message: can you cancel the order?",
            {"to": "Ann", "body": "cancel the order"},
        ),
        (
            "Send Ann a message: erase it",
            "Send Bob a message: delete it",
            {"to": "Ann", "body": "erase it"},
        ),
        ("Send Ann a message: thanks", "Send Bob a message", {"to": "Ann", "body": "thanks"}),
        ("Send Ann a message saying thanks", "Send Bob a message saying", {"to": "Ann", "body": "thanks"}),
        ("Tell Ann thank you", "Tell Bob", {"to": "Ann", "body": "thank you"}),
        ("Post: it works", "Post: it works?", {"body": "it works"}),
        ("Post: it works", "Can you post: it works?", {"body": "it works"}),
        ("Can you post: it works?", "Post: it works?", {"body": "it works"}),
        # Courtesy and marks at the end may be a part of a text without a mark before it.
        (
            "Email ann@x.org with see you soon",
            "Email bob@x.org with see you soon please",
            {"to": "ann@x.org", "body": "see you soon"},
        ),
        (
            "Reply to ann@x.org with ok",
            "Reply to bob@x.org with ok please",
            {"to": "ann@x.org", "body": "ok"},
        ),
        ("Reply to ann@x.org with ok", "Reply to bob@x.org with ok.", {"to": "ann@x.org", "body": "ok"}),
        ("Write a note yes", "Write a note yes please", {"body": "yes"}),
        ("Post come in", "Post come in. please", {"body": "come in"}),
        ("Post come in", "Post come in. Thanks!", {"body": "come in"}),
        ("Add a task called come in", "Add a task called come in please", {"name": "come in"}),
        (
            "Email ann@x.org are you there",
            "Can you email bob@x.org are you there?",
            {"to": "ann@x.org", "body": "are you there"},
        ),
        (
            "Can you email ann@x.org are you there?",
            "Email bob@x.org are you there?",
            {"to": "ann@x.org", "body": "are you there"},
        ),
        # The agent's own text, which is a constant, was made of the same words.
        ("Post: we open soon", "Post: We open SOON!", {"body": "We shall open soon"}),
        # A part of a name that differs.
        ("Note that Ann Lee is in", "Note that Ann Ray is in", {"body": "Lee is in"}),
    ],
)
def test_a_text_of_the_goal_is_not_taken_for_one_that_reads_otherwise(
    learned: str, goal: str, arguments: dict[str, str]
) -> None:
    assert values(learned, goal, **arguments) is None
    assert values(learned, learned, **arguments) is not None


@pytest.mark.parametrize(
    "asked",
    [
        "Set the state of Bob's tasks to completed",
        "set the state of Bob's tasks to completed.",
        "Please set the state of Bob's tasks to completed",
        "Can you set the state of Bob's tasks to completed?",
        "I need to set the state of Bob's tasks to completed. Can you do that?",
        "Would you please set the state of Bob's tasks to completed? Thanks!",
        "I'd like you to set the state of Bob's tasks to completed, please. Thank you!",
    ],
)
def test_how_one_asks_makes_no_difference_to_a_text_of_the_goal(asked: str) -> None:
    learned = "Set the state of Ann's tasks to completed"
    assert values(learned, asked, who="Ann", state="completed") == {"who": "Bob", "state": "completed"}


@pytest.mark.parametrize(
    "asked",
    [
        "Please email bob@x.org with the status text 'Hi'",
        "Can you email bob@x.org with the status text 'Hi'?",
        "Email bob@x.org with the status text 'Hi', please. Thank you!",
    ],
)
def test_courtesy_after_a_quoted_text_makes_no_difference(asked: str) -> None:
    learned = "Email ann@x.org with the status text 'Yes'"
    found = values(learned, asked, to="ann@x.org", body="Yes", kind="status")
    assert found is not None
    assert (found["to"], found["body"]) == ("bob@x.org", "Hi")


def test_what_is_asked_for_in_a_message_stays_as_it_is_however_one_asks() -> None:
    learned = "Send Ann a message: please call the office. Thanks!"
    body = {"body": "please call the office. Thanks!"}
    assert values(learned, f"Could you please s{learned[1:]}", **body) == body
    assert values(learned, "Send Ann a message: please call the office.", **body) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Send Ann a message: please call me", "Send Ann a message: call me"),
        ("Send Ann a message: call me", "Send Ann a message: call me, please"),
        ("Send Ann a message saying it works. Thanks", "Send Ann a message saying it works"),
        ("Delete the file. Can you do that? Add one", "Delete the file. Add one"),
        ("Reply thanks", "Reply"),
    ],
)
def test_courtesy_within_a_goal_is_a_part_of_it(one: str, other: str) -> None:
    assert not agree(one, other)
    assert not agree(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Email Ann saying 'It works', please", "Email Bob saying 'It does not'. Thanks!"),
        ("Reply: 'yes'. Thank you", "Reply: 'no'"),
        ("Cancel it. Could you do that for me, please? Thanks", "Please cancel it"),
    ],
)
def test_courtesy_after_what_is_quoted_is_no_part_of_it(one: str, other: str) -> None:
    assert agree(one, other)
    assert agree(other, one)


def test_the_number_of_a_unit_follows_its_figure() -> None:
    assert to_the_letter("Delay it by 2 hours") == to_the_letter("Please delay it by 1 hour")
    assert to_the_letter("Delay it by 2 hours") != to_the_letter("Delay it by 2 days")
