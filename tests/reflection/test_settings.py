"""Settings of reflection: every switch does what its name says and no more; bounds are checked."""

from dataclasses import replace
from typing import Any

import pytest

from plait.agents.gate import GateSettings
from plait.errors import UserError
from plait.reflection.settings import SWITCHES, ReflectionSettings

DEFAULT = ReflectionSettings()


def values(name: str, value: Any) -> dict[str, Any]:
    return {name: value}


def changes(switch: str) -> set[str]:
    """Names of the parts that a switch changes."""
    changed = DEFAULT.without([switch])
    parts: set[str] = set()
    for gate in ("planner", "tool", "answer"):
        before, after = getattr(DEFAULT, gate), getattr(changed, gate)
        if after != before:
            assert after == replace(before, enabled=False)
            parts.add(f"{gate}-gate")
    if not changed.short_term:
        parts.add("short-term")
    if not changed.long_term:
        parts.add("long-term")
    if changed.rectifications != DEFAULT.rectifications:
        assert changed.rectifications == 0
        parts.add("rectification")
    if changed.rounds != DEFAULT.rounds:
        assert changed.rounds == 1
        parts.add("rounds")
    assert (changed.function_calling, changed.steps) == (DEFAULT.function_calling, DEFAULT.steps)
    return parts


def test_everything_is_on_by_default_as_in_the_paper() -> None:
    assert all(gate.enabled for gate in (DEFAULT.planner, DEFAULT.tool, DEFAULT.answer))
    assert DEFAULT.short_term
    assert DEFAULT.long_term
    assert not DEFAULT.function_calling
    assert (DEFAULT.planner.threshold, DEFAULT.rounds) == (9, 5)
    assert DEFAULT.rectifications == 2
    assert (DEFAULT.tool.threshold, DEFAULT.answer.threshold, DEFAULT.steps) == (8, 8, 8)


def test_only_a_weak_answer_closes_the_round() -> None:
    assert (DEFAULT.planner.revises, DEFAULT.tool.revises, DEFAULT.answer.revises) == (True, True, False)


GATES = {"planner-gate", "tool-gate", "answer-gate"}
MEMORIES = {"short-term", "long-term"}


@pytest.mark.parametrize(
    ("switch", "parts"),
    [
        *((single, {single}) for single in sorted(GATES | MEMORIES | {"rectification"})),
        ("gates", GATES),
        ("memories", MEMORIES),
        ("reflection", GATES | MEMORIES | {"rectification", "rounds"}),
    ],
)
def test_a_switch_turns_off_its_part_and_no_other(switch: str, parts: set[str]) -> None:
    assert changes(switch) == parts


def test_every_offered_switch_changes_something() -> None:
    assert all(changes(switch) for switch in SWITCHES)


def test_switches_add_up_and_none_leaves_all_as_it_is() -> None:
    off = DEFAULT.without(["tool-gate", "long-term"])
    assert (off.tool.enabled, off.long_term, off.planner.enabled, off.short_term) == (
        False,
        False,
        True,
        True,
    )
    assert DEFAULT.without([]) == DEFAULT


def test_an_unknown_switch_is_named_and_the_known_ones_listed() -> None:
    with pytest.raises(UserError, match=r"'gate'.*planner-gate, .*reflection"):
        DEFAULT.without(["gate"])


@pytest.mark.parametrize("name", ["rounds", "steps"])
def test_rounds_and_steps_are_at_least_one(name: str) -> None:
    for value in (0, -3):
        with pytest.raises(UserError, match=f"--{name} must be at least 1, not {value}"):
            replace(DEFAULT, **values(name, value))
    assert getattr(replace(DEFAULT, **values(name, 1)), name) == 1


def test_rectifications_are_none_or_more() -> None:
    assert replace(DEFAULT, rectifications=0).rectifications == 0
    with pytest.raises(UserError, match="rectifications must be at least 0, not -1"):
        replace(DEFAULT, rectifications=-1)


@pytest.mark.parametrize("gate", ["planner", "tool", "answer"])
def test_thresholds_are_between_0_and_10(gate: str) -> None:
    for value in (-0.1, 10.1, float("nan")):
        with pytest.raises(UserError, match=f"--{gate}-threshold must be between 0 and 10"):
            replace(DEFAULT, **values(gate, GateSettings(threshold=value)))
    for value in (0, 10):
        replace(DEFAULT, **values(gate, GateSettings(threshold=value)))
