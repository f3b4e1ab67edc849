"""Searches mended without a model."""

from dataclasses import replace
from typing import Any

import pytest
from tests.reflection.moments import DATES, known, step, tool

from plait.reflection.checks import Known
from plait.reflection.searches import alike, mended, wider, within

NOTES = "Today is Monday 2023-12-18."


def kept(arguments: dict[str, Any], facts: Known, effect: Any = "reads") -> dict[str, Any]:
    return mended(tool(effect), arguments, facts)[0]


def test_a_search_is_not_narrowed_by_what_the_task_does_not_say() -> None:
    timeless, timely = known("find it", notes=NOTES), known("find it on December 18", dates=DATES)
    day = {"who": "dana", "since": "2023-12-20"}
    assert mended(tool(), day, timeless) == ({"who": "dana"}, ["left out since='2023-12-20'"])
    assert mended(tool(), day, timely) == (day, [])
    assert kept({"who": "dana", "title": ""}, timeless) == {"who": "dana"}
    assert kept({"who": "dana", "title": "december 18"}, timely) == {"who": "dana"}


@pytest.mark.parametrize("task", ["find it in March", "find it in the third quarter", "find it, 2024"])
def test_a_date_stays_where_the_task_says_anything_of_when(task: str) -> None:
    assert kept({"since": "2024-03-01", "who": "dana"}, known(task, notes=NOTES)).get("since")


def test_a_date_stays_where_nobody_said_what_day_it_is() -> None:
    assert kept({"since": "2024-03-01", "who": "dana"}, known("find it")).get("since")


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("December 18 after 11", True),
        ("on December 18 before 10:30", True),
        ("December 18 at 3 pm", True),
        ("on December 18", True),
        ("December 18 after lunch", False),
        ("after 11", False),
        ("plan of December 18 at 3", False),
    ],
)
def test_words_that_only_say_when_are_left_out(words: str, left_out: bool) -> None:
    facts = known("find it on December 18 after 11", dates=DATES)
    kept, _ = mended(tool(), {"title": words, "who": "dana"}, facts)
    assert ("title" not in kept) is left_out


def test_the_day_that_bounds_say_is_no_word_to_search_for() -> None:
    facts = known("find it on December 18", dates=DATES)
    search = tool(until={"type": "string"})
    bounds = {"since": "2023-12-18 00:00:00", "until": "2023-12-18 23:59:59"}
    for dated in (
        {"title": "2023-12-18", "since": "2023-12-18 09:00:00"},
        {"due_date": "2023-12-18", **bounds},
    ):
        assert kept(dated, facts) == dated
    assert kept({"title": "2023-12-18", **bounds}, facts) == bounds
    assert mended(search, {"title": "2023-12-18", **bounds}, facts)[1] == ["left out title='2023-12-18'"]
    for stays in ({"title": "2023-12-19", **bounds}, {"title": "report of 2023-12-18", **bounds}):
        assert kept(stays, facts) == stays
    assert kept({"title": "2023-12-18", "who": "dana"}, facts)["title"] == "2023-12-18"


@pytest.mark.parametrize(
    ("task", "value", "left"),
    [
        ("Rename the next Sync meeting to Tech Roundup", "tech roundup", {"who": "dana"}),
        ("Can you change the name of my last event to 'Tech Roundup'?", "Tech Roundup", {"who": "dana"}),
        ("Rename the next Sync meeting to Tech Roundup", "sync", None),
        ("Rename Sync to Tech Roundup and tell Ann", "tech roundup", None),
        ("Rename the old report and send it to Tech Roundup", "tech roundup", None),
        ("Forward the mail to Tech Roundup", "tech roundup", None),
        ("Change the name of the one sent to Tech to Roundup", "tech", None),
    ],
)
def test_what_a_thing_is_to_be_called_is_no_word_to_search_for(
    task: str, value: str, left: dict[str, Any] | None
) -> None:
    search = {"who": "dana", "title": value}
    assert kept(search, known(task)) == (search if left is None else left)


def test_words_that_fit_everything_are_left_out_and_values_of_a_list_stay() -> None:
    search = replace(tool(status={"enum": ["closed"]}), description="Search the closed archive of loans.")
    facts = known("find it")
    assert mended(search, {"who": "dana", "query": "loan"}, facts)[0] == {"who": "dana"}
    assert mended(search, {"who": "dana", "query": "arch"}, facts)[0] == {"who": "dana", "query": "arch"}
    assert mended(search, {"who": "dana", "status": "closed"}, facts)[0]["status"] == "closed"


