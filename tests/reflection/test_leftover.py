"""Whether anything found is left within the hours of a task; nothing is said where that is not sure."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from tests.reflection.moments import known, step

from plait.reflection.checks import Known
from plait.reflection.leftover import none_left
from plait.reflection.trajectory import Step

TASK = "Cancel my meetings on Friday before 10:30"
FRIDAY = {"Friday": date(2023, 12, 8)}
DAY = {"time_min": "2023-12-08 00:00:00", "time_max": "2023-12-08 23:59:59"}
HEAD = "event_id | event_start"
LATE = f"{HEAD}\n17 | 2023-12-08 11:00:00\n18 | 2023-12-08 15:00:00"
EARLY = f"{HEAD}\n16 | 2023-12-08 09:00:00"
GONE = step({"event_id": "16"}, "Deleted.", effect=True)


def facts(*steps: Step, task: str = TASK, **fields: Any) -> Known:
    seen = [each.observation for each in steps]
    return replace(known(task, *seen, dates=FRIDAY, steps=list(steps)), **fields)


def test_what_is_outside_or_acted_on_is_not_left() -> None:
    assert none_left(facts(step(DAY, LATE)), {})
    assert not none_left(facts(step(DAY, LATE), step({"query": "x"}, EARLY)), {})
    assert none_left(facts(step(DAY, LATE), step({"query": "x"}, EARLY), GONE), {})
    one = step({"event_id": "17"}, '{"event_start": "2023-12-08 11:00:00"}')
    assert none_left(facts(step(DAY, LATE), one), {})


@pytest.mark.parametrize(
    "look",
    [
        step(DAY, "[]"),
        step(DAY, "timed out", ok=False),
        step(DAY, '{"events": [{"event_id": "16", "start": "2023-12-08 09:00:00"}]}'),
        step(DAY, "The first one is at 9, Friday."),
        step(DAY, "start | title\n2023-12-08 11:00:00 | Sync"),
        step({"name": "ann"}, "ann.lee@atlas.com"),
        replace(step(DAY, LATE), whole=False),
        step({"time_min": "2023-12-07 00:00:00"}, LATE),
        step({"time_min": "2023-12-08 11:00:00", "time_max": "2023-12-08 23:59:59"}, LATE),
        step(DAY, HEAD + "".join(f"\n{n} | 2023-12-08 1{n}:00:00" for n in range(1, 6))),
    ],
)
def test_where_not_all_of_the_day_was_seen_something_may_be_left(look: Step) -> None:
    assert not none_left(facts(look), {})


@pytest.mark.parametrize(
    "task",
    [
        "Cancel my meetings on Friday",
        f"Send Ann the agenda. {TASK}",
        "Cancel all my meetings this week before 10:30",
        "Cancel my meetings on Friday before 10:30 and tell Ann",
    ],
)
def test_of_another_task_nothing_is_said(task: str) -> None:
    assert not none_left(facts(step(DAY, LATE), task=task), {})


def test_of_two_kinds_of_ids_that_which_was_acted_on_counts() -> None:
    rows = "calendar_id | event_id | start\nmine | 17 | 2023-12-08 09:00:00\nmine | 18 | 2023-12-08 09:30:00"
    gone = step({"calendar_id": "mine", "event_id": "17"}, "Deleted.", effect=True)
    assert not none_left(facts(step(DAY, rows), gone), {})
    assert not none_left(facts(step(DAY, rows)), {})
