"""A chain that ended well as a workflow, and what phases teach by their failures."""

from typing import Any

import pytest
from tests.experience.recorded import on_record

from plait.errors import UserError
from plait.events import Event, Gated, TeamDropped
from plait.experience.consolidation.making import (
    PhaseLesson,
    PhaseProduct,
    lessons_from_json,
    lessons_json,
    phase_lessons,
    workflow_of,
)
from plait.experience.consolidation.workflow import Workflow

TASK = "Write a game of chess"
MADE = [
    PhaseProduct(phase="demand", product="requirements", text="# Needs\n\n- It shows a board.\n- It moves."),
    PhaseProduct(phase="design", product="design", text="1. One module by Anna Smith"),
    PhaseProduct(phase="coding", product="code", files={"main.py": 40, "board.py": 12}, result=True),
    PhaseProduct(phase="review", product="code", files={"main.py": 40, "board.py": 12}, result=True),
    PhaseProduct(phase="manual", product="manual", text=""),
]


def lines(made: list[PhaseProduct]) -> list[str]:
    workflow = workflow_of(TASK, made)
    assert workflow is not None
    assert Workflow.from_json(workflow.as_json()) == workflow
    return [step.goal for step in workflow.steps]


def test_each_phase_says_in_a_line_what_was_decided():
    assert lines(MADE) == [
        "demand: Needs (and 2 more)",
        "design: One module by <name>",
        "coding: main.py (40 lines), board.py (12 lines)",
        "review: code again",
        "manual: manual",
    ]


def test_of_a_text_that_was_the_result_only_its_size_is_told():
    assert lines([PhaseProduct(phase="writing", product="story", text="Once upon a time.", result=True)]) == [
        "writing: 4 words"
    ]


def test_nothing_made_is_no_workflow():
    assert workflow_of(TASK, []) is None


def test_many_files_and_long_lines_are_bounded():
    many = PhaseProduct(phase="coding", product="code", files={f"part_{n}.py": n for n in range(30)})
    long = PhaseProduct(phase="design", product="design", text="word " * 500)
    [files, text] = lines([many, long])
    assert files.endswith("24 more")
    assert len(text) < 130


def gated(place: str, problem: str) -> tuple[str, Event]:
    event = Gated(
        role="writer",
        attempt=1,
        score=None,
        threshold=8,
        critique="",
        problems=[problem],
        verdict="revised",
        output=None,
    )
    return place, event


CUT = "the reply was cut at 900 tokens: be much shorter"


def test_replies_cut_often_and_teams_that_were_dropped_for_them_are_lessons():
    records = on_record(
        gated("run/team-1/manual/round-1/assistant!0", CUT),
        gated("run/team-1/manual/round-1/assistant!1", CUT),
        gated("run/team-2/manual/round-2/assistant!0", CUT),
        ("run/team-2!0", TeamDropped(team="team-2", phase="coding", reason="no usable reply of the coder")),
    )
    lessons = phase_lessons(records)
    assert [lesson.text for lesson in lessons] == [
        "manual: 3 replies were cut at their limit; write less.",
        "coding: a team gave no reply that could be used; keep to the form.",
    ]
    assert lessons_from_json(lessons_json(lessons)) == lessons


@pytest.mark.parametrize(
    "place",
    [
        gated("run/team-1/manual/round-1/assistant!0", CUT),
        gated("run/team-1/manual/round-1/instructor!0", CUT),
        gated("run/coding/level-1/group-1!0", CUT),
        gated("run/team-1/manual/round-1/assistant!0", "it is too long"),
        ("run/team-2!0", TeamDropped(team="team-2", phase="coding", reason="no step ended for 900 seconds")),
    ],
)
def test_what_says_nothing_of_how_a_phase_is_written_is_no_lesson(place: tuple[str, Event]):
    path, event = place
    twice = [place] if path.endswith("assistant!0") else [place, (f"{path}1", event)]
    assert phase_lessons(on_record(*twice)) == []


@pytest.mark.parametrize(
    "phases",
    [
        None,
        "cut",
        [{"phase": "a", "failure": "obey me", "times": 1}],
        [{"phase": "a", "failure": "cut", "times": 0}],
        [{"phase": "a", "failure": "cut", "times": "many"}],
        [{"failure": "cut", "times": 2}],
        [{"phase": "a", "failure": "cut", "times": 2, "text": "obey me"}],
    ],
)
def test_a_foreign_record_that_is_none_is_refused(phases: Any):
    with pytest.raises(UserError, match="no lesson can be read"):
        lessons_from_json({"phases": phases})


def test_several_teams_are_told_as_so_many():
    lesson = PhaseLesson(phase="coding", failure="dropped", times=3)
    assert lesson.text == "coding: 3 teams gave no reply that could be used; keep to the form."
