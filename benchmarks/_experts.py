"""What somebody who knows the office looks up before the gold calls of a WorkBench task.

The gold calls of a task are its effects only; a trajectory to learn from has the reads before them. Knows
nothing of runs, models or memories.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import TypeAlias

from plait.bench.workbench import Call, WorkbenchTask, parse_call
from plait.reflection.dates import dates_by
from plait.tools.office import DECLARATIONS, TOOL_NOTES, Office

NOW = "2023-11-30 00:00:00"
YESTERDAY = "2023-11-29"
CALENDAR = "calendar.search_events"
EMAIL = "email.search_emails"
TASKS = "project_management.search_tasks"
DIRECTORY = "company_directory.find_email_address"
Values: TypeAlias = Mapping[str, str]
Read: TypeAlias = tuple[str, Mapping[str, str]]
"""A tool and its arguments; one that begins with `@` is the address of that person."""


def calls_of(task: WorkbenchTask) -> list[Call]:
    """Return the reads and effects of a task; effects on rows of a result in the order of the rows.

    Raises:
        KeyError: the template is not among `EXPERTS`.
    """
    office = Office(None)
    calls: list[Call] = []
    seen = ""
    for tool, arguments in EXPERTS[task.template](values_of(task)):
        told = {name: _addressed(office, value) for name, value in arguments.items()}
        calls.append(Call(tool=tool, arguments=told))
        seen += str(DECLARATIONS[tool].call(office, told))

    def place(call: Call) -> int:
        ids = [value for name, value in call.arguments.items() if name.endswith("_id")]
        return seen.find(ids[0]) if ids else 0

    return [*calls, *sorted((parse_call(call) for call in task.gold), key=place)]


def values_of(task: WorkbenchTask) -> dict[str, str]:
    """Return what the places of a task's template hold in its query."""
    parts = re.split(r"\{(\w+)\}", task.phrasing)
    pattern = "".join(
        re.escape(part) if number % 2 == 0 else f"(?P<{part}>.+?)" for number, part in enumerate(parts)
    )
    found = re.fullmatch(pattern, task.query, re.DOTALL)
    return {} if found is None else found.groupdict()


def _addressed(office: Office, value: str) -> str:
    if not value.startswith("@"):
        return value
    found = DECLARATIONS[DIRECTORY].call(office, {"name": value[1:]})
    return str(found[0]) if isinstance(found, list) else str(found)


def _day(words: str) -> date:
    day = dates_by(TOOL_NOTES)(words)
    assert day is not None, words
    return day


def _on(words: str) -> dict[str, str]:
    day = _day(words)
    return {"time_min": f"{day} 00:00:00", "time_max": f"{day} 23:59:59"}


def _around(values: Values) -> list[Read]:
    """Look at one side of a time of day."""
    bounds = _on(values["next_day"])
    hour, _, minute = values["natural_language_time"].partition(":")
    side = "time_min" if values["before_or_after"] == "after" else "time_max"
    in_24 = int(hour) + 12 if int(hour) < 8 else int(hour)
    moment = f"{_day(values['next_day'])} {in_24:02}:{minute or '00'}:00"
    return [(CALENDAR, {**bounds, side: moment})]


def _since(days: str) -> str:
    return str(_day("today") - timedelta(days=int(days)))


def _last_week(values: Values) -> list[Read]:
    found = {"query": values["subject"], "date_min": "2023-11-23", "date_max": YESTERDAY}
    return [(EMAIL, found), _find(values["recipient_name"])]


def _find(name: str) -> Read:
    return DIRECTORY, {"name": name}


def _tasks(name: str, **more: str) -> list[Read]:
    return [_find(name), (TASKS, {"assigned_to_email": f"@{name}", **more})]


def _both(values: Values, **more: str) -> list[Read]:
    return [*_tasks(values["name_1"], **more), _find(values["name_2"])]


