"""Thresholds that are percentiles of the scores on record."""

from typing import Any

import pytest

from plait.errors import UserError
from plait.events import Event, Gated, Record, RunResumed, RunStarted
from plait.runtime.options import Options
from plait.runtime.percentiles import percentile, read_threshold, resolved, scores


def gated(score: float | None, role: str = "planner") -> Gated:
    return Gated(
        role=role, attempt=1, score=score, threshold=9, critique="", problems=(), verdict="passed", output=""
    )


def run(*events: Event, model: str = "m", forked_from: str = "") -> list[Record]:
    started = RunStarted(task="t", options={"model": model}, version="1", forked_from=forked_from)
    return [
        Record(run_id="r", sequence=number, path=f"run!{number}", revision=0, epoch=1, at=0.0, event=event)
        for number, event in enumerate([started, *events])
    ]


def options(**thresholds: Any) -> dict[str, Any]:
    return Options(model="m", **thresholds).as_json()


@pytest.mark.parametrize(
    ("given", "percent", "score"),
    [
        (list(range(1, 101)), 85, 85),
        (list(range(1, 101)), 1, 1),
        (list(range(1, 101)), 99, 99),
        ([10, 1, 5], 1, 1),
        ([10, 1, 5], 33, 1),
        ([10, 1, 5], 34, 5),
        ([10, 1, 5], 67, 10),
        ([10, 1, 5], 99, 10),
        ([7.5], 50, 7.5),
    ],
)
def test_a_percentile_is_a_score_that_was_given(given: list[float], percent: int, score: float) -> None:
    assert percentile(given, percent) == score


def test_the_scores_of_a_role_with_the_same_model_count_and_no_others() -> None:
    records = [
        *run(gated(8), gated(None), gated(3, "tool")),
        *run(gated(1), model="other"),
        *run(gated(2), forked_from="r"),
        *run(
            gated(9),
            RunResumed(epoch=2, options={"model": "other"}),
            gated(4),
            RunResumed(epoch=3, options={"model": "m"}),
            RunResumed(epoch=4, options={"max_calls": 9}),
            gated(7),
        ),
    ]
    assert scores(records, "m") == {"planner": [8, 9, 7], "tool": [3]}
    assert scores(records, "other") == {"planner": [1, 4]}


def test_each_percentile_becomes_its_number_and_is_told() -> None:
    records = run(*[gated(n % 10) for n in range(132)], *[gated(9.5, "answer") for _ in range(20)])
    numbers, notes = resolved(options(planner_threshold="p85", answer_threshold="p1"), records)
    assert numbers == {"planner_threshold": 8, "answer_threshold": 9.5}
    assert notes == [
        "planner threshold 8 (85th percentile of 132 recorded scores)",
        "answer threshold 9.5 (1st percentile of 20 recorded scores)",
    ]


@pytest.mark.parametrize(("count", "enough"), [(19, False), (20, True)])
def test_of_fewer_than_twenty_scores_there_is_no_percentile(count: int, enough: bool) -> None:
    records = run(*[gated(8) for _ in range(count)], *[gated(8, "tool") for _ in range(99)])
    if enough:
        assert resolved(options(planner_threshold="p50"), records)[0] == {"planner_threshold": 8}
        return
    line = "--planner-threshold 'p50' needs at least 20 recorded scores of the planner with model 'm', and"
    with pytest.raises(UserError, match=f"{line} there are 19"):
        resolved(options(planner_threshold="p50"), records)


def test_numbers_need_no_scores() -> None:
    assert resolved(options(planner_threshold=3), []) == ({}, [])


@pytest.mark.parametrize("text", ["p0", "p100", "p", "85p", "p8.5", "p-1", "p05", "P85", "high", ""])
def test_what_is_neither_a_score_nor_a_percentile(text: str) -> None:
    for refused in (lambda: read_threshold("tool_threshold", text), lambda: Options(tool_threshold=text)):
        with pytest.raises(UserError, match=r"--tool-threshold must be a score .* from p1 to p99, not"):
            refused()


@pytest.mark.parametrize(("text", "threshold"), [("p1", "p1"), ("p99", "p99"), ("8.5", 8.5), ("0", 0.0)])
def test_a_threshold_as_it_is_typed(text: str, threshold: float | str) -> None:
    read = read_threshold("tool_threshold", text)
    assert read == threshold
    assert Options(tool_threshold=read).tool_threshold == threshold
