"""Sources of every kind, and what is said when one is missing or broken."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from plait.errors import UserError
from plait.tools.sources import Source, Toolset, open_tools

TAGGED = '''
"""Tools."""
from dataclasses import dataclass
from plait.tools.functions import tool
from sibling import NUMBER

@dataclass
class Point:
    x: "Number"

Number = int

@tool(effect="reads")
def look(at: Point) -> int:
    """Look."""
    return at.x + NUMBER

alias = look

@tool
def put(x: int) -> str:
    return str(x)

def helper(): ...
'''

STATEFUL = """
from pathlib import Path
from plait.tools.functions import tool

TOOL_NOTES = "Today is Monday."

def toolset(folder: Path):
    def write(text: str) -> str:
        (folder / "out").write_text(text)
        return "ok"
    return [write]

@tool
def not_offered(): ...
"""


def file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


async def opened(sources: Sequence[Source], folder: Path) -> Toolset:
    async with open_tools(sources, folder) as toolset:
        return toolset


async def test_a_file_gives_its_tagged_functions(tmp_path: Path) -> None:
    file(tmp_path, "sibling.py", "NUMBER = 1")
    source = file(tmp_path, "mine.py", TAGGED)
    before = list(sys.path)
    toolset = await opened([source], tmp_path)
    assert [(tool.name, tool.effect, tool.source) for tool in toolset.tools] == [
        ("look", "reads", source),
        ("put", "changes", source),
    ]
    assert await toolset.tools[0].run({"at": {"x": 2}}) == 3
    assert sys.path == before


async def test_a_toolset_keeps_state_in_the_folder_and_has_notes(tmp_path: Path) -> None:
    toolset = await opened([file(tmp_path, "stateful.py", STATEFUL)], tmp_path)
    assert [tool.name for tool in toolset.tools] == ["write"]
    assert await toolset.tools[0].run({"text": "kept"}) == "ok"
    assert (tmp_path / "out").read_text() == "kept"
    assert toolset.notes == "Today is Monday."


async def test_modules_functions_and_tools_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_tools").mkdir()
    file(tmp_path, "own_tools/things.py", "from plait.tools.functions import tool\n@tool\ndef one(): ...\n")
    monkeypatch.chdir(tmp_path)

    def two(n: int) -> int:
        return n

    first = await opened(["own_tools.things", two], tmp_path)
    second = await opened([first.tools[0]], tmp_path)
    assert [tool.name for tool in first.tools] == ["one", "two"]
    assert second.tools == [first.tools[0]]


async def test_names_shared_by_sources_get_the_source_in_front(tmp_path: Path) -> None:
    text = "from plait.tools.functions import tool\n@tool\ndef put(): ...\n"
    sources = [
        file(tmp_path, "first.py", text),
        file(tmp_path, "sec-ond.py", text + "@tool\ndef other(): ...\n"),
    ]
    toolset = await opened(sources, tmp_path)
    assert [tool.name for tool in toolset.tools] == ["first.put", "sec_ond.put", "other"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty.py", "x = 1\n", "{file}: no tools found in it"),
        ("broken.py", "x = 1\ndef f(:\n", "{file}:2: SyntaxError: "),
        (
            "raises.py",
            "x = 1\n\n1 / 0\n",
            "{file}:3: cannot be imported: ZeroDivisionError: division by zero",
        ),
        ("needs.py", "\nimport no_such_module\n", "{file}:2: cannot be imported: ModuleNotFoundError"),
        ("leaves.py", "raise SystemExit(2)\n", "{file}:1: cannot be imported: SystemExit: 2"),
        ("notes.py", "TOOL_NOTES = 5\n", "{file}: TOOL_NOTES must be text, not 5"),
        (
            "made.py",
            "def toolset(folder):\n    raise OSError('full')\n",
            "{file}:2: its toolset() failed: OSError",
        ),
        (
            "odd.py",
            "def toolset(folder):\n    return [1]\n",
            "{file}: toolset() returned 1, which is neither",
        ),
        ("none.py", "def toolset(folder):\n    pass\n", "{file}: its toolset() failed: TypeError"),
        (
            "twice.py",
            "def toolset(folder):\n    def a(): ...\n    return [a, a]\n",
            "two tools are called 'a': from '{file}'",
        ),
        ("bad.json", '{\n "mcpServers": {,}\n}', "{file}:2: is not JSON: "),
        ("bad.yaml", "a: 1\nb: [1\n", "{file}:3: is not YAML: "),
        ("list.json", "[]", "{file}: must hold an object at its top, not list"),
        ("deep.json", "[" * 100_000, "{file}: is nested too deep to be read"),
        ("other.json", "{}", '{file}: has neither "mcpServers" nor "openapi" at its top'),
        ("none.json", '{"mcpServers": {}}', '{file}: "mcpServers" must be an object'),
        ("old.json", '{"swagger": "2.0"}', "{file}: needs an OpenAPI 3 document, not version '2.0'"),
        ("bare.json", '{"openapi": "3.0.0"}', "{file}: no tools found in it"),
        (
            "home.json",
            '{"openapi": "3.0.0", "paths": {"/x": {"get": {}}}}',
            '{file}: names no http address; add it under "servers"',
        ),
        (
            "wrong.json",
            '{"openapi": "3.0.0", "paths": {"/x": {"get": {"parameters": ["a"]}}}}',
            "{file}: GET /x cannot be read: ",
        ),
    ],
)
async def test_what_is_wrong_with_a_file_is_one_clear_line(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    source = file(tmp_path, name, text)
    with pytest.raises(UserError) as caught:
        await opened([source], tmp_path)
    assert caught.value.message.startswith(said.replace("{file}", source))
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("no_such_package.tools", "there is no module 'no_such_package.tools'"),
        ("plait.no_such_module", "there is no module 'plait.no_such_module'"),
        ("plait.errors", "plait.errors: no tools found in it"),
        ("missing.py", "missing.py: there is no such file"),
        ("missing.json", "missing.json: there is no such file"),
        ("what is this", "'what is this': is no source of tools; give a module"),
        ("http://127.0.0.1:9/x.json", "http://127.0.0.1:9/x.json: cannot be fetched: "),
    ],
)
async def test_a_source_that_is_not_there(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        await opened([source], tmp_path)
    assert caught.value.message.startswith(said)
    assert "\n" not in caught.value.message


async def test_a_binary_file_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "d.json").mkdir()
    for name, said in [("x.json", "is not text in UTF-8"), ("d.json", "cannot be read: Is a directory")]:
        with pytest.raises(UserError, match=said):
            await opened([str(tmp_path / name)], tmp_path)


async def test_a_hand_made_tool_with_a_broken_schema_is_found_at_once(tmp_path: Path) -> None:
    def fine(n: int) -> int:
        return n

    [tool] = (await opened([fine], tmp_path)).tools
    broken: Any = {"type": 5}
    object.__setattr__(tool, "parameters", broken)
    with pytest.raises(UserError, match="broken schema"):
        await opened([tool], tmp_path)