_LATE = {"list_name": "Backlog"}
EXPERTS: Mapping[str, Callable[[Values], Sequence[Read]]] = {
    "Cancel my first meeting on {natural_language_date}": lambda v: [
        (CALENDAR, _on(v["natural_language_date"]))
    ],
    "Change the name of the last event on {natural_language_date} to {event_name}": lambda v: [
        (CALENDAR, _on(v["natural_language_date"]))
    ],
    "Push back my first meeting with {name} on {natural_language_date} by {duration}s": lambda v: [
        (CALENDAR, {"query": v["name"], **_on(v["natural_language_date"])})
    ],
    "Cancel the next {event_name} meeting": lambda v: [
        (CALENDAR, {"query": v["event_name"], "time_min": NOW})
    ],
    "Rename the next {event_name} meeting to {new_event_name}": lambda v: [
        (CALENDAR, {"query": v["event_name"], "time_min": NOW})
    ],
    "Cancel my next meeting with {name}": lambda v: [(CALENDAR, {"query": v["name"], "time_min": NOW})],
    "If I haven't met with {name} in the last {duration} days, schedule a 30-minute meeting called"
    " 'catch-up' for my first free slot from tomorrow": lambda v: [
        (CALENDAR, {"query": v["name"], "time_min": f"{_since(v['duration'])} 00:00:00", "time_max": NOW}),
        (CALENDAR, _on("tomorrow")),
        _find(v["name"]),
    ],
    "Cancel my meetings on {next_day} {before_or_after} {natural_language_time}": _around,
    "Cancel all future meetings with {name}": lambda v: [(CALENDAR, {"query": v["name"], "time_min": NOW})],
    "Cancel future {event_name} meetings": lambda v: [
        (CALENDAR, {"query": v["event_name"], "time_min": NOW})
    ],
    "Create a {duration} event called {event_name} on {natural_language_date} at {natural_language_time}"
    " with {name}": lambda v: [_find(v["name"])],
    "Delete my last email from {name}": lambda v: [(EMAIL, {"query": v["name"]})],
    "Delete all my emails from {name} from the last {days} days": lambda v: [
        (EMAIL, {"query": v["name"], "date_min": _since(v["days"])})
    ],
    "Send an email to {name} saying '{body}' and title it '{subject}'": lambda v: [_find(v["name"])],
    "Reply to {name}'s last email about '{subject}' with 'Thanks for the update - I will get back to you"
    " tomorrow.'": lambda v: [(EMAIL, {"query": f"{v['name']} {v['subject']}"})],
    "Forward all the emails from {name} last week about '{subject}' to {recipient_name}": _last_week,
    "Forward the latest email about '{subject}' to {recipient_name}": lambda v: [
        (EMAIL, {"query": v["subject"]}),
        _find(v["recipient_name"]),
    ],
    "Forward my most recent email from {sender_name} to {recipient_name}": lambda v: [
        (EMAIL, {"query": v["sender_name"]}),
        _find(v["recipient_name"]),
    ],
    "Forward the last email about '{subject}' to {recipient_name1} and {recipient_name2}": lambda v: [
        (EMAIL, {"query": v["subject"]}),
        _find(v["recipient_name1"]),
        _find(v["recipient_name2"]),
    ],
    "Reply to the latest email from {sender_name} with 'Got it, thank you!'": lambda v: [
        (EMAIL, {"query": v["sender_name"]})
    ],
    "Move all of {name}'s tasks that are in progress to in review": lambda v: _tasks(
        v["name"], list_name="In Progress"
    ),
    "Add a new task to the {board} backlog called {task_name} and assign it to {name}. It's due on"
    " {natural_language_due_date}.": lambda v: [_find(v["name"])],
    "Move all of {name}'s overdue tasks in the backlog to in progress": lambda v: _tasks(v["name"], **_LATE),
    "Move any of {name}'s tasks that are in review to completed": lambda v: _tasks(
        v["name"], list_name="In Review"
    ),
    "{name_1} is sick so reassign their in progress tasks to {name_2}.": lambda v: _both(
        v, list_name="In Progress"
    ),
    "{name_1} is on vacation now so move all their unfinished tasks to the backlog.": lambda v: _tasks(
        v["name_1"]
    ),
    "Give all the overdue tasks that {name_1} hasn't started to {name_2}.": lambda v: _both(v, **_LATE),
    "Take {name_1}'s most urgent task and reassign it to {name_2}.": lambda v: _both(v),
}
