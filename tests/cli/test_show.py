"""`plait show` tells a recorded run whole, as text or as one JSON object."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from plait.cli.app import run
from plait.cli.pages import Sheet, changes, write_story
from plait.cli.telling import tell
from plait.cli.words import usage_text
from plait.events import FeedbackGiven, PipelineEnded, StepRecorded
from plait.task import Usage

from .recorded import put_run
from .sample_run import PLAN, RUN_ID, TASK, finished, killed, rectified, two_rounds
from .snapshots import assert_snapshot


def test_a_run_in_two_processes_as_it_is_written() -> None:
    story = tell(finished())
    stream = io.StringIO()
    write_story(Sheet(Console(file=stream, width=80, _environ={})), story, story.usage.seconds)
    assert_snapshot("show_finished", stream.getvalue())


def test_a_run_of_two_rounds_as_it_is_written() -> None:
    story = tell(two_rounds())
    stream = io.StringIO()
    write_story(Sheet(Console(file=stream, width=80, _environ={})), story, story.usage.seconds)
    assert_snapshot("show_two_rounds", stream.getvalue())


def test_a_plan_that_was_rectified_as_it_is_written() -> None:
    story = tell(rectified())
    stream = io.StringIO()
    write_story(Sheet(Console(file=stream, width=80, _environ={})), story, story.usage.seconds)
    assert_snapshot("show_rectified", stream.getvalue())


def test_a_recorded_run_is_shown_by_the_beginning_of_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", finished())
    assert run(["show", "aaa"]) == 0
    shown = capsys.readouterr().out
    assert "run aaa111  succeeded" in shown
    assert f"task: {TASK}" in shown
    assert "\x1b" not in shown


def test_a_killed_run_is_interrupted_and_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", killed())
    assert run(["show", "aaa111"]) == 0
    shown = capsys.readouterr().out
    assert "run aaa111  interrupted" in shown
    assert 'in doubt: calendar.delete_event(event_id="00000013")' in shown
    assert "plait resume aaa111 --assume-done" in shown


def test_without_an_effect_in_doubt_a_killed_run_is_just_resumed(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", killed()[:-1])
    assert run(["show", "aaa111"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("go on with: plait resume aaa111")


def test_prompts_are_printed_whole_where_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", killed())
    assert run(["show", "aaa111"]) == 0
    assert "You are the planner agent." not in capsys.readouterr().out
    assert run(["show", "aaa111", "--prompts"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("You are the planner agent.") == 2
    assert "Now: run/round-1/subtask-1/step-2/try-2" in shown
    assert "--- reply of the tool (stop, " in shown


def test_one_json_object_with_all_events(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", finished())
    assert run(["show", "aaa111", "--json", "--prompts"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["run"]["run_id"] == "aaa111"
    assert shown["run"]["status"] == "succeeded"
    assert shown["result"]["score"] == 9.0
    assert [item["status"] for item in shown["plan"]] == ["succeeded"] * 3
    assert len(shown["events"]) == len(finished())
    assert shown["events"][0]["event"]["kind"] == "run_started"
    prompt = shown["prompts"]["run/round-1/plan/try-1"]
    assert [message["role"] for message in prompt] == ["system", "user"]


def test_the_plan_of_a_killed_run_is_in_its_json(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", killed())
    assert run(["show", "aaa111", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["result"] is None
    assert [(item["id"], item["status"]) for item in shown["plan"]] == [
        ("1", "succeeded"),
        ("2", "doing"),
        ("3", "doing"),
    ]
    assert "prompts" not in shown


def test_the_plan_of_a_killed_run_says_what_a_pipeline_did(capsys: pytest.CaptureFixture[str]) -> None:
    last = killed()[-1]
    ends = {"1": "", "2": "find found nothing"}
    walked = [
        replace(
            last,
            sequence=last.sequence + number,
            path=f"run/round-1/subtask-{id}!pipeline_ended!0",
            event=PipelineEnded(experience="aa", calls=1, left=left),
        )
        for number, (id, left) in enumerate(ends.items(), 1)
    ]
    put_run("aaa111", [*killed(), *walked])
    assert run(["show", "aaa111", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert [item["executor"] for item in plan] == ["pipeline", "react", "react"]


def test_an_unknown_run_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", killed())
    assert run(["show", "zzz"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "plait: there is no run 'zzz': the latest are aaa111\n"


def test_what_a_revision_changed() -> None:
    assert changes(PLAN[:1], PLAN[:2]) == [
        (" ", "1. Find the next meeting with Fatima"),
        ("+", "2. Cancel it (after 1)"),
    ]
    assert changes("a()", "b()") == [("-", "a()"), ("+", "b()")]


def test_feedback_is_recorded_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", finished())
    assert run(["feedback", "aaa", "wrong", "--comment", "the other meeting was meant"]) == 0
    assert capsys.readouterr().out == "Noted: the result of run aaa111 is wrong.\n"
    assert run(["show", "aaa111"]) == 0
    assert "the user says the result is wrong: the other meeting was meant" in capsys.readouterr().out


def test_there_is_no_feedback_on_a_run_without_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    put_run("aaa111", killed())
    assert run(["feedback", "aaa111", "right"]) == 2
    assert capsys.readouterr().err == "plait: run 'aaa111' has no result yet: it is interrupted\n"
    assert run(["feedback", "aaa111", "maybe"]) == 2


def test_the_last_feedback_counts_and_takes_no_time() -> None:
    records = finished()
    last = records[-1]
    for number, verdict in enumerate(("wrong", "right")):
        event = FeedbackGiven(verdict=verdict)
        sequence = last.sequence + 1 + number
        path = f"run!feedback_given!{number}"
        records.append(replace(last, sequence=sequence, path=path, at=last.at + 999, event=event))
    story = tell(records)
    assert story.feedback is not None
    assert story.feedback.verdict == "right"
    assert story.run_id == RUN_ID
    assert story.usage.seconds == pytest.approx(30.6)


def test_what_equal_calls_saved_is_told() -> None:
    used = Usage(
        model_calls=2, input_tokens=900, output_tokens=40, seconds=3, shared_calls=3, saved_tokens=1410
    )
    assert usage_text(used).endswith("0 tool calls · saved 3 equal calls, 1,410 tokens")
    assert "saved" not in usage_text(Usage(model_calls=2))


def test_a_call_that_shared_a_reply_is_told_apart() -> None:
    result = {"text": "8", "finish": "stop", "usage": {"input_tokens": 100, "output_tokens": 7}}
    args = {"role": "judge", "model": "m"}
    first = StepRecorded(step="model", args=args, args_hash="h", result=result, seconds=1.0)
    steps = {"run/a": first, "run/b": replace(first, shared_with="run/a")}
    records = [
        replace(finished()[0], sequence=number, path=path, at=float(number), event=step)
        for number, (path, step) in enumerate(steps.items(), 1)
    ]
    story = tell([finished()[0], *records])
    assert (story.usage.model_calls, story.usage.shared_calls, story.usage.saved_tokens) == (1, 1, 107)
    assert story.usage_by_role["judge"].model_calls == 1
    stream = io.StringIO()
    write_story(Sheet(Console(file=stream, width=100, _environ={})), story, story.usage.seconds)
    assert "saved: 1 equal call at temperature 0 answered by one made before, 107 tokens" in stream.getvalue()
