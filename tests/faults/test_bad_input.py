"""What a user can get wrong: one clear line, status 2, and no run left behind."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.support import notebook
from tests.support.child import MAIN
from tests.support.commands import Commands, runs

NOWHERE = "http://127.0.0.1:9/v1"

BAD_TOOLS = {
    "broken.py": ("def f(:\n", "broken.py:1: SyntaxError"),
    "raises.py": ("\n\n1 / 0\n", "raises.py:3: cannot be imported: ZeroDivisionError"),
    "leaves.py": ("import sys\nsys.exit(3)\n", "leaves.py:2: cannot be imported: SystemExit: 3"),
    "empty.py": ("x = 1\n", "empty.py: no tools found in it"),
    "half.json": ('{"mcpServers": ', "half.json"),
    "other.json": ('{"servers": {}}', 'has neither "mcpServers" nor "openapi"'),
    "nameless.json": ('{"mcpServers": {"a": {}}}', "nameless.json"),
    "unstartable.json": (
        json.dumps({"mcpServers": {"a": {"command": "no-such-command-anywhere"}}}),
        "no-such-command-anywhere",
    ),
}


def refused(plait: Commands, arguments: list[str], line: str) -> None:
    said = plait(*arguments)
    assert (said.status, said.out) == (2, ""), said.err
    assert said.last.startswith("plait: ")
    assert line in said.last
    assert "Traceback" not in said.err
    assert [text for text in said.err.splitlines() if text.startswith("plait: ")] == [said.last]
    assert runs() == []


@pytest.mark.parametrize("name", BAD_TOOLS)
def test_tools_that_cannot_be_used(name: str, plait: Commands, tmp_path: Path):
    content, line = BAD_TOOLS[name]
    (tmp_path / name).write_text(content)
    arguments = ["run", "do it", "--base-url", NOWHERE, "--model", "m", "--tools", str(tmp_path / name)]
    refused(plait, arguments, line)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("missing.py", "missing.py: there is no such file"),
        ("missing.json", "missing.json"),
        ("no.such.module", "there is no module 'no.such.module'"),
        ("not a module", "'not a module': is no source of tools"),
        ("http://127.0.0.1:9/openapi.json", "http://127.0.0.1:9/openapi.json"),
    ],
)
def test_tools_that_are_not_there(source: str, line: str, plait: Commands):
    refused(plait, ["run", "do it", "--base-url", NOWHERE, "--model", "m", "--tools", source], line)


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (["--domain", "music"], "--domain 'music' is unknown; there are: tools, software, story"),
        (["--max-calls", "-5"], "--max-calls must be a positive finite number, not -5"),
        (["--max-tokens", "0"], "--max-tokens must be a positive finite number, not 0"),
        (["--max-usd", "-0.5"], "--max-usd must be"),
        (["--max-seconds", "nan"], "--max-seconds must be"),
        (["--max-effects", "-1"], "--max-effects must be 0 or more"),
        (["--rounds", "-1"], "--rounds must be at least 1"),
        (["--steps", "0"], "--steps must be at least 1"),
        (["--temperature", "-1"], "--temperature must be between 0 and 2"),
        (["--tool-threshold", "11"], "--tool-threshold must be between 0 and 10"),
        (["--max-calls", "many"], "'--max-calls'"),
        (["--file", "missing.txt"], "missing.txt' does not exist"),
        (["--prompts", "missing"], "missing' is no folder; name the folder with your own prompts"),
        (["--returns", "missing.json"], "--returns 'missing.json' cannot be read"),
        (["--base-url", "localhost:8000"], "localhost:8000"),
        (["--base-url", "nonsense"], "nonsense"),
        (["--base-url", "ftp://here/v1"], "ftp://here/v1"),
        (["--base-url", "http://u:secret@here/v1"], "password"),
        (["--model", "openai:gpt-5", "--base-url", ""], "OPENAI_API_KEY"),
        (["--model", "nowhere:model", "--base-url", ""], "nowhere"),
        (["--model", "local:nothing", "--base-url", ""], "nothing"),
        (["--model", "plain", "--base-url", ""], "names no provider"),
    ],
)
def test_options_that_cannot_be(flags: list[str], line: str, plait: Commands):
    given = ["run", "do it", "--base-url", NOWHERE, "--model", "m", "--tools", notebook.SOURCE, *flags]
    refused(plait, given, line)


@pytest.mark.parametrize("task", ["", " \n\t"])
def test_an_empty_task(task: str, plait: Commands):
    refused(plait, ["run", task, "--tools", notebook.SOURCE], "the task is empty")


def test_a_folder_that_cannot_be_made(plait: Commands, tmp_path: Path):
    (tmp_path / "file").touch()
    out = str(tmp_path / "file" / "below")
    given = ["run", "do it", "--base-url", NOWHERE, "--model", "m", "--tools", notebook.SOURCE, "--out", out]
    refused(plait, given, "cannot be made")


@pytest.mark.parametrize(
    "command", [["resume"], ["fork", "--from", "round-1"], ["replay"], ["show"], ["runs", "rm"]]
)
def test_a_run_that_is_not_there(command: list[str], plait: Commands):
    at = 2 if command[0] == "runs" else 1
    refused(plait, [*command[:at], "20990101-nothing", *command[at:]], "20990101-nothing")


def test_a_damaged_model_file(plait: Commands, own_data_folder: Path):
    (own_data_folder / "models").mkdir(parents=True)
    (own_data_folder / "broken.gguf").write_bytes(b"GGUF" + bytes(100))
    said = plait("models", "add", "broken", str(own_data_folder / "broken.gguf"))
    if said.status == 0:
        said = plait("run", "do it", "--model", "local:broken", "--tools", notebook.SOURCE)
    assert said.status in (1, 2)
    assert said.last.startswith("plait: ")
    assert "broken" in said.last
    assert "Traceback" not in said.err


def test_a_prompt_of_the_users_that_does_not_fit_is_named(plait: Commands, tmp_path: Path):
    (tmp_path / "planner.md").write_text("Plan {{tsak}}.")
    said, _ = plait.solve("--yes", "--prompts", str(tmp_path))
    assert said.status == 2
    assert f"prompt {str(tmp_path / 'planner.md')!r} does not fit its values" in said.last


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_no_fault(closed: str):
    shell = ["sh", "-c", f'"$@" {closed}', "sh", *MAIN, "runs"]
    ended = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
