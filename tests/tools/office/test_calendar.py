"""The calendar tools at their edges."""

import pytest

from plait.tools.office import Office, calendar


def names(answer: object) -> list[str]:
    assert isinstance(answer, list)
    return [row["event_id"] for row in answer]


def test_search_looks_in_names_and_addresses_whatever_the_case(office: Office) -> None:
    by_name = calendar.search_events(office, query="SYNC UP")
    by_address = calendar.search_events(office, query="Fatima")

    assert isinstance(by_name, list)
    assert {row["event_name"] for row in by_name if isinstance(row, dict)} == {"sync up"}
    assert isinstance(by_address, list)
    assert {row["participant_email"] for row in by_address if isinstance(row, dict)} == {
        "fatima.khan@atlas.com"
    }


def test_search_returns_the_first_five_in_table_order(office: Office) -> None:
    assert names(calendar.search_events(office)) == [row["event_id"] for row in office.events.rows[:5]]
    assert names(calendar.search_events(office, query="")) == names(calendar.search_events(office))


def test_search_bounds_are_inclusive_to_the_second(office: Office) -> None:
    start = "2023-08-01 11:30:00"
    assert names(calendar.search_events(office, time_min=start, time_max=start)) == ["00000275"]
    later = calendar.search_events(office, time_min="2023-08-01 11:30:01", time_max="2023-08-01 23:59:59")
    earlier = calendar.search_events(office, time_min="2023-08-01 09:00:01", time_max="2023-08-01 11:29:59")
    assert later == earlier == "No events found."


def test_a_bare_day_is_its_midnight(office: Office) -> None:
    assert calendar.search_events(office, time_min="2023-08-01", time_max="2023-08-01") == "No events found."
    assert names(calendar.search_events(office, time_min="2023-08-01", time_max="2023-08-02")) == [
        "00000013",
        "00000275",
    ]


@pytest.mark.parametrize("time", ["tomorrow", "2023-13-01 00:00:00", "13"])
def test_a_bound_that_is_no_time_is_answered_with_its_form(office: Office, time: str) -> None:
    answer = calendar.search_events(office, time_max=time)
    assert answer == f"time_max must be written as YYYY-MM-DD HH:MM:SS, not {time!r}."


def test_search_finds_nothing_in_words(office: Office) -> None:
    assert calendar.search_events(office, query="no such meeting") == "No events found."


def test_an_event_without_a_readable_start_lies_outside_bounds(office: Office) -> None:
    calendar.update_event(office, "00000013", "event_start", "soon")
    assert "00000013" in names(calendar.search_events(office))
    assert "00000013" not in names(calendar.search_events(office, time_min="2000-01-01 00:00:00"))


def test_create_numbers_on_and_lowers_the_address(office: Office) -> None:
    answer = calendar.create_event(office, "Chat", "Raj.Patel@Atlas.com", "2023-12-01 09:00:00", "30")

    assert answer == "00000300"
    assert dict(office.events.rows[-1]) == {
        "event_id": "00000300",
        "event_name": "Chat",
        "participant_email": "raj.patel@atlas.com",
        "event_start": "2023-12-01 09:00:00",
        "duration": "30",
    }
    assert calendar.create_event(office, "Chat", "raj.patel@atlas.com", "x", "30") == "00000301"


def test_ids_follow_the_largest_that_is_left(office: Office) -> None:
    calendar.delete_event(office, "00000150")
    assert calendar.create_event(office, "a", "b@c.d", "2023-12-01 09:00:00", "30") == "00000300"
    calendar.delete_event(office, "00000300")
    calendar.delete_event(office, "00000299")
    assert calendar.create_event(office, "a", "b@c.d", "2023-12-01 09:00:00", "30") == "00000299"


@pytest.mark.parametrize("missing", ["event_name", "participant_email", "event_start", "duration"])
def test_create_needs_all_four(office: Office, missing: str) -> None:
    before = office.events.rows
    given = {"event_name": "a", "participant_email": "b@c.d", "event_start": "e", "duration": "30"}

    answer = calendar.create_event(office, **{**given, missing: ""})

    assert isinstance(answer, str)
    assert answer.endswith("not provided.")
    assert office.events.rows is before


def test_delete_takes_one_event(office: Office) -> None:
    before = [row["event_id"] for row in office.events.rows]
    assert calendar.delete_event(office, "00000275") == "Event deleted successfully."
    assert [row["event_id"] for row in office.events.rows] == [x for x in before if x != "00000275"]
    assert calendar.delete_event(office, "00000275") == "Event not found."
    assert calendar.delete_event(office, "13") == "Event not found."
    assert calendar.delete_event(office) == "Event ID not provided."


def test_update_sets_one_cell_and_lowers_only_addresses(office: Office) -> None:
    calendar.update_event(office, "00000013", "participant_email", "Raj.Patel@atlas.com")
    calendar.update_event(office, event_id="00000013", field="event_name", new_value="Sync UP")

    event = office.events.find("00000013")
    assert event is not None
    assert dict(event) == {
        "event_id": "00000013",
        "event_name": "Sync UP",
        "participant_email": "raj.patel@atlas.com",
        "event_start": "2023-08-01 09:00:00",
        "duration": "90",
    }


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ((None, "event_name", "x"), "Event ID, field or new value not provided."),
        (("00000013", None, "x"), "Event ID, field or new value not provided."),
        (("00000013", "event_name", ""), "Event ID, field or new value not provided."),
        (("00000013", "colour", "x"), "Field not found."),
        (("99999999", "event_name", "x"), "Event not found."),
    ],
)
def test_update_refuses_in_words_and_changes_nothing(
    office: Office, arguments: tuple[str | None, ...], answer: str
) -> None:
    before = office.events.rows
    assert calendar.update_event(office, *arguments) == answer
    assert office.events.rows is before


def test_one_field_by_id(office: Office) -> None:
    assert calendar.get_event_information_by_id(office, "00000013", "duration") == {"duration": "90"}
    assert calendar.get_event_information_by_id(office, "00000013", "colour") == "Field not found."
    assert calendar.get_event_information_by_id(office, "13", "duration") == "Event not found."
    assert calendar.get_event_information_by_id(office, field="duration") == "Event ID not provided."
    assert calendar.get_event_information_by_id(office, "00000013") == "Field not provided."
