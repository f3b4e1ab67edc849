"""A story tells what the records of a run say, for whole runs and for any first part of one."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from plait.cli.awaiting import awaited
from plait.cli.story import Place
from plait.cli.telling import place_of, tell
from plait.events import Gated, ModelRetried, Record, RoundStarted, RunStarted

from .sample_run import (
    OPTIONS,
    RUN_ID,
    STARTED,
    TASK,
    Writer,
    finished,
    killed,
    planned,
    rectified,
    searched,
    two_rounds,
)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("run/round-1/plan/try-2", Place(round=1, part="plan", attempt=2)),
        ("run/round-2/subtask-10/step-3!0", Place(round=2, subtask="10", step=3)),
        ("run/round-1/subtask-a-b/step-3/act/call!intended", Place(round=1, subtask="a-b", step=3)),
        ("run/round-1/subtask-2-1/rectify!1", Place(round=1, subtask="2-1", part="rectify")),
        ("run/team-2/round-1/answer", Place(team=2, round=1, part="answer")),
        ("run/coding/round-x/step-", Place()),
        ("run!run_started!0", Place()),
    ],
)
def test_paths_are_read_leniently(path: str, place: Place) -> None:
    assert place_of(path) == place


def test_a_finished_run_is_told_whole() -> None:
    story = tell(finished())
    assert (story.run_id, story.task, story.status) == (RUN_ID, TASK, "succeeded")
    assert [(task.id, task.status) for task in story.plan] == [
        ("1", "succeeded"),
        ("2", "succeeded"),
        ("3", "succeeded"),
    ]
    assert [task.depends_on for task in story.plan] == [[], ["1"], ["1"]]
    assert story.answer == "The meeting Budget review was cancelled and Fatima was told."
    first_step, second_step, last_step = story.plan[0].steps
    assert first_step.use is not None
    assert not first_step.use.ok
    assert [attempt.gate.verdict for attempt in second_step.tries if attempt.gate] == ["revised", "passed"]
    assert last_step.use is None
    assert last_step.chosen.startswith("done(")
    assert [use.effect for use in story.uses] == [False, False, True, True]


def test_what_was_on_record_before_a_resume_counts_as_answered_from_the_log() -> None:
    story = tell(finished())
    assert story.resumes == 1
    assert (story.reused.model_calls, story.reused.tool_calls) == (6, 2)
    assert story.usage.seconds == pytest.approx(30.6)  # Not the hour between the processes.


def test_usage_is_told_by_role() -> None:
    story = tell(finished())
    assert {role: usage.model_calls for role, usage in story.usage_by_role.items()} == {
        "planner": 2,
        "tool": 8,
        "answer": 1,
    }
    assert story.usage.model_calls == 11
    assert story.usage.cached_input_tokens == 900 + 6 * 800 + 800 + 950 + 700


def test_a_killed_run_has_an_effect_in_doubt() -> None:
    story = tell(killed(), status="interrupted")
    assert story.status == "interrupted"
    assert [(use.tool, use.pending) for use in story.uses][-1] == ("calendar.delete_event", True)
    assert [task.status for task in story.plan] == ["succeeded", "doing", "doing"]


def test_rounds_memory_and_broken_loops_are_told() -> None:
    story = tell(two_rounds())
    first, second = story.rounds
    assert [task.status for task in first.subtasks] == ["succeeded", "failed", "skipped"]
    assert first.subtasks[1].loop is not None
    assert first.finished is not None
    assert not first.finished.passed
    assert [task.id for task in second.subtasks] == ["1"]
    assert [event.memory for event in story.memory] == ["long_term"]
    assert [event.kind for event in first.subtasks[0].memory] == ["memory_written", "memory_cleared"]
    assert story.status == "failed"


def test_the_order_of_records_does_not_matter() -> None:
    records = finished()
    assert tell(reversed(records)) == tell(records)


def test_a_record_that_comes_twice_counts_once() -> None:
    records = finished()
    assert tell([*records, *records]) == tell(records)


def test_a_step_done_anew_replaces_the_one_before_but_both_are_paid() -> None:
    writer = planned()
    before = tell(writer.records)
    writer.ask("run/round-1/plan/try-2", "planner", "another plan")
    story = tell(writer.records)
    model = story.rounds[0].planning[1].model
    assert model is not None
    assert model.text == "another plan"
    assert story.usage.model_calls == before.usage.model_calls + 1


def test_a_run_taken_up_again_is_running() -> None:
    writer = Writer()
    writer.records = finished()
    assert tell([*writer.records, _resumed(writer.records)]).status == "running"


def _resumed(records: list[Record]) -> Record:
    resumed = next(record for record in records if record.event.kind == "run_resumed")
    return replace(resumed, sequence=len(records) + 1, path="run!run_resumed!1", epoch=3)


def test_steps_outside_rounds_and_subtasks_are_told() -> None:
    writer = Writer()
    writer.record("run!run_started!0", RunStarted(task=TASK, options=OPTIONS, version="0.1.0"))
    writer.ask("run/step-1/try-1", "react", "x")
    writer.use("run/step-1", "clock.now", {}, "noon")
    (round,) = tell(writer.records).rounds
    (subtask,) = round.subtasks
    assert (round.number, subtask.id, subtask.status) == (0, "", "doing")
    assert subtask.steps[0].use is not None
    assert subtask.steps[0].use.text == "noon"


def test_a_fork_does_not_count_the_time_of_its_parent() -> None:
    parent = [record for record in searched().records if record.event.kind == "step_recorded"]
    started = RunStarted(task=TASK, options=OPTIONS, version="0.1.0", forked_from="abc")
    first = replace(parent[0], path="run!run_started!0", sequence=0, at=STARTED + 7_200, event=started)
    story = tell([first, *parent])
    assert story.usage.seconds == 0.0
    assert story.reused.model_calls == len(
        [r for r in parent if r.path.startswith("run/") and "try-" in r.path]
    )


def test_of_forced_tries_the_best_was_chosen() -> None:
    writer = planned()
    step = "run/round-1/subtask-1/step-1"
    for attempt, (call, score, verdict) in enumerate([("b()", 6, "revised"), ("c()", 3, "forced")], 1):
        writer.gate(step, "tool", call, score, verdict, attempt=attempt)
    assert tell(writer.records).plan[0].steps[0].chosen == "b()"


def test_no_records_make_an_empty_story() -> None:
    assert tell([]).status == "running"


def _waits(records: list[Record]) -> list[str]:
    return [what for what, _ in awaited(tell(records))]


def test_what_is_awaited_follows_from_what_is_done() -> None:
    writer = Writer()
    writer.record("run!run_started!0", RunStarted(task=TASK, options=OPTIONS, version="0.1.0"))
    assert _waits(writer.records) == ["getting ready"]
    writer.emit("run/round-1", RoundStarted(round=1))
    assert _waits(writer.records) == ["planner is planning"]
    writer.gate("run/round-1/plan", "planner", [], 5, "revised")
    assert _waits(writer.records) == ["planner is planning (try 2)"]
    assert _waits(planned().records) == ["starting the next subtask"]
    assert _waits(killed()) == ["calling calendar.delete_event for 2", "tool agent is choosing for 3"]
    assert _waits(finished()) == []
    revised, _, mended = [n for n, each in enumerate(rectified(), start=1) if "/rectify!" in each.path]
    assert _waits(rectified()[:revised]) == ["planner is mending the plan (try 2)"]
    assert _waits(rectified()[:mended]) == ["starting the next subtask"]
    assert _waits(rectified()) == ["tool agent is choosing"]


def test_a_model_call_to_be_repeated_is_awaited_until_something_follows() -> None:
    writer = planned()
    retried = ModelRetried(reason="429", attempt=1, delay_seconds=2.345678)
    writer.record("run/round-1/subtask-1/step-1!model_retried!0", retried)
    assert _waits(writer.records) == ["waiting 2.3 s to ask again: 429"]
    writer.gate("run/round-1/subtask-1/step-1", "tool", "b()", 9)
    assert _waits(writer.records) == ["calling b"]


@pytest.mark.parametrize("run", [finished, killed, rectified, two_rounds])
def test_every_first_part_of_a_run_can_be_told(run: Callable[[], list[Record]]) -> None:
    records = run()
    gates = 0
    for end in range(len(records) + 1):
        story = tell(records[:end])
        tries = [t for r in story.rounds for s in r.subtasks for step in s.steps for t in step.tries]
        tries += [t for r in story.rounds for t in (*r.planning, *r.answering)]
        tries += [t for r in story.rounds for s in r.subtasks for t in s.rectifying]
        told = len([attempt for attempt in tries if attempt.gate])
        assert told == len([record for record in records[:end] if isinstance(record.event, Gated)])
        gates = told
    assert gates > 0
