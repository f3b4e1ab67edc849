"""The options of a run: the schema of its answer."""

from typing import Any

import pytest
from pydantic import BaseModel

from plait.errors import UserError
from plait.experience.settings import ExperienceSettings
from plait.models.typed import schema_of
from plait.runtime.answer_schema import schema_of_answer
from plait.runtime.options import SEQUENCES, Options
from plait.runtime.places import anchored


class Leaf(BaseModel):
    title: str


class Branch(BaseModel):
    left: Leaf
    right: list[Leaf]


class Tree(BaseModel):
    children: list["Tree"]


def references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [found for item in schema for found in references(item)]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(schema, dict):
        return []
    own = ["$ref"] if "$ref" in schema else []
    return own + [found for item in schema.values() for found in references(item)]  # pyright: ignore[reportUnknownVariableType]


def test_the_schema_of_an_answer_can_be_put_into_any_other() -> None:
    schema = schema_of_answer(schema_of(Branch))
    assert references(schema) == []
    assert "$defs" not in schema
    leaf = schema["properties"]["left"]
    assert leaf == schema["properties"]["right"]["items"]
    assert leaf["properties"] == {"title": {"type": "string"}}


LOOP = {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}


@pytest.mark.parametrize(
    "schema", [schema_of(Tree), LOOP, {"type": "object", "properties": {"next": {"$ref": "#"}}}]
)
def test_a_type_that_contains_itself_is_refused(schema: Any) -> None:
    with pytest.raises(UserError, match=r"contains itself \('#.*'\): give each level a type of its own"):
        schema_of_answer(schema)


def test_what_is_only_defined_or_named_twice_does_no_harm() -> None:
    twice = {"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}], "$defs": {"n": {"type": "integer"}}}
    assert schema_of_answer(twice) == {"allOf": [{"type": "integer"}, {"type": "integer"}]}
    unused = {"type": "integer", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert schema_of_answer(unused) == {"type": "integer"}


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_text_where_a_list_is_asked_for_is_never_read_as_its_letters(name: str) -> None:
    line = rf"{name} must be a list, not 'cal\*': put it into brackets"
    with pytest.raises(UserError, match=line):
        Options(**{name: "cal*"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(UserError, match=line):
        Options.from_json({name: "cal*"})
    with pytest.raises(UserError, match=line):
        anchored({name: "cal*"})


@pytest.mark.parametrize("seed", [-1, 2**31, 2**70])
def test_a_seed_must_fit_what_any_engine_takes(seed: int) -> None:
    with pytest.raises(UserError, match=f"--seed must be between 0 and 2147483647, not {seed}"):
        Options(seed=seed)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_calls", "many"), ("rounds", None), ("yes", 1), ("seed", True), ("tools", [7]), ("returns", [])],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"the option {name} cannot be"):
        Options.from_json({name: value})


@pytest.mark.parametrize("address", ["nonsense", "https://host/v1?api_key=sesame", "https://me:sesame@host/"])
def test_an_address_with_a_secret_is_never_recorded(address: str) -> None:
    with pytest.raises(UserError, match="Base URL") as caught:
        Options(base_url=address)
    assert "sesame" not in caught.value.message


@pytest.mark.parametrize(
    ("options", "recalled"),
    [
        (Options(), ExperienceSettings()),
        (Options(without=("planning-experience",)), ExperienceSettings(planning=False, lessons=False)),
        (Options(without=("execution-experience", "tool-gate")), ExperienceSettings(execution=False)),
        (Options(preset="paper"), ExperienceSettings(lessons=False, consolidation="model")),
        (Options(preset="paper", consolidate="compiled"), ExperienceSettings(lessons=False)),
        (
            Options(consolidate="model", without=("execution-experience",)),
            ExperienceSettings(execution=False, consolidation="model"),
        ),
    ],
)
def test_what_is_recalled_follows_the_switches(options: Options, recalled: ExperienceSettings):
    assert options.recalled() == recalled
    assert options.experience


@pytest.mark.parametrize(
    ("options", "experience"),
    [
        (Options(without=("experience",)), False),
        (Options(domain="story", preset="paper"), False),
        (Options(domain="story"), True),
        (Options(domain="story", without=("experience",)), False),
        (Options(preset="paper"), True),
    ],
)
def test_where_there_is_experience(options: Options, experience: bool):
    assert options.experience == experience
