"""Values that are worked out of other words in the way they were worked out before."""

from collections.abc import Sequence

import pytest

from plait.experience.words.derive import KNOWN_WAY, DateOf, Way, is_sure, ways, worked
from plait.experience.words.goals import Span, masked
from plait.reflection.dates import named_dates

TODAY = "Today is Thursday 2023-11-30."


def on(notes: str = TODAY) -> DateOf:
    return lambda words: next(iter(named_dates(words, notes).values()), None)


def spans(goal: str) -> Sequence[Span]:
    return masked(goal).spans


def again(value: str, old: str, new: str, later: str = TODAY) -> str | None:
    """Return what a value learned from one goal is in another; None where the ways disagree."""
    told = spans(new)
    found = {
        worked(way, [told[place].text for place in way.spans], value, on(later))
        for way in ways(value, spans(old), on())
    }
    return found.pop() if len(found) == 1 else None


@pytest.mark.parametrize(
    ("value", "old", "new", "expected"),
    [
        ("sofia", "Cancel my next call with sofia", "Cancel my next call with kofi", "kofi"),
        ("sofia", "Cancel it with Sofia", "Cancel it with Kofi", "kofi"),
        ("Hi\n\nBye", "say 'Hi\\n\\nBye'", "say 'Dear\\nYours'", "Dear\nYours"),
        ("Hi\n\nBye", "say 'Hi\n\nBye'", "say 'Dear\\nYours'", "Dear\\nYours"),
        ("2023-12-13", "on December 13", "on December 20", "2023-12-20"),
        ("2023-12-13 00:00:00", "on December 13", "on Friday", "2023-12-01 00:00:00"),
        ("2023-12-13T23:59:59", "on December 13", "on December 20", "2023-12-20T23:59:59"),
        ("2023-12-06 11:00:00", "on Wednesday after 11", "on Friday after 9:30", "2023-12-01 09:30:00"),
        ("2023-12-08 15:30:00", "on December 8 at 3:30", "on December 19 at 11", "2023-12-19 11:00:00"),
        ("2023-12-08 15:30:00", "on December 8 at 3:30", "on December 19 at 2", "2023-12-19 14:00:00"),
        ("2023-12-08 15:30:00", "on December 8 at 3:30 pm", "on December 19 at 9 am", "2023-12-19 09:00:00"),
        ("2023-11-27", "from the last 3 days", "from the last 5 days", "2023-11-25"),
        ("2023-11-16", "from the last 2 weeks", "from the last 3 weeks", "2023-11-09"),
        ("90", "a 1.5 hour event", "a 2 hour event", "120"),
        ("30", "half an hour", "two hours", "120"),
        ("30", "a 30 minute call", "a 45 minute call", "45"),
        ("14:00", "at 2pm", "at 10am", "10:00"),
    ],
)
def test_a_value_is_worked_out_in_the_way_it_was_before(
    value: str, old: str, new: str, expected: str | None
) -> None:
    assert again(value, old, new) == expected


def test_where_two_ways_fit_and_disagree_nothing_is_said() -> None:
    # 3:30 in the afternoon: so is 5, but is 8?
    goal = "on December 8 at 3:30"
    assert again("2023-12-08 15:30:00", goal, "on December 19 at 5") == "2023-12-19 17:00:00"
    assert again("2023-12-08 15:30:00", goal, "on December 19 at 8") is None


def test_two_dates_that_are_one_day_are_not_taken_for_one_another() -> None:
    old, new = "from Friday to December 1", "from Monday to December 8"
    assert again("2023-12-01", old, new) is None


def test_a_day_that_the_goal_does_not_say_is_told_from_today() -> None:
    assert ways("2023-11-30 00:00:00", spans("my next meeting"), on()) == (Way(how="today+0"),)
    next_year = "Today is Wednesday 2024-05-01."
    assert again("2023-11-30 00:00:00", "my next call", "my next call", next_year) == "2024-05-01 00:00:00"


def test_a_day_that_the_goal_says_is_not_told_from_today() -> None:
    assert {way.how for way in ways("2023-12-01", spans("what is on tomorrow"), on())} == {"day"}
    next_year = "Today is Wednesday 2024-05-01."
    assert again("2023-12-01", "what is on tomorrow", "what is on tomorrow", next_year) == "2024-05-02"


@pytest.mark.parametrize("value", ["2024-03-05 00:00:00", "2023-13-45", "blue", "", "17"])
def test_what_follows_from_nothing_has_no_way(value: str) -> None:
    assert ways(value, spans("delete the mail of December 13"), on()) == ()


def test_without_a_clock_nothing_is_told_from_today() -> None:
    assert ways("2023-11-30", spans("my next meeting"), on("")) == ()


@pytest.mark.parametrize(
    ("how", "example", "sure"),
    [
        ("day", "2023-12-13", True),
        ("day", "2023-12-13 00:00:00", True),
        ("day", "2023-12-13 23:59:59", True),
        ("day", "2023-12-13 18:00:00", False),  # Where did six o'clock come from?
        ("day at<8", "2023-12-13 18:00:00", True),
        ("today+0", "2023-11-30 00:00:00", True),
        ("today-7", "2023-11-23", False),
        ("number*60", "90", True),
    ],
)
def test_what_an_agent_chose_itself_is_not_sure(how: str, example: str, sure: bool) -> None:
    assert is_sure(Way(how=how), example) is sure


@pytest.mark.parametrize("words", ["25:00", "later", "3:75", ""])
def test_words_that_say_no_time_give_none(words: str) -> None:
    assert worked(Way(how="time<0", spans=(0,)), [words], "14:00", on()) is None


@pytest.mark.parametrize(
    ("minutes", "hours"),
    [("15000", "250"), ("90", "1.5"), ("999960", "16666"), ("60000000", "1000000"), ("50", "0.833333")],
)
def test_a_number_is_divided_exactly(minutes: str, hours: str) -> None:
    assert again("0.5", "Delay it by 30 minutes", f"Delay it by {minutes} minutes") == hours


def test_a_way_divides_by_no_zero() -> None:
    assert KNOWN_WAY.fullmatch("number*1/60")
    assert not KNOWN_WAY.fullmatch("number*1/0")
    assert not KNOWN_WAY.fullmatch("number*0.0166666667")
