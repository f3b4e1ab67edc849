"""What becomes of a record is decided by its counts, its status and its time alone."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from tests.runtime.records import pipeline

from plait.experience.record import Experience
from plait.experience.situation import AS_IT_WAS
from plait.runtime.experience_rules import (
    SPAN_SECONDS,
    WEEK_SECONDS,
    counted,
    learned_again,
    merged,
    with_status,
    worth,
)

NOW = 1.8e9
OLD, NEW = NOW - 100 * WEEK_SECONDS, NOW


def workflow(id: str, steps: int, **fields: object) -> Experience:
    content = {"goal": "g", "steps": [{"goal": "s"}] * steps}
    return pipeline(id, "", **{"kind": "workflow", "content": content, **fields})


# Which goes first


def test_what_goes_first_when_a_memory_is_full() -> None:
    first_to_go = [
        pipeline("a", status="suspended", successes=9, created=OLD),
        pipeline("b", status="quarantined", created=OLD + 1),
        pipeline("c", status="suspended", created=OLD + 2),
        # Whatever the time, what failed goes before what never served, and that before what did.
        pipeline("d", uses=1, failures=1, created=NEW),
        pipeline("e", created=OLD),
        pipeline("f", status="provisional", created=OLD + 1),
        pipeline("g", created=OLD, last_used=OLD + 2, uses=2, failures=1, successes=1, approved=False),
        pipeline("h", created=OLD + 3, approved=True),
        pipeline("i", created=OLD, uses=1, successes=1),
        pipeline("j", created=OLD, last_used=NEW, uses=1, successes=1),
    ]
    worths = [worth(record) for record in first_to_go]
    assert worths[0] > worths[1]  # Nine successes are nine weeks of youth, among what is not in use.
    assert all(one < other for one, other in pairwise(sorted(worths[:3]) + worths[3:]))


def test_what_holds_for_one_day_goes_before_all_else_unless_it_was_approved() -> None:
    served = pipeline("a", content={AS_IT_WAS: "today"}, created=NEW, uses=9, successes=9)
    assert worth(served) < worth(pipeline("b", status="quarantined", created=0.0))
    assert worth(served) > worth(replace(served, id="c", created=OLD))
    assert worth(replace(served, approved=True)) > worth(pipeline("d", created=NEW))


def test_another_day_takes_the_place_even_of_what_served() -> None:
    old = pipeline("a", "k", tools=("x", "y"), content={AS_IT_WAS: "then"}, uses=3, successes=3)
    new = pipeline("b", "k", tools=("y", "x"), content={AS_IT_WAS: "now"})
    assert learned_again(old, new).content == new.content
    assert learned_again(old, replace(new, content=old.content)) is old
    assert learned_again(old, replace(new, status="provisional")) is old


def test_a_week_for_each_success_and_failure() -> None:
    served = pipeline("a", created=OLD, uses=3, successes=3)
    assert worth(pipeline("b", created=OLD + 2 * WEEK_SECONDS, uses=1, successes=1)) == worth(served)
    assert worth(pipeline("c", created=OLD, uses=4, successes=3, failures=1)) == worth(served) - WEEK_SECONDS


def test_approval_lifts_by_one() -> None:
    failed = pipeline("a", created=NEW, uses=1, failures=1)
    assert worth(with_status(failed, "active")) == worth(pipeline("b", created=NEW - WEEK_SECONDS))
    assert worth(with_status(pipeline("a", status="quarantined"), "active")) == 3 * SPAN_SECONDS + 100.0


@pytest.mark.parametrize("made_up", [1e300, float("inf"), -1e300, float("nan"), SPAN_SECONDS])
def test_no_time_lifts_a_record_above_what_is_worth_more(made_up: float) -> None:
    planted = worth(pipeline("a", created=made_up))
    assert 2 * SPAN_SECONDS <= planted < 3 * SPAN_SECONDS
    assert planted < worth(pipeline("b", created=0.0, uses=1, successes=1))


# What is learned again


def test_a_pipeline_in_the_same_order_is_renewed() -> None:
    old = pipeline("a", uses=5, successes=5)
    kept = learned_again(old, pipeline("b"))
    assert (kept.id, kept.content, kept.successes) == ("a", {"made": "b"}, 5)


@pytest.mark.parametrize(
    ("successes", "failures", "stays"), [(1, 0, True), (2, 1, True), (1, 1, False), (0, 0, False)]
)
def test_another_order_takes_the_place_of_what_did_not_serve(
    successes: int, failures: int, stays: bool
) -> None:
    old = pipeline("a", tools=("x", "y"), uses=successes + failures, successes=successes, failures=failures)
    kept = learned_again(old, pipeline("b", tools=("y", "x")))
    assert kept.id == "a"
    assert (kept.content == old.content) is stays
    assert (kept.uses, kept.successes, kept.failures) == (old.uses, successes, failures)


def test_what_is_suspended_is_relearned_from_the_next_success_in_whatever_order() -> None:
    old = pipeline(
        "a", tools=("x", "y"), status="suspended", uses=9, successes=7, failures=2, failures_in_a_row=2
    )
    for tools in (("x", "y"), ("y", "x")):
        kept = learned_again(old, pipeline("b", tools=tools))
        assert (kept.status, kept.failures_in_a_row, kept.tools, kept.successes) == ("active", 0, tools, 7)


@pytest.mark.parametrize(
    ("old", "new", "counts", "stays"),
    [
        (2, 3, {}, True),
        (3, 3, {}, False),
        (3, 2, {}, False),
        (3, 2, {"successes": 2, "failures": 1}, True),
        (2, 3, {"successes": 1, "failures": 2}, False),
        (2, 3, {"successes": 1, "failures": 1}, True),
    ],
)
def test_of_two_workflows_what_serves_stays_else_the_shorter(
    old: int, new: int, counts: dict[str, int], stays: bool
) -> None:
    kept = learned_again(workflow("a", old, **counts), workflow("b", new))
    assert kept.content == workflow("", old if stays else new).content


def test_a_workflow_that_cannot_be_read_makes_way() -> None:
    kept = learned_again(pipeline("a", kind="workflow", content={"steps": 7}), workflow("b", 60))
    assert kept.content == workflow("b", 60).content


# Merging


def test_the_one_that_served_more_stays_and_counts_add_up() -> None:
    one = pipeline("a", tools=("x", "y"), uses=4, successes=3, failures=1, last_used=5.0)
    other = pipeline("b", tools=("y", "x"), uses=2, successes=2, created=900.0, last_used=9.0, approved=True)
    both = merged(one, other)
    # Two more successes than failures each: the newer one.
    assert (both.id, both.tools) == ("b", ("y", "x"))
    assert (both.uses, both.successes, both.failures, both.last_used, both.approved) == (6, 5, 1, 9.0, True)
    assert merged(other, one) == both


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"status": "active"}, {"status": "suspended", "successes": 9}),
        ({"status": "provisional"}, {"status": "quarantined", "created": 900.0}),
        ({"successes": 1}, {"created": 900.0}),
        ({"created": 900.0}, {}),
    ],
)
def test_which_of_two_stays(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = pipeline("a", **one), pipeline("b", **other)
    assert merged(first, second).id == merged(second, first).id == "a"


# Counting


@pytest.mark.parametrize(("row", "status"), [(0, "active"), (1, "suspended"), (5, "suspended")])
def test_the_second_failure_in_a_row_suspends(row: int, status: str) -> None:
    record = counted(pipeline("a", failures_in_a_row=row), succeeded=False, now=NOW)
    assert (record.status, record.failures_in_a_row, record.last_used) == (status, row + 1, NOW)
    assert counted(record, succeeded=True, now=NOW).failures_in_a_row == 0
