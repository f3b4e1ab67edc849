"""The typed form: bounds, almost-JSON, and the wrapper that carries critique and score."""

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, Field

from plait.errors import ReplyError, UserError
from plait.models.typed import (
    MAX_ITEMS,
    MAX_STRING,
    bounded,
    parse_typed,
    schema_of,
    split_reflection,
    with_reflection,
)

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


class Address(BaseModel):
    title: str = Field(max_length=9)
    lines: list[str]


class Customer(BaseModel):
    address: Address
    notes: dict[str, str] = {}
    extra: Any = None


def unbounded(schema: Any, where: str = "") -> list[str]:
    """Return the places where a string, list or object has no limit, read apart from `bounded`."""
    found: list[str] = []
    if isinstance(schema, list):
        return [place for index, item in enumerate(schema) for place in unbounded(item, f"{where}/{index}")]
    if not isinstance(schema, dict):
        return found
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    limits = {"string": "maxLength", "array": "maxItems", "object": "additionalProperties"}
    found += [where for name, limit in limits.items() if name in types and limit not in schema]
    return found + [place for key, item in schema.items() for place in unbounded(item, f"{where}/{key}")]


def test_every_string_list_and_object_is_bounded() -> None:
    schema = schema_of(Customer)
    assert unbounded(schema)
    assert unbounded(bounded(schema)) == []
    assert bounded(schema) == bounded(bounded(schema))
    assert bounded(PERSON)["properties"]["name"] == {"type": "string", "maxLength": MAX_STRING}
    assert bounded(PERSON)["properties"]["tags"]["maxItems"] == MAX_ITEMS


def test_limits_that_are_there_and_a_property_called_title_stay() -> None:
    address = bounded(schema_of(Customer))["$defs"]["Address"]
    assert address["properties"]["title"] == {"type": "string", "maxLength": 9}
    assert "title" not in address


def test_bounding_leaves_the_schema_as_it_was_given() -> None:
    schema = schema_of(Customer)
    bounded(schema)
    assert schema == schema_of(Customer)


def test_a_property_that_may_be_anything_becomes_scalars_or_a_list_of_them() -> None:
    schema = bounded({"type": "object", "properties": {"any": {}}})
    assert parse_typed('{"any": [1, "a"]}', schema) == {"any": [1, "a"]}
    with pytest.raises(ReplyError, match="any"):
        parse_typed('{"any": {"deep": 1}}', schema)


def test_plain_types_and_dataclasses_have_schemas() -> None:
    @dataclass
    class Point:
        x: int

    assert schema_of(list[int])["items"] == {"type": "integer"}
    assert schema_of(Point)["properties"]["x"]["type"] == "integer"


def test_a_type_without_a_schema_is_told() -> None:
    class Opaque:
        pass

    with pytest.raises(UserError, match=r"No JSON schema for .*Opaque"):
        schema_of(Opaque)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ada", "tags": ["x"]}',
        'Here is {it}:\n```json\n{"name": "Ada", "tags": ["x"]}\n```\nAnything else?',
        "```\n{'name': 'Ada', 'tags': ['x'],}\n```",
        'The answer is {"name": "Ada", "tags": ["x"]}. Is that {all}?',
        '{"name": "Ada", "tags": ["x"],} // done',
        '{"name": "Ada", "age": null, "tags": ["x"]}',
        "{'name': 'Ada', 'age': None, 'tags': ('x',)}",
        '{"name": "Ada", "tags": ["x"]',
        '{"name": "Ada", "tags": ["x"',
        '{"name": "Ada", "tags": "x"}',
        '```json\n{"name": "Ada", "tags": ["x"]',
    ],
)
def test_almost_json_is_read(text: str) -> None:
    assert parse_typed(text, PERSON) == {"name": "Ada", "tags": ["x"]}


def test_text_in_strings_is_kept_to_the_letter() -> None:
    assert parse_typed('{"name": "it\'s {not} [all]: \\"x\\", # y\\n"}', PERSON) == {
        "name": 'it\'s {not} [all]: "x", # y\n'
    }
    assert parse_typed('{"name": "two\nlines",}', PERSON) == {"name": "two\nlines"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON: it is empty"),
        ("no idea", "not JSON: 'no idea'"),
        ('{"name": "Ada", "age": 4', "not JSON"),
        ('{"name": "Ad', "not JSON"),
        ('{"name": "Ada", "age":', "not JSON"),
        ('{"name": "Ada", "age"', "not JSON"),
        ('{"age": 4}', "'name' is a required property"),
        ('{"name": "Ada", "age": "old"}', "age: 'old' is not of type 'integer'"),
        ('{"name": "Ada", "nick": "A"}', "nick"),
        ("[1, 2]", "is not of type 'object'"),
        ('{"name": "Ada", "age": NaN}', "not JSON"),
        ("{" * 2_000, "not JSON"),
    ],
)
def test_what_cannot_be_mended_is_told_in_one_line(text: str, told: str) -> None:
    with pytest.raises(ReplyError, match=told) as caught:
        parse_typed(text, PERSON)
    assert "\n" not in caught.value.message


def test_a_text_answer_needs_no_quotes() -> None:
    assert parse_typed("Yes, twice.", {"type": "string"}) == "Yes, twice."
    assert parse_typed('"Yes"', {"type": "string"}) == "Yes"


def test_reflection_wraps_an_output_and_is_taken_off_again() -> None:
    schema = with_reflection(bounded(schema_of(Customer)))
    assert list(schema["properties"]) == schema["required"] == ["output", "critique", "score"]
    assert unbounded(schema) == []
    text = '{"output": {"address": {"title": "a", "lines": []}}, "critique": " fine ", "score": "8"}'
    reflected = split_reflection(parse_typed(text, schema))
    assert reflected.output == {"address": {"title": "a", "lines": []}}
    assert (reflected.critique, reflected.score) == ("fine", 8.0)
    with pytest.raises(ReplyError, match="score"):
        parse_typed(text.replace('"8"', "11"), schema)


@pytest.mark.parametrize("depth", [150, 300, 900])
@pytest.mark.parametrize("items", [{}, {"$ref": "#/$defs/tree"}])
def test_what_is_nested_without_end_is_refused(items: dict[str, str], depth: int) -> None:
    tree = {"type": "array", "items": items}
    schema = {"type": "object", "properties": {"tree": tree}, "$defs": {"tree": tree}}
    assert parse_typed('{"tree": [[[]]]}', schema) == {"tree": [[[]]]}
    with pytest.raises(ReplyError, match="nested"):
        parse_typed(f'{{"tree": {"[" * depth}{"]" * depth}}}', schema)


def test_a_number_too_large_for_any_log_stays_a_text_and_is_refused() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number"}}}
    with pytest.raises(ReplyError, match=r"does not fit the asked form: n: '9+"):
        parse_typed(f'{{"n": "{"9" * 400}"}}', schema)
