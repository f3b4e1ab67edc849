"""Tables, as tools' lists of records are shown."""

import pytest

from plait.reflection.tables import column, identifiers, rows_of

SHELF = "title | loan_id | of\nTides | 7 | dana\nAsh | 8\nReeds | 9 | omar"


def test_a_column_is_read_of_whole_rows() -> None:
    assert column(SHELF, "of") == ["dana", "omar"]
    assert column(SHELF, "shelf") == []
    assert identifiers(SHELF) == ["7", "9"]


@pytest.mark.parametrize(
    "text",
    ["", "no loans found", "title | of\nTides | dana", '[{"loan_id": 7}]', "| loan_id |\n| --- |\n| 7 |"],
)
def test_what_is_no_table_of_records_has_no_identifiers(text: str) -> None:
    assert identifiers(text) == []


def test_of_several_identifiers_that_which_a_call_takes_counts() -> None:
    loans = "reader_id | loan_id\n3 | 7\n3 | 9"
    assert identifiers(loans, {"loan_id", "note"}) == ["7", "9"]
    assert identifiers(loans, {"note"}) == identifiers(loans, {"loan_id", "reader_id"}) == []
    assert identifiers(SHELF, {"note"}) == ["7", "9"]


def test_rows_go_by_their_first_cell() -> None:
    assert rows_of([SHELF, "", "a line"]) == {
        "Tides": "Tides | 7 | dana",
        "Ash": "Ash | 8",
        "Reeds": "Reeds | 9 | omar",
    }
