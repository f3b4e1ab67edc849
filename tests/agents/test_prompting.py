"""Prompts: found beside their user or in the user's own folder, and filled strictly."""

from pathlib import Path

import pytest

from plait.agents.prompting import fill, load
from plait.errors import UserError

PACKAGE = "plait.reflection"


def test_the_own_prompt_is_used_where_there_is_none_of_the_users(tmp_path: Path) -> None:
    assert load(PACKAGE, "planner", tmp_path) == load(PACKAGE, "planner")
    assert "{{task}}" in load(PACKAGE, "planner")


def test_a_users_prompt_replaces_the_own_one(tmp_path: Path) -> None:
    (tmp_path / "planner.md").write_text("Plan {{task}}.\n", encoding="utf-8")
    assert load(PACKAGE, "planner", tmp_path) == "Plan {{task}}."
    (tmp_path / "planner.md").write_text("Plan at once: {{task}}.\n", encoding="utf-8")
    assert load(PACKAGE, "planner", tmp_path) == "Plan at once: {{task}}."
    assert load(PACKAGE, "answer", tmp_path) == load(PACKAGE, "answer")


def test_a_users_prompt_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "planner.md").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(UserError, match=r"planner\.md.*cannot be read"):
        load(PACKAGE, "planner", tmp_path)


def test_values_go_into_their_places_and_are_not_filled_again() -> None:
    assert fill("{{a}} and {{b}}, {{a}}", a="{{b}}", b="x") == "{{b}} and x, {{b}}"


@pytest.mark.parametrize(
    ("text", "wrong"), [("{{a}} {{b}}", r"unknown places \['b'\]"), ("none", r"unused values \['a'\]")]
)
def test_a_place_without_a_value_and_a_value_without_a_place_are_refused(text: str, wrong: str) -> None:
    with pytest.raises(UserError, match=wrong):
        fill(text, a="x")


def test_a_users_prompt_that_does_not_fit_is_named(tmp_path: Path) -> None:
    (tmp_path / "planner.md").write_text("Plan {{tsak}}.\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        fill(load(PACKAGE, "planner", tmp_path), task="x")
    assert str(tmp_path / "planner.md") in caught.value.message
    assert "unknown places ['tsak'], unused values ['task']" in caught.value.message
    assert caught.value.message.endswith("give it the places {{task}}")
