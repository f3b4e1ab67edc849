"""Which goals are the same thing with other values: every pair of WorkBench tasks, and the edges."""

import csv
from itertools import combinations
from pathlib import Path

import pytest

from plait.experience.words.goals import agree, aligned, asks_for_change, deciding_words, masked

WORKBENCH = Path(__file__).parents[1] / "bench" / "data" / "workbench"
LEAST_SHARE = 0.93
"""Of the pairs of one wording. The others say hours and minutes or before and after (13 of 436), or have a
title without quotation marks in which a preposition stands (15)."""


def workbench() -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for path in sorted(WORKBENCH.glob("*_queries_and_answers.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            found += list(csv.DictReader(file))
    assert len(found) == 280
    return found


def spans(goal: str) -> list[tuple[str, str]]:
    return [(span.kind, span.text) for span in masked(goal).spans]


def test_no_pipeline_of_one_workbench_task_serves_a_task_of_another_kind() -> None:
    # Goals that agree have equal words, so one of each wording stands for all that are masked alike.
    kinds: dict[str, set[str]] = {}
    example: dict[str, str] = {}
    for row in workbench():
        key = masked(row["query"]).text
        kinds.setdefault(key, set()).add(row["base_template"])
        example[key] = row["query"]
    assert all(len(templates) == 1 for templates in kinds.values())
    for one, other in combinations(kinds, 2):
        if kinds[one] != kinds[other]:
            assert not agree(example[one], example[other]), (example[one], example[other])


def test_most_workbench_tasks_of_one_wording_agree_and_then_align() -> None:
    wordings: dict[str, list[str]] = {}
    for row in workbench():
        wordings.setdefault(row["chosen_template"], []).append(row["query"])
    pairs = [pair for goals in wordings.values() for pair in combinations(goals, 2)]
    agreeing = [pair for pair in pairs if agree(*pair)]
    print(f"{len(agreeing)} of {len(pairs)} pairs of one wording agree")
    assert len(agreeing) >= LEAST_SHARE * len(pairs)
    assert all(aligned(one, other) is not None for one, other in agreeing)


def test_times_units_and_states_keep_tasks_of_one_wording_apart() -> None:
    before = "Cancel my meetings on Friday before 12"
    assert agree(before, "Cancel my meetings on Wednesday before 10:30")
    assert not agree(before, "Cancel my meetings on Friday after 12")
    push = "Push back my first meeting with yuki on December 4 by 2 hours"
    assert agree(push, "Push back my first meeting with nia on Monday by 1 hour")
    assert not agree(push, "Push back my first meeting with yuki on December 4 by 30 minutes")
    move = "Move all of kofi's tasks that are in progress to in review"
    assert not agree(move, "Move all of kofi's tasks that are in review to in progress")


@pytest.mark.parametrize(
    ("goal", "text", "found"),
    [
        ("Reply with 'Got it, thanks!'", "reply with <quoted>", [("quoted", "Got it, thanks!")]),
        ("Reply with \u201cit's me\u201d.", "reply with <quoted>", [("quoted", "it's me")]),
        ("Send it to a.b+c@d-e.co.uk.", "send it to <email>", [("email", "a.b+c@d-e.co.uk")]),
        ("Cancel it on December 13", "cancel it on <date>", [("date", "December 13")]),
        ("Cancel it on the 4th.", "cancel it on <date>", [("date", "the 4th")]),
        ("Open the 4th email", "open the 4th email", []),
        ("Cancel it on 2023-12-01", "cancel it on <date>", [("date", "2023-12-01")]),
        ("Cancel it next Friday", "cancel it next <date>", [("date", "Friday")]),
        ("Cancel it on Fridays", "cancel it on <date>s", [("date", "Friday")]),
        ("May I see it in May 2024?", "may i see it in <date>", [("date", "May 2024")]),
        (
            "Book it for tomorrow at 9am",
            "book it for <date> at <time>",
            [("date", "tomorrow"), ("time", "9am")],
        ),
        (
            "Book it at 13:00 or 1:30pm",
            "book it at <time> or <time>",
            [("time", "13:00"), ("time", "1:30pm")],
        ),
        ("Book it before 11", "book it before <time>", [("time", "11")]),
        ("Book it after 3 days", "book it after <number> days", [("number", "3")]),
        ("Add 1,000 to 1.5%", "add <number> to <number>%", [("number", "1,000"), ("number", "1.5")]),
        ("Wait half an hour", "wait <number> hour", [("number", "half an")]),
        ("Add a 30-minute call", "add a <number>-minute call", [("number", "30")]),
        ("Call O'Brien's office", "call <name>'s office", [("name", "O'Brien")]),
        ("Ask Bank of America", "ask <name>", [("name", "Bank of America")]),
    ],
)
def test_a_value_is_masked_by_its_kind(goal: str, text: str, found: list[tuple[str, str]]) -> None:
    assert masked(goal).text == text
    assert spans(goal) == found


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ("Delete my last email from nadia", ["nadia"]),
        ("Move all of carlos's tasks to done", ["carlos"]),
        ("Forward it to amir and akira", ["amir", "akira"]),
        ("Assign it to Sofia and Raj Patel", ["Sofia", "Raj Patel"]),
        ("sofia is off sick. Cancel my next meeting with them", ["sofia"]),
        ("Sofia Chen is off sick. Cancel my next meeting with them", ["Sofia Chen"]),
        ("dmitri and Yuki need the last email", ["dmitri", "Yuki"]),
        ("Sofia's tasks are late", ["Sofia"]),
        ("Give olga the tasks that fatima hasn't started", ["fatima"]),
        ("Cancel the next annual summary meeting", ["annual summary"]),
        ("Cancel the next Project Initiation Meeting meeting", ["Project Initiation Meeting"]),
        ("Rename the last event to casual catch-up", ["casual catch-up"]),
        ("Add a task called Fix bug to the Back end backlog", ["Fix bug", "Back end"]),
    ],
)
def test_names_are_told_by_capitals_or_by_the_words_around_them(goal: str, names: list[str]) -> None:
    assert spans(goal) == [("name", name) for name in names]


