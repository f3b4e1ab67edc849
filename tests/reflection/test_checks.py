"""Checks without a model: nothing made up, no effect done again."""

from dataclasses import replace
from typing import Any

import pytest
from tests.reflection.moments import known, step, tool

from plait.reflection.checks import MADE_UP, MADE_UP_BESIDE, Known, call_problems
from plait.reflection.trajectory import Effects


def problem(arguments: dict[str, Any], known: Known, effect: Any = "reads", **properties: Any) -> str:
    return "; ".join(call_problems(tool(effect, **properties), arguments, known))


@pytest.mark.parametrize("effect", ["reads", "changes"])
@pytest.mark.parametrize("name", ["id", "loan_id", "ID"])
def test_an_id_must_be_in_the_task_or_a_result(name: str, effect: str) -> None:
    assert "00000417" in problem({name: "00000417"}, known("return the loan of dana"), effect)
    assert problem({name: "00000417"}, known("return it", "id 00000417 of dana"), effect) == ""
    assert problem({name: "00000417"}, known("return it", notes="the first is 00000417"), effect) == ""


def test_what_only_ends_in_the_letters_is_no_id() -> None:
    assert problem({"paid": "yes"}, known("nothing"), "changes") == ""


def test_an_address_must_come_from_somewhere_also_inside_a_list() -> None:
    arguments = {"to": ["dana@books.org", "omar@books.org"]}
    said = problem(arguments, known("DANA@books.org is a reader"), "changes")
    assert "omar@books.org" in said
    assert "dana@books.org" not in said


def test_of_a_made_up_id_those_in_the_latest_result_are_told() -> None:
    rows = "".join(f"\n{n} | dana" for n in range(7))
    facts = known("return it", "return it", f"loan_id | of{rows}", "letter_id | of\n99 | omar")
    (problem,) = call_problems(tool("changes"), {"loan_id": "123"}, facts)
    assert problem == f"loan_id '123' {MADE_UP_BESIDE} 0, 1, 2, 3, 4, or look it up"
    odd = known(
        "return it",
        "return it",
        f"loan_id | of\n7 | dana\n7 | omar\n | lena\nsay done() | mira\n{'9' * 99} | bo",
    )
    (problem,) = call_problems(tool("changes"), {"loan_id": "123"}, odd)
    assert problem == f"loan_id '123' {MADE_UP_BESIDE} 7, or look it up"
    (problem,) = call_problems(tool("changes"), {"id": "123"}, known("return it", "", "id | of\n7 | dana"))
    assert problem == f"id '123' {MADE_UP}"
    (problem,) = call_problems(tool("changes"), {"book_id": "123"}, facts)
    assert problem == f"book_id '123' {MADE_UP}"


def test_of_a_made_up_address_those_of_the_same_name_are_told() -> None:
    seen = '["dana.lee@atlas.com", "omar@atlas.com", "dana.ray@atlas.com"]'
    (problem,) = call_problems(tool("changes"), {"to": "dana@company.com"}, known("write dana", "", seen))
    assert problem == (
        f"to 'dana@company.com' {MADE_UP_BESIDE} dana.lee@atlas.com, dana.ray@atlas.com, or look it up"
    )
    (problem,) = call_problems(tool("changes"), {"to": "mira@company.com"}, known("write mira", "", seen))
    assert problem == f"to 'mira@company.com' {MADE_UP}"


def test_a_value_from_an_enumeration_is_not_made_up() -> None:
    assert problem({"list_id": "open"}, known("show it"), list_id={"enum": ["open", "shut"]}) == ""
    assert problem({"list_id": "open"}, known("show it"), list_id={"type": "string"}) != ""


def test_words_of_ones_own_are_no_problem() -> None:
    assert problem({"query": "SELECT sqrt(17)", "zone": "Europe/Rome"}, known("what time is it")) == ""


@pytest.mark.parametrize("field", ["done", "doubtful"])
def test_an_effect_that_was_or_may_have_been_done_is_not_done_again(field: str) -> None:
    steps = [step({"loan_id": "1"}, effect=True)]
    effects = Effects(done=steps) if field == "done" else Effects(doubtful=steps)
    facts = replace(known("1 2"), effects=effects)
    assert problem({"loan_id": "1"}, facts, "changes") != ""
    assert problem({"loan_id": "2"}, facts, "changes") == ""
    assert problem({"loan_id": "1"}, facts) == ""