def test_what_is_ahead_begins_today_and_only_where_the_tool_has_one_such_bound() -> None:
    facts = replace(known("show the next loan"), notes=NOTES)
    since = {"type": "object", "properties": {"who": {"type": "string"}, "since": {"type": "string"}}}
    search = replace(tool(), parameters=since)
    assert mended(search, {"who": "dana"}, facts) == (
        {"who": "dana", "since": "2023-12-18"},
        ["added since='2023-12-18'"],
    )
    assert mended(search, {"who": "dana", "since": "2024-01-01"}, facts)[0]["since"] == "2024-01-01"
    assert mended(search, {"who": "dana"}, replace(facts, task="show the talk"))[0] == {"who": "dana"}
    two = {"type": "object", "properties": {**since["properties"], "due_from": {"type": "string"}}}
    assert mended(replace(tool(), parameters=two), {"who": "dana"}, facts)[0] == {"who": "dana"}


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


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        ("annual summary meeting", "annual summary"),
        ("Annual Summary Meetings", "Annual Summary"),
        ("project e-mails", "project"),
        ("meeting", None),
        ("meeting room", None),
        ("summary", None),
        ("premeeting", None),
    ],
)
def test_a_word_for_the_kind_of_thing_is_given_up_where_nothing_is_called_so(
    query: str, shorter: str | None
) -> None:
    found = wider(step({"query": query, "limit": 3}, "[]"), known("cancel it"))
    assert found == (None if shorter is None else {"query": shorter, "limit": 3})


def test_a_bound_and_a_word_are_given_up_at_once() -> None:
    empty = step({"query": "summary meeting", "time_max": "2023-12-18"}, "[]")
    assert wider(empty, known("cancel the next summary meeting")) == {"query": "summary"}


@pytest.mark.parametrize(
    "when",
    [
        *("last Friday", "on the 18th", "on 18 Dec", "on Dec 18", "on 12/18", "at the weekend", "at noon"),
        *("at 10:30", "at 3 pm", "at Christmas", "in summer", "in Q3", "recently"),
    ],
)
def test_a_date_stays_however_the_task_says_when(when: str) -> None:
    search = {"who": "dana", "since": "2023-12-18"}
    assert kept(search, known(f"find what dana sent {when}", notes=NOTES)) == search


@pytest.mark.parametrize(
    ("task", "name", "bounded"),
    [
        ("Cancel my next meeting with dana", "search_events", True),
        ("Cancel the next Annual Report Kickoff meeting", "search_events", True),
        ("Delete all upcoming appointments", "list_events", True),
        ("Delete the next Health & Wellness Expo meeting", "search_events", True),
        ("Cancel the next (weekly) 1:1 meeting", "search_events", True),
        ("I will miss the sync up meetings. Can you cancel all future ones?", "search_events", True),
        ("Forward the email about next week's offsite to dana", "search_emails", False),
        ("Forward the email about the upcoming meeting to dana", "search_emails", False),
        ("Find the emails coming from dana", "search_emails", False),
        ("Find the emails coming from dana", "search_events", False),
    ],
)
def test_only_a_search_for_what_is_ahead_begins_today(task: str, name: str, bounded: bool) -> None:
    search = replace(tool(since={"type": "string"}), name=f"office.{name}")
    assert ("since" in mended(search, {"who": "dana"}, known(task, notes=NOTES))[0]) is bounded


def test_only_words_to_look_for_are_left_out_or_shortened() -> None:
    issues = replace(tool(), description="List the issues of a repository, open or closed.")
    search = {"state": "closed", "query": "issues"}
    assert mended(issues, search, known("How many closed issues has a/b?"))[0] == {"state": "closed"}
    code = {"sql_query": "SELECT * FROM task", "state": "done task"}
    assert wider(step(code, "[]"), known("count them")) is None


DAY = {"query": "Expo", "time_min": "2023-12-01 00:00:00", "time_max": "2023-12-02 00:00:00"}


@pytest.mark.parametrize(
    ("other", "contained"),
    [
        (DAY, True),
        ({"query": "Expo"}, True),
        ({"query": "Expo", "time_min": "2023-11-30 00:00:00"}, True),
        ({"query": "Expo", "time_min": "2023-12-01T00:00:00"}, True),
        ({"query": "Expo", "time_min": "2023-12-01 00:00:01"}, False),
        ({"query": "Expo", "time_max": "2023-12-01 23:59:59"}, False),
        ({"query": "Expo", "time_max": "2023-12-03"}, False),
        ({"query": "Expo", "time_min": "2023-11-30T00:00:00Z"}, False),
        ({"query": "Fair"}, False),
        ({"query": "Expo", "time_min": "2023-11-30 00:00:00", "shelf": "prose"}, False),
    ],
)
def test_a_search_with_bounds_in_time_no_wider_finds_no_more(other: dict[str, str], contained: bool) -> None:
    assert within(DAY, other) is contained


def test_a_search_without_a_bound_finds_more_than_one_with_it() -> None:
    assert not within({"query": "Expo"}, DAY)
    assert alike({"query": "Expo"}, DAY)
    assert not alike({"query": "Fair"}, DAY)


@pytest.mark.parametrize(
    "name", ["time_max", "maxDate", "end", "end_time", "timeEnd", "validUntil", "dueBefore", "to"]
)
def test_an_upper_bound_is_known_by_a_word_of_its_name(name: str) -> None:
    assert within({name: "2023-12-04"}, {name: "2023-12-05"})


@pytest.mark.parametrize("name", ["send_date", "weekend", "calendar_date", "pending_on", "to_day"])
def test_what_only_holds_the_letters_of_a_bound_is_none(name: str) -> None:
    assert not within({name: "2023-12-04"}, {name: "2023-12-05"})