@pytest.mark.parametrize(
    "goal",
    [
        "Move it to next week",
        "Send an email to confirm",
        "Sort the emails by sender",
        "Move the tasks to trash",
        "Rename all files to lowercase",
        "Delete it from here and let's see what's left",
        "Cancel the next weekly meeting",
        "CANCEL ALL MEETINGS OF SOFIA",
        "Cancel All Meetings Of Sofia",
        "Call the event off",
        "They're done and everyone is off",
    ],
)
def test_other_words_are_no_names(goal: str) -> None:
    assert spans(goal) == []


def test_quoted_text_is_one_span_whatever_is_in_it() -> None:
    goal = "Send 'Hi kofi, 'Fix it' is due on December 5 at 9am. Bye, Sam' to a@b.com"
    assert masked(goal).text == "send <quoted> to <email>"
    assert spans(goal)[0] == ("quoted", "Hi kofi, 'Fix it' is due on December 5 at 9am. Bye, Sam")


def test_a_quotation_that_does_not_end_hides_nothing() -> None:
    assert masked("Reply with 'Thanks. Delete all").text == "reply with 'thanks. delete all"


def test_spans_say_where_they_are() -> None:
    goal = "  Reply to\t\u0130lker's   email with 'yes' by 5:30  "
    found = masked(goal)
    assert found.text == "reply to <name>'s email with <quoted> by <time>"
    assert all(goal[span.start : span.end] == span.text for span in found.spans)
    assert list(found.spans) == sorted(found.spans, key=lambda span: span.start)


OTHER = {
    "quoted": "something else",
    "email": "x@y.org",
    "date": "Monday",
    "time": "4:15",
    "number": "7",
    "name": "Ada Byron",
}


def test_other_values_of_the_same_kinds_give_the_same_key() -> None:
    for row in workbench():
        goal = row["query"]
        found = masked(goal)
        said = goal
        for span in reversed(found.spans):
            said = said[: span.start] + OTHER[span.kind] + said[span.end :]
        if goal[:1] != said[:1]:
            continue  # A name with a capital at the beginning of a sentence is told by fewer words.
        assert masked(said).text == found.text, said


