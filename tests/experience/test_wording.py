"""What in the wording of a goal makes no difference, and what does."""

import pytest

from plait.experience.words.goals import agree, aligned, key_of
from plait.experience.words.rewording import rewordings
from plait.experience.words.wording import plainly


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("something came up. cancel my meetings on <date>", "cancel my meetings on <date>"),
        ("<name> is off sick. cancel my next meeting with them", "cancel my next meeting with <name>"),
        ("<name> is leaving the company; cancel all meetings with him", "cancel all meetings with <name>"),
        (
            "<name> is on vacation now so move all their tasks to it",
            "<name> is on vacation now so move all their tasks to it",
        ),
        ("<name> is on vacation now so move all their tasks", "move all <name>'s tasks"),
        ("<name>'s ill, so move his tasks to <name>", "move <name>'s tasks to <name>"),
        ("move all of the tasks", "move all tasks"),
        ("show the most recent mail", "show the latest mail"),
    ],
)
def test_what_leads_up_to_a_request_is_left_out(said: str, plain: str) -> None:
    assert plainly(said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "do not send it. cancel my meetings",
        "if it rains. cancel my meetings",
        "all is well. cancel my meetings",
        "delete the file. cancel my meetings",
        "<name> is overdue. cancel my meetings with them",
        "<name> isn't here. cancel my meetings with them",
        "<name> is ill. cancel my meetings with <name> and them",
        "<name> is ill. cancel my meetings with them and their friends",
        "<name> is ill. cancel the meetings they have with them",
        "<name> is ill. cancel my meetings",
        "<name> wrote. cancel my meetings with them",
        "ask <name>. cancel my meetings with them",
        "something came up.",
        "",
    ],
)
def test_what_may_be_a_part_of_the_request_stays(said: str) -> None:
    assert plainly(said) == said


def test_goals_that_differ_in_what_leads_up_to_them_share_their_values() -> None:
    one, other = (
        "Olga is leaving the company. Cancel all future meetings with them",
        "cancel all of the future meetings with Raj",
    )
    assert key_of(one) == key_of(other)
    assert agree(one, other)
    assert aligned(one, other) == {"Olga": "Raj"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Olga is ill so cancel my meetings with Raj and them", "Cancel my meetings with Raj and Olga"),
        ("Olga is ill. Cancel my meetings with them", "Cancel my meetings"),
        ("Cancel all meetings", "Cancel meetings"),
        ("Show the latest mail", "Show the last mail"),
    ],
)
def test_other_goals_stay_apart(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


def test_a_goal_is_said_with_another_word_for_what_it_does() -> None:
    assert rewordings("Please Cancel my call with Ann") == [
        "Please delete my call with Ann",
        "Please remove my call with Ann",
        "Please get rid of my call with Ann",
    ]
    assert rewordings("change the name of the event to Sync") == ["rename the event to Sync"]
    assert rewordings("Get rid of it", ["mail.get", "mail.delete"])[0] == "delete it"


@pytest.mark.parametrize(
    "goal",
    [
        "Cancel this and delete that",
        "Delete this and delete that",
        "Show it",
        "",
        "Send 'delete it' to Ann",
        "Undelete it",
    ],
)
def test_a_goal_with_none_or_two_such_words_has_no_others(goal: str) -> None:
    assert rewordings(goal) == []


@pytest.mark.parametrize(
    ("tools", "apart"),
    [
        (["orders.cancel", "orders.delete"], True),
        (["cancelOrder", "deleteOrder"], True),
        (["delete_order", "remove_item"], True),
        (["cancel_order", "find_order"], False),
        ([], False),
    ],
)
def test_operations_that_are_two_tools_are_two_operations(tools: list[str], apart: bool) -> None:
    assert (rewordings("Cancel my order", tools) == []) is apart
