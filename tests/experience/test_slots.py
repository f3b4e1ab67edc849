"""Slots of a pipeline, filled from a new goal by its words alone; what must be understood is not filled."""

from datetime import date

import pytest

from plait.experience.pipelines.pipeline import (
    END,
    START,
    Binding,
    Constant,
    Edge,
    FromGoal,
    Node,
    Pipeline,
    Slot,
)
from plait.experience.pipelines.slots import slot_values
from plait.experience.words.derive import Way

BEFORE = "Delete my first meeting with Olivia on December 13"
NAMED = (Way(how="lower", spans=(0,)),)
WHO = Slot(name="who", example="olivia", said="Olivia", ways=NAMED)
DAY = Slot(
    name="day",
    example="2023-12-13 00:00:00",
    said="December 13",
    ways=(Way(how="day", spans=(1,)),),
)
DAYS = {"december 13": date(2023, 12, 13), "december 20": date(2023, 12, 20)}


def pipeline(*slots: Slot, purpose: str = BEFORE) -> Pipeline:
    ends = [Node(name=START), Node(name=END)]
    edges = [Edge(from_node=START, to_node=END)]
    return Pipeline(name="p", purpose=purpose, nodes=ends, edges=edges, slots=slots)


def values(goal: str, *slots: Slot, purpose: str = BEFORE) -> dict[str, str] | None:
    return slot_values(pipeline(*slots, purpose=purpose), goal, lambda words: DAYS.get(words.lower()))


def test_the_same_goal_has_the_same_values() -> None:
    assert values(BEFORE, WHO, DAY) == {"who": "olivia", "day": "2023-12-13 00:00:00"}


@pytest.mark.parametrize("polite", ["", "Can you please "])
def test_other_names_and_dates_are_read_from_the_words(polite: str) -> None:
    goal = f"{polite}{'delete' if polite else 'Delete'} my first meeting with Fatima on December 20"
    assert values(goal, WHO, DAY) == {"who": "fatima", "day": "2023-12-20 00:00:00"}


def test_a_literal_value_keeps_the_case_that_the_call_had() -> None:
    who = Slot(name="who", example="Olivia", said="Olivia", ways=(Way(how="text", spans=(0,)),))
    goal = "Delete my first meeting with Fatima on December 13"
    assert values(goal, who, DAY) == {"who": "Fatima", "day": "2023-12-13 00:00:00"}


def noting(*, constant: bool, effect: bool = True) -> Pipeline:
    who = Slot(name="who", example="ann", said="Ann", ways=NAMED)
    away: dict[str, Binding] = {"away": Constant(value=True)} if constant else {}
    node = Node(name="note", tool="note", arguments={"who": FromGoal(slot="who"), **away}, effect=effect)
    ends = [Node(name=START), node, Node(name=END)]
    edges = [Edge(from_node=START, to_node="note"), Edge(from_node="note", to_node=END)]
    return Pipeline(
        name="p", purpose="Ann is sick. Change their status", nodes=ends, edges=edges, slots=[who]
    )


@pytest.mark.parametrize(
    ("goal", "made", "fits"),
    [
        ("Bo is sick. Change their status", noting(constant=True), True),
        ("Bo is on leave. Change their status", noting(constant=True), False),
        ("Change Bo's status", noting(constant=True), False),
        ("Change Bo's status", noting(constant=True, effect=False), True),
        ("Bo is on leave. Change their status", noting(constant=False), True),
    ],
)
def test_what_leads_up_to_a_goal_may_have_decided_what_is_done(goal: str, made: Pipeline, fits: bool) -> None:
    found = slot_values(made, goal, lambda _: None)
    assert found == ({"who": "bo"} if fits else None)


@pytest.mark.parametrize(
    "goal",
    [
        "Delete my first meeting with Fatima on December 21",
        "Delete my last meeting with Fatima on December 20",
        "Please remove the first meeting that I have with Fatima on December 20",
        "",
    ],
)
def test_what_words_do_not_say_is_not_filled(goal: str) -> None:
    assert values(goal, WHO, DAY) is None


@pytest.mark.parametrize(
    ("tomorrow", "filled"),
    [(date(2023, 12, 13), "2023-12-13 00:00:00"), (date(2024, 1, 2), "2024-01-02 00:00:00")],
)
def test_the_same_word_for_another_day_is_not_the_earlier_day(tomorrow: date, filled: str) -> None:
    goal = "Delete my first meeting tomorrow"
    told = (Way(how="day", spans=(0,)),)
    day = Slot(name="day", example="2023-12-13 00:00:00", said="tomorrow", ways=told)
    assert slot_values(pipeline(day, purpose=goal), goal, lambda _: tomorrow) == {"day": filled}


def test_a_day_that_no_way_leads_to_is_not_taken_for_another_time() -> None:
    goal = "Delete my first meeting tomorrow"
    day = Slot(name="day", example="2023-12-15 00:00:00", said="tomorrow")
    assert slot_values(pipeline(day, purpose=goal), goal, lambda _: date(2023, 12, 13)) is None


def test_where_ways_disagree_or_are_of_another_goal_nothing_is_filled() -> None:
    both = (Way(how="lower", spans=(0,)), Way(how="text", spans=(0,)))
    who = Slot(name="who", example="olivia", said="olivia", ways=both)
    goal = "Delete my first meeting with Fatima on December 20"
    assert values(goal, who) is None
    far = Slot(name="who", example="olivia", said="olivia", ways=(Way(how="lower", spans=(7,)),))
    assert values(goal, far) is None
    two = Slot(name="who", example="olivia", said="olivia", ways=(Way(how="lower", spans=(0, 1)),))
    assert values(goal, two) is None


def test_the_same_words_for_what_is_no_date_mean_the_same() -> None:
    goal = "Move my first meeting by 30 minutes"
    slot = Slot(name="minutes", example="00:30", said="30")
    assert values(goal, slot, purpose=goal) == {"minutes": "00:30"}
    assert values("Move my first meeting by 45 minutes", slot, purpose=goal) is None


def test_a_word_of_the_template_stays_as_it_is() -> None:
    state = Slot(name="state", example="completed", said="completed")
    before = "Move the completed tasks of Olivia"
    assert values("Move the completed tasks of Fatima", state, purpose=before) == {"state": "completed"}


@pytest.mark.parametrize(
    ("quoted", "fits"), [("Review", True), ("2023-12-21 09:00:00", False), ("9:30", False), ("12", False)]
)
def test_a_quoted_value_of_another_kind_may_need_another_call(quoted: str, fits: bool) -> None:
    before = "Change my first meeting to 'Standup'"
    slot = Slot(name="new", example="Standup", said="Standup", ways=(Way(how="text", spans=(0,)),))
    found = values(f"Change my first meeting to '{quoted}'", slot, purpose=before)
    assert found == ({"new": quoted} if fits else None)
