"""Hours that a task names as a limit for what is deleted, and what lies outside of them."""

from dataclasses import replace

import pytest
from tests.reflection.moments import known, step, tool

from plait.reflection.checks import call_problems
from plait.reflection.doubts import doubts
from plait.reflection.hours import hour_limit, only_ends, outside

ROWS = """event_id | name | start
00000165 | initiative | 2023-12-01 09:00:00
00000091 | assessment | 2023-12-01 10:00:00
00000252 | brainstorming | 2023-12-01 15:00:00"""
TASK = "Cancel my meetings on Friday before 10:30"


@pytest.mark.parametrize(
    ("task", "limit"),
    [
        (TASK, "before 10:30"),
        ("Delete what I have after 3 on Friday", "after 15:00"),
        ("Something came up. Can you cancel all calls after 8am?", "after 08:00"),
        ("Please remove everything before 12 am", "None"),
        ("Please remove everything after 12 am", "after 00:00"),
        ("cancel my session after 12 pm", "after 12:00"),
        ("cancel it after 12 pm", "None"),
        ("Cancel my meetings with clients before 10:30", "before 10:30"),
        ("Cancel my 1:1s before 10:30", "before 10:30"),
        ("Cancel my stand-ups before 10:30", "before 10:30"),
        ("Please cancel order 4711 before 5 pm today", "None"),
        ("Delete the email about the meeting after 3 pm", "None"),
        ("Delete the rows after 12", "None"),
        ("Cancel all calls after 07:30 tomorrow", "after 07:30"),
        ("Cancel all calls after 7:30 tomorrow", "None"),
        ("Cancel all calls after 6:30 tomorrow", "None"),
        ("Cancel all calls after 7 tomorrow", "after 19:00"),
        ("Delete my meetings on Wednesday after 1:30", "after 13:30"),
        ("Delete my meetings on Wednesday before 1:30 am", "before 01:30"),
        ("Move my meetings before 10:30 to Monday", "None"),
        ("Cancel my meetings before 3 and after 5", "None"),
        ("Cancel my meetings before 12 December", "None"),
        ("Cancel my meetings after 3 days", "None"),
        ("Cancel my meetings before 10.30", "None"),
        ("Cancel my meetings after 7 in the morning", "None"),
        ("Cancel all my meetings except those after 3", "None"),
        ("Don't cancel anything after 3", "None"),
        ("Cancel nothing after 3; cancel the rest", "None"),
        ("Cancel my 9:00 meeting and book a new one after 3", "None"),
        ("Cancel my meetings and reply to Ann before 3", "None"),
        ("Cancel the 14:00 call before 12 today", "None"),
        ("Cancel the one called 'before 10:30'", "None"),
        ("Cancel my meetings before 25:00", "None"),
        ("Cancel my meetings before 13 pm", "None"),
        ("Cancel my meetings on Friday", "None"),
    ],
)
def test_an_hour_is_a_limit_where_something_is_to_be_deleted(task: str, limit: str) -> None:
    assert str(hour_limit(task)) == limit


def test_a_record_with_one_moment_on_the_wrong_side_is_outside() -> None:
    before, after = hour_limit(TASK), hour_limit(TASK.replace("before", "after"))
    assert before is not None
    assert after is not None
    ids = ["00000165", "00000091", "00000252", "00000007"]
    assert outside(before, ids, [ROWS]) == {"00000252": "2023-12-01 15:00:00"}
    early = {"00000165": "2023-12-01 09:00:00", "00000091": "2023-12-01 10:00:00"}
    assert outside(after, ids, [ROWS]) == early
    on_the_hour = "event_id | name | start\n00000165 | initiative | 2023-12-01 10:30:00"
    assert [*outside(before, ["00000165"], [on_the_hour])] == ["00000165"]
    assert outside(after, ["00000165"], [on_the_hour]) == {}
    moved = "event_id | name | start\n00000252 | brainstorming | 2023-12-01 08:00:00"
    assert outside(before, ids, [ROWS, moved]) == {}  # Nobody knows which of the two counts.


def test_an_effect_outside_the_hours_is_never_let_through() -> None:
    facts, effect = known(TASK, ROWS), replace(tool("changes"), name="calendar.delete_event")
    assert call_problems(effect, {"event_id": "00000165"}, facts) == []
    [problem] = call_problems(effect, {"event_id": "00000252"}, facts)
    assert problem.startswith("00000252 is at 15:00, and the task says before 10:30")
    assert call_problems(replace(effect, effect="reads"), {"event_id": "00000252"}, facts) == []
    assert call_problems(replace(effect, name="mail.reply"), {"event_id": "00000252"}, facts) == []
    assert call_problems(effect, {"event_id": "00000252"}, known("Cancel my meetings on Friday", ROWS)) == []


def test_what_is_outside_the_hours_is_not_left_to_do() -> None:
    search, gone = (
        step({"day": "Friday"}, ROWS),
        replace(step({"event_id": "00000165"}, "Done.", effect=True)),
    )
    steps = [search, gone]
    [again] = doubts(tool(), {"day": "Friday"}, known(TASK, ROWS, steps=steps))
    assert again.endswith("not acted on yet: 00000091")


@pytest.mark.parametrize("odd", ["2023-12-01 03:00 PM", "2023-12-01 15:00 UTC", "2023-12-01 15:00:00 EST"])
def test_a_moment_of_another_clock_is_not_known_to_be_outside(odd: str) -> None:
    limit = hour_limit(TASK)
    assert limit is not None
    assert outside(limit, ["1"], [f"id | start | minutes\n1 | {odd} | 60"]) == {}


@pytest.mark.parametrize(
    ("task", "nothing_else"),
    [
        (TASK, True),
        (f"Something came up. Can you {TASK.lower()}?", True),
        (f"Hi, {TASK.lower()}", False),
        (f"Send Ann the agenda. {TASK}", False),
    ],
)
def test_a_task_may_want_more_than_an_end(task: str, nothing_else: bool) -> None:
    assert only_ends(task) is nothing_else


@pytest.mark.parametrize("odd", ["2023-12-01 24:00", "2023-12-01 99:99", "2023-12-01 \u0661\u0665:00"])
def test_what_is_no_time_is_not_known_to_be_outside(odd: str) -> None:
    limit = hour_limit(TASK)
    assert limit is not None
    assert outside(limit, ["1"], [f"id | name | start\n1 | x | {odd}"]) == {}
