"""The settings file: found, read, and refused in a line that says what is meant."""

import json
from pathlib import Path

import pytest

from plait.errors import UserError
from plait.runtime.options import NOTED, Options
from plait.runtime.settings_file import FILE_NAME, MOST_BYTES, find, read


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FILE_NAME
    file.write_text(text)
    return file


def values(tmp_path: Path, text: str):
    return read(written(tmp_path, text), named=True).values


def test_the_nearest_file_above_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    outer, inner = written(tmp_path, ""), written(tmp_path / "a" / "b", "")
    (tmp_path / "a" / "b" / "c").mkdir()
    assert find(tmp_path / "a" / "b" / "c") == inner
    assert find(tmp_path / "a") == outer
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert find(tmp_path / "home") is None
    own = written(tmp_path / "home", "")
    assert find(tmp_path / "home") == own
    assert find(tmp_path / "a") == outer


def test_options_have_the_names_of_flags(tmp_path: Path):
    said = values(
        tmp_path,
        """
        max-calls = 40
        max_tokens = 1_000
        temperatures = [0, 0.4]
        tool-threshold = "p85"
        planner_threshold = 7
        no-experience = true
        no-prune = false
        without = ["tool-gate"]
        """,
    )
    assert said == {
        "max_calls": 40,
        "max_tokens": 1000,
        "temperatures": (0, 0.4),
        "tool_threshold": "p85",
        "planner_threshold": 7,
        "without": ("tool-gate", "experience"),
    }
    Options(**said)


def test_no_teams_is_one_team(tmp_path: Path):
    assert values(tmp_path, "no-teams = true") == {"teams": 1, "without": ()}
    with pytest.raises(UserError, match="exclude each other"):
        values(tmp_path, "no-teams = true\nteams = 3")


def test_paths_begin_in_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "answer.json").write_text(json.dumps({"type": "integer"}))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    said = values(
        tmp_path,
        'tools = ["desk.py", "pkg.desk"]\nfile = ["list.txt"]\nout = "made"\nprompts = "mine"\n'
        'domain = "x.toml"\ncheck = "make"\nreturns = "answer.json"',
    )
    assert said["tools"] == (str(tmp_path / "desk.py"), "pkg.desk")
    assert (said["tools_folder"], said["check_folder"]) == (str(tmp_path), str(tmp_path))
    assert said["files"] == (str(tmp_path / "list.txt"),)
    assert said["out"] == str(tmp_path / "made")
    assert said["prompts"] == str(tmp_path / "mine")
    assert said["domain"] == str(tmp_path / "x.toml")
    assert said["returns"] == {"type": "integer"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("seed = 1\nteems = 3", "line 2: teems is no option; did you mean teams?"),
        ("no-gate = true", "line 1: no-gate is no option; did you mean no-gates?"),
        ("experience = false", "experience is no option; did you mean no-experience?"),
        ("zzz = 1", "zzz is no option; see plait run --help"),
        ("\n[strands]\nteams = 3", "line 2: strands is a table: options stand on lines of their own"),
        ('teams = "3"', "line 1: teams must be a whole number, not '3'"),
        ("teams = true", "teams must be a whole number, not True"),
        ("max-calls = 1.5", "max-calls must be a whole number, not 1.5"),
        ('temperature = "hot"', "temperature must be a number, not 'hot'"),
        ("yes = 1", "yes must be true or false, not 1"),
        ("no-experience = 1", "no-experience must be true or false, not 1"),
        ("model = 1", 'model must be a text, "...", not 1'),
        ('tools = "a.py"', "tools must be a list of texts, [\"...\"], not 'a.py'"),
        ('temperatures = ["0.2"]', "temperatures must be a list of numbers, not ['0.2']"),
        ('tool-threshold = "high"', "line 1: --tool-threshold must be a score from 0 to 10"),
        ("tool-threshold = []", "tool-threshold must be a score from 0 to 10, or a percentile"),
        ("returns = {}", "returns must be the name of a file with a JSON schema"),
        ('returns = "none.json"', "none.json' cannot be read"),
        ("max-calls = 1\nmax_calls = 2", "line 2: max_calls says max_calls a second time"),
        ("teams = = 3", r"is no TOML: .*line 1"),
        ("unpriced = true", "unpriced is no option"),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(tmp_path: Path, text: str, line: str):
    file = written(tmp_path, text)
    with pytest.raises(UserError) as refused:
        read(file, named=True)
    message = refused.value.message
    assert message.startswith(f"settings file {str(file)!r}")
    assert "\n" not in message
    assert all(part in message for part in line.split(".*"))


@pytest.mark.parametrize("name", NOTED)
def test_what_nobody_says_cannot_stand_in_a_file(tmp_path: Path, name: str):
    with pytest.raises(UserError, match="is no option"):
        read(written(tmp_path, f'{name} = ""'), named=True)


def test_a_file_that_is_none(tmp_path: Path):
    with pytest.raises(UserError, match=r"missing.toml' cannot be read: No such file"):
        read(tmp_path / "missing.toml", named=True)
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        read(tmp_path, named=True)
    (tmp_path / FILE_NAME).write_bytes(b"model = '\xff'")
    with pytest.raises(UserError, match="is not UTF-8"):
        read(tmp_path / FILE_NAME, named=True)
    with pytest.raises(UserError, match="is longer than 65,536 bytes"):
        read(written(tmp_path, "#" * (MOST_BYTES + 1)), named=True)
    with pytest.raises(UserError, match="is no TOML"):
        read(written(tmp_path, "a = " + "[" * 5_000), named=True)
