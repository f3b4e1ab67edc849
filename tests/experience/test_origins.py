"""Where an argument came from is told from the goal and from earlier results, or not at all."""

import pytest
from tests.experience.office_steps import (
    EVENTS,
    argument,
    calls,
    compiled,
    delete,
    pipeline_of,
    search,
    step,
)

from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import Constant, FromGoal, FromResult, Unknown
from plait.experience.pipelines.results import rows_of

# Which row is meant.


def row_of(goal: str, table: str, event_id: str, *, whole: bool = True) -> str:
    pipeline = compiled(goal, [search(table, whole=whole, query="olivia"), delete(event_id)])
    assert pipeline is not None
    binding = argument(pipeline, "delete_event", "event_id")
    assert isinstance(binding, FromResult)
    return binding.row


@pytest.mark.parametrize(
    ("goal", "event_id", "row"),
    [
        ("Delete my first meeting with olivia", "00000256", "first"),
        ("Delete my next meeting with olivia", "00000256", "first"),
        ("Delete my last meeting with olivia", "00000120", "last"),
        ("Delete my latest meeting with olivia", "00000120", "last"),
        ("Delete my first meeting with olivia", "00000120", "undecided"),
        ("Delete my last meeting with olivia", "00000256", "undecided"),
        ("Delete my first meeting with olivia", "00000100", "undecided"),
        ("Delete my meeting with olivia", "00000256", "undecided"),
        ("Delete my meeting with olivia of last week", "00000120", "undecided"),
        ("Delete my meeting with olivia next Tuesday", "00000256", "undecided"),
        ("Delete the first and not the last meeting with olivia", "00000256", "undecided"),
        ("Delete the meeting 'first steps' with olivia", "00000256", "undecided"),
    ],
)
def test_a_row_is_decided_only_where_the_goal_names_that_end(goal: str, event_id: str, row: str) -> None:
    assert row_of(goal, EVENTS, event_id) == row


def test_times_decide_which_row_is_first_and_not_the_place_in_the_list() -> None:
    head, *rows = EVENTS.splitlines()
    downwards = "\n".join([head, *reversed(rows)])
    assert row_of("Delete my first meeting with olivia", downwards, "00000256") == "first"
    assert row_of("Delete my first meeting with olivia", downwards, "00000120") == "undecided"
    mixed = "\n".join([head, rows[1], rows[0], rows[2]])
    assert row_of("Delete my first meeting with olivia", mixed, "00000100") == "undecided"
    assert row_of("Delete my first meeting with olivia", mixed, "00000256") == "undecided"


def test_without_times_the_place_in_the_list_decides() -> None:
    table = "event_id | event_name\n00000256 | a\n00000100 | b"
    assert row_of("Delete the first meeting with olivia", table, "00000256") == "first"
    assert row_of("Delete the last meeting with olivia", table, "00000100") == "last"


def test_of_one_row_no_word_is_needed_and_of_a_cut_result_none_is_believed() -> None:
    one = "\n".join(EVENTS.splitlines()[:2])
    assert row_of("Delete my meeting with olivia", one, "00000256") == "only"
    assert row_of("Delete my meeting with olivia", one, "00000256", whole=False) == "undecided"
    assert row_of("Delete my first meeting with olivia", EVENTS, "00000256", whole=False) == "undecided"


def test_calls_for_some_rows_are_not_taken_for_calls_for_each() -> None:
    pipeline = compiled(
        "Cancel my meetings with olivia",
        [search(query="olivia"), delete("00000256"), delete("00000100")],
    )
    assert pipeline is not None
    assert pipeline.unknown == ["delete_event.event_id", "delete_event_2.event_id"]


def test_calls_for_each_row_may_differ_in_other_columns_of_that_row_only() -> None:
    update = "calendar.update_event"
    rows = rows_of(EVENTS)
    same = [step(update, event_id=row["event_id"], field="duration", new_value="45") for row in rows]
    pipeline = pipeline_of("Set all meetings with olivia to 45 minutes", search(query="olivia"), *same)
    assert calls(pipeline) == ["search_events", "update_event"]
    assert argument(pipeline, "update_event", "field") == Constant(value="duration")
    other = [*same[:2], step(update, event_id=rows[2]["event_id"], field="duration", new_value="50")]
    differs = compiled("Set meetings with olivia", [search(query="olivia"), *other])
    assert differs is not None
    assert len(differs.calls) == 4


