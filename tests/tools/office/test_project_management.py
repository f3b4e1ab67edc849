"""The project board's tools at their edges."""

import pytest

from plait.tools.office import Office
from plait.tools.office import project_management as board

NEW = {
    "task_name": "Write help",
    "assigned_to_email": "Carlos.Rodriguez@Atlas.com",
    "list_name": "Backlog",
    "due_date": "2023-12-05",
    "board": "Front end",
}


def test_search_matches_all_parts_in_any_case_and_has_no_limit(office: Office) -> None:
    everything = board.search_tasks(office, list_name="backlog")
    assert isinstance(everything, list)
    assert len(everything) == 191
    both = board.search_tasks(office, assigned_to_email="CARLOS", list_name="Completed")
    expected = [
        dict(task)
        for task in office.tasks.rows
        if task["assigned_to_email"] == "carlos.rodriguez@atlas.com" and task["list_name"] == "Completed"
    ]
    assert len(expected) > 1
    assert both == expected


def test_search_takes_parts_of_names_dates_and_boards(office: Office) -> None:
    found = board.search_tasks(office, task_name="flask", due_date="2023-11", board="back")
    assert isinstance(found, list)
    assert {row["task_name"] for row in found if isinstance(row, dict)} == {"Update Flask to latest version"}


def test_search_needs_a_parameter_and_says_when_nothing_is_found(office: Office) -> None:
    assert board.search_tasks(office) == "No search parameters provided."
    assert board.search_tasks(office, task_name="") == "No search parameters provided."
    assert board.search_tasks(office, task_name="no such task") == "No tasks found."


def test_create_numbers_on_and_lowers_the_assignee(office: Office) -> None:
    assert board.create_task(office, **NEW) == "00000300"
    assert dict(office.tasks.rows[-1]) == {
        **NEW,
        "task_id": "00000300",
        "assigned_to_email": "carlos.rodriguez@atlas.com",
    }


@pytest.mark.parametrize("missing", list(NEW))
def test_create_needs_everything(office: Office, missing: str) -> None:
    arguments = {name: value for name, value in NEW.items() if name != missing}
    assert board.create_task(office, **arguments) == "Missing task details."
    assert len(office.tasks.rows) == 300


@pytest.mark.parametrize(
    ("field", "value", "start"),
    [
        ("assigned_to_email", "raj.patel@atlas.com", "Assignee email not valid."),
        ("assigned_to_email", "carlos", "Assignee email not valid."),
        ("list_name", "backlog", "List not valid. It must be Backlog, In Progress, In Review or Completed."),
        ("board", "Backend", "Board not valid. It must be Back end, Front end or Design."),
    ],
)
def test_create_and_update_check_alike(office: Office, field: str, value: str, start: str) -> None:
    before = office.tasks.rows
    for answer in (
        board.create_task(office, **{**NEW, field: value}),
        board.update_task(office, "00000149", field, value),
    ):
        assert isinstance(answer, str)
        assert answer.startswith(start)
    assert office.tasks.rows is before


def test_update_sets_one_cell(office: Office) -> None:
    assert board.update_task(office, "00000149", "list_name", "In Review") == "Task updated successfully."
    board.update_task(office, "00000149", "assigned_to_email", "AMIR.ali@atlas.com")
    board.update_task(office, "00000149", "due_date", "2023-12-24")

    task = office.tasks.find("00000149")
    assert task is not None
    assert dict(task) == {
        "task_id": "00000149",
        "task_name": "Add animation to carousel",
        "assigned_to_email": "amir.ali@atlas.com",
        "list_name": "In Review",
        "due_date": "2023-12-24",
        "board": "Front end",
    }


def test_update_refuses_in_words(office: Office) -> None:
    assert board.update_task(office, "00000149", "list_name") == "Task ID, field or new value not provided."
    assert board.update_task(office, "149", "list_name", "Backlog") == "Task not found."
    assert board.update_task(office, "00000149", "colour", "red") == "Field not found."


def test_delete_takes_one_task(office: Office) -> None:
    assert board.delete_task(office, "00000149") == "Task deleted successfully."
    assert len(office.tasks.rows) == 299
    assert board.delete_task(office, "00000149") == "Task not found."
    assert board.delete_task(office) == "Task ID not provided."


def test_one_field_by_id(office: Office) -> None:
    assert board.get_task_information_by_id(office, "00000149", "board") == {"board": "Front end"}
    assert board.get_task_information_by_id(office, "00000149", "colour") == "Field not found."
    assert board.get_task_information_by_id(office, "149", "board") == "Task not found."
    assert board.get_task_information_by_id(office, field="board") == "Task ID not provided."
    assert board.get_task_information_by_id(office, "00000149") == "Field not provided."
