"""What the words of a task say about it."""

import pytest

from plait.reflection.phrases import ahead, makes_one, names_period, names_time, of_one, of_several
from plait.reflection.requests import unquoted


@pytest.mark.parametrize(
    ("task", "several"),
    [
        ("return the loan of dana", False),
        ("return the last loan called Sales Numbers", False),
        ("check the status of this class", False),
        ("return the first of my loans", False),
        ("return the next two loans", True),
        ("return my loans", True),
        ("return it and tell dana", True),
        ("send 'all books' to dana", False),
        ('read it\n\n<file name="a.txt">\nall books\n</file>', False),
    ],
)
def test_what_a_task_speaks_of_is_one_or_several(task: str, several: bool) -> None:
    assert of_several(task) is several


@pytest.mark.parametrize(
    "task",
    [
        "Send a reminder to everyone in the design office",
        "Send a reminder to my customers with status Lead",
        "Send an email to Ann & Bob",
        "Send an email to Ann, Bob, Carlos",
        "Create a task for Ann. Create another for Bob",
        "Create a task for Ann. Send it to Bob",
        "Book a room, tell Ann",
    ],
)
def test_several_new_things_or_people_are_not_one(task: str) -> None:
    assert not makes_one(task)


@pytest.mark.parametrize(
    "task",
    [
        "Send an email to ann with the subject 'Rest, Bob. Send it'",
        "I need to create a task for Ann. Can you create it?",
        "Something came up. Schedule a meeting for 30 minutes",
    ],
)
def test_one_new_thing_is_one(task: str) -> None:
    assert makes_one(task)


@pytest.mark.parametrize(
    ("task", "several"),
    [
        ("Cancel my meeting with Ann tomorrow. Email her that I am ill", True),
        ("Rename task 00000149 to 'X'. Move it to In Review", True),
        ("Rename task 00000149 to 'X', move it to In Review", True),
        ("I need to cancel my next meeting with aisha. Can you do that for me please?", False),
        ("I need to reply to the latest mail from carlos. Can you send 'Thanks' to him?", False),
        ("Sam is ill. Cancel my meeting with him", False),
        ("Delete the next Health & Wellness Expo meeting", False),
        ("Cancel the first meeting on Friday, December 1", False),
        ("Please, cancel my meeting with Ann", False),
    ],
)
def test_more_than_one_order_is_several(task: str, several: bool) -> None:
    assert of_several(task) is several


def test_the_next_or_last_is_one() -> None:
    assert of_one("return the next loan")
    assert not of_one("return the loan")
    assert not of_one("return the next loan and tell dana")


def test_time_is_named_in_many_words() -> None:
    assert names_time("what came in March")
    assert not names_time("find Tides")
    assert names_period("lent in the last 3 weeks")
    assert not names_period("lent on Friday before 10")
    assert ahead("cancel all future talks")
    assert not ahead("send 'the next talk'")


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("answer dana's letter with 'I am back tomorrow. Can you do that?", "answer dana's letter with "),
        ("answer with 'I'm back tomorrow' today", "answer with   today"),
        ("bring the '90s list and dana's letter", "bring the '90s list and dana's letter"),
        ("play it with '90s music on, then stop", "play it with '90s music on, then stop"),
        ("reply with 'ok'(no more) and stop", "reply with 'ok'(no more) and stop"),
        ("reply with \u201cok and stop", "reply with "),
    ],
)
def test_what_is_quoted_is_not_told_even_where_the_quotation_does_not_end(task: str, told: str) -> None:
    assert unquoted(task) == told