def test_an_effect_is_the_same_whatever_the_order_of_its_arguments() -> None:
    done = step({"part": "bolt", "amount": 20}, effect=True)
    facts = replace(known("order 20"), effects=Effects(done=[done]))
    assert problem({"amount": 20, "part": "bolt"}, facts, "changes") != ""
    assert problem({"amount": 21, "part": "bolt"}, facts, "changes") == ""


@pytest.mark.parametrize("name", ["petId", "petID", "pet_ids", "uuid"])
def test_an_id_is_known_by_many_names_and_may_be_a_number(name: str) -> None:
    assert "417" in problem({name: [417]}, known("show it"), "changes")
    assert problem({name: [417]}, known("show it", "417 | dana"), "changes") == ""


def test_a_part_of_a_date_or_of_another_id_is_no_id() -> None:
    assert problem({"id": "11"}, known("show it", notes="Today is 2023-11-30."), "changes") != ""
    assert problem({"id": "17"}, known("show it", "00000417 | dana"), "changes") != ""
    assert problem({"id": 11}, known("show number 11."), "changes") == ""


def test_what_a_parameter_offers_is_not_made_up_and_an_example_of_an_id_is() -> None:
    calendar = {"default": "primary", "description": "Whose: primary, 'shared' or all. Such as cal-17."}
    for effect in ("reads", "changes"):
        assert problem({"calendar_id": "primary"}, known("show it"), effect, calendar_id=calendar) == ""
        assert problem({"calendar_id": "cal-17"}, known("show it"), effect, calendar_id=calendar) != ""
        assert problem({"calendar_id": "all"}, known("show it"), effect, calendar_id=calendar) != ""
    assert problem({"calendar_id": "shared"}, known("show it"), calendar_id=calendar) == ""
    assert problem({"calendar_id": "shared"}, known("show it"), "changes", calendar_id=calendar) != ""
    status = {"description": "1 = new, 2 = closed; 0 for none"}
    assert problem({"status_id": 2}, known("close it"), "changes", status_id=status) == ""
    assert problem({"status_id": 3}, known("close it"), "changes", status_id=status) != ""
    assert problem({"parent_id": 0}, known("make a folder"), "changes") == ""


@pytest.mark.parametrize(
    ("task", "value", "is_known"),
    [
        ("Close tickets 101-105", 101, True),
        ("Close tickets 101 to 105", 103, True),
        ("Close tickets 101 to 105", 106, False),
        ("Close TICKET_1234", 1234, True),
        ("Close the ticket of user 12,345", 12345, True),
        ("Close 007", 7, True),
        ("Close what came at 10:11", 11, False),
    ],
)
def test_a_number_is_known_by_its_value(task: str, value: int, is_known: bool) -> None:
    assert (problem({"ticket_id": value}, known(task), "changes") == "") is is_known


def test_ids_that_the_caller_makes_up_may_be_made_up() -> None:
    assert problem({"X_Request_ID": "a1b2", "idempotency_id": "7"}, known("order it"), "changes") == ""
    for name in ("leave_request_id", "request_id", "requester_id"):
        assert problem({name: "LR-7"}, known("approve it"), "changes") != ""


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("calendar.delete_event", True),
        *((name, True) for name in ("calendar.deleteEvent", "calendar_delete_event", "calendarEventsDelete")),
        ("dropbox.move_file", False),
        ("bin.undelete_event", False),
    ],
)
def test_only_a_tool_that_deletes_is_held_to_hours(name: str, refused: bool) -> None:
    rows = "event_id | event_start\n17 | 2023-12-01 14:00:00\n18 | 2023-12-01T14:00:00Z"
    facts = known("Cancel my meetings before 10:30", "", rows)
    said = call_problems(replace(tool("changes"), name=name), {"event_id": "17"}, facts)
    assert bool(said) is refused
    assert call_problems(replace(tool("changes"), name=name), {"event_id": "18"}, facts) == []


def test_a_number_without_end_is_made_up_as_any_other() -> None:
    assert problem({"id": "9" * 5_000}, known("show 17"), "changes") != ""
