"""JSON schemas as GBNF: what fits is allowed, spelt as `format_literal` spells it."""

import os
import subprocess
import sys
from typing import Any

import pytest
from tests.support.gbnf import accepts

from plait.models.gbnf import Rules, quote, rule_name, value
from plait.models.literals import format_literal


def grammar_of(schema: dict[str, Any], max_string: int = 50) -> str:
    rules = Rules(max_string=max_string)
    return rules.text(value(rules, schema, schema))


POINT = {
    "type": "object",
    "properties": {"x": {"type": "number"}, "y": {"type": "number"}},
    "required": ["y"],
}


@pytest.mark.parametrize(
    ("schema", "fits", "fails"),
    [
        ({"type": "string", "maxLength": 3}, ["", "abc", 'a"\\'], ["abcd", 1]),
        ({"type": "string", "minLength": 2}, ["ab", "a" * 50], ["a", "a" * 51]),
        ({"type": "integer"}, [0, -3, 10**15], [1.5, "1"]),
        ({"type": "integer", "minimum": 0}, [0, 7], [-1]),
        ({"type": "number"}, [0, -0.25, 12.5], ["1", None]),
        ({"type": "boolean"}, [True, False], [0, None]),
        ({"type": ["string", "null"]}, ["a", None], [1]),
        ({"enum": ["a", 1, None, 'q"']}, ["a", 1, None, 'q"'], ["b", True]),
        ({"const": "only"}, ["only"], ["other"]),
        ({"anyOf": [{"type": "integer"}, {"enum": ["all"]}]}, [3, "all"], ["some"]),
        (
            {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
            [[], [1], [1, 2]],
            [[1, 2, 3], ["a"]],
        ),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [[1, 2]], [[], [1]]),
        ({"type": "array", "items": {"type": "integer"}}, [[1] * 20], [[1] * 21]),
        ({"type": "array", "maxItems": 0}, [[]], [[1]]),
        (POINT, [{"y": 1}, {"x": 1, "y": 2.5}], [{}, {"x": 1}, {"y": 1, "x": 2}, {"y": 1, "z": 1}]),
        ({"type": "object"}, [{}, {"k": 1, "l": [True]}], [{"": 1}, {"k" * 41: 1}]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{"k": 1}], [{"k": "v"}]),
        ({}, ["a", 1.5, True, None, ["a", 1]], [{"a": 1}]),
    ],
)
def test_a_schema_allows_its_values_and_no_others(
    schema: dict[str, Any], fits: list[Any], fails: list[Any]
) -> None:
    grammar = grammar_of(schema)
    assert [item for item in fits if not accepts(grammar, format_literal(item))] == []
    assert [item for item in fails if accepts(grammar, format_literal(item))] == []


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "parts": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                },
                "required": ["name"],
            }
        },
    }
    grammar = grammar_of(schema)
    assert accepts(grammar, '{"name": "a", "parts": [{"name": "b", "parts": []}], "next": None}')
    assert len(grammar) < 10_000


def test_a_reference_to_nothing_allows_any_scalar() -> None:
    assert accepts(grammar_of({"$ref": "#/$defs/Gone"}), '"a"')
    assert accepts(grammar_of({"$ref": "#"}), "1")


def test_equal_parts_share_a_rule_and_different_ones_do_not() -> None:
    rules = Rules(max_string=10)
    assert rules.add("a.b", '"x"') == rules.add("a b", '"x"') == "a-b"
    assert rules.add("a-b", '"y"') == "a-b-2"
    assert rule_name("...") == "rule"


def test_a_terminal_is_escaped() -> None:
    assert quote('a"\\\n\t\x01é') == '"a\\"\\\\\\n\\t\\x01é"'


def test_a_grammar_is_the_same_in_every_process() -> None:
    """A resumed run compares it with the recorded one; Python hashes text anew in each process."""
    program = (
        "from plait.models.callgrammar import call_grammar;"
        "from plait.models.callspec import CallSpec;"
        "names = {'type': 'string', 'enum': ['aa', 'bb', 'cc', 'dd', 'ee', 'ff']};"
        "schema = {'type': 'object', 'properties': {'name': names}};"
        "spec = CallSpec(name='pick', description='', parameters=schema);"
        "print(call_grammar([spec], critique=True, score=True))"
    )
    grammars = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(grammars) == 1
