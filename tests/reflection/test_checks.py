"""Checks without a model: nothing made up, no effect done again."""

from dataclasses import replace
from typing import Any

import pytest
from tests.reflection.moments import known, step, tool

from plait.reflection.checks import Known, call_problems
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
