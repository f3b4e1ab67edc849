"""Results are read into the rows that a later call can take a field of."""

import json

import pytest

from plait.experience.pipelines.results import first_of, in_order, is_cut, last_of, rows_of
from plait.tools.rendering import NO_RESULT, not_found, render

EVENTS = [
    {"event_id": "00000256", "name": "sync", "start": "2023-12-13 09:00:00", "minutes": 60, "room": None},
    {"event_id": "00000100", "name": "review", "start": "2023-12-13 10:00:00", "minutes": 30, "room": ""},
]


def test_a_table_reads_as_the_records_it_was_written_from() -> None:
    rows = rows_of(render(EVENTS))
    assert [row["event_id"] for row in rows] == ["00000256", "00000100"]
    assert rows[0] == {
        "event_id": "00000256",
        "name": "sync",
        "start": "2023-12-13 09:00:00",
        "minutes": "60",
        "room": "",
    }


def test_a_table_of_one_column_is_told_by_its_name() -> None:
    assert rows_of(render([{"task_id": "1"}, {"task_id": "2"}])) == [{"task_id": "1"}, {"task_id": "2"}]
    assert rows_of("Hello\nworld") == [{"": "Hello\nworld"}]


def test_json_reads_by_its_shape() -> None:
    assert rows_of('{"total": 3, "open": true, "who": null}') == [{"total": "3", "open": "true", "who": ""}]
    assert rows_of('[{"a": "x", "b": [1]}, {"a": "y"}]') == [{"a": "x", "b": "[1]"}, {"a": "y"}]
    assert rows_of('["a@b.c", 5]') == [{"": "a@b.c"}, {"": "5"}]
    assert rows_of("1e5") == [{"": "1e5"}]
    assert rows_of('"text"') == [{"": "text"}]


def test_plain_text_is_one_row_as_it_is() -> None:
    assert rows_of("00000301") == [{"": "00000301"}]
    assert rows_of("Either this | or that") == [{"": "Either this | or that"}]
    assert rows_of("a | b\nno table") == [{"": "a | b\nno table"}]


@pytest.mark.parametrize(
    "nothing",
    [
        "",
        " \n",
        "[]",
        "{}",
        "null",
        '""',
        "No events found.",
        "Event not found.",
        "no results",
        "None",
        NO_RESULT,
    ],
)
def test_where_nothing_was_found_there_are_no_rows(nothing: str) -> None:
    assert rows_of(nothing) == []


@pytest.mark.parametrize(
    "text", ["No problem, it was found and sent to Bob.", "Done", "Not found by me; but I sent it anyway."]
)
def test_a_text_that_says_more_than_that_nothing_was_found_is_a_row(text: str) -> None:
    assert rows_of(text) == [{"": text}]
    assert not not_found(text)


def test_a_cut_table_gives_only_rows_that_are_whole() -> None:
    text = "id | name\n1 | one\n2 | tw\n[cut: 40 of 60 characters left out]"
    assert is_cut(text)
    assert rows_of(text) == [{"id": "1", "name": "one"}]
    assert not is_cut("[cut: 1 of 2 characters left out]\nis what it said")


def test_a_cut_list_gives_only_items_that_are_whole() -> None:
    whole = json.dumps([{"id": "1", "tags": ["a"]}, {"id": "2", "tags": []}, {"id": "3", "tags": []}])
    assert rows_of(f"{whole[:50]}\n[cut: 9 of 59 characters left out]") == [{"id": "1", "tags": '["a"]'}]
    assert rows_of("[10, 20, 3\n[cut: 9 of 59 characters left out]") == [{"": "10"}, {"": "20"}]


def test_of_any_other_cut_result_nothing_is_read() -> None:
    assert rows_of('{"id": "1", "na\n[cut: 9 of 59 characters left out]') == []
    assert rows_of("It begins wi\n[cut: 9 of 59 characters left out]") == []


def test_a_bar_in_a_cell_cannot_move_other_cells_into_a_trusted_column() -> None:
    table = "email_id | subject | sender\n7 | hello | boss@x.y | evil@x.y\n8 | fine | a@b.c"
    assert rows_of(table) == [{"email_id": "7"}, {"email_id": "8", "subject": "fine", "sender": "a@b.c"}]
    assert rows_of("subject | sender\nhello | boss@x.y | evil@x.y") == [{}]


def test_a_last_cell_that_is_empty_is_a_cell() -> None:
    assert rows_of("id | note\n1 | ") == [{"id": "1", "note": ""}]
    assert rows_of("id | note\n2 | x\n1 |") == [{"id": "2", "note": "x"}, {"id": "1", "note": ""}]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 50_000, "9" * 5_000, "\0", "\ud800", " | \n | ", "NaN"]
)
def test_no_text_makes_reading_fail(text: str) -> None:
    rows_of(text)
    rows_of(f"{text}\n[cut: 1 of 2 characters left out]")


def rows_at(*times: str) -> list[dict[str, str]]:
    return [{"id": str(number), "time": time} for number, time in enumerate(times)]


def test_the_first_row_is_the_earliest_however_the_rows_are_sorted() -> None:
    downwards = rows_at("2023-12-03", "2023-12-02", "2023-12-01")
    assert first_of(downwards)["id"] == "2"
    assert last_of(downwards)["id"] == "0"
    mixed = rows_at("2023-12-02", "2023-12-01", "2023-12-03")
    assert first_of(mixed)["id"] == "1"
    assert in_order(downwards)
    assert not in_order(mixed)


def test_rows_without_times_are_taken_as_they_stand() -> None:
    rows = [{"id": "5"}, {"id": "3"}]
    assert in_order(rows)
    assert (first_of(rows)["id"], last_of(rows)["id"]) == ("5", "3")


def test_of_two_rows_at_one_time_neither_is_first() -> None:
    rows = rows_at("2023-12-01", "2023-12-01", "2023-12-02")
    assert first_of(rows) == {}
    assert last_of(rows)["id"] == "2"


def test_columns_of_times_that_disagree_name_no_first_row() -> None:
    rows = [
        {"id": "1", "made": "2023-01-01", "due": "2023-03-03"},
        {"id": "2", "made": "2023-01-02", "due": "2023-02-02"},
    ]
    assert first_of(rows) == {}
    assert first_of([{**row, "due": row["made"]} for row in rows])["id"] == "1"


def test_one_row_is_both_first_and_last_and_no_row_neither() -> None:
    assert first_of([{"a": "b"}]) == last_of([{"a": "b"}]) == {"a": "b"}
    assert first_of([]) == last_of([]) == {}
