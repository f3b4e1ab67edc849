"""Checks without a model: nothing made up, nothing done again, no search for another day."""

from datetime import date
from typing import Any

import pytest

from plait.reflection.checks import Known, call_problems, done_problems, wider
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

NO_DATES: dict[str, date] = {}


def tool(effect: Any = "reads", **properties: Any) -> Tool:
    async def run(_: Any) -> str:
        return ""

    parameters = {"type": "object", "properties": properties}
    return Tool(name="loans", description="", parameters=parameters, effect=effect, run=run, source="tests")


def step(arguments: dict[str, Any], observation: str = "found", *, ok: bool = True, effect: bool = False) -> Step:
    return Step(tool="loans", arguments=arguments, ok=ok, observation=observation, effect=effect)


def known(
    *texts: str, notes: str = "", dates: dict[str, date] = NO_DATES, steps: list[Step] | None = None
) -> Known:
    task = texts[0] if texts else ""
    return Known(task=task, texts=texts, notes=notes, dates=dates, steps=steps or [], effects=Effects())


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


def test_a_search_is_for_words_of_the_task_and_an_effect_may_use_its_own() -> None:
    assert "Gatsby" in problem({"title": "Gatsby"}, known("find Tides"))
    assert problem({"title": "the tides"}, known("find the Tides")) == ""
    assert problem({"text": "Dear reader"}, known("tell dana"), "changes") == ""


@pytest.mark.parametrize("ok", [True, False])
def test_a_call_of_this_subtask_is_not_made_again(ok: bool) -> None:
    before = step({"who": "dana"}, ok=ok)
    assert problem({"who": "dana"}, known("dana", steps=[before])) != ""
    assert problem({"who": "omar"}, known("dana omar", steps=[before])) == ""


def test_an_effect_done_elsewhere_in_the_run_is_not_done_again() -> None:
    elsewhere = Effects(done=[step({"loan_id": "1"}, effect=True)])
    facts = Known(task="1 2", texts=["1 2"], notes="", dates={}, steps=[], effects=elsewhere)
    assert problem({"loan_id": "1"}, facts, "changes") != ""
    assert problem({"loan_id": "2"}, facts, "changes") == ""


DATES = {"December 18": date(2023, 12, 18)}


def test_a_search_for_another_day_than_the_tasks_is_noticed() -> None:
    facts = known("find it on December 18 (December 18 is 2023-12-18)", dates=DATES)
    assert "2023-12-18" in problem({"since": "2023-12-17 00:00"}, facts)
    assert problem({"since": "2023-12-18 00:00"}, facts) == ""
    assert problem({"since": "2023-12-17 00:00"}, facts, "changes") == ""


def test_a_date_is_no_word_to_search_for() -> None:
    facts = known("find it on December 18", dates=DATES)
    assert problem({"query": "december 18"}, facts) != ""
    assert problem({"query": "find"}, facts) == ""


def test_one_empty_search_does_not_end_a_subtask_and_a_second_does() -> None:
    empty, other = step({"who": "dana"}, "[]"), step({"who": "dan"}, "[]")
    assert done_problems(known(steps=[empty])) != []
    assert done_problems(known(steps=[empty, other])) == []
    assert done_problems(known(steps=[step({"who": "dana"})])) == []
    assert done_problems(known()) == []


def test_a_wider_search_leaves_something_out_and_never_all() -> None:
    assert "loans(day=3)" in wider(step({"who": "dana", "day": 3}), NO_DATES)
    assert wider(step({"who": "dana"}), NO_DATES) == ""
    assert wider(step({"day": 3, "year": 2023}), NO_DATES) == ""
