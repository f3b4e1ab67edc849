"""Doubts: what an agent is told once, and may overrule."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from tests.reflection.moments import DATES, known, step, tool

from plait.reflection.checks import Known
from plait.reflection.doubts import (
    FOUND_NOTHING,
    REACHED,
    WITHIN_EMPTY,
    WITHIN_SHOWN,
    done_doubts,
    doubts,
    looped,
)
from plait.reflection.meant import MEANT, NOTHING_ABOUT, RIGHT
from plait.reflection.phrases import makes_one
from plait.reflection.trajectory import Effects
from plait.tools.tool import Tool


def doubt(arguments: dict[str, Any], known: Known, effect: Any = "reads", **properties: Any) -> str:
    return "; ".join(doubts(tool(effect, **properties), arguments, known))


def test_a_search_for_words_nobody_said_is_doubted() -> None:
    assert "Gatsby" in doubt({"title": "Gatsby"}, known("find Tides"))
    assert doubt({"title": "the tides"}, known("find the Tides")) == ""
    assert doubt({"zone": "Europe/Rome"}, known("what time is it in Rome")) == ""
    assert doubt({"shelf": "poetry"}, known("find it"), shelf={"enum": ["poetry", "prose"]}) == ""
    assert doubt({"text": "Dear reader"}, known("tell dana"), "changes") == ""


@pytest.mark.parametrize("ok", [True, False])
def test_a_call_of_this_subtask_is_not_made_again_at_once(ok: bool) -> None:
    before = step({"who": "dana"}, ok=ok)
    assert doubt({"who": "dana"}, known("dana", steps=[before])) != ""
    assert doubt({"who": "omar"}, known("dana omar", steps=[before])) == ""
    assert doubt({"who": "dana"}, known("dana", steps=[step({"who": "dana"}, "[]")])) == FOUND_NOTHING


def looking(arguments: dict[str, Any], *seen: tuple[dict[str, Any], str], name: str = "search_loans") -> str:
    steps = [replace(step(made, found), tool=name) for made, found in seen]
    return "; ".join(doubts(replace(tool(), name=name), arguments, known("find it, 2023", steps=steps)))


def test_a_search_within_one_that_found_nothing_is_doubted_until_something_changed() -> None:
    empty = ({"since": "2023-12-20"}, "[]")
    later, earlier = {"since": "2023-12-21"}, {"since": "2023-12-19"}
    assert looking(later, empty) == WITHIN_EMPTY
    assert looking(earlier, empty) == ""
    steps = [replace(step(*empty), tool="search_loans"), step({"amount": 5}, effect=True)]
    search = replace(tool(), name="search_loans")
    assert doubts(search, later, known("find it, 2023", steps=steps)) == []
    for name in ("find_free_rooms", "get_total", "search_available_slots", "\u68c0\u7d22", "_"):
        assert looking(later, empty, name=name) == ""
    assert looking({"send_date": "2023-12-04"}, ({"send_date": "2023-12-05"}, "[]")) == ""


@pytest.mark.parametrize(
    ("rows", "doubted"),
    [
        ("loan_id | of\n1 | dana\n2 | omar\n3 | mira", WITHIN_SHOWN),
        ("loan_id | of\n1 | dana\n2 | omar\n3 | mira\n4 | lena", ""),
        ('[{"loan_id": 1}, {"loan_id": 2}]', ""),
        ("day | total\n2023-12-20 | 7", ""),
    ],
)
def test_a_search_within_one_whose_few_results_are_above_is_doubted(rows: str, doubted: str) -> None:
    assert looking({"since": "2023-12-21"}, ({"since": "2023-12-20"}, rows)) == doubted


def test_looking_at_other_times_for_the_one_thing_that_is_done_seems_needless() -> None:
    found, returned = step({"who": "dana", "since": "2023-12-20"}), step({"loan_id": "1"}, effect=True)
    again = {"who": "dana", "since": "2023-12-21"}
    assert doubt(again, known("return the next loan of dana", steps=[found, returned])).startswith(REACHED)
    assert doubt({"who": "omar"}, known("return the next loan of omar", steps=[found, returned])) == ""
    assert not doubt(again, known("return all loans of dana", steps=[found, returned])).startswith(REACHED)
    # A search by time alone may be for anything.
    monday = step({"since": "2023-12-20"})
    other = known("return the next loan of dana", steps=[monday, returned])
    assert doubt({"since": "2023-12-21"}, other) == ""


def test_after_an_effect_a_search_may_be_made_again() -> None:
    balance, deposit = step({"who": "dana"}, "12"), step({"amount": 5}, effect=True)
    assert doubt({"who": "dana"}, known("dana", steps=[balance, deposit])) == ""
    assert doubt({"who": "dana"}, known("dana", steps=[deposit, balance])) != ""


def test_a_search_for_another_day_than_the_tasks_is_noticed() -> None:
    facts = known("find it on December 18 (December 18 is 2023-12-18)", dates=DATES)
    assert "2023-12-18" in doubt({"since": "2023-12-17 00:00"}, facts)
    assert doubt({"since": "2023-12-18 00:00"}, facts) == ""
    assert doubt({"since": "2023-12-17 00:00"}, facts, "changes") == ""


def test_a_search_in_a_period_may_use_other_dates_than_those_named() -> None:
    dates = {"tomorrow": date(2023, 12, 1)}
    assert doubt({"since": "2023-11-21 00:00"}, known("find it tomorrow", dates=dates)) != ""
    task = "if it was not lent in the last 9 days, lend it tomorrow"
    assert doubt({"since": "2023-11-21 00:00"}, known(task, dates=dates)) == ""


def test_one_empty_search_does_not_end_a_subtask_and_a_second_does() -> None:
    empty, other = step({"who": "dana"}, "[]"), step({"who": "dan"}, "[]")
    optional = {"loans": tool(who={"type": "string"})}
    assert done_doubts(known(steps=[empty]), optional) != []
    assert done_doubts(known(steps=[empty, other]), optional) == []
    assert done_doubts(known(steps=[step({"who": "dana"})]), optional) == []
    assert done_doubts(known(), optional) == []


def test_a_search_that_cannot_be_widened_may_end_a_subtask() -> None:
    required = replace(tool(), parameters={"type": "object", "properties": {}, "required": ["who"]})
    assert done_doubts(known(steps=[step({"who": "dana"}, "[]")]), {"loans": required}) == []
    assert done_doubts(known(steps=[step({}, "No errors found.")]), {"loans": tool()}) == []


def test_a_repeated_search_is_told_what_it_found_that_nothing_was_done_to() -> None:
    found = step({"who": "dana"}, "loan_id | title\n1 | Tides\n2 | Ash")
    first, second = (step({"loan_id": id}, "Returned.", effect=True) for id in ("1", "2"))
    several = known("return all loans of dana", steps=[found, first])
    assert doubt({"who": "dana"}, several).endswith("not acted on yet: 2")
    assert doubt({"who": "dana"}, replace(several, steps=[found, first, second])).endswith("is acted on")
    assert doubt({"who": "dana"}, replace(several, task="return the loan of dana")) == ""


SHELF = "loan_id | due\n00000417 | 2023-12-04 14:30:00\n00000398 | 2023-12-06 09:00:00"


def test_a_moment_is_not_moved_the_other_way() -> None:
    facts = known("Put the loan off by 2 hours", SHELF)
    wrong = {"loan_id": "00000417", "due": "2023-12-04 12:30:00"}
    assert "2023-12-04 16:30:00" in doubt(wrong, facts, "changes")
    assert "2023-12-04 16:30:00" in doubt({**wrong, "due": "2023-12-04 12:30:00 later"}, facts, "changes")
    assert doubt({**wrong, "due": "2023-12-04 16:30:00"}, facts, "changes") == ""
    # It may be the end of what begins at that moment.
    assert doubt({**wrong, "due": "2023-12-04 17:30:00"}, facts, "changes") == ""
    assert doubt({**wrong, "loan_id": "417"}, facts, "changes") == ""
    assert doubt({"since": "2023-12-04 12:30:00"}, facts) == ""


def test_what_is_no_moment_is_not_moved() -> None:
    facts = known("Put the loan off by 2 hours", "loan_id | due\n1 | 2024-01-05 24:00")
    assert doubt({"loan_id": "1", "due": "2024-01-06 02:00"}, facts, "changes") == ""


def named(name: str, effect: Any = "changes") -> Tool:
    return replace(tool(effect), name=name)


@pytest.mark.parametrize(
    ("going_on", "arguments", "task", "doubted"),
    [
        (named("loans"), {"loan_id": "1", "due": "Monday"}, "renew it", True),  # the same record once more
        (named("loans"), {"loan_id": "2"}, "return the next loan", True),  # the next record too
        (named("loans"), {"loan_id": "2"}, "return Bob, Ann", False),
        (named("loans"), {"text": "a second line"}, "fill the notebook", False),
        (named("letters.send"), {"to": "dana"}, "return it", True),  # what nobody asked for
        (named("renew"), {"loan_id": "1"}, "return it", False),  # a second part of the same work
        (named("loans"), {"loan_id": "1"}, "return all loans", False),
        (named("letters.send"), {"to": "dana"}, "return it and tell dana", False),
        (named("letters.find", "reads"), {"to": "dana"}, "return it to dana", False),
        (named("find", "reads"), {"who": "dana"}, "return the last loan of dana", True),  # once more
        (named("find", "reads"), {"who": "dana"}, "return the loan of dana", False),
        (named("find", "reads"), {"who": "omar"}, "return the last loan of dana", False),
    ],
)
def test_an_effect_after_the_one_that_was_asked_for_is_doubted(
    going_on: Tool, arguments: dict[str, Any], task: str, doubted: bool
) -> None:
    returned = step({"loan_id": "1"}, "Returned.", effect=True)
    sought = replace(step({"who": "dana"}), tool="find")
    found = doubts(going_on, arguments, known(task, steps=[sought, returned]))
    assert any("one thing" in text for text in found) is doubted
    assert not any("one thing" in text for text in doubts(going_on, arguments, known(task)))


def test_a_loop_is_the_same_call_with_the_same_result_and_no_effect_between() -> None:
    read, other, changed = step({"who": "dana"}), step({"who": "omar"}), step({"id": "1"}, effect=True)
    assert looped([read, other, read])
    assert not looped([read])
    assert not looped([read, step({"who": "dana"}, "something new")])
    assert not looped([read, changed, read])
    assert looped([changed, read, read])


@pytest.mark.parametrize(
    ("task", "meant"),
    [
        ("return my last loan", "00000398"),
        ("return the most recent loan", "00000398"),
        ("return my first loan", "00000417"),
        ("return the next loan", "00000417"),
        ("return the loan", None),
        ("return the first and the last loan", None),
        ("return a loan of last week", None),
    ],
)
def test_the_first_or_last_in_time_is_meant(task: str, meant: str | None) -> None:
    found = known(task, SHELF, steps=[step({"who": "dana"}, SHELF)])
    doubted = {id for id in ("00000417", "00000398") if doubt({"loan_id": id}, found, "changes")}
    assert doubted == ({"00000417", "00000398"} - {meant} if meant else set())


def test_of_rows_with_two_moments_none_is_first() -> None:
    rows = "1 | 2023-12-04 14:30 | 2023-12-09 10:00\n2 | 2023-12-03 14:30 | 2023-12-10 10:00"
    shelf = f"loan_id | from | to\n{rows}"
    found = known("return my last loan", steps=[step({"who": "dana"}, shelf)])
    assert doubt({"loan_id": "1"}, found, "changes") == ""


LETTERS = """letter_id | subject | sent
1 | News of Rome | 2023-12-04 14:30
2 | Rome | 2023-12-05 14:30
3 | News of Rome | 2023-12-01 14:30"""


def test_of_those_about_the_topic_the_last_is_meant() -> None:
    found = known(
        "answer the last letter about 'News of Rome'", LETTERS, steps=[step({"who": "dana"}, LETTERS)]
    )
    assert doubt({"letter_id": "1"}, found, "changes") == ""
    assert "right seems 1:" in doubt({"letter_id": "2"}, found, "changes")


def test_of_those_about_the_topic_the_one_with_the_tasks_words_is_meant() -> None:
    seen = "letter_id | from | subject\n1 | omar | News of Rome\n2 | dana | News of Rome\n3 | dana | Rome"
    sought = [
        step({"who": "dana"}, "letter_id | from | subject\n3 | dana | Rome"),
        step({"about": "Rome"}, seen),
    ]
    found = known("answer the letter of dana about 'News of Rome'", seen, steps=sought)
    assert doubt({"letter_id": "2"}, found, "changes") == ""
    for other in ("1", "3"):
        assert doubt({"letter_id": other}, found, "changes").startswith("right seems 2:")


def test_who_is_named_in_a_text_is_not_whom_the_task_names() -> None:
    body = "Dear Sam, the last of what you want to see about the news of mine is with raj, that much I said"
    rows = f"1 | raj.patel | 2023-11-06 13:10 | Hi\n2 | nia.j | 2023-11-13 11:06 | {body}"
    seen = f"letter_id | from | sent | text\n{rows}"
    found = known("answer raj's last letter", seen, steps=[step({"about": "news"}, seen)])
    assert doubt({"letter_id": "1"}, found, "changes") == ""
    assert doubt({"letter_id": "2"}, found, "changes").startswith("right seems 1:")


def test_a_change_that_nothing_found_is_about_is_made_once_the_words_were_looked_for() -> None:
    steps = [step({"who": "dana"}, LETTERS)]
    task = "answer the letter about 'News of Bern' with 'Thanks.'"
    assert doubt({"letter_id": "1"}, known(task, steps=steps), "changes").startswith(NOTHING_ABOUT)
    sought = [*steps, step({"about": "news of bern"}, "[]")]
    assert doubt({"letter_id": "1"}, known(task, steps=sought), "changes") == ""
    assert (
        doubt({"letter_id": "1"}, known(task.replace("News of Bern", "news of rome"), steps=steps), "changes")
        == ""
    )
    # Of a new thing nothing can be found yet.
    assert doubt({"text": "Thanks."}, known(task, steps=steps), "changes") == ""


def test_of_the_first_in_time_the_words_of_a_name_do_not_choose() -> None:
    seen = (
        "event_id | event_name | participant_email | event_start\n"
        "160 | Team Meeting | ann.lee@atlas.com | 2023-12-18 15:00\n"
        "47 | Sprint Planning | bo.ray@atlas.com | 2023-12-18 09:30"
    )
    found = known("Cancel my first meeting on the day", seen, steps=[step({}, seen)])
    assert doubt({"event_id": "47"}, found, "changes") == ""
    assert doubt({"event_id": "160"}, found, "changes").startswith("right seems 47:")
    # Nothing is said against one whose name the task says, and the other has not.
    both = known(
        "Cancel my first meeting, the sprint planning, or if ann asks the last", seen, steps=[step({}, seen)]
    )
    assert doubt({"event_id": "47"}, both, "changes") == ""
    alone = known("Cancel my first meeting with ann", seen, steps=[step({}, seen)])
    assert doubt({"event_id": "160"}, alone, "changes") == ""
    assert doubt({"event_id": "47"}, alone, "changes").startswith("right seems 160:")


def test_a_change_waits_for_something_about_the_topic() -> None:
    steps = [step({"who": "dana"}, LETTERS)]
    absent = known("answer the letter about 'News of Bern' with 'Thanks.'", steps=steps)
    assert "'News of Bern'" in doubt({"letter_id": "1"}, absent, "changes")
    assert doubt({"letter_id": "1"}, replace(absent, steps=[]), "changes") == ""
    present = replace(absent, task="answer the letter about 'News of Rome' with 'Thanks.'")
    assert doubt({"letter_id": "1"}, present, "changes") == ""


def test_the_verb_of_the_task_names_the_tool() -> None:
    tools = {name: named(name) for name in ("post.send_letter", "post.answer_letter", "news.answer_letter")}
    for name, doubted in (("post.send_letter", True), ("post.answer_letter", False)):
        found = doubts(tools[name], {}, known("Answer the letter of dana"), tools)
        assert bool(found) is doubted
    assert doubts(tools["post.send_letter"], {}, known("Send a letter in answer to dana"), tools) == []
    assert doubts(tools["post.send_letter"], {}, known("Write 'answer' to dana"), tools) == []


@pytest.mark.parametrize(
    ("task", "name", "doubted"),
    [
        ("Can you cancel the next Update Briefing meeting", "delete_event", ""),
        ("Can you cancel the next Update Briefing meeting", "create_event", f"{RIGHT} calendar.delete_event"),
        ("Remove Ann from my next meeting", "update_event", ""),
        ("Rename the next Delete Day meeting", "update_event", ""),
        ("Update the next Create Day meeting", "create_event", ""),
        ("Cancel the next meeting, then create one with Ann", "create_event", ""),
        ("Cancel the next meeting\nCreate one with Ann", "create_event", ""),
        ("Cancel the next meeting: it is off (book one with Ann)", "create_event", ""),
        ("Cancel my next meeting to book a longer one", "create_event", ""),
        ("If Ann is away, schedule a meeting with Bo", "delete_event", f"{RIGHT} calendar.create_event"),
        ("Forward Ann's last email to Bo", "post.send_email", f"{MEANT} post.forward_email"),
        ("Send Bo the last email of Ann", "post.forward_email", ""),
        ("Reply to Ann's last email", "post.forward_email", f"{MEANT} post.reply_email"),
        ("Reply to Ann's last email. Forward it to Bo", "post.forward_email", ""),
        ("Send Bo an email. Reply to Ann's last one", "post.send_email", ""),
        ("Email Bo: reply to the client today", "post.send_email", ""),
        ("Write to Bo (answer by Friday)", "post.send_email", ""),
        ("Cancel all my meetings", "create_event", ""),
    ],
)
def test_what_the_task_orders_names_the_tool_and_a_name_in_it_does_not(
    task: str, name: str, doubted: str
) -> None:
    names = [f"calendar.{verb}_event" for verb in ("create", "delete", "update")]
    names += [f"post.{verb}_email" for verb in ("send", "reply", "forward")]
    tools = {each: named(each) for each in names}
    found = doubts(tools.get(name) or tools[f"calendar.{name}"], {}, known(task), tools)
    assert [text.partition(":")[0] for text in found] == ([doubted] if doubted else [])


def test_after_something_was_done_the_order_of_the_task_names_no_tool() -> None:
    tools = {name: named(name) for name in ("delete_event", "create_event")}
    facts = known("Cancel the next meeting. Put one with Ann in its place")
    assert doubts(tools["create_event"], {}, facts, tools) != []
    done = replace(facts, effects=Effects(done=[step({"event_id": "1"}, effect=True)]))
    assert doubts(tools["create_event"], {}, done, tools) == []


@pytest.mark.parametrize(
    ("task", "name", "right"),
    [
        ("Rename the next Project Start meeting to Kick-off", "plans.search_tasks", "calendar.search_events"),
        ("Rename the next Project Start meeting to Kick-off", "calendar.search_events", ""),
        ("Delete all e-mails of Ann", "calendar.search_events", "post.search_emails"),
        ("Cancel the meeting that the task 'Sync' speaks of", "plans.search_tasks", ""),
        ("Delete the one called 'meeting'", "plans.search_tasks", ""),
        ("Delete what Ann sent", "plans.search_tasks", ""),
        ("Cancel my meeting with Ann", "plans.create_task", ""),  # No other tool creates.
        ("Cancel my meeting with Ann", "people.search_names", ""),
        ("Email Ann what is open", "plans.search_tasks", ""),
        ("Count what Bo has and e-mail it to Ann", "plans.search_tasks", ""),
    ],
)
def test_the_kind_of_thing_that_the_task_speaks_of_names_the_tool(task: str, name: str, right: str) -> None:
    names = ("plans.search_tasks", "calendar.search_events", "post.search_emails", "plans.create_task")
    tools = {each: named(each, "reads") for each in names}
    found = doubts(tools.get(name) or named(name, "reads"), {}, known(task), tools)
    assert [text.partition(":")[0] for text in found] == ([f"try first {right}"] if right else [])
    sought = [replace(step({}), tool=right)] if right else []
    assert doubts(tools.get(name) or named(name, "reads"), {}, known(task, steps=sought), tools) == []


@pytest.mark.parametrize(
    ("task", "makes"),
    [
        (
            "Send an email to lena saying 'I've done 'X'. All is well and good.' and title it 'Task Update'",
            True,
        ),
        (
            "I need to add a new task called Sync and assign it to carlos. It's due on Friday. Can you?",
            True,
        ),
        ("I haven't met with yuki in a while. Can you schedule a 30 minute event on Friday?", True),
        ("Send an email to Ann and Bob", False),
        ("Send an email to all my friends", False),
        ("Create an event and delete the old one", False),
        ("Send the last email of Ann to Bob, then delete it", False),
        ("Delete the email that says 'Send an email'", False),
        ("Add tasks for Ann", False),
        ("", False),
    ],
)
def test_after_the_one_new_thing_that_was_wanted_nothing_is_looked_up(task: str, makes: bool) -> None:
    assert makes_one(task) is makes
    sent = step({"to": "lena"}, "Sent.", effect=True)
    look = named("people.find", "reads")
    found = doubts(look, {"name": "sam"}, known(task, "sam", steps=[sent]))
    assert any(text.startswith("the task speaks of one thing") for text in found) is makes
    assert doubts(look, {"name": "sam"}, known(task, "sam")) == []


SENT = """email_id | inbox/outbox | sender/recipient | subject | sent
1 | outbox | ann.lee@atlas.com | Lunch | 2023-12-04 09:00
2 | outbox | bo.ray@atlas.com | Lunch | 2023-12-05 09:00
3 | inbox | ann.ray@atlas.com | Status | 2023-12-06 09:00"""


@pytest.mark.parametrize(
    ("task", "id"),
    [
        ("Delete the last email to Ann Lee", "1"),
        ("Delete the last email from Ann Lee", "1"),
        ("Forward the last email to Bo", "3"),
        ("I need to delete the last email from Bo", "2"),
        ("Forward Ann Lee's last email to Bo Ray", "1"),
    ],
)
def test_nothing_seems_right_that_the_task_tells_less_of_than_of_what_was_chosen(task: str, id: str) -> None:
    found = known(task, SENT, steps=[step({"query": "x"}, SENT)])
    assert doubt({"email_id": id}, found, "changes") == ""


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("brainstorming on December 18 at 12", "brainstorming"),
        ("brainstorming on December 18", "brainstorming"),
        ("brainstorming", ""),
        ("brainstorming on December 18 and the day after", ""),
        ("on December 18", ""),
    ],
)
def test_a_new_name_does_not_end_in_the_day_it_is_on(name: str, right: str) -> None:
    task = "Create an event called brainstorming on December 18 at 12 with dana"
    when = {"event_start": "2023-12-18 12:00:00"}
    found = doubt({"event_name": name, **when}, known(task, dates=DATES), "changes")
    assert found == (f"right seems event_name={right!r}: the rest says when it is" if right else "")
    quoted = known(f"Create an event called '{name}' with dana", dates=DATES)
    assert doubt({"event_name": name, **when}, quoted, "changes") == ""
    curly = known(f"Create an event called \u201c{name}\u201d with dana", dates=DATES)
    assert doubt({"event_name": name, **when}, curly, "changes") == ""
    assert doubt({"body": name, **when}, known(task, dates=DATES), "changes") == ""
    # A letter has no other place for the day that it is about.
    assert doubt({"subject": name}, known(task, dates=DATES), "changes") == ""
