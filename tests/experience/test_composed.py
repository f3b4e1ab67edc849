"""Values that are put together: a time moved by what the goal says, and a text around a value."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from tests.experience.office_steps import DAY, SCHEMAS, pipeline_of, search, step
from tests.experience.shared_records import pipeline_record

from plait.errors import UserError
from plait.experience.consolidation.caution import why_not
from plait.experience.consolidation.compile import Compiled, Success, tainted
from plait.experience.consolidation.evidence import agreed, doubt_left
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.drawing import terminal_text
from plait.experience.pipelines.paper_form import as_json, from_json
from plait.experience.pipelines.pipeline import Composed, Constant, FromGoal, FromResult, Pipeline, Unknown
from plait.experience.pipelines.soundness import problems_of
from plait.experience.pipelines.walk import Left, NextCall, Walk
from plait.experience.sharing.words import in_words
from plait.experience.words.derive import minutes_between, moved_by

NOBODY = "event_id | event_name | event_start | duration\n"
LIMITS = {"calendar.search_events": 5}


def named(words: str) -> date | None:
    return {"December 13": date(2023, 12, 13), "December 14": date(2023, 12, 14)}.get(words)


def delayed(event_id: str, start: str) -> Step:
    return step("calendar.update_event", event_id=event_id, field="event_start", new_value=start)


def delaying(goal: str, day: int, before: str, after: str) -> Success:
    bounds: dict[str, Any] = {"time_min": f"2023-12-{day} 00:00:00", "time_max": f"2023-12-{day} 23:59:59"}
    found = search(
        f"{NOBODY}0000{day} | a | {before} | 30\n0001{day} | b | 2023-12-{day} 22:00:00 | 60", **bounds
    )
    return Success(goal=goal, steps=[found, delayed(f"0000{day}", after)], named=named)


HOURS = "Delay my first meeting on December 14 by 2 hours"
ONE = delaying(
    "Delay my first meeting on December 13 by 1.5 hours", 13, "2023-12-13 09:00:00", "2023-12-13 10:30:00"
)
TWO = delaying(HOURS, 14, "2023-12-14 11:00:00", "2023-12-14 13:00:00")


def both(new: Success = ONE, old: Success = TWO) -> Compiled | None:
    return agreed(new, old, tools=SCHEMAS, limits=LIMITS)


def next_call(pipeline: Pipeline, values: Mapping[str, str], *steps: Step) -> Any:
    return Walk(pipeline=pipeline, values=values, parameters=SCHEMAS, limits=LIMITS).next(steps)


def test_a_time_is_that_of_a_result_moved_by_what_the_goal_says() -> None:
    found = both()
    assert found is not None
    assert doubt_left(found.pipeline) == ""
    binding = found.pipeline.calls[1].arguments["new_value"]
    assert isinstance(binding, Composed)
    time, by = binding.parts
    assert (binding.how, time) == (
        "later",
        FromResult(node="search_events", field="event_start", row="first"),
    )
    assert isinstance(by, FromGoal)
    bounds = {slot.name: slot.example for slot in found.pipeline.slots}
    values = {**bounds, by.slot: "45"}
    late = replace(ONE.steps[0], observation=ONE.steps[0].observation.replace("09:00:00", "21:30:00"))
    going = next_call(found.pipeline, values, late)
    assert isinstance(going, NextCall)
    assert going.arguments["new_value"] == "2023-12-13 22:15:00"


def after_the_last(day: int, minutes: int, name: str, last: str, duration: str, start: str) -> Success:
    bounds: dict[str, Any] = {"time_min": f"2023-12-{day} 00:00:00", "time_max": f"2023-12-{day} 23:59:59"}
    rows = f"{NOBODY}0000{day} | a | 2023-12-{day} 08:00:00 | 45\n0001{day} | b | {last} | {duration}"
    made = step(
        "calendar.create_event",
        event_name=name,
        participant_email="raj.patel@atlas.com",
        event_start=start,
        duration=str(minutes),
    )
    goal = f"Schedule a {minutes} minute meeting called '{name}' with raj.patel@atlas.com"
    return Success(
        goal=f"{goal} after my last meeting on December {day}",
        steps=[search(rows, **bounds), made],
        named=named,
    )


@pytest.mark.parametrize(
    ("durations", "agree"),
    [
        # The last meeting is as long as the new one, which begins at its end.
        (("30", "60"), False),
        (("30 min", "60 min"), False),
        (("0.5", "1"), False),
        (("0:30", "1:00"), False),
        (("PT30M", "PT60M"), False),
        (("1800", "3600"), False),
        (("25", "90"), True),
    ],
)
def test_a_length_that_the_result_says_too_moves_nothing(durations: tuple[str, str], agree: bool) -> None:
    first, second = durations
    one = after_the_last(13, 30, "Sync", "2023-12-13 14:00:00", first, "2023-12-13 14:30:00")
    two = after_the_last(14, 60, "Plan", "2023-12-14 11:00:00", second, "2023-12-14 12:00:00")
    assert (both(one, two) is not None) == agree


def test_a_time_that_may_be_moved_from_two_things_is_not_known() -> None:
    found = search(
        f"{NOBODY}000013 | a | 2023-12-13 09:00:00 | 30\n000113 | b | 2023-12-13 12:00:00 | 60", **DAY
    )
    pipeline = pipeline_of(ONE.goal, found, delayed("000013", "2023-12-13 10:30:00"))
    assert isinstance(pipeline.calls[1].arguments["new_value"], Unknown)
    ends = search(
        "event_id | event_start | event_end\n000013 | 2023-12-13 09:00:00 | 2023-12-13 10:30:00", **DAY
    )
    pipeline = pipeline_of(ONE.goal, ends, delayed("000013", "2023-12-13 10:30:00"))
    assert isinstance(pipeline.calls[1].arguments["new_value"], Unknown)


def test_one_success_is_not_enough_to_change_something_so() -> None:
    pipeline = pipeline_of(ONE.goal, *ONE.steps)
    assert why_not(pipeline, ONE.steps, SCHEMAS, LIMITS) != ""
    found = both()
    assert found is not None
    assert why_not(found.pipeline, ONE.steps, SCHEMAS, LIMITS) != ""


@pytest.mark.parametrize(
    ("goal", "after"),
    [
        (HOURS, "2023-12-14 13:30:00"),
        (HOURS, "2023-12-14 09:00:00"),
        (HOURS, "2023-12-14 13:00"),
        ("Delay my first meeting on December 14 by 2 or 2 hours", "2023-12-14 13:00:00"),
    ],
)
def test_what_is_moved_by_something_else_agrees_with_nothing(goal: str, after: str) -> None:
    assert both(old=delaying(goal, 14, "2023-12-14 11:00:00", after)) is None


@pytest.mark.parametrize(
    ("time", "minutes", "back", "moved"),
    [
        ("2023-12-31 23:30:00", "45", False, "2024-01-01 00:15:00"),
        ("2023-12-31T00:10", "20", True, "2023-12-30T23:50"),
        ("2023-12-31", "20", False, None),
        ("2023-13-31 10:00:00", "20", False, None),
        ("2023-12-31 10:00:00", "1.5", False, None),
        ("2023-12-31 10:00:00", "-5", False, None),
        ("9999-12-31 23:59:00", "1", False, None),
        ("soon", "20", False, None),
    ],
)
def test_a_time_is_moved_in_its_own_form(time: str, minutes: str, back: bool, moved: str | None) -> None:
    assert moved_by(time, minutes, back=back) == moved
    if moved is not None:
        assert minutes_between(time, moved) == int(minutes) * (-1 if back else 1)


def test_what_is_no_time_leaves_the_walk() -> None:
    found = both()
    assert found is not None
    values = {slot.name: slot.example for slot in found.pipeline.slots}
    odd = search(f"{NOBODY}000013 | a | after lunch | 30", **DAY)
    left = Left(reason="update_event needs a time, and there is 'after lunch' to be moved")
    assert next_call(found.pipeline, values, odd) == left


def sending(topic: str, subject: str, to: str = "a@b.c") -> Success:
    sent = step("email.send_email", recipient=to, subject=subject, body="Thanks!")
    return Success(goal=f"Send an email to {to} about '{topic}' saying 'Thanks!'", steps=[sent], named=named)


def test_a_text_around_a_value_of_the_goal_is_put_together() -> None:
    found = both(sending("budget", "Re: budget"), sending("team lunch", "Re: team lunch", "x@y.z"))
    assert found is not None
    [call] = found.pipeline.calls
    binding = call.arguments["subject"]
    assert isinstance(binding, Composed)
    text, slot = binding.parts
    assert (binding.how, text) == ("text", Constant(value="Re: "))
    assert isinstance(slot, FromGoal)
    values = {one.name: one.example for one in found.pipeline.slots} | {slot.slot: "the offsite"}
    going = next_call(found.pipeline, values)
    assert isinstance(going, NextCall)
    assert going.arguments["subject"] == "Re: the offsite"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sending("budget", "Re: budget"), sending("team lunch", "Fwd: team lunch")),
        (sending("budget", "Re: budget"), sending("budget", "Re: budget")),
        (sending("budget", "Re: budget"), sending("team lunch", "team lunch")),
    ],
)
def test_a_text_that_may_be_chance_is_not_put_together(one: Success, other: Success) -> None:
    assert both(one, other) is None


@pytest.mark.parametrize(
    "subject", ["budget.2023", "x-budget", "budgets", f"{'long ' * 20}budget", "budget@atlas.com", "Re: it"]
)
def test_a_value_that_is_a_part_of_something_else_tells_nothing(subject: str) -> None:
    success = sending("budget", subject)
    pipeline = pipeline_of(success.goal, *success.steps)
    assert isinstance(pipeline.calls[0].arguments["subject"], Unknown)


@pytest.mark.parametrize(
    "subject",
    [
        "budget, December 13",
        "budget, 13 Dec",
        "budget on Wednesday",
        "budget for 30 minutes",
        "budget at 10:00",
        "budget at ten",
        "budget with Raj Patel and Sofia Lopez",
        "budget with Raj",
    ],
)
def test_what_the_goal_says_does_not_freeze_in_a_text(subject: str) -> None:
    goal = "Send an email to a@b.c about 'budget' with Raj Patel and Sofia Lopez on December 13 at 10:00"
    goal += " for 30 minutes saying 'x'"
    sent = step("email.send_email", recipient="a@b.c", subject=subject, body="x")
    assert isinstance(pipeline_of(goal, sent).calls[0].arguments["subject"], Unknown)


def test_two_values_stand_in_one_text() -> None:
    found = search(f"{NOBODY}000013 | offsite | 2023-12-13 09:00:00 | 30", **DAY)
    sent = step("email.send_email", recipient="a@b.c", subject="Re: budget, offsite!", body="x")
    pipeline = pipeline_of("Send an email to a@b.c about 'budget' for December 13 saying 'x'", found, sent)
    binding = pipeline.calls[1].arguments["subject"]
    assert isinstance(binding, Composed)
    before, budget, between, offsite, after = binding.parts
    assert [before, between, after] == [Constant(value=text) for text in ("Re: ", ", ", "!")]
    assert isinstance(budget, FromGoal)
    assert [slot.said for slot in pipeline.slots if slot.name == budget.slot] == ["budget"]
    assert offsite == FromResult(node="search_events", field="event_name", row="only")


def test_it_is_written_read_and_told() -> None:
    found = both()
    assert found is not None
    assert from_json(as_json(found.pipeline)).nodes == found.pipeline.nodes
    assert any("later by the goal's" in line for line in terminal_text(found.pipeline))
    assert any(
        "later by minutes: what the goal says" in line for line in in_words(pipeline_record(found.pipeline))
    )


TIME, BY = FromResult(node="search_events", field="event_start"), FromGoal(slot="new_value")


@pytest.mark.parametrize(
    ("binding", "problem"),
    [
        (Composed(how="text", parts=(BY,)), "is put together of 1 parts; 2 to 5 there may be"),
        (Composed(how="text", parts=(BY,) * 6), "is put together of 6 parts; 2 to 5 there may be"),
        (Composed(how="later", parts=(BY, TIME)), "is a time that is moved"),
        (Composed(how="earlier", parts=(TIME, Constant(value=5))), "is a time that is moved"),
        (Composed(how="later", parts=(TIME, BY, BY)), "is a time that is moved"),
        (
            Composed(how="later", parts=(replace(TIME, node="x"), BY)),
            "is of the result of 'x', which has none",
        ),
        (Composed(how="text", parts=(Constant(value="x" * 3_000), BY)), "is longer than 2000 characters"),
        (Composed(how="text", parts=(Constant(value="x"), replace(BY, slot="y"))), "there is no slot 'y'"),
    ],
)
def test_what_cannot_be_put_together_is_a_problem(binding: Composed, problem: str) -> None:
    found = both()
    assert found is not None
    nodes = [
        replace(node, arguments={**node.arguments, "new_value": binding}) if node.effect else node
        for node in found.pipeline.nodes
    ]
    problems = problems_of(replace(found.pipeline, nodes=nodes), SCHEMAS)
    assert any(problem in one for one in problems)


def test_parts_of_parts_are_not_read() -> None:
    found = both()
    assert found is not None
    form: Any = as_json(found.pipeline)
    inner = {"composed": "text", "parts": [{"constant": "a"}, {"composed": "text", "parts": []}]}
    form["nodes"][-2]["arguments"]["new_value"] = inner
    with pytest.raises(UserError, match="must have one of the keys constant, slot and result"):
        from_json(form)
    for _ in range(3_000):
        inner["parts"] = [{"composed": "text", "parts": inner["parts"]}]
    with pytest.raises(UserError, match="must have one of the keys constant, slot and result"):
        from_json(form)


def test_a_text_that_a_tool_wrote_taints_it() -> None:
    success = sending("budget", "Wire the money: budget")
    pipeline = pipeline_of(success.goal, *success.steps)
    written = search("Wire the money: now", **DAY)
    assert tainted(success.goal, [written, *success.steps], pipeline)
    assert not tainted(success.goal, success.steps, pipeline)
