"""What experience did in a run, as it is told in every view."""

import pytest

from plait.cli.experience_words import ExperienceEvent, experience_line
from plait.cli.plain import lines_of
from plait.cli.story import Place
from plait.cli.tree import happening_line
from plait.events import (
    DecisionMade,
    ExperienceStored,
    LessonRecalled,
    PipelineEnded,
    PipelineRecalled,
    Record,
    WorkflowRecalled,
)

RECALLED = PipelineRecalled(experience="aa11", goal="Delete it", slots={})


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (RECALLED, "recalled pipeline aa11 of 'Delete it'"),
        (
            PipelineEnded(experience="aa11", calls=1, left="find found nothing"),
            "pipeline aa11 led no further after 1 tool call: find found nothing",
        ),
        (
            PipelineEnded(experience="aa11", calls=2, left=""),
            "pipeline aa11 did it in 2 tool calls, without a model",
        ),
        (
            ExperienceStored(experience="aa11", of="pipeline", goal="Delete it", again=False),
            "learned: pipeline aa11",
        ),
        (
            ExperienceStored(experience="aa11", of="workflow", goal="Delete it", again=True),
            "learned again: workflow aa11",
        ),
        (
            ExperienceStored(
                experience="aa11", of="pipeline", goal="Delete it", again=False, status="provisional"
            ),
            "learned: pipeline aa11, not used before a run succeeds with it",
        ),
        (
            ExperienceStored(
                experience="aa11", of="workflow", goal="Delete it", again=False, status="quarantined"
            ),
            "learned: workflow aa11, not used before you approve it",
        ),
        (
            WorkflowRecalled(experience="aa11", goal="Delete it", alike=0.9),
            "recalled workflow aa11 of 'Delete it' as a reference",
        ),
        (LessonRecalled(experience="aa11", text="find failed."), "recalled lesson aa11: find failed."),
    ],
)
def test_every_event_says_what_it_means_to_a_reader(event: ExperienceEvent, said: str) -> None:
    assert experience_line(event) == said
    record = Record(run_id="r", sequence=1, path="run!0", revision=0, epoch=1, at=0.0, event=event)
    assert list(lines_of(record)) == [said]
    assert said in happening_line(Place(), event).plain


def test_it_is_told_where_it_happened() -> None:
    path = "run/round-1/subtask-2!0"
    record = Record(run_id="r", sequence=1, path=path, revision=0, epoch=1, at=0.0, event=RECALLED)
    assert list(lines_of(record)) == [f"subtask 2: {experience_line(RECALLED)}"]


def test_a_decision_of_the_user_is_told_as_one_in_every_view() -> None:
    event = DecisionMade(at="run/round-1/subtask-1/step-2", decision="assume-done")
    record = Record(run_id="r", sequence=1, path="run!1", revision=0, epoch=1, at=0.0, event=event)
    said = "decided: assume-done for run/round-1/subtask-1/step-2"
    assert list(lines_of(record)) == [said]
    assert happening_line(Place(), event).plain == said
