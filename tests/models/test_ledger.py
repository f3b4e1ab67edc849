"""The ledger: records in, figures out."""

from typing import Any, Literal

import pytest

from plait.events import FeedbackGiven, Noted, Record, RunStarted, StepRecorded
from plait.models.ledger import (
    by,
    cached_share,
    entries,
    own_records,
    tool_counts,
    totals,
    usage_of,
    wall_seconds,
)
from plait.task import Usage


def record(path: str, step: Literal["model", "tool", "effect", "value"], **fields: Any) -> Record:
    event = StepRecorded(
        step=step, args=fields.get("args", {}), args_hash="h", result=fields.get("result"), seconds=0.5
    )
    return Record(
        run_id="r",
        sequence=1,
        path=path,
        revision=fields.get("revision", 0),
        epoch=fields.get("epoch", 1),
        at=fields.get("at", 0.0),
        event=event,
    )


def model_call(path: str, role: str, tokens: tuple[int, int, int], **fields: Any) -> Record:
    usage = dict(zip(("input_tokens", "cached_input_tokens", "output_tokens"), tokens, strict=True))
    args = {"role": role, "strand": "reflection", "model": "local:m", "form": {"kind": "typed", "schema": {}}}
    result = {"text": "", "finish": "stop", "usage": {**usage, "seconds": 2.0, "usd": 0.25}, "tool_calls": []}
    return record(path, "model", args=args, result=result, **fields)


RECORDS = [
    model_call("run/team-2/round-1/plan/attempt-1", "planner", (100, 40, 10), at=1.0),
    model_call("run/team-2/round-1/subtask-3/step-1", "tool", (200, 160, 5), at=4.0),
    record("run/team-2/round-1/subtask-3/call-1", "tool", at=5.0),
    model_call("run/team-11/round-2/plan/attempt-1", "planner", (50, 0, 5), at=100.0, epoch=2, revision=1),
    record("run/act/call-1", "effect", at=101.5, epoch=2),
    record("run/now", "value", at=102.0, epoch=2),
    Record(run_id="r", sequence=9, path="run!0", revision=0, epoch=2, at=103.0, event=Noted(text="x")),
]


def test_an_entry_tells_who_called_and_where() -> None:
    first, *_, last = entries(RECORDS)
    assert (first.role, first.strand, first.model, first.form) == (
        "planner",
        "reflection",
        "local:m",
        "typed",
    )
    assert (first.team, first.round, first.finish) == (2, 1, "stop")
    assert (last.team, last.round) == (11, 2)
    assert first.usage.cached_input_tokens == 40


def test_a_call_outside_teams_and_rounds_has_neither() -> None:
    (entry,) = entries([model_call("run/steam-1/background-2/ask", "x", (1, 0, 1))])
    assert (entry.team, entry.round) == (None, None)
    assert by([entry], "team") == {"-": totals([entry])}


def test_totals_add_every_model_call_up() -> None:
    assert totals(entries(RECORDS)) == Usage(
        model_calls=3, input_tokens=350, cached_input_tokens=200, output_tokens=20, usd=0.75, seconds=6.0
    )
    assert totals([]) == Usage()


def test_groups_add_up_to_the_totals() -> None:
    ledger = entries(RECORDS)
    roles = by(ledger, "role")
    assert {role: usage.model_calls for role, usage in roles.items()} == {"planner": 2, "tool": 1}
    assert set(by(ledger, "team")) == {"2", "11"}
    assert sum(usage.input_tokens for usage in roles.values()) == totals(ledger).input_tokens


def test_tool_calls_are_counted_by_effect() -> None:
    counts = tool_counts(RECORDS)
    assert (counts.reads, counts.effects, counts.total) == (1, 1, 2)


def test_what_was_not_executed_is_no_tool_call() -> None:
    done = {"ok": True, "text": "", "cut": False, "shared": False}
    results = [done, {**done, "shared": True}, {**done, "ok": False, "refused": "--deny"}, None]
    records = [record("run/a", "tool", result=results[0]), record("run/b", "tool", result=results[1])]
    records += [record(f"run/{number}", "effect", result=result) for number, result in enumerate(results[2:])]
    counts = tool_counts(records)
    assert (counts.reads, counts.effects) == (1, 1)


def test_the_time_of_a_run_leaves_out_the_pause_before_it_was_resumed() -> None:
    assert wall_seconds(RECORDS) == 4.0 + 3.0
    assert wall_seconds([]) == 0.0


def test_the_time_of_a_run_is_its_own_not_its_parent_s_nor_that_until_it_was_judged() -> None:
    started = RunStarted(task="t", options={}, version="1", forked_from="p")
    begun = Record(run_id="r", sequence=2, path="run!1", revision=0, epoch=1, at=50.0, event=started)
    worked = model_call("run/ask", "x", (1, 0, 1), at=52.0)
    judged = FeedbackGiven(verdict="right")
    feedback = Record(run_id="r", sequence=9, path="run!2", revision=0, epoch=1, at=90.0, event=judged)
    copied = model_call("run/plan", "x", (1, 0, 1), at=3.0)
    fork = [copied, begun, worked, feedback]
    assert wall_seconds(fork) == 2.0
    assert usage_of(fork).seconds == 2.0
    assert own_records(fork) == [begun, worked]


def test_usage_of_a_run_joins_models_tools_and_time() -> None:
    usage = usage_of(RECORDS)
    assert (usage.model_calls, usage.tool_calls, usage.seconds) == (3, 2, 7.0)


def test_the_cached_share_is_of_the_input() -> None:
    assert cached_share(totals(entries(RECORDS))) == pytest.approx(200 / 350)
    assert cached_share(Usage()) == 0.0


def test_a_step_without_usage_counts_as_a_call_without_tokens() -> None:
    assert totals(entries([record("run/ask", "model", args={"form": "text"}, result=None)])) == Usage(
        model_calls=1
    )
