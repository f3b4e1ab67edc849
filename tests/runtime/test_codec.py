"""Events keep their meaning on the way to JSON and back, and the published schema is current."""

import dataclasses
import json
import math
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from plait.errors import LogError
from plait.events import Event, Noted, RunStarted, StepRecorded
from plait.runtime import codec

ROOT = Path(__file__).parents[2]


def sample(event_type: type[Any]) -> Any:
    """Make an event with a telling value in every field."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(event_type):
        if field.name == "kind":
            continue
        choices = get_args(field.type)
        is_literal = bool(choices) and all(isinstance(choice, str) for choice in choices)
        values[field.name] = choices[0] if is_literal else by_type(field.type)
    return event_type(**values)


def by_type(kind: Any) -> Any:
    text = kind.__name__ if isinstance(kind, type) else str(kind).replace("collections.abc.", "")
    for name, value in (
        ("Sequence[Sequence[str]]", [["one", "two"], ["three"]]),
        ("Mapping[str, str]", {"a": "ä"}),
        ("Mapping[str, int]", {"a.py": 12}),
        ("Mapping[str, float]", {"b": 0.5}),
        ("str]", ["one", "two"]),
        ("Sequence", [{"id": "1", "goal": "g", "depends_on": []}]),
        ("Mapping", {"b": [1, {"x": None}], "a": "ä"}),
        ("Any", ["kept", {"z": 1, "a": 2}]),
        ("str", "text – ✓ \x00"),
        ("float", 0.25),
        ("int", 3),
        ("bool", True),
    ):
        if name in text:
            return value
    raise AssertionError(text)


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return codec.schema()


@pytest.fixture(scope="module")
def validator(schema: dict[str, Any]) -> Any:
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("event_type", get_args(Event))
def test_event_survives(event_type: type[Any]) -> None:
    event = sample(event_type)

    assert codec.decode(event.kind, codec.encode(event)) == event


@pytest.mark.parametrize("event_type", get_args(Event))
def test_schema_takes_every_event(event_type: type[Any], validator: Any) -> None:
    event = sample(event_type)
    record = {
        "run_id": "r",
        "sequence": 1,
        "path": "run!0",
        "revision": 0,
        "epoch": 1,
        "at": 1.5,
        "event": {"kind": event.kind, **json.loads(codec.encode(event))},
    }

    validator.validate(record)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**record, "event": {"kind": event.kind + "?"}})


def test_published_schema_is_current() -> None:
    published = (ROOT / codec.SCHEMA_FILE).read_text(encoding="utf-8")

    assert published == codec.schema_text(), "run `python -m plait.runtime.codec`"


def test_schema_command_writes_the_file(tmp_path: Path) -> None:
    codec.main([str(tmp_path / "new" / "schema.json")])

    assert json.loads((tmp_path / "new" / "schema.json").read_text())["title"].startswith("Plait run log")


def test_keys_keep_their_order_but_not_in_the_hash() -> None:
    assert codec.dumps({"b": 1, "a": 2}) == '{"b":1,"a":2}'
    assert codec.canonical_hash({"b": 1, "a": 2}) == codec.canonical_hash({"a": 2, "b": 1})
    assert codec.canonical_hash({"a": 1}) != codec.canonical_hash({"a": "1"})


def test_large_numbers_and_lone_surrogates_survive() -> None:
    event = Noted(text="half \ud83d of a pair")
    step = StepRecorded(step="value", args={}, args_hash="", result=10**40, seconds=0.0)

    assert codec.encode(event).isascii()
    assert codec.decode("noted", codec.encode(event)) == event
    assert codec.decode("step_recorded", codec.encode(step)) == step


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {1: 2, "a": 3, b"x": 1}, b"bytes"])
def test_what_is_not_json_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        codec.canonical_hash({"value": value})


def test_fields_of_newer_versions_are_left_out() -> None:
    data = json.dumps({"text": "hello", "colour": "green"})

    assert codec.decode("noted", data) == Noted(text="hello")


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        ("woven", "{}", "unknown kind 'woven'"),
        ("noted", "{", "'noted' event that cannot be read"),
        ("noted", "{}", "'noted' event that cannot be read"),
        ("noted", "[]", "'noted' event that cannot be read"),
        ("noted", '{"text": 5}', "'noted' event that cannot be read"),
        ("run_started", '{"task": "t", "options": [], "version": "1"}', "cannot be read"),
        ("run_finished", '{"status": "failed", "result": 5}', "cannot be read"),
        ("round_started", '{"round": true}', "cannot be read"),
        ("groups_formed", '{"level": 1, "groups": [["a"], "b"]}', "cannot be read"),
        ("decision_made", '{"at": "run/a", "decision": "perhaps"}', "cannot be read"),
        ("plan_made", '{"round": 1, "subtasks": [5]}', "cannot be read"),
        ("plan_made", '{"round": 1, "subtasks": [{"id": "1"}]}', "cannot be read"),
        (
            "step_recorded",
            '{"step": "model", "args": null, "args_hash": "", "result": 1, "seconds": 0}',
            "cannot be read",
        ),
    ],
)
def test_unreadable_events(kind: str, data: str, message: str) -> None:
    with pytest.raises(LogError, match=message):
        codec.decode(kind, data)


def test_version_of_the_schema_is_in_every_log() -> None:
    started = RunStarted(task="t", options={}, version="0")

    assert json.loads(codec.encode(started))["schema"] == 1
