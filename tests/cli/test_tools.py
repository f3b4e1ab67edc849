"""`plait tools list`: what is shown of a source, and what is said of a bad one."""

import json
import sys
from pathlib import Path

import pytest

from plait.cli.app import run
from plait.paths import pins_file
from plait.tools.mcp_config import read_servers

TOOLS = '''
from typing import Literal
from plait.tools.functions import tool

TOOL_NOTES = "Today is Monday [sic]."

@tool(effect="reads", name="box.look")
def look(side: Literal["left", "right"], depth: int = 2) -> str:
    """Look into the box.

    Args:
        side: Where to look.
    """

@tool
def put(thing: str): ...
'''

SERVER = '''
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("s")

@server.tool()
def say() -> str:
    """Say all you know."""

server.run(transport="stdio")
'''


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_HOME", str(tmp_path / "home"))


def test_a_model_sees_signatures_and_the_user_sees_effects(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "box.py").write_text(TOOLS)
    assert run(["tools", "list", str(tmp_path / "box.py")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Today is Monday [sic].",
        'reads   box.look(side: Literal["left", "right"], depth: int = 2)  # Look into the box.',
        "    # side: Where to look.",
        "changes put(thing: str)",
        "2 tools: 1 only read, 1 change something",
    ]


def test_json_holds_the_schemas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(tmp_path / "box.py")
    Path(source).write_text(TOOLS)
    assert run(["tools", "list", source, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["notes"] == "Today is Monday [sic]."
    assert [tool["name"] for tool in shown["tools"]] == ["box.look", "put"]
    assert shown["tools"][1] == {
        "name": "put",
        "description": "",
        "parameters": {
            "type": "object",
            "properties": {"thing": {"type": "string"}},
            "required": ["thing"],
            "additionalProperties": False,
        },
        "effect": "changes",
        "source": source,
        "timeout_seconds": 60.0,
        "observation_characters": 4000,
        "changed": False,
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.py"], "plait: nowhere.py: there is no such file\n"),
        (["no_such_module_here"], "plait: there is no module 'no_such_module_here'"),
    ],
)
def test_a_bad_source_is_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tools", "list", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(said)
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_changed_server_is_shown_and_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, source = tmp_path / "server.py", str(tmp_path / "mcp.json")
    script.write_text(SERVER)
    configuration = {"mcpServers": {"s": {"command": sys.executable, "args": [str(script)]}}}
    Path(source).write_text(json.dumps(configuration))
    [server] = read_servers(configuration, source=source)
    pins = pins_file()
    pins.parent.mkdir()
    pins.write_text(json.dumps({server.identity: {"s.say": "as it was before"}}))
    assert run(["tools", "list", source]) == 0
    assert "changes s.say()  # Say all you know.  changed" in capsys.readouterr().out
    assert "as it was before" in pins.read_text()
    assert run(["tools", "list", source, "--accept", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tools"][0]["changed"] is False
    assert "as it was before" not in pins.read_text()
