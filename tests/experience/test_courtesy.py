"""What in the wording of a goal makes no difference, and what does."""

import pytest

from plait.experience.words.courtesy import plainly
from plait.experience.words.goals import agree, aligned, key_of, lead_in
from plait.experience.words.rewording import rewordings


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("something came up. cancel my meetings on <date>", "cancel my meetings on <date>"),
        ("hi, show the list", "show the list"),
        ("<name> is off sick. cancel my next meeting with them", "cancel my next meeting with <name>"),
        ("<name> is leaving the company; cancel all meetings with him", "cancel all meetings with <name>"),
        ("<name> is on vacation now so move all their tasks", "move all <name>'s tasks"),
        ("<name> will be on leave, so move his tasks to <name>", "move <name>'s tasks to <name>"),
        ("move all of the tasks", "move all tasks"),
        ("all the best", "all the best"),
    ],
)
def test_how_a_request_is_led_up_to_makes_no_difference(said: str, plain: str) -> None:
    assert plainly(said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "do not send it. cancel my meetings",
        "if it rains. cancel my meetings",
        "dry run! cancel my meetings",
        "i'm away this week. cancel my meetings",
        "something came up on monday. cancel my meetings",
        "leave my standup alone; cancel my meetings",
        "dentist visit. add it to my calendar",
        "<name> is overdue. cancel my meetings with them",
        "<name> is away this week. cancel my meetings with them",
        "<name> isn't ill. cancel my meetings with them",
        "<name>'s assistant is ill. cancel my meetings with them",
        "<name> is covering for my manager. assign my tasks to him",
        "<name> is ill. cancel my meetings with <name> and them",
        "<name> is ill. cancel my meetings with them and their friends",
        "<name> is ill. cancel the meetings they have with them",
        "<name> is ill. cancel the meetings and move them to <date>",
        "<name> is ill. email the vendors and cancel my call with them",
        "<name> is ill. cancel my meetings",
        "ask <name>. cancel my meetings with them",
        "something came up.",
        "",
    ],
)
def test_what_may_be_a_part_of_the_request_stays(said: str) -> None:
    assert plainly(said) == said


def test_goals_that_are_led_up_to_otherwise_share_their_values() -> None:
    one = "Olga is leaving the company. Cancel all future meetings with them"
    other = "cancel all of the future meetings with Raj"
    assert key_of(one) == key_of(other)
    assert agree(one, other)
    assert aligned(one, other) == {"Olga": "Raj"}
    assert (lead_in(one), lead_in(other)) == ("<name> is leaving the company. ", "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Olga is ill so cancel my meetings with Raj and them", "Cancel my meetings with Raj and Olga"),
        ("Olga is ill. Cancel my meetings with them", "Cancel my meetings"),
        ("Cancel all meetings", "Cancel meetings"),
        ("Show the latest mail", "Show the last mail"),
        ("Cancel my latest meeting", "Cancel my most recent meeting"),
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
    assert rewordings("Get rid of it")[0] == "delete it"
    led_up_to = "Ann is ill so could you cancel our call with them"
    assert rewordings(led_up_to)[0] == "Ann is ill so could you delete our call with them"


@pytest.mark.parametrize(
    "goal",
    [
        "Show it",
        "",
        "Send 'delete it' to Ann",
        "Write to Ann to delete the order",
        "Undelete it",
        "Canceling is ok",
    ],
)
def test_only_what_a_request_begins_with_is_another_word(goal: str) -> None:
    assert rewordings(goal) == []


@pytest.mark.parametrize(
    ("tools", "apart"),
    [
        ([("orders.cancel", ""), ("orders.delete", "")], True),
        ([("CANCEL_ORDER", ""), ("DELETE_ORDER", "")], True),
        ([("cancelorder", ""), ("deleteorder", "")], True),
        ([("order_cancellation", ""), ("delete_order", "")], True),
        ([("void_invoice", ""), ("delete_invoice", "")], True),
        ([("decline_event", ""), ("delete_event", "")], True),
        ([("update_order: sets it to paid or cancelled", ""), ("delete_order", "")], True),
        ([("update_order", '{"enum": ["open", "cancelled", "deleted"]}')], True),
        ([("delete_event: deletes (cancels) it", "{}"), ("delete_mail: deletes it", "{}")], False),
        ([("cancel_order", ""), ("book_order", "")], False),
        ([], False),
    ],
)
def test_operations_that_are_two_tools_are_two_operations(tools: list[tuple[str, str]], apart: bool) -> None:
    assert (rewordings("Cancel my order", tools) == []) is apart
    assert rewordings("Rename my order", tools) != []