def test_a_read_that_was_made_for_each_row_is_gone_through_as_one_result() -> None:
    read, table = "calendar.get_event_information_by_id", "event_id | event_name\n1 | a\n2 | b"
    pipeline = pipeline_of(
        "Write 'Hello' titled 'Hi' to all who meet olivia",
        search(table, query="olivia"),
        step(read, '{"participant_email": "a@atlas.com"}', event_id="1", field="participant_email"),
        step(read, '{"participant_email": "b@atlas.com"}', event_id="2", field="participant_email"),
        step("email.send_email", recipient="a@atlas.com", subject="Hi", body="Hello"),
        step("email.send_email", recipient="b@atlas.com", subject="Hi", body="Hello"),
    )
    assert calls(pipeline) == ["search_events", "get_event_information_by_id", "send_email"]
    assert argument(pipeline, "send_email", "recipient") == FromResult(
        node="get_event_information_by_id", field="participant_email", row="each"
    )


# Where arguments come from.


def test_a_value_in_goal_and_result_comes_from_the_goal() -> None:
    pipeline = pipeline_of("Delete event 00000256 of olivia", search(query="olivia"), delete("00000256"))
    assert calls(pipeline) == ["delete_event"]
    assert argument(pipeline, "delete_event", "event_id") == FromGoal(slot="event_id")


def test_the_latest_result_and_a_field_like_an_identifier_win() -> None:
    pipeline = pipeline_of(
        "Delete the meeting with olivia",
        search("event_id | event_name\n00000256 | x", query="olivia"),
        search("note | event_id\n00000256 | 00000256", query="the meeting"),
        delete("00000256"),
    )
    assert argument(pipeline, "search_events", "query") == FromGoal(slot="query")
    assert pipeline.slots[0].said == "the meeting"
    assert argument(pipeline, "delete_event", "event_id") == FromResult(
        node="search_events", field="event_id"
    )


def test_an_identifier_is_never_a_constant_of_an_effect() -> None:
    tools = {
        "box.drop": {"type": "object", "properties": {"box_id": {"enum": ["a1", None], "default": "b2"}}}
    }
    for value in ("a1", "b2", None, True):
        dropped = Step(tool="box.drop", arguments={"box_id": value}, observation="Done", ok=True, effect=True)
        pipeline = compiled("Drop the box", [dropped], tools=tools)
        assert pipeline is not None
        assert argument(pipeline, "drop", "box_id") == Unknown(example=value)
        looked = Step(tool="box.drop", arguments={"box_id": value}, observation="Done", ok=True, effect=False)
        reading = compiled("Look at the box", [looked], tools=tools)
        assert reading is not None
        assert argument(reading, "drop", "box_id") == Constant(value=value)


def test_text_that_only_contains_what_the_goal_says_is_unknown() -> None:
    pipeline = pipeline_of(
        "Send an email to raj.patel@atlas.com about the budget",
        step(
            "email.send_email",
            recipient="raj.patel@atlas.com",
            subject="Update on the budget",
            body="Dear raj",
        ),
    )
    assert pipeline.unknown == ["send_email.subject", "send_email.body"]
    assert argument(pipeline, "send_email", "subject") == Unknown(example="Update on the budget")
    assert argument(pipeline, "send_email", "recipient") == FromGoal(slot="recipient")


def test_a_long_text_of_unknown_origin_is_kept_only_as_far_as_it_is_shown() -> None:
    pipeline = pipeline_of(
        "Write to raj.patel@atlas.com",
        step("email.send_email", recipient="raj.patel@atlas.com", subject="x" * 5_000, body="y"),
    )
    assert argument(pipeline, "send_email", "subject") == Unknown(example="x" * 200)


@pytest.mark.parametrize(
    ("goal", "value", "said"),
    [
        ("Cancel meetings on December 13", "2023-12-13", "December 13"),
        ("Cancel meetings on December 13", "2023-12-14 00:00:00", "December 13"),
        ("Move it from December 13 to December 15", "2023-12-15 00:00:00", "December 15"),
        ("Cancel meetings on Friday", "2023-12-01 23:59:59", "Friday"),
        ("Cancel meetings tomorrow at 2pm", "2023-12-01 14:00:00", "tomorrow at 2pm"),
        ("Meet on December 19 at 3", "2023-12-19 15:00:00", "December 19 at 3"),
        ("Meet at 14:00", "14:00:00", "14:00"),
        ("Meet for 2 hours", "120", "2"),
        ("Meet for half an hour or 30 minutes", "30", "30"),
        ("What came in the last 3 days", "2023-11-27", "3"),
        ("Cancel meetings today", "2023-12-13", "today"),
    ],
)
def test_times_and_numbers_are_traced_to_what_the_goal_says(goal: str, value: str, said: str) -> None:
    pipeline = compiled(goal, [search(query=value)])
    assert pipeline is not None
    assert [(slot.example, slot.said) for slot in pipeline.slots] == [(value, said)]


