"""The tutorial about domains does what it says: its file, its commands, what it shows."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import Commands
from tests.support.served import served

PAGE = (Path(__file__).parent.parent / "docs" / "tutorial-domain.md").read_text(encoding="utf-8")
REMARKS = "\n# critique: Fine.\n# score: 9"
BODY = "# Bicycles\n\n## What do they cost?\nAs much as a taxi for a month.\n\n## Who rides?\nHalf of us."
ADVICE = "\n\n## Recommendation\nBuy two and see."


def blocks(language: str) -> list[str]:
    """Return the code blocks of the page in one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


DOMAIN, JUDGED = blocks("toml")
COMMANDS = [shlex.split(line)[1:] for block in blocks("sh") for line in block.splitlines()]
MEETING, SLIP = blocks("text")


def reply(body: Mapping[str, Any]) -> str:
    """Write reports without a recommendation until its lack is found."""
    text = "\n".join(message["content"] for message in body["messages"])
    seed = body.get("seed")
    if "You grade a text" in text:
        weak = 4 if ADVICE in text else 2
        return f"usefulness: It gives no advice.\ngrade: {weak}\nhonesty: It invents nothing.\ngrade: 4"
    if "AGREED" in text:
        return "AGREED" + REMARKS
    if "Compare the solutions" in text:
        return "Solution 1\n+ short\n- thin\nSolution 2\n+ rich\n- long" + REMARKS
    if "Now write one solution" in text:
        return f"{BODY}\nMore would.\n# changes: The costs of 1, the riders of 2." + REMARKS
    if "# What is wrong with it" in text:
        return BODY + ADVICE + REMARKS
    if "# Questions" in text:
        return f"{BODY}\nThis is version {seed}." + REMARKS
    return "What do they cost?\nWho rides?\nWhere are they kept?" + REMARKS


@pytest.fixture
def plait(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Commands, in a folder with the page's domain file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.toml").write_text(DOMAIN)
    return Commands(capsys, tmp_path / "notebook.txt")


def test_its_commands_make_what_it_shows(plait: Commands, tmp_path: Path):
    assert [words[0] for words in COMMANDS] == ["run", "run"]
    for words in COMMANDS:
        with served(respond=reply) as endpoint:
            said = plait(*words, "--base-url", endpoint.base_url, "--model", "m")
        assert said.status == 0, said.err
    record = (tmp_path / "bicycles" / "RECORD.md").read_text()
    assert MEETING in record
    assert (tmp_path / "bicycles" / "report.md").read_text() == BODY + ADVICE + "\n"


def test_a_slip_is_told_as_it_says(plait: Commands, tmp_path: Path):
    first, key, last = DOMAIN.partition("key = true\n")
    (tmp_path / "report.toml").write_text(first + key + last.replace("rounds = 2", "rounds = 9", 1))
    with served(respond=reply) as endpoint:
        said = plait(*COMMANDS[0], "--base-url", endpoint.base_url, "--model", "m")
        assert endpoint.requests == 0
    assert said.status == 2
    assert SLIP.startswith("domain file '.../")
    assert SLIP.strip().removeprefix("domain file '...") in said.err


def test_a_judge_counts_beside_the_checks(plait: Commands, tmp_path: Path):
    (tmp_path / "report.toml").write_text(DOMAIN.replace('kind = "checks"\n', JUDGED))
    with served(respond=reply) as endpoint:
        said = plait(*COMMANDS[0], "--base-url", endpoint.base_url, "--model", "m")
    assert said.status == 0, said.err
    record = (tmp_path / "bicycles" / "RECORD.md").read_text()
    # Two grades and the share of the checks, on the judge's scale: (2 + 4 + 2 / 3 * 4) / 3.
    assert "- team-1: quality 2.89 (" in record
    assert (tmp_path / "bicycles" / "report.md").read_text() == BODY + ADVICE + "\n"
