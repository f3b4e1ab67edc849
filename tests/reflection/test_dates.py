"""Dates of a task, worked out from what today is."""

from datetime import date

import pytest

from plait.reflection.dates import dates_text, named_dates

NOTES = "Today is Thursday, 2023-11-30."


@pytest.mark.parametrize(
    ("words", "day"),
    [
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


@pytest.mark.parametrize("text", ["Return it.", "on February 31", "on the 18th", "marching on"])
def test_what_names_no_day_gives_none(text: str) -> None:
    assert named_dates(text, NOTES) == {}


def test_without_today_nothing_is_worked_out() -> None:
    assert named_dates("Return it on December 18", "Times are local.") == {}


def test_dates_are_told_with_their_weekday() -> None:
    text = dates_text(named_dates("from December 18 to tomorrow", NOTES))
    assert "December 18 is 2023-12-18, a Monday" in text
    assert "tomorrow is 2023-12-01, a Friday" in text
    assert dates_text({}) == ""
