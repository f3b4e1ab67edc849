"""The flags of `plait run`: one for every option, and only what was said is changed."""

import inspect
import json
from dataclasses import fields
from pathlib import Path

import pytest

from plait.cli import app
from plait.cli.flags import FLAGS, LIMIT_OPTIONS, changes_of, switches_of, with_flags
from plait.errors import UserError
from plait.runtime.options import NOTED, SWITCHES, Options


def nothing() -> None:
    """Do nothing."""


def test_every_option_has_a_flag():
    known = {field.name for field in fields(Options)}
    assert {flag.option for flag in FLAGS} == known - {"without", "returns", *NOTED}
    assert set(LIMIT_OPTIONS) < known


def test_every_switch_has_a_flag():
    parameters = inspect.signature(with_flags(nothing)).parameters
    assert {f"no_{name.replace('-', '_')}" for name in SWITCHES} < parameters.keys()


def test_every_switch_can_be_said_both_ways():
    parameters = inspect.signature(with_flags(nothing, both_ways=True)).parameters
    assert {name.replace("-", "_") for name in SWITCHES} < parameters.keys()
    given = {"tool_gate": True, "memories": False, "gates": None}
    assert switches_of(given) == {"tool-gate": True, "memories": False}
    assert changes_of(given) == {}


def test_a_command_that_takes_a_run_up_has_the_limits_alone():
    assert set(inspect.signature(with_flags(nothing, LIMIT_OPTIONS)).parameters) == set(LIMIT_OPTIONS)


@pytest.mark.parametrize(("command", "told"), [("run", True), ("resume", False), ("fork", False)])
def test_defaults_are_told_where_they_hold(command: str, told: bool, capsys: pytest.CaptureFixture[str]):
    assert app.run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert ("Default:" in shown) is told
    assert ("stays as the run had it" in shown) is not told


def test_only_what_was_said_is_a_change():
    given = {"max_calls": 3, "seed": None, "tools": ["a.py"], "no_tool_gate": True, "no_gates": False}
    assert changes_of(given) == {"max_calls": 3, "tools": ("a.py",), "without": ("tool-gate",)}


def test_the_schema_of_the_answer_is_read(tmp_path: Path):
    file = tmp_path / "schema.json"
    file.write_text(json.dumps({"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}))
    assert changes_of({"returns": str(file)}) == {"returns": {"type": "integer"}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (None, "cannot be read"),
        ("{", "is no JSON"),
        ("[1]", "must be a JSON object, not"),
        ('{"type": "numbr"}', "is no JSON schema: 'numbr' is not valid"),
    ],
)
def test_a_schema_that_is_none(tmp_path: Path, text: str | None, line: str):
    file = tmp_path / "schema.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UserError, match=line):
        changes_of({"returns": str(file)})
