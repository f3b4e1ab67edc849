"""The calendar: look up, search, create, delete and change events.

Knows nothing of the people's free time: two events at one time are allowed.
"""

from plait.tools.office.declaration import SEARCH_LIMIT, Declaration, OfficeAnswer, choice, contains, text
from plait.tools.office.moments import bounds
from plait.tools.office.tables import COLUMNS, Office

_FIELDS = COLUMNS["calendar_events"]


def get_event_information_by_id(
    office: Office, event_id: str | None = None, field: str | None = None
) -> OfficeAnswer:
    """Return one field of an event."""
    if not event_id:
        return "Event ID not provided."
    if not field:
        return "Field not provided."
    event = office.events.find(event_id)
    if event is None:
        return "Event not found."
    return {field: event[field]} if field in event else "Field not found."


def search_events(
    office: Office, query: str | None = None, time_min: str | None = None, time_max: str | None = None
) -> OfficeAnswer:
    """Return the first events, in the order of the table, that match and start within the bounds."""
    within = bounds(by_day=False, time_min=time_min, time_max=time_max)
    if isinstance(within, str):
        return within
    found = [
        dict(event)
        for event in office.events.rows
        if (contains(event["event_name"], query) or contains(event["participant_email"], query))
        and within.admit(event["event_start"])
    ]
    return found[:SEARCH_LIMIT] or "No events found."


def create_event(
    office: Office,
    event_name: str | None = None,
    participant_email: str | None = None,
    event_start: str | None = None,
    duration: str | None = None,
) -> OfficeAnswer:
    """Add an event and return its id."""
    if not event_name:
        return "Event name not provided."
    if not participant_email:
        return "Participant email not provided."
    if not event_start:
        return "Event start not provided."
    if not duration:
        return "Event duration not provided."
    event_id = f"{office.events.next_id():08}"
    office.events.append((event_id, event_name, participant_email.lower(), event_start, duration))
    return event_id


def delete_event(office: Office, event_id: str | None = None) -> OfficeAnswer:
    """Take an event out of the calendar."""
    if not event_id:
        return "Event ID not provided."
    if office.events.find(event_id) is None:
        return "Event not found."
    office.events.delete(event_id)
    return "Event deleted successfully."


def update_event(
    office: Office, event_id: str | None = None, field: str | None = None, new_value: str | None = None
) -> OfficeAnswer:
    """Set one column of an event."""
    if not event_id or not field or not new_value:
        return "Event ID, field or new value not provided."
    if office.events.find(event_id) is None:
        return "Event not found."
    if field not in _FIELDS:
        return "Field not found."
    office.events.set(event_id, field, new_value.lower() if field == "participant_email" else new_value)
    return "Event updated successfully."


_ID = text("8-digit event id from a search")

TOOLS = (
    Declaration(
        name="calendar.get_event_information_by_id",
        description="Read one field of a calendar event.",
        function=get_event_information_by_id,
        parameters={"event_id": _ID, "field": choice("field to read", _FIELDS)},
        required=("event_id", "field"),
    ),
    Declaration(
        name="calendar.search_events",
        description="Find calendar events (meetings), earliest first, at most 5;"
        " narrow the times to see later ones.",
        function=search_events,
        most_rows=SEARCH_LIMIT,
        parameters={
            "query": text("part of the event name or of the participant's address"),
            "time_min": text('earliest start, "YYYY-MM-DD HH:MM:SS"'),
            "time_max": text('latest start, "YYYY-MM-DD HH:MM:SS"'),
        },
    ),
    Declaration(
        name="calendar.create_event",
        description="Create a calendar event with one participant; returns its id.",
        function=create_event,
        parameters={
            "event_name": text("name of the event"),
            "participant_email": text("full e-mail address of the participant"),
            "event_start": text('start, "YYYY-MM-DD HH:MM:SS"'),
            "duration": text("length in minutes, a number"),
        },
        required=("event_name", "participant_email", "event_start", "duration"),
        effect="changes",
    ),
    Declaration(
        name="calendar.delete_event",
        description="Delete (cancel) one calendar event.",
        function=delete_event,
        parameters={"event_id": _ID},
        required=("event_id",),
        effect="changes",
    ),
    Declaration(
        name="calendar.update_event",
        description="Change one field of a calendar event: rename it, move it, change its length.",
        function=update_event,
        parameters={
            "event_id": _ID,
            "field": choice("field to change", _FIELDS[1:]),
            "new_value": text('new value; a start as "YYYY-MM-DD HH:MM:SS", a duration in minutes'),
        },
        required=("event_id", "field", "new_value"),
        effect="changes",
    ),
)