@pytest.mark.parametrize(
    ("goal", "value"),
    [
        ("Cancel future meetings", "2023-11-30 00:00:00"),
        ("Move the next meeting to December 5", "2023-11-30 00:00:00"),
        ("Move the meeting on December 4 by 1.5 hours", "2023-12-04 11:30:00"),
        ("Move the meeting on December 4 by 1.5 hours", "2023-11-30"),
        ("Cancel meetings on Friday", "2023-12-02"),
        ("Meet at 14:00", "15:00"),
        ("Meet on December 5", "5"),
        ("Meet for 2 hours", "45"),
        ("Write to olivia.jones@atlas.com", "olivia"),
        ("Cancel meetings on 99-99-99", "2023-99-99"),
    ],
)
def test_times_and_numbers_that_the_goal_does_not_say_are_unknown(goal: str, value: str) -> None:
    pipeline = compiled(goal, [search(query=value)])
    assert pipeline is not None
    assert argument(pipeline, "search_events", "query") == Unknown(example=value)


def test_numbers_and_switches_keep_their_kind() -> None:
    tools = {"list.show": {"type": "object", "properties": {"most": {"default": 10}}}}
    arguments = {"most": 10, "deep": True, "after": None, "count": 25, "ratio": 7}
    shown = Step(tool="list.show", arguments=arguments, observation="x", ok=True, effect=False)
    pipeline = compiled("Show 25 entries", [shown], tools=tools)
    assert pipeline is not None
    assert pipeline.node("show").arguments == {
        "most": Constant(value=10),
        "deep": Constant(value=True),
        "after": Constant(value=None),
        "count": FromGoal(slot="count"),
        "ratio": Unknown(example=7),
    }


def test_a_count_is_not_taken_from_a_result_by_chance_but_an_identifier_is() -> None:
    table = "event_id | duration\n7 | 60"
    pipeline = compiled(
        "Change the meeting with olivia",
        [
            search(table, query="olivia"),
            step("calendar.update_event", event_id="7", field="event_name", new_value="60"),
        ],
    )
    assert pipeline is not None
    assert argument(pipeline, "update_event", "event_id") == FromResult(
        node="search_events", field="event_id"
    )
    assert argument(pipeline, "update_event", "new_value") == Unknown(example="60")


def test_a_value_that_a_schema_offers_is_not_taken_from_a_result_by_chance() -> None:
    tasks = "task_id | list_name | board\n00000249 | Backlog | Design"
    pipeline = pipeline_of(
        "Rename the task of olivia to Draw",
        step("project_management.search_tasks", tasks, task_name="olivia"),
        step("project_management.update_task", task_id="00000249", field="board", new_value="Draw"),
        step("project_management.search_tasks", tasks, task_name="Draw", board="Design"),
        step("project_management.update_task", task_id="00000249", field="list_name", new_value="Draw"),
    )
    assert argument(pipeline, "update_task", "field") == Constant(value="board")
    assert argument(pipeline, "search_tasks_2", "board") == FromResult(node="search_tasks", field="board")
    looked = step("project_management.search_tasks", "list_name\nx", list_name="Backlog")
    named = search("event_id | event_name\n00000256 | Backlog", query="olivia")
    reading = compiled("Look for what olivia does", [named, looked])
    assert reading is not None
    assert argument(reading, "search_tasks", "list_name") == Constant(value="Backlog")


def test_calls_for_each_row_that_was_seen_of_a_cut_result_are_not_calls_for_each() -> None:
    ids = [row["event_id"] for row in rows_of(EVENTS)]
    steps = [search(whole=False, query="olivia"), *(delete(event_id) for event_id in ids)]
    pipeline = compiled("Cancel all my meetings with olivia", steps)
    assert pipeline is not None
    assert len(pipeline.unknown) == 3


def test_what_the_goal_names_one_by_one_is_not_a_call_for_each_row() -> None:
    table = "event_id | event_name\n00000256 | review\n00000100 | workshop"
    pipeline = pipeline_of(
        "Find review and workshop",
        search(table, query="re"),
        search("event_id | event_name\n00000256 | review", query="review"),
        search("event_id | event_name\n00000100 | workshop", query="workshop"),
    )
    assert calls(pipeline) == ["search_events"]
    assert argument(pipeline, "search_events", "query") == FromGoal(slot="query")
