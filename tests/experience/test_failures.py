"""From failures on record to lessons: what differed between the call that failed and the one that worked."""

from collections.abc import Sequence
from typing import Any

from tests.experience.office_steps import EVENTS, SCHEMAS
from tests.experience.recorded import called, chosen, on_record, planned

from plait.events import Event, SubtaskFinished, SubtaskStarted
from plait.experience.consolidation.failures import lessons_of

LEAF = "run/round-1/subtask-1"
FIND, SEARCH, DELETE = (
    "company_directory.find_email_address",
    "calendar.search_events",
    "calendar.delete_event",
)
TASK = "Delete my next meeting with Santiago"


def found(text: str, *, ok: bool = True) -> dict[str, Any]:
    return {"ok": ok, "text": text, "cut": False, "shared": False}


def step(number: int, tool: str, result: Any, kind: str = "tool", **arguments: Any) -> tuple[str, Event]:
    path, event = called(f"{LEAF}/step-{number}", tool, result, kind=kind, **arguments)
    return path, event


def ended(status: Any = "succeeded") -> tuple[str, Event]:
    return f"{LEAF}!9", SubtaskFinished(id="1", status=status, result="")


def taught(*places: tuple[str, Event], task: str = TASK) -> list[str]:
    records = on_record(planned(task), *places, task=task)
    return [learned.lesson.text for learned in lessons_of(task, records, SCHEMAS)]


NOTHING = found("No events found.")


def test_a_search_that_found_nothing_until_it_was_asked_otherwise():
    texts = taught(
        step(1, SEARCH, NOTHING, query="santiago"),
        step(2, FIND, found("santiago.martinez@atlas.com"), name="santiago"),
        step(3, SEARCH, found(EVENTS), query="santiago.martinez@atlas.com"),
        ended(),
    )
    assert texts == [
        "calendar.search_events with a name as query found nothing; with an address from"
        " company_directory.find_email_address as query it found something."
    ]


def test_a_lesson_knows_the_goal_of_its_subtask():
    calls = [step(1, SEARCH, NOTHING, query="santiago"), step(2, SEARCH, NOTHING, query="s")]
    started = f"{LEAF}!0", SubtaskStarted(id="1", goal="Find it")
    records = on_record(planned("Find it"), started, *calls, ended("failed"), task=TASK)
    assert [learned.goal for learned in lessons_of(TASK, records, SCHEMAS)] == ["Find it"]


def test_no_value_of_the_task_or_of_a_tool_stands_in_a_lesson():
    texts = taught(
        step(1, SEARCH, NOTHING, query="santiago", time_min="2023-12-13 00:00:00"),
        step(2, FIND, found("santiago.martinez@atlas.com"), name="santiago"),
        step(3, SEARCH, found(EVENTS), query="santiago.martinez@atlas.com"),
        ended(),
    )
    assert len(texts) == 1
    assert "santiago" not in texts[0].lower()
    assert "2023" not in texts[0]
    assert "without time_min" in texts[0]


def test_an_identifier_that_was_made_up_and_then_looked_up():
    texts = taught(
        chosen(f"{LEAF}/step-1", f'{DELETE}(event_id="12345678")', verdict="revised"),
        step(1, SEARCH, found(EVENTS), query="santiago"),
        step(2, DELETE, found("Deleted."), "effect", event_id="00000256"),
        ended(),
    )
    assert texts == []  # Its gate gave no reason of its checks: the agent may only have doubted.
    path, gate = chosen(f"{LEAF}/step-1", f'{DELETE}(event_id="12345678")', verdict="revised")
    refused = path, _with_problem(gate)
    texts = taught(
        refused,
        step(1, SEARCH, found(EVENTS), query="santiago"),
        step(2, DELETE, found("Deleted."), "effect", event_id="00000256"),
        ended(),
    )
    assert texts == [
        "calendar.delete_event with a made-up event_id is refused; with an identifier from"
        " calendar.search_events as event_id it worked."
    ]


def _with_problem(event: Any) -> Event:
    from dataclasses import replace

    return replace(event, problems=["event_id '12345678' is in no result and not in the task"])


def test_another_value_of_the_same_kind_teaches_nothing():
    texts = taught(
        step(1, SEARCH, NOTHING, query="santiago"), step(2, SEARCH, found(EVENTS), query="olivia"), ended()
    )
    assert texts == []


def test_what_the_user_did_not_allow_is_no_failure_of_the_call():
    refused = {**found("not done: denied", ok=False), "refused": True}
    texts = taught(
        step(1, DELETE, refused, "effect", event_id="1"),
        step(2, SEARCH, found(EVENTS), query="santiago"),
        ended("failed"),
    )
    assert texts == []


def test_a_tool_that_was_called_in_vain_until_the_subtask_failed():
    texts = taught(
        step(1, SEARCH, NOTHING, query="santiago"),
        step(2, SEARCH, NOTHING, query="santiago m"),
        step(3, FIND, found("x@y.com"), name="santiago"),
        ended("failed"),
    )
    assert texts == [
        "calendar.search_events with words as query found nothing; the subtask failed: try another way."
    ]


def test_one_call_in_vain_or_a_subtask_under_way_teaches_nothing():
    assert taught(step(1, SEARCH, NOTHING, query="santiago"), ended("failed")) == []
    searches = [step(n, SEARCH, NOTHING, query=f"s{n}") for n in range(1, 4)]
    assert taught(*searches) == []


def test_each_tool_and_kind_of_failure_is_told_once_and_the_mended_first():
    first = [
        step(1, SEARCH, NOTHING, query="santiago"),
        step(2, SEARCH, NOTHING, query="santiago", time_max="2023-12-13 00:00:00"),
        step(3, FIND, found("s@atlas.com"), name="santiago"),
        step(4, SEARCH, found(EVENTS), query="s@atlas.com"),
        ended(),
    ]
    assert len(taught(*first)) == 1


def test_a_tool_that_is_not_there_any_more_teaches_nothing():
    records = on_record(
        planned(TASK),
        step(1, "gone.search", NOTHING, query="santiago"),
        step(2, "gone.search", NOTHING, query="s"),
        ended("failed"),
        task=TASK,
    )
    assert lessons_of(TASK, records, SCHEMAS) == []


def test_a_tool_that_said_it_could_not_and_then_could():
    texts: Sequence[str] = taught(
        step(1, "calendar.create_event", found("bad", ok=False), "effect", event_start="2023-12-13"),
        step(2, "calendar.create_event", found("ok"), "effect", event_start="2023-12-13 09:00:00"),
        ended(),
    )
    assert texts == [
        "calendar.create_event with a date as event_start failed; with a time as event_start it worked."
    ]
