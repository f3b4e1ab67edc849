"""Dates of a task, worked out from what today is."""

from datetime import date

import pytest

from plait.reflection.dates import dates_text, named_dates, named_shift

NOTES = "Today is Thursday, 2023-11-30."


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("March 5, 2022", date(2022, 3, 5)),
        ("June 1st 2023", date(2023, 6, 1)),
        ("December 18", date(2023, 12, 18)),
        ("december 18th", date(2023, 12, 18)),
        ("January 2", date(2024, 1, 2)),
        ("November 29", date(2023, 11, 29)),
        ("February 29", date(2024, 2, 29)),
        ("today", date(2023, 11, 30)),
        ("Tomorrow", date(2023, 12, 1)),
        ("yesterday", date(2023, 11, 29)),
        ("Friday", date(2023, 12, 1)),
        ("thursday", date(2023, 12, 7)),
        ("wednesday", date(2023, 12, 6)),
    ],
)
def test_a_date_is_worked_out(words: str, day: date) -> None:
    assert named_dates(f"Return it on {words}.", NOTES) == {words: day}


@pytest.mark.parametrize(
    "text",
    ["Return it.", "on February 31", "on February 29, 2023", "on the 18th", "marching on", "since Friday"],
)
def test_what_names_no_day_gives_none(text: str) -> None:
    assert named_dates(text, NOTES) == {}


def test_without_today_nothing_is_worked_out() -> None:
    assert named_dates("Return it on December 18", "Times are local.") == {}


def test_dates_are_told_with_their_weekday() -> None:
    text = dates_text(named_dates("from December 18 to tomorrow", NOTES))
    assert "December 18 is 2023-12-18, a Monday" in text
    assert "tomorrow is 2023-12-01, a Friday" in text
    assert dates_text({}) == ""


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("Push back my meeting by 2 hours", "2023-12-04 16:30:00"),
        ("push my 1:1 with dana back by 30 minutes", "2023-12-04 15:00:00"),
        ("Postpone it by half an hour", "2023-12-04 15:00:00"),
        ("make it 30 minutes earlier", "2023-12-04 14:00:00"),
        ("bring my 1:1 forward by a day", "2023-12-03 14:30:00"),
        ("put it off by 1.5 hours", "2023-12-04 16:00:00"),
        ("delay it by two weeks", "2023-12-18 14:30:00"),
        ("Push my meeting with Ann and Bo back by 2 hours", "2023-12-04 16:30:00"),
        ("Push my 10 a.m. sync, the one with Ann, back by 2 hours", "2023-12-04 16:30:00"),
        ("Pull the one with ann, bo and cy forward by 2 hours", "2023-12-04 12:30:00"),
        ("Please postpone it by 2 hours", "2023-12-04 16:30:00"),
    ],
)
def test_what_is_moved_in_time_is_worked_out(text: str, moved: str) -> None:
    shift = named_shift(text)
    assert shift is not None
    assert shift.moved("2023-12-04 14:30:00") == moved


@pytest.mark.parametrize(
    "text",
    [
        "Make it a 30 minute call",  # a length, not a move
        "Delay it by an hour, and the other by 2 hours",
        "Delay it by an hour, or make it earlier",
        "Move it by an hour",  # nobody knows which way
        "Send 'postpone it by 2 hours' to dana",
        "Move it by an hour. I look forward to it.",
        "Move it by an hour and forward what bo wrote",
        "Earlier today ann asked to move it by an hour",
        "As I said earlier, delay it by an hour",
        "Because of the train delay, move it up by an hour",
        "Somebody delayed it by an hour. Undo that",
        "Bring me the report. Move it forward by an hour",
        "Pull the numbers and then move it forward by an hour",
        "Push the notes to ann, and move the call I put back by an hour",
        "Move it forward by an hour",  # to some that is later, to others earlier
        "Delay it by 99999999999 days",
    ],
)
def test_what_is_not_clearly_moved_is_not_worked_out(text: str) -> None:
    assert named_shift(text) is None


def test_a_moment_keeps_its_form() -> None:
    shift = named_shift("1 hour later")
    assert shift is not None
    assert shift.moved("2023-12-04T23:30") == "2023-12-05T00:30"
    assert shift.words == "1 hour later"


def test_a_number_of_last_days_has_a_first() -> None:
    assert named_dates("unread in the last 9 days", NOTES) == {
        "the first of the last 9 days": date(2023, 11, 21)
    }


@pytest.mark.parametrize("text", ["all since last Monday", "every Friday", "since Friday"])
def test_a_weekday_that_is_not_the_next_is_not_worked_out(text: str) -> None:
    assert named_dates(text, NOTES) == {}


def test_a_date_in_an_input_file_is_not_the_tasks() -> None:
    assert named_dates('Read it.\n\n<file name="a.txt">\nMarch 5\n</file>', NOTES) == {}


@pytest.mark.parametrize("task", ["Delete the email that Ann sent me on Monday", "What did I do on Friday?"])
def test_a_weekday_of_what_is_over_is_not_worked_out(task: str) -> None:
    assert named_dates(task, "Today is Thursday 2023-11-30.") == {}


@pytest.mark.parametrize(
    "task",
    [
        "something came up. Can you cancel my meetings on Tuesday before 9?",
        "Ann was ill, so book a room for Tuesday",
        "Move the meeting I had planned to Tuesday",
    ],
)
def test_a_weekday_after_what_is_over_is_worked_out(task: str) -> None:
    assert named_dates(task, "Today is Thursday 2023-11-30.") == {"Tuesday": date(2023, 12, 5)}
