"""Checks without a model: nothing made up, nothing done again, no search for another day."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from plait.reflection.checks import Known, call_problems, done_problems, mended, wider
from plait.reflection.trajectory import Effects, Step
from plait.tools.tool import Tool

NO_DATES: dict[str, date] = {}


def tool(effect: Any = "reads", **properties: Any) -> Tool:
    async def run(_: Any) -> str:
        return ""

    parameters = {"type": "object", "properties": properties}
    return Tool(name="loans", description="", parameters=parameters, effect=effect, run=run, source="tests")


def step(
    arguments: dict[str, Any], observation: str = "found", *, ok: bool = True, effect: bool = False
) -> Step:
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


def test_one_empty_search_does_not_end_a_subtask_and_a_second_does() -> None:
    empty, other = step({"who": "dana"}, "[]"), step({"who": "dan"}, "[]")
    assert done_problems(known(steps=[empty])) != []
    assert done_problems(known(steps=[empty, other])) == []
    assert done_problems(known(steps=[step({"who": "dana"})])) == []
    assert done_problems(known()) == []


def kept(arguments: dict[str, Any], facts: Known, effect: Any = "reads") -> dict[str, Any]:
    return mended(tool(effect), arguments, facts)[0]


def test_a_search_is_not_narrowed_by_what_the_task_does_not_say() -> None:
    timeless, timely = known("find it"), known("find it on December 18", dates=DATES)
    day = {"who": "dana", "since": "2023-12-18"}
    assert mended(tool(), day, timeless) == ({"who": "dana"}, ["left out since='2023-12-18'"])
    assert mended(tool(), day, timely) == (day, [])
    assert kept({"who": "dana", "title": ""}, timeless) == {"who": "dana"}
    assert kept({"who": "dana", "title": "december 18"}, timely) == {"who": "dana"}


def test_what_is_ahead_begins_today_and_only_where_the_tool_has_one_such_bound() -> None:
    facts = replace(known("show the next talk"), notes="Today is Monday 2023-12-18.")
    since = {"type": "object", "properties": {"who": {"type": "string"}, "since": {"type": "string"}}}
    search = replace(tool(), parameters=since)
    assert mended(search, {"who": "dana"}, facts)[0] == {"who": "dana", "since": "2023-12-18"}
    assert mended(search, {"who": "dana", "since": "2024-01-01"}, facts)[0]["since"] == "2024-01-01"
    assert mended(search, {"who": "dana"}, replace(facts, task="show the talk"))[0] == {"who": "dana"}
    two = {"type": "object", "properties": {**since["properties"], "due_from": {"type": "string"}}}
    assert mended(replace(tool(), parameters=two), {"who": "dana"}, facts)[0] == {"who": "dana"}


def test_a_repeated_search_is_told_what_it_found_that_nothing_was_done_to() -> None:
    found = step({"who": "dana"}, "loan_id | title\n1 | Tides\n2 | Ash")
    returned = step({"loan_id": "1"}, "Returned.", effect=True)
    several = known("return all loans of dana", steps=[found, returned])
    assert problem({"who": "dana"}, several).endswith("not acted on yet: 2")
    assert "not acted on" not in problem({"who": "dana"}, replace(several, task="return the loan of dana"))


def test_an_effect_is_made_as_it_was_chosen() -> None:
    arguments = {"title": "", "at": "2023-12-18"}
    assert mended(tool("changes"), arguments, known("do it")) == (arguments, [])


def test_a_search_keeps_what_the_tool_requires_and_is_never_left_with_nothing() -> None:
    needs = replace(tool(), parameters={"type": "object", "properties": {}, "required": ["title"]})
    assert mended(needs, {"who": "dana", "title": ""}, known("dana"))[0] == {"who": "dana", "title": ""}
    assert kept({"title": ""}, known("find it")) == {"title": ""}


def test_for_what_is_ahead_an_empty_search_is_made_again_without_its_upper_bound() -> None:
    ahead, empty = known("find the next loan"), step({"who": "dana", "time_max": "2023-12-18"}, "[]")
    assert wider(empty, ahead) == {"who": "dana"}
    assert wider(empty, known("find the loan")) is None
    assert wider(empty, known("find the next loan on December 18", dates=DATES)) is None
    assert wider(step({"time_max": "2023-12-18"}, "[]"), ahead) is None
    assert wider(step({"who": "dana"}, "[]"), ahead) is None
