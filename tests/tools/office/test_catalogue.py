"""The 27 tools as an agent meets them."""

import inspect
from pathlib import Path

import jsonschema
import pytest

from plait.errors import ToolError
from plait.tools import office
from plait.tools.office import DECLARATIONS
from plait.tools.tool import Tool

CHANGES = {
    "calendar.create_event",
    "calendar.delete_event",
    "calendar.update_event",
    "email.send_email",
    "email.delete_email",
    "email.forward_email",
    "email.reply_email",
    "analytics.create_plot",
    "project_management.create_task",
    "project_management.delete_task",
    "project_management.update_task",
    "customer_relationship_manager.update_customer",
    "customer_relationship_manager.add_customer",
    "customer_relationship_manager.delete_customer",
}


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    return {tool.name: tool for tool in office.toolset(tmp_path)}


def test_there_are_27_and_14_change_the_world(tools: dict[str, Tool]) -> None:
    assert len(tools) == 27
    assert {name for name, tool in tools.items() if tool.effect == "changes"} == CHANGES
    assert {tool.source for tool in tools.values()} == {"plait.tools.office"}


@pytest.mark.parametrize("name", list(DECLARATIONS))
def test_what_is_declared_is_what_the_function_takes(name: str) -> None:
    declaration = DECLARATIONS[name]
    taken = [
        parameter
        for parameter in inspect.signature(declaration.function).parameters.values()
        if parameter.name != "office"
    ]
    assert [parameter.name for parameter in taken] == list(declaration.parameters)
    assert all(parameter.default in (None, "") for parameter in taken)
    assert set(declaration.required) <= set(declaration.parameters)
    assert declaration.function.__name__ == name.split(".")[1]


def test_schemas_are_valid_and_short(tools: dict[str, Tool]) -> None:
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert len(tool.description) < 110
        assert all(len(schema["description"]) < 90 for schema in tool.parameters["properties"].values())


def test_every_declared_option_is_accepted(tools: dict[str, Tool]) -> None:
    fields = tools["email.get_email_information_by_id"].parameters["properties"]["field"]["enum"]
    assert fields == ["email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body"]
    for field in fields:
        answer = DECLARATIONS["email.get_email_information_by_id"].call(
            office.Office(None), {"email_id": "00000373", "field": field}
        )
        assert isinstance(answer, dict)
        assert list(answer) == [field]


async def test_tools_of_one_set_share_one_office(tools: dict[str, Tool], tmp_path: Path) -> None:
    assert await tools["calendar.delete_event"].run({"event_id": "00000013"}) == "Event deleted successfully."
    looked_up = {"event_id": "00000013", "field": "duration"}
    assert await tools["calendar.get_event_information_by_id"].run(looked_up) == "Event not found."
    assert len(office.Office(tmp_path).events.rows) == 299


@pytest.mark.parametrize("name", list(DECLARATIONS))
async def test_a_call_without_arguments_is_answered_and_changes_nothing(
    name: str, tools: dict[str, Tool], tmp_path: Path
) -> None:
    answer = await tools[name].run({})
    if DECLARATIONS[name].required:
        assert isinstance(answer, str)
    assert answer
    assert all(
        [dict(row) for row in table.rows] == [dict(row) for row in office.Office(None).tables[name].rows]
        for name, table in office.Office(tmp_path).tables.items()
    )


async def test_values_that_are_no_text_are_made_text(tools: dict[str, Tool], tmp_path: Path) -> None:
    event = {"event_name": "a\ud800", "participant_email": "b@c.d", "event_start": "e", "duration": 30}
    assert await tools["calendar.create_event"].run({**event}) == "00000300"
    assert await tools["calendar.search_events"].run({"query": "a?", "time_min": None}) == [
        {
            "event_id": "00000300",
            "event_name": "a?",
            "participant_email": "b@c.d",
            "event_start": "e",
            "duration": "30",
        }
    ]


async def test_unknown_and_endless_arguments_are_refused(tools: dict[str, Tool]) -> None:
    with pytest.raises(ToolError, match="no parameter 'id'; it takes event_id"):
        await tools["calendar.delete_event"].run({"id": "00000013"})
    with pytest.raises(ToolError, match="body is longer than 100000 characters"):
        await tools["email.send_email"].run({"recipient": "a@b.c", "subject": "s", "body": "x" * 100_001})


def test_the_notes_say_today_and_the_hours() -> None:
    for fact in ("Thursday 2023-11-30", "2023-11-30 00:00:00", "09:00", "18:00"):
        assert fact in office.TOOL_NOTES


def test_the_licence_travels_with_the_data() -> None:
    data = Path(office.__file__).parent / "data"
    assert "MIT License" in (data / "LICENSE").read_text()
    assert "WorkBench" in (data / "NOTICE").read_text()
