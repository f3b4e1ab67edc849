"""The ablation tables of the papers: the whole system, and the same without one part, on the same tasks.

- `teams`: Croto, Tables 3 and 6 (partition, role), Table 2 (prune), and elitism, which is ours.
- `reflection`: MIRROR, Table 3: each gate, all gates, each memory, both, all of it, and function calling.
- `experience`: ICE, Tables 1 and 2: none, without its planning half, without its execution half.
- `strands`: each of the three on and off, in all eight combinations.

Knows nothing of how variants are run or shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import product
from typing import Any

from plait.bench.methods.strands import ONE_TEAM, STRANDS, switched_off, with_only
from plait.bench.plan import Entry
from plait.errors import UserError
from plait.runtime.options import Options
from plait.runtime.team_options import is_generation
from plait.teams.settings import PRUNE_FROM_TEAMS

PLAIT = "plait"
ALL = "all"
"""The whole system."""


class Table(StrEnum):
    """Which table is made."""

    teams = "teams"
    reflection = "reflection"
    experience = "experience"
    strands = "strands"


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The system without a part."""

    label: str
    off: Sequence[str] = ()
    """Switches that go off."""
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Other options that change."""
    teams: int = 1
    """With fewer teams it would be the same as the whole system."""
    where: str = ""
    """`tools` or `making`: only there it makes a difference; empty: everywhere."""

    def of(self, options: Options) -> Options:
        """Return the options of the variant."""
        return switched_off(options, self.off, self.changes)


TABLES: Mapping[Table, Sequence[Variant]] = {
    Table.teams: (
        Variant(label="no prune", off=("prune",), teams=PRUNE_FROM_TEAMS),
        Variant(label="no partition", off=("partition",), teams=3),
        Variant(label="no role", off=("role",), teams=2),
        Variant(label="no elitism", off=("elitism",), teams=2),
        Variant(label="one team", changes=ONE_TEAM, teams=2),
    ),
    Table.reflection: (
        Variant(label="no planner gate", off=("planner-gate",), where="tools"),
        Variant(label="no tool gate", off=("tool-gate",), where="tools"),
        Variant(label="no answer gate", off=("answer-gate",), where="tools"),
        Variant(label="no gates", off=("gates",), where="tools"),
        Variant(label="no long-term", off=("long-term",), where="tools"),
        Variant(label="no short-term", off=("short-term",), where="tools"),
        Variant(label="no memories", off=("memories",), where="tools"),
        Variant(label="no reflection", off=("reflection",), changes={"rounds": 1}, where="tools"),
        Variant(label="function calling", changes={"function_calling": True}, where="tools"),
        Variant(label="no gates", off=("phase-gate",), where="making"),
    ),
    Table.experience: (
        Variant(label="no experience", off=("experience",)),
        Variant(label="no planning", off=("planning-experience",)),
        Variant(label="no execution", off=("execution-experience",), where="tools"),
    ),
}


def entries_of(table: Table, options: Options) -> list[Entry]:
    """Return the lines of a table, the whole system first.

    What would be the same as the whole system here is left out: pruning begins at eight teams.

    Args:
        table: Which one.
        options: Of the whole system.

    Raises:
        UserError: nothing in the table makes a difference here.
    """
    if table is Table.strands:
        return _combinations(options)
    where = _where(options)
    fitting = [each for each in TABLES[table] if each.where in ("", where) and options.teams >= each.teams]
    variants = {each.label: each.of(options) for each in fitting}
    whole = _system(options)
    found = [_entry(label, changed) for label, changed in variants.items() if _system(changed) != whole]
    if not found:
        teams = "one team" if options.teams == 1 else f"{options.teams} teams"
        off = f" and without {', '.join(options.without)}" if options.without else ""
        raise UserError(
            f"--table {table}: nothing of it makes a difference with {teams}{off}:"
            " ask for more teams, or for another table"
        )
    return [_entry(ALL, options), *found]


def _combinations(options: Options) -> list[Entry]:
    """Return all combinations of the three strands, all of them first and none last."""
    entries: list[Entry] = []
    for on in product((True, False), repeat=len(STRANDS)):
        chosen = [name for name, is_on in zip(STRANDS, on, strict=True) if is_on]
        label = ALL if len(chosen) == len(STRANDS) else "+".join(chosen) or "none"
        entries.append(_entry(label, with_only(options, chosen)))
    return entries


def _entry(label: str, options: Options) -> Entry:
    return Entry(label=label, method=PLAIT, options=options)


def _system(options: Options) -> Sequence[Any]:
    """Return what options come to: of what is off already, no part can be switched off once more."""
    off = options.without
    return (
        options.changed({"without": ()}),
        options.team_settings(off),
        options.phase_gate(off),
        options.reflection(),
        options.recalled() if options.experience else None,
    )


def _where(options: Options) -> str:
    return "making" if is_generation(options.domain) else "tools"
