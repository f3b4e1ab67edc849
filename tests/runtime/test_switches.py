"""Switches said over those that were said before."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from plait.reflection.settings import SWITCHES, ReflectionSettings
from plait.runtime.switches import SWITCH_GROUPS, switched
from plait.runtime.team_options import PHASE_GATE


def test_a_group_of_switches_is_its_parts() -> None:
    # The gates of phases belong to the groups too, and are no part of this strand.
    assert set(SWITCH_GROUPS) == {name for name in SWITCHES if name not in SWITCH_GROUPS["reflection"]}
    for group, parts in SWITCH_GROUPS.items():
        rounds = 1 if group == "reflection" else ReflectionSettings.rounds
        own = [part for part in parts if part != PHASE_GATE]
        expected = replace(ReflectionSettings().without(own), rounds=rounds)
        assert ReflectionSettings().without([group]) == expected


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        (["tool-gate"], {"tool-gate": True}, []),
        (["tool-gate"], {"planner-gate": False}, ["tool-gate", "planner-gate"]),
        (["gates"], {"tool-gate": True}, ["planner-gate", "answer-gate", PHASE_GATE]),
        (["gates", "short-term"], {"gates": True}, ["short-term"]),
        (["memories"], {"long-term": False}, ["short-term", "long-term"]),
        ([], {"tool-gate": True, "gates": False}, ["planner-gate", "answer-gate", PHASE_GATE]),
        (["long-term"], {"reflection": False}, ["reflection"]),
        (["reflection"], {"reflection": True}, []),
        (["reflection"], {"reflection": True, "tool-gate": False}, ["tool-gate"]),
        (["reflection"], {"tool-gate": False}, ["reflection"]),
        (["other", "reflection"], {"tool-gate": False}, ["reflection", "other"]),
        (["other", "gates"], {"gates": True, "more": False}, ["other", "more"]),
    ],
)
def test_a_switch_changes_its_own_part_alone(
    before: Sequence[str], said: dict[str, bool], after: Sequence[str]
) -> None:
    assert switched(before, said) == {"without": tuple(after)}


def test_a_part_alone_comes_back_without_the_rounds_of_the_whole() -> None:
    off = ("planner-gate", "answer-gate", PHASE_GATE, "short-term", "long-term", "rectification")
    assert switched(["reflection"], {"tool-gate": True}) == {"without": off, "rounds": 1}


def test_without_a_word_nothing_changes() -> None:
    assert switched(["gates"], {}) == {}
