"""Plait with some of its three strands only: what goes off of the others.

Knows nothing of benchmarks.
"""

from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any

from plait.bench.methods.method import Asked, Means, Method, Solve, solve_with
from plait.runtime.options import SWITCHES, Options
from plait.runtime.team_options import is_generation

STRANDS = ("teams", "reflection", "experience")
LEAST_TEAMS = 2
"""Where teams are wanted and nobody says how many."""
ONE_TEAM: Mapping[str, Any] = {"teams": 1, "leave_out": ()}

OF_STRAND: Mapping[str, Collection[str]] = {
    "teams": {"teams", "temperatures", "group_size", "prune_share", "analyse_merged", "stall_seconds"},
    "reflection": {"rounds", "planner_threshold", "tool_threshold", "answer_threshold"},
    "experience": {"consolidate"},
}
"""Options that mean nothing where a strand is off."""


def switched_off(options: Options, off: Collection[str], changes: Mapping[str, Any] | None = None) -> Options:
    """Return options with switches off that may be off already, and with other changes."""
    # In the order of the flags, so that the same switches by hand are the same variant.
    without = tuple(name for name in SWITCHES if name in {*options.without, *off})
    return options.changed({**(changes or {}), "without": without})


def with_only(options: Options, strands: Collection[str]) -> Options:
    """Return options with these of the three strands, and without the others."""
    changed = options.changed({"teams": max(options.teams, LEAST_TEAMS)} if "teams" in strands else ONE_TEAM)
    if "reflection" not in strands:
        # A second round is an answer to a judgement.
        making = is_generation(options.domain)
        changed = (
            switched_off(changed, {"phase-gate"})
            if making
            else switched_off(changed, {"reflection"}, {"rounds": 1})
        )
    return changed if "experience" in strands else switched_off(changed, {"experience"})


def alone(strand: str) -> Method[Any]:
    """Return Plait with one strand as a method for tasks with tools."""
    others = {name for other in STRANDS if other != strand for name in OF_STRAND[other]}
    return Method(
        solve=_solve(strand),
        about=f"Plait with its strand {strand} alone",
        reads=frozenset({each.name for each in fields(Options)} - others),
    )


def _solve(strand: str) -> Solve[Any]:
    async def solve(task: Asked, run_id: str, means: Means) -> str:
        return await solve_with(with_only(means.options, {strand}), task, run_id, means)

    return solve
