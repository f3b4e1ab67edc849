"""Schemas without references, names that fit a call, equal spelling of equal calls."""

from typing import Any

import pytest

from plait.errors import UserError
from plait.tools.arguments import argument_check, canonical, identifier, inline
from plait.tools.tool import Tool


def tool(parameters: dict[str, Any]) -> Tool:
    async def run(_: Any) -> Any: ...

    return Tool(name="t", description="", parameters=parameters, effect="reads", run=run, source="x.json")


def test_equal_calls_are_spelled_equally() -> None:
    assert canonical("t", {"b": 1, "a": {"d": "ü", "c": None}}) == 't({"a":{"c":null,"d":"ü"},"b":1})'
    assert canonical("t", {"a": 1}) != canonical("t", {"a": "1"})


@pytest.mark.parametrize(
    ("name", "spelled"),
    [("X-Request-ID", "X_Request_ID"), ("2nd", "_2nd"), ("from", "from_"), ("", "_"), ("größe", "gr__e")],
)
def test_any_name_becomes_an_identifier(name: str, spelled: str) -> None:
    assert identifier(name) == spelled


def test_references_are_inlined_and_cycles_cut() -> None:
    schema = {
        "title": "T",
        "properties": {
            "title": {"$ref": "#/$defs/Text", "description": "near"},
            "tree": {"$ref": "#/$defs/Tree"},
            "far": {"$ref": "other.json#/x"},
            "lost": {"$ref": "#/$defs/Nowhere"},
        },
        "$defs": {
            "Text": {"type": "string", "description": "far", "title": "Text"},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
        },
    }
    assert inline(schema) == {
        "properties": {
            "title": {"type": "string", "description": "near"},
            "tree": {"type": "object", "properties": {"left": {}}},
            "far": {},
            "lost": {},
        }
    }


def test_a_schema_that_explodes_stays_bounded() -> None:
    levels = {
        f"L{n}": {"properties": {str(k): {"$ref": f"#/$defs/L{n + 1}"} for k in range(20)}} for n in range(8)
    }
    assert len(str(inline({"$ref": "#/$defs/L0", "$defs": levels}))) < 500_000


def test_unknown_names_are_refused_unless_allowed() -> None:
    properties = {"a": {"type": "integer"}}
    assert argument_check(tool({"type": "object", "properties": properties}))({"b": 1}) == (
        "t has no parameter 'b'; its parameters: a"
    )
    assert argument_check(tool({"properties": properties, "additionalProperties": True}))({"b": 1}) is None
    strict = argument_check(tool({"properties": properties, "additionalProperties": {"type": "string"}}))
    assert strict({"b": 1}) == "wrong arguments for t: b: 1 is not of type 'string'"
    assert argument_check(tool({}))({"b": 1}) == "t has no parameter 'b'; its parameters: none"


def test_a_long_problem_is_short() -> None:
    said = argument_check(tool({"properties": {"a": {"type": "integer"}}}))({"a": "x" * 10_000})
    assert said is not None
    assert len(said) < 400


def test_a_broken_schema_is_the_users_to_mend() -> None:
    with pytest.raises(UserError, match=r"tool 't' of 'x\.json' has a broken schema"):
        argument_check(tool({"type": "no-such-type"}))
