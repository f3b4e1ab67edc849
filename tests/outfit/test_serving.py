"""How what was recalled served: every pipeline by its own part of the plan, and none twice."""

from dataclasses import replace
from typing import Any

from tests.experience.recorded import on_record

from plait.events import (
    Event,
    LessonRecalled,
    PipelineEnded,
    Record,
    RoundStarted,
    RunStarted,
    StepRecorded,
    SubtaskFinished,
    SubtaskStarted,
    WorkflowRecalled,
)
from plait.experience.words.goals import key_of
from plait.outfit.serving import counts_of, uses_of

GOALS = {"1": "Delete my first meeting on December 13", "2": "Mail Ann"}


def part(id: str, status: Any = "succeeded", *, walked: str = "", left: str = "") -> list[tuple[str, Event]]:
    place = f"run/round-1/subtask-{id}"
    looked = StepRecorded(step="value", args={}, args_hash="", result=None, seconds=0.0)
    walk = [(f"{place}!1", PipelineEnded(experience=walked, calls=1, left=left))] if walked else []
    return [
        (f"{place}!0", SubtaskStarted(id=id, goal=GOALS[id])),
        (f"{place}/recall", looked),
        *walk,
        (f"{place}!2", SubtaskFinished(id=id, status=status, result="")),
    ]


def counts(records: list[Record], *, succeeded: bool = True) -> dict[str, bool]:
    return dict(counts_of(uses_of(records, succeeded=succeeded)))


def test_a_walk_is_judged_by_its_own_subtask_and_not_by_another() -> None:
    records = on_record(*part("1", walked="aa"), *part("2", "failed"))
    assert counts(records, succeeded=False) == {"aa": True}
    assert [use.goal for use in uses_of(records, succeeded=False)] == [key_of(GOALS["1"])]
    assert counts(on_record(*part("1", "failed", walked="aa"), *part("2"))) == {"aa": False}
    assert counts(on_record(*part("1", walked="aa", left="two rows"), *part("2"))) == {"aa": False}


def test_a_walk_that_was_all_of_a_round_is_judged_by_the_answer_too() -> None:
    records = on_record(*part("1", walked="aa"))
    assert counts(records) == {"aa": True}
    assert counts(records, succeeded=False) == {"aa": False}
    again = on_record(*part("1", walked="aa"), ("run/round-2!0", RoundStarted(round=2)))
    assert counts(again) == {"aa": False}


def test_walks_that_together_were_all_of_a_round_are_judged_by_the_answer_too() -> None:
    both = [*part("1", walked="aa"), *part("2", walked="bb")]
    assert counts(on_record(*both)) == {"aa": True, "bb": True}
    assert counts(on_record(*both), succeeded=False) == {"aa": False, "bb": False}
    again = on_record(*both, ("run/round-2!0", RoundStarted(round=2)))
    assert counts(again) == {"aa": False, "bb": False}
    left = on_record(*part("1", walked="aa"), *part("2", walked="bb", left="two rows"))
    assert counts(left, succeeded=False) == {"aa": True, "bb": False}


def test_a_pipeline_that_failed_once_in_a_run_did_not_serve_it() -> None:
    records = on_record(*part("1", walked="aa", left="two rows"), *part("2", walked="aa"))
    assert counts(records) == {"aa": False}


def test_what_was_only_shown_is_judged_by_the_run() -> None:
    shown = [
        ("run/round-1/plan/advice!0", WorkflowRecalled(experience="bb", goal="g", alike=1.0)),
        ("run/round-1/plan/advice!1", LessonRecalled(experience="cc", text="t")),
    ]
    records = on_record(*shown, *part("1"))
    assert counts(records) == {"bb": True, "cc": True}
    assert counts(records, succeeded=False) == {"bb": False, "cc": False}


def test_a_fork_counts_all_but_what_its_parent_did() -> None:
    first, *records = on_record(*part("1", walked="aa"), *part("2", walked="bb"))
    assert isinstance(first.event, RunStarted)
    fork = replace(first, at=100.0, event=replace(first.event, forked_from="r"))
    own = [replace(each, at=each.at + (200.0 if "subtask-2" in each.path else 0.0)) for each in records]
    assert counts([fork, *own]) == {"bb": True}
    walked = {use.goal for use in uses_of([fork, *own], succeeded=True)}
    assert walked == {key_of(goal) for goal in GOALS.values()}
