"""Options from a settings file: what the user says now counts, and a file that was found is not trusted."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from plait.errors import UserError
from plait.outfit.settings import VARIABLE, in_force, options_with
from plait.runtime.options import Options
from plait.runtime.settings_file import FILE_NAME, SettingsFile, read

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "settings.md"


def file_of(tmp_path: Path, text: str, *, named: bool = True) -> SettingsFile:
    (tmp_path / FILE_NAME).write_text(text)
    return read(tmp_path / FILE_NAME, named=named)


def test_a_flag_goes_before_the_file_and_the_file_before_the_default(tmp_path: Path):
    begun = options_with({"seed": 3}, file_of(tmp_path, "seed = 1\nrounds = 2"))
    assert (begun.options.seed, begun.options.rounds, begun.options.steps) == (3, 2, Options.steps)
    [told] = begun.told
    assert told == f"from {tmp_path / FILE_NAME}: rounds 2"


def test_what_is_taken_is_told_briefly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    text = 'domain = "story"\nteams = 3\nno-experience = true\ntemperatures = [0.2, 0.4]\nsandbox = false'
    told = options_with({}, file_of(tmp_path, text)).told
    assert told == (
        "from plait.toml: domain story, teams 3, temperatures 0.2,0.4, sandbox off, no-experience",
    )
    assert options_with({"seed": 2}, file_of(tmp_path, "seed = 3")).told == ()
    many = 'model = "ollama:' + "x" * 400 + '"'
    assert len(options_with({}, file_of(tmp_path, many)).told[0]) == 300


@pytest.mark.parametrize(
    ("text", "switches", "without"),
    [
        ("no-experience = true", {}, ("experience",)),
        ("no-experience = true", {"experience": True}, ()),
        ("no-experience = true", {"tool-gate": False}, ("experience", "tool-gate")),
        ("no-gates = true", {"tool-gate": True}, ("planner-gate", "answer-gate", "phase-gate")),
        ("", {"reflection": False}, ("reflection",)),
    ],
)
def test_a_flag_switches_on_or_off_over_the_file(
    tmp_path: Path, text: str, switches: Mapping[str, bool], without: tuple[str, ...]
):
    begun = options_with({}, file_of(tmp_path, text), switches)
    assert begun.options.without == without
    for name, on in switches.items():
        assert not any(f"no-{name}" in line for line in begun.told), on


def test_a_list_that_a_program_gives_replaces_that_of_the_file(tmp_path: Path):
    file = file_of(tmp_path, "no-experience = true")
    assert options_with({"without": ["tool-gate"]}, file).options.without == ["tool-gate"]


def test_each_strand_has_one_switch_everywhere(tmp_path: Path):
    text = 'domain = "software"\nno-teams = true\nno-reflection = true\nno-experience = true'
    from_file = options_with({}, file_of(tmp_path, text)).options
    said: dict[str, Any] = {"domain": "software", "without": ["teams", "reflection", "experience"]}
    from_python = options_with(said).options
    for options in (from_file, from_python):
        assert options.teams == 1
        assert set(options.without) == {"reflection", "experience"}
    assert options_with({"teams": 3}, file_of(tmp_path, text)).options.teams == 3
    with pytest.raises(UserError, match="--teams 3 and --no-teams exclude each other"):
        options_with({**said, "teams": 3})


def test_a_preset_counts_where_it_is_said(tmp_path: Path):
    text = 'domain = "software"\nteams = 3\ntemperatures = [0.9]\nreading = "strict"'
    own = options_with({}, file_of(tmp_path, text + '\npreset = "paper"')).options
    assert (own.teams, own.quality_reading()) == (3, "strict")
    now = options_with({"preset": "paper"}, file_of(tmp_path, text)).options
    assert (now.teams, now.temperatures, now.quality_reading()) == (8, (), "official")
    both = options_with({"preset": "paper", "teams": 2}, file_of(tmp_path, text)).options
    assert both.teams == 2


def test_what_means_nothing_in_the_domain_is_passed_over(tmp_path: Path):
    file = file_of(tmp_path, 'tools = ["desk"]\ncheck = "true"\nseed = 4')
    options = options_with({"domain": "story"}, file).options
    assert (options.tools, options.check, options.seed) == ((), "", 4)
    assert (options.tools_folder, options.check_folder) == ("", "")
    assert options_with({}, file).options.tools_folder == str(tmp_path)
    both = file_of(tmp_path, 'leave-out = ["2:revision"]\nteams = 2')
    assert options_with({"domain": "story"}, both).options.leave_out == ("2:revision",)
    assert options_with({}, both).options.leave_out == ()


def test_a_value_that_cannot_be_is_blamed_on_who_said_it(tmp_path: Path):
    with pytest.raises(UserError, match=r"settings file '.*plait.toml': --seed must be between"):
        options_with({}, file_of(tmp_path, "seed = -1"))
    with pytest.raises(UserError, match=r"^--seed must be between"):
        options_with({"seed": -1}, file_of(tmp_path, "rounds = 2"))
    with pytest.raises(UserError, match="there are: "):
        options_with({}, file_of(tmp_path, 'without = ["gate"]'))


NEEDS_NAMING = [
    'model = "openai:gpt-5"',
    'model = "anthropic:claude"',
    'base-url = "https://models.example/v1"',
    'base-url = "http://localhost:8000/v1"',
    "max-usd = 6",
    "max-calls = 201",
    "max-tokens = 1_000_001",
    "max-seconds = 3_601",
    "max-effects = 51",
    "yes = true",
    'allow = ["*"]',
    'tools = ["mcp.json"]',
    'check = "make"',
    'file = ["/etc/hostname"]',
    'out = "."',
    'prompts = "."',
    'domain = "mine.toml"',
    "sandbox = false",
    'returns = "answer.json"',
]


@pytest.mark.parametrize("text", NEEDS_NAMING)
def test_a_file_that_was_found_cannot_spend_permit_or_execute(tmp_path: Path, text: str):
    (tmp_path / "answer.json").write_text('{"type": "integer"}')
    key = text.partition(" ")[0].replace("file", "files")
    with pytest.raises(UserError, match=rf"was found, not named, so it cannot set {key}: say --settings"):
        options_with({}, file_of(tmp_path, text, named=False))
    options_with({}, file_of(tmp_path, text, named=True))


@pytest.mark.parametrize(
    "text",
    [
        "max-usd = 0.5",
        "max-effects = 0",
        'model = "ollama:qwen3"',
        'model = "local:qwen2.5-coder-0.5b"',
        'deny = ["write_*"]',
        "dry-run = true",
        "yes = false",
        "sandbox = true",
        'domain = "software"\nmax-calls = 1_500\nteams = 8',
        'domain = "story"\ntools = ["mcp.json"]',
    ],
)
def test_a_file_that_was_found_says_how_a_run_works(tmp_path: Path, text: str):
    options_with({}, file_of(tmp_path, text, named=False))


def test_the_file_that_the_page_shows_is_taken_where_it_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    [shown] = re.findall(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    [line] = options_with({}, file_of(tmp_path, shown, named=False)).told
    assert f"\n{line}\n" in text


def test_what_the_user_says_now_is_not_the_files_doing(tmp_path: Path):
    file = file_of(tmp_path, 'yes = true\nmodel = "openai:gpt-5"', named=False)
    said: dict[str, Any] = {"yes": False, "model": "local:qwen2.5-coder-0.5b"}
    assert options_with(said, file).options.yes is False


def test_a_file_is_named_by_the_user_or_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "other.toml").write_text("seed = 5")
    monkeypatch.chdir(tmp_path / "here")
    assert in_force() is None
    (tmp_path / FILE_NAME).write_text("seed = 6")
    found = in_force()
    assert found is not None
    assert (found.named, found.values) == (False, {"seed": 6})
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other.toml"))
    named = in_force()
    assert named is not None
    assert (named.named, named.values) == (True, {"seed": 5})
    said = in_force(tmp_path / FILE_NAME)
    assert said is not None
    assert (said.named, said.values) == (True, {"seed": 6})


def test_a_folder_that_is_gone_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert in_force() is None
