"""Ablation tables: which variants there are, and that each is the whole system without one part."""

import pytest

from plait.bench.ablation import ALL, TABLES, Table, entries_of
from plait.bench.benchmarks import BENCHMARKS
from plait.bench.plan import Entry
from plait.errors import UserError

TOOLS = BENCHMARKS["workbench"]
STORIES = BENCHMARKS["stories"]


def off(entries: list[Entry]) -> dict[str, tuple[str, ...]]:
    return {entry.label: tuple(entry.options.without) for entry in entries}


def test_reflection_is_the_table_of_mirror() -> None:
    found = entries_of(Table.reflection, TOOLS.options({}))
    assert off(found) == {
        "all": (),
        "no planner gate": ("planner-gate",),
        "no tool gate": ("tool-gate",),
        "no answer gate": ("answer-gate",),
        "no gates": ("gates",),
        "no long-term": ("long-term",),
        "no short-term": ("short-term",),
        "no memories": ("memories",),
        "no reflection": ("reflection",),
        "function calling": (),
    }
    assert found[-1].options.function_calling
    assert {entry.method for entry in found} == {"plait"}


def test_where_something_is_made_the_gates_are_those_of_phases() -> None:
    assert off(entries_of(Table.reflection, STORIES.options({}))) == {"all": (), "no gates": ("phase-gate",)}


def test_experience_is_the_table_of_ice() -> None:
    labels = [entry.label for entry in entries_of(Table.experience, TOOLS.options({}))]
    assert labels == [ALL, "no experience", "no planning", "no execution"]
    labels = [entry.label for entry in entries_of(Table.experience, STORIES.options({}))]
    assert labels == [ALL, "no experience", "no planning"]


@pytest.mark.parametrize(
    ("teams", "variants"),
    [
        (2, ["no role", "no elitism", "one team"]),
        (4, ["no partition", "no role", "no elitism", "one team"]),
        (8, ["no prune", "no partition", "no role", "no elitism", "one team"]),
    ],
)
def test_of_teams_only_what_makes_a_difference_is_switched_off(teams: int, variants: list[str]) -> None:
    found = entries_of(Table.teams, STORIES.options({"teams": teams, "leave_out": ("2:revision",)}))
    assert [entry.label for entry in found] == [ALL, *variants]
    assert (found[-1].options.teams, found[-1].options.leave_out) == (1, ())


@pytest.mark.parametrize(
    ("table", "said", "where"),
    [
        (Table.teams, {"teams": 1}, "with one team: ask for"),
        (Table.experience, {"without": ("experience",)}, "with 4 teams and without experience: ask for"),
        (Table.experience, {"preset": "paper"}, "with 8 teams: ask for"),
    ],
)
def test_a_table_of_nothing_is_refused(table: Table, said: dict[str, object], where: str) -> None:
    with pytest.raises(UserError, match=f"nothing of it makes a difference {where}"):
        entries_of(table, STORIES.options(said))


def test_what_is_off_already_is_no_variant_and_stays_off() -> None:
    found = entries_of(Table.reflection, TOOLS.options({"without": ("gates", "role"), "rounds": 3}))
    labels = [entry.label for entry in found]
    assert labels == [
        ALL,
        "no long-term",
        "no short-term",
        "no memories",
        "no reflection",
        "function calling",
    ]
    assert all(set(entry.options.without) >= {"gates", "role"} for entry in found)
    paper = entries_of(Table.teams, STORIES.options({"preset": "paper"}))
    assert "no elitism" not in [entry.label for entry in paper]


def test_three_strands_are_on_and_off_in_eight_combinations() -> None:
    found = entries_of(Table.strands, STORIES.options({"teams": 3}))
    assert [entry.label for entry in found] == [
        "all",
        "teams+reflection",
        "teams+experience",
        "teams",
        "reflection+experience",
        "reflection",
        "experience",
        "none",
    ]
    for entry in found:
        on = {"teams", "reflection", "experience"} if entry.label == "all" else set(entry.label.split("+"))
        options = entry.options
        assert (options.teams == 3) == ("teams" in on)
        assert options.phase_gate(options.without).enabled == ("reflection" in on)
        assert options.experience == ("experience" in on)
    assert len({repr(entry.options) for entry in found}) == 8


def test_all_variants_have_labels_of_their_own() -> None:
    for variants in TABLES.values():
        for where in ("tools", "making"):
            labels = [each.label for each in variants if each.where in ("", where)]
            assert len(labels) == len(set(labels))