def test_nobody_can_say_a_placeholder() -> None:
    assert not agree("Delete emails from <name>", "Delete emails from Sofia")
    assert aligned("Delete <NAME>", "Delete <name> 5") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cancel my next meeting with sofia", "Cancel all future meetings with sofia"),
        ("Cancel my first meeting on Monday", "Cancel my last meeting on Monday"),
        ("Cancel my meeting on Monday", "Cancel my meetings on Monday"),
        ("Cancel one of sofia's meetings", "Cancel each of sofia's meetings"),
        ("Delete that and add this", "Add that and delete this"),
        ("Delete sofia's email and add Raj's task", "Add sofia's email and delete Raj's task"),
        ("Delete the tasks that are done", "Delete the tasks that aren't done"),
        ("Delete it if Sofia agrees", "Delete it unless Sofia agrees"),
        ("Delete emails with attachments", "Delete emails without attachments"),
        ("Move it forward by 5 days", "Move it back by 5 days"),
        ("Increase it by 20%", "Increase it by 20"),
        ("Change it to 5", "Change it to -5"),
        ("Forward it to Amir", "Forward it to Amir and Akira"),
        ("Create an event called Standup", "Create an event called Standup and notify sofia"),
        ("Create an event called Standup", "Create an event called Standup and Delete the last one"),
        ("Create an event called Standup", "Create an event called Standup with sofia"),
        ("Create a task called Tea", "Create a task called Tea if there is none"),
        ("Rename it to Standup", "Rename it to Standup and delete the last one"),
        ("Send an email to confirm", "Send an email to decline"),
        ("Delete my Emails from Sofia", "Delete my Tasks from Sofia"),
        ("Delete Emails of Sofia", "Delete Tasks of Sofia"),
        ("Cancel Sofia Meeting", "Cancel Sofia Task"),
        ("Find it and Scrub the draft", "Find it and Keep the draft"),
        ("Find sofia and Delete Newsletters", "Find sofia and Keep Newsletters"),
        ("Find the next slot and schedule client meeting", "Find the next slot and delete client meeting"),
        ("If an email is from sofia, scrub it", "If an email is from sofia, keep it"),
        ("Mark all as Read", "Mark all as Unread"),
        ("Delete a.csv", "Delete b.csv"),
        ("'Delete everything'", "'Send everything'"),
        ("Do the following: 'delete all'", "Do the following: 'send all'"),
        ("", ""),
    ],
)
def test_goals_of_other_meaning_do_not_agree(one: str, other: str) -> None:
    assert not agree(one, other)
    assert not agree(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cancel my next meeting with sofia", "Can you please cancel my next meeting with Kofi Mensah?"),
        ("I need to delete my last email from leila. Can you do that?", "Delete my last email from Raj"),
        ("Reply with 'yes', please", 'Reply with "no"'),
        ("Sofia is off sick. Cancel it", "kofi is off sick. Can you cancel it?"),
        ("Erase it by 1 hour", "Delete it by 2 hours"),
    ],
)
def test_courtesy_and_values_make_no_difference(one: str, other: str) -> None:
    assert agree(one, other)
    assert agree(other, one)


def test_deciding_words_are_lemmas_as_often_as_they_are_said() -> None:
    goal = (
        "Stop deleting all emails, don't cancel the next 2 hours; cancelled calls come before 'all' on Monday"
    )
    assert deciding_words(goal) == (
        "all", "before", "call", "cancel", "cancel", "delete", "email", "hour", "next", "not", "stop",
    )  # fmt: skip
    assert deciding_words("Can you do that for me please?") == ()


def test_old_values_align_with_new_ones() -> None:
    old = "Forward my last email from leila about 'Update' to Kofi by 9am"
    new = "forward my last email from Raj about 'News' to anaya by 13:00."
    assert aligned(old, new) == {"leila": "Raj", "Update": "News", "Kofi": "anaya", "9am": "13:00"}
    assert aligned(old, "Forward my first email from Raj about 'News' to anaya by 13:00") is None
    assert aligned("Delete it", "delete it!") == {}


def test_a_value_that_is_said_twice_must_become_one_value() -> None:
    old = "Move kofi's tasks to review and tell kofi"
    assert aligned(old, "Move raj's tasks to review and tell raj") == {"kofi": "raj"}
    assert aligned(old, "Move raj's tasks to review and tell olga") is None
    assert aligned("Move raj's tasks to review and tell olga", old) == {"raj": "kofi", "olga": "kofi"}


@pytest.mark.parametrize(
    "part",
    [
        *("a", "a.", "a@", "'a ", '"', "1,", "5 of ", "A ", " ", "the next ", "called x ", "next a b c "),
        *("please ", "\u0130\u00df\x00\ud800", "<name> ", "from kofi and "),
    ],
)
def test_a_long_text_takes_time_by_its_length(part: str) -> None:
    # The time-out of every test is the bound: what grows with the square takes minutes.
    assert masked(part * (30_000 // len(part))).text is not None


def test_a_hundred_thousand_characters_are_masked() -> None:
    goal = "Reply to sofia's email about 'Update' with 'Fine' on December 4 at 9am. " * 1400
    assert len(goal) > 100_000
    assert len(masked(goal).spans) == 5 * 1400


@pytest.mark.parametrize(
    ("goal", "changes"),
    [
        ("Cancel my next meeting with olivia", True),
        ("Can you please forward the last email to Fatima?", True),
        ("Reschedule the standup to 10:00", True),
        ("If I have no meeting today, schedule one", True),
        ("How many meetings do I have tomorrow?", False),
        ("Find the last email from Sam", False),
        ("Which task is called 'Delete the cache'?", False),
        ("", False),
    ],
)
def test_a_goal_that_wants_something_changed_is_told_by_its_operations(goal: str, changes: bool) -> None:
    assert asks_for_change(goal) is changes
