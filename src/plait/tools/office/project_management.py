"""The project board: look up, search, create, delete and change tasks.

Knows nothing of people beyond the board: an assignee is whoever has a task on it.
"""

from plait.tools.office.declaration import Declaration, OfficeAnswer, choice, contains, one_of, text
from plait.tools.office.tables import COLUMNS, Office

_FIELDS = COLUMNS["project_tasks"]
_LISTS = ("Backlog", "In Progress", "In Review", "Completed")
_BOARDS = ("Back end", "Front end", "Design")

# Searches have no limit here, and a person's tasks are to be seen whole.
_SEARCH_CHARACTERS = 8_000


def get_task_information_by_id(
    office: Office, task_id: str | None = None, field: str | None = None
) -> OfficeAnswer:
    """Return one field of a task."""
    if not task_id:
        return "Task ID not provided."
    if not field:
        return "Field not provided."
    task = office.tasks.find(task_id)
    if task is None:
        return "Task not found."
    return {field: task[field]} if field in task else "Field not found."


def search_tasks(
    office: Office,
    task_name: str | None = None,
    assigned_to_email: str | None = None,
    list_name: str | None = None,
    due_date: str | None = None,
    board: str | None = None,
) -> OfficeAnswer:
    """Return all tasks that match every given part."""
    parts = {
        "task_name": task_name,
        "assigned_to_email": assigned_to_email,
        "list_name": list_name,
        "due_date": due_date,
        "board": board,
    }
    if not any(parts.values()):
        return "No search parameters provided."
    found = [
        dict(task)
        for task in office.tasks.rows
        if all(contains(task[column], part) for column, part in parts.items())
    ]
    return found or "No tasks found."


def create_task(
    office: Office,
    task_name: str | None = None,
    assigned_to_email: str | None = None,
    list_name: str | None = None,
    due_date: str | None = None,
    board: str | None = None,
) -> OfficeAnswer:
    """Add a task and return its id."""
    if not task_name or not assigned_to_email or not list_name or not due_date or not board:
        return "Missing task details."
    cells = {"assigned_to_email": assigned_to_email.lower(), "list_name": list_name, "board": board}
    for field, value in cells.items():
        if refusal := _refusal(office, field, value):
            return refusal
    task_id = f"{office.tasks.next_id():08}"
    office.tasks.append((task_id, task_name, cells["assigned_to_email"], list_name, due_date, board))
    return task_id


def delete_task(office: Office, task_id: str | None = None) -> OfficeAnswer:
    """Take a task off the board."""
    if not task_id:
        return "Task ID not provided."
    if office.tasks.find(task_id) is None:
        return "Task not found."
    office.tasks.delete(task_id)
    return "Task deleted successfully."


def update_task(
    office: Office, task_id: str | None = None, field: str | None = None, new_value: str | None = None
) -> OfficeAnswer:
    """Set one column of a task."""
    if not task_id or not field or not new_value:
        return "Task ID, field or new value not provided."
    if office.tasks.find(task_id) is None:
        return "Task not found."
    if field not in _FIELDS:
        return "Field not found."
    value = new_value.lower() if field == "assigned_to_email" else new_value
    if refusal := _refusal(office, field, value):
        return refusal
    office.tasks.set(task_id, field, value)
    return "Task updated successfully."


def _refusal(office: Office, field: str, value: str) -> str | None:
    if field == "list_name" and value not in _LISTS:
        return f"List not valid. It must be {one_of(_LISTS)}."
    if field == "board" and value not in _BOARDS:
        return f"Board not valid. It must be {one_of(_BOARDS)}."
    if field == "assigned_to_email" and all(
        task["assigned_to_email"].lower() != value for task in office.tasks.rows
    ):
        return "Assignee email not valid. It must be the address of somebody who has a task on the boards."
    return None


_ID = text("8-digit task id from a search")
_NAME = text("name of the task")
_ASSIGNEE = text("full e-mail address of the assignee")
_DUE = text('due date, "YYYY-MM-DD"')

TOOLS = (
    Declaration(
        name="project_management.get_task_information_by_id",
        description="Read one field of a project task.",
        function=get_task_information_by_id,
        parameters={"task_id": _ID, "field": choice("field to read", _FIELDS)},
        required=("task_id", "field"),
    ),
    Declaration(
        name="project_management.search_tasks",
        description="Find all project tasks that match; give at least one parameter.",
        function=search_tasks,
        most_rows=0,
        parameters={
            "task_name": text("part of the name"),
            "assigned_to_email": text("part of the assignee's address"),
            "list_name": choice("list", _LISTS),
            "due_date": _DUE,
            "board": choice("board", _BOARDS),
        },
        observation_characters=_SEARCH_CHARACTERS,
    ),
    Declaration(
        name="project_management.create_task",
        description="Create a project task; returns its id.",
        function=create_task,
        parameters={
            "task_name": _NAME,
            "assigned_to_email": _ASSIGNEE,
            "list_name": choice("list", _LISTS),
            "due_date": _DUE,
            "board": choice("board", _BOARDS),
        },
        required=("task_name", "assigned_to_email", "list_name", "due_date", "board"),
        effect="changes",
    ),
    Declaration(
        name="project_management.delete_task",
        description="Delete one project task.",
        function=delete_task,
        parameters={"task_id": _ID},
        required=("task_id",),
        effect="changes",
    ),
    Declaration(
        name="project_management.update_task",
        description="Change one field of a project task: move it to a list, reassign it, rename it.",
        function=update_task,
        parameters={
            "task_id": _ID,
            "field": choice("field to change", _FIELDS[1:]),
            "new_value": text('new value; a list name, a full e-mail address, a date "YYYY-MM-DD"'),
        },
        required=("task_id", "field", "new_value"),
        effect="changes",
    ),
)
