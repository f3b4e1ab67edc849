"""What one success leaves open, two that agree settle; where they do not, nothing runs by itself."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.experience.office_steps import DAY, SCHEMAS, delete, search, step

from plait.experience.consolidation.compile import Compiled, Success
from plait.experience.consolidation.evidence import agreed, doubt_left
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import FromResult, Pipeline
from plait.reflection.dates import dates_by

NOTES = "Today is Thursday 2023-11-30."
LIMITS: Mapping[str, int] = {"calendar.search_events": 5, "email.search_emails": 5}
NOW: Mapping[str, Any] = {"time_min": "2023-11-30 00:00:00"}
HEAD = "event_id | event_name | event_start"


def table(*ids: int, down: bool = False) -> str:
    rows = [f"{id:08} | sync | 2023-12-{id:02} 09:00:00" for id in sorted(ids, reverse=down)]
    return "\n".join([HEAD, *rows])


def success(goal: str, *steps: Step) -> Success:
    return Success(goal=goal, steps=steps, named=dates_by(NOTES))


def agree(new: Success, old: Success, limits: Mapping[str, int] = LIMITS) -> Compiled | None:
    return agreed(new, old, tools=SCHEMAS, limits=limits)


def next_with(name: str, found: str, deleted: int, **bounds: Any) -> Success:
    goal = f"Cancel my next meeting with {name}"
    return success(goal, search(found, query=name, **(bounds or NOW)), delete(f"{deleted:08}"))


def row_of(found: Compiled | None) -> str:
    assert found is not None
    binding = found.pipeline.node("delete_event").arguments["event_id"]
    assert isinstance(binding, FromResult)
    return binding.row


def pipeline_of(found: Compiled | None) -> Pipeline:
    assert found is not None
    return found.pipeline


SOFIA = next_with("sofia", table(3, 7, 9), 3)
RAJ = next_with("raj", table(4), 4)


@pytest.mark.parametrize(("new", "old"), [(SOFIA, RAJ), (RAJ, SOFIA)])
def test_a_choice_among_rows_is_settled_by_the_success_that_had_more(new: Success, old: Success) -> None:
    found = agree(new, old)
    assert row_of(found) == "first"
    assert doubt_left(pipeline_of(found)) == ""
    assert pipeline_of(found).purpose == new.goal


def test_where_there_was_one_row_both_times_a_pipeline_takes_only_one() -> None:
    assert row_of(agree(RAJ, next_with("yuki", table(8), 8))) == "only"


@pytest.mark.parametrize(
    "old",
    [
        next_with("raj", table(4, 8), 8),  # The last, where it had been the first.
        next_with("raj", table(3, 4, 8), 4),  # One in the middle: for a reason that no call shows.
        next_with("raj", table(4, 8), 4, time_min="2023-12-01 00:00:00"),  # From tomorrow on.
        next_with("raj", table(4), 4, **DAY),  # Other arguments.
        success("Cancel my next meeting with raj", delete("00000004")),
        success("Cancel my last meeting with raj", *next_with("raj", table(4), 4).steps),
        success("Cancel my next meeting on December 4", *next_with("raj", table(4), 4).steps),
        success("Cancel all meetings with raj", *next_with("raj", table(4), 4).steps),
    ],
)
def test_successes_that_differ_in_more_than_their_values_settle_nothing(old: Success) -> None:
    assert agree(SOFIA, old) is None


def test_another_word_for_what_the_same_tools_do_is_no_difference() -> None:
    old = success("Please delete my next meeting with raj", *next_with("raj", table(4), 4).steps)
    assert row_of(agree(SOFIA, old)) == "first"


def test_a_time_in_the_goal_must_have_left_its_mark() -> None:
    def without_bound(name: str, id: int) -> Success:
        return success(
            f"Cancel my next meeting with {name}",
            search(table(id, 20), query=name),
            delete(f"{id:08}"),
        )

    found = agree(without_bound("sofia", 3), without_bound("raj", 4))
    assert row_of(found) == "first"
    assert doubt_left(pipeline_of(found)) == "its goal asks for a time that no call is bound to"


def every(name: str, *ids: int) -> Success:
    goal = f"Cancel all future meetings with {name}"
    return success(goal, search(table(*ids), query=name, **NOW), *(delete(f"{id:08}") for id in ids))


def test_all_of_them_is_learned_where_the_tool_says_that_it_returned_all() -> None:
    found = agree(every("sofia", 3, 7, 9), every("raj", 4))
    assert row_of(found) == "each"
    assert doubt_left(pipeline_of(found)) == ""
    assert agree(every("sofia", 3, 7, 9), every("raj", 4), {}) is None
    assert agree(every("sofia", 3, 5, 7, 8, 9), every("raj", 4)) is None  # As many as the tool returns.
    assert row_of(agree(every("sofia", 3, 5, 7, 8, 9), every("raj", 4), {"calendar.search_events": 0})) == (
        "each"
    )


def test_the_last_is_what_is_newest_wherever_it_stands() -> None:
    def last(name: str, *ids: int) -> Success:
        goal = f"Cancel my latest meeting with {name}"
        return success(goal, search(table(*ids, down=True), query=name), delete(f"{max(ids):08}"))

    found = agree(last("sofia", 3, 7, 9), last("raj", 4, 5))
    assert row_of(found) == "last"
    assert doubt_left(pipeline_of(found)) == ""


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ("Cancel my meeting with {} that is longer than the others", "nothing shows what 'others"),
        ("Cancel my meeting with {} and the one with Mia", "'Mia' goes into no call"),
        ("Cancel my meetings of last week with {}", "its goal asks for a time"),
        ("Cancel my other meeting with {}", "'other' in its goal asks for a choice that no call shows"),
        ("Cancel both meetings with {}", "'both' in its goal asks for a choice that no call shows"),
        ("Cancel my meeting with {}", ""),
    ],
)
def test_words_that_chose_something_and_stand_in_no_call_are_doubts(goal: str, why: str) -> None:
    one, other = (
        success(goal.format(name), search(table(id), query=name), delete(f"{id:08}"))
        for name, id in (("sofia", 3), ("raj", 4))
    )
    reason = doubt_left(pipeline_of(agree(one, other)))
    assert why in reason if why else reason == ""


def test_what_is_only_read_is_no_choice_that_does_harm() -> None:
    one, other = (
        success(f"Which is my longest meeting with {name}", search(table(id, 9), query=name))
        for name, id in (("sofia", 3), ("raj", 4))
    )
    assert doubt_left(pipeline_of(agree(one, other))) == ""


def created(goal: str, start: str, duration: str) -> Success:
    made = step(
        "calendar.create_event",
        "00000300",
        event_name="Sync",
        participant_email="raj.patel@atlas.com",
        event_start=start,
        duration=duration,
    )
    return success(goal, made)


def test_of_the_ways_in_which_a_value_came_about_those_stay_that_both_show() -> None:
    goal = "Create a {} hour event called Sync on {} at {} with raj.patel@atlas.com"
    one = created(goal.format("1.5", "December 8", "3:30"), "2023-12-08 15:30:00", "90")
    other = created(goal.format("2", "December 11", "8"), "2023-12-11 08:00:00", "120")
    slots = {slot.name: slot for slot in pipeline_of(agree(one, other)).slots}
    assert {way.how for way in slots["event_start"].ways} == {"day at<6", "day at<7", "day at<8"}
    assert {way.how for way in slots["duration"].ways} == {"number*60"}
    wrong = created(goal.format("2", "December 11", "8"), "2023-12-12 08:00:00", "120")
    assert agree(one, wrong) is None


def test_a_constant_that_is_another_the_next_time_is_none() -> None:
    def renamed(name: str, new: str) -> Success:
        changed = step(
            "calendar.update_event",
            "Event updated successfully.",
            event_id="00000003",
            field="event_name",
            new_value=new,
        )
        return success(f"Give my meeting with {name} a better title", search(table(3), query=name), changed)

    assert agree(renamed("sofia", "Sync"), renamed("raj", "Chat")) is None


@pytest.mark.parametrize("name", ["sofia", "Sofia"])
def test_the_same_values_again_agree_on_nothing(name: str) -> None:
    assert agree(SOFIA, next_with(name, table(4), 4)) is None


def put_off(name: str, day: int, **chosen: Any) -> Success:
    goal = f"Postpone my meeting with {name} to December {day}"
    time = f"2023-12-{day:02} 00:00:00"
    moved = step("calendar.update_event", event_id="00000003", field="event_start", new_value=time, **chosen)
    return success(goal, search(table(3), query=name), moved)


def test_where_an_agent_chose_a_constant_every_value_must_be_another() -> None:
    assert agree(put_off("raj", 8), put_off("sofia", 9)) is not None
    assert agree(put_off("raj", 8), put_off("sofia", 8)) is None
    assert agree(put_off("raj", 8), put_off("raj", 9)) is None


def test_goals_without_values_may_agree() -> None:
    goal = "Cancel my next meeting"
    one, other = (success(goal, search(table(day), **NOW), delete(f"{day:08}")) for day in (3, 4))
    assert row_of(agree(one, other)) == "only"
