"""How many teams, how they differ and how they meet: one value, every switch of Croto's ablations.

Knows nothing of agents, models or domains.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plait.errors import UserError

MOST_TEAMS = 64
DEFAULT_GROUP_SIZE = 2
DEFAULT_PRUNE = 0.25
PRUNE_FROM_TEAMS = 8
"""Fewer teams are not pruned, as in the paper's experiments (section 5)."""
DIVERSE_TEMPERATURES = (0.2, 0.2, 0.4, 0.4)
"""The mix that did best in the paper's Table 2; more teams go on from its beginning."""
STALL_SECONDS = 900.0

TEAM_SWITCHES = ("prune", "partition", "role", "elitism")
"""What `--no-...` can switch off in meetings."""


@dataclass(frozen=True, kw_only=True)
class TeamSettings:
    """Croto's switches and bounds."""

    teams: int = 1
    temperatures: Sequence[float] = ()
    """One per team, repeated as needed; empty: the run's own for one team, else `DIVERSE_TEMPERATURES`."""
    leave_out: Sequence[Sequence[str]] = ()
    """Optional phases that team 1, 2, ... does without; teams past the end have them all."""
    group_size: int = DEFAULT_GROUP_SIZE
    """u: solutions in a group at most."""
    prune: float = DEFAULT_PRUNE
    """Share of the lowest rated that is dropped, rounded down; 0 to below 1."""
    prune_from: int = PRUNE_FROM_TEAMS
    """From this many solutions on."""
    prune_in_groups: bool = False
    """Prune in every aggregation (equation 4) instead of once before grouping: of each level the share of all
    its solutions that is lowest, each in its group; one stays in every group."""
    partition: bool = True
    """Off: all solutions are merged at once."""
    role: bool = True
    """Off: the aggregate agent is told nothing of who it is."""
    analyse_merged: bool = False
    """On: merged solutions are analysed anew at the next level; off: what a merge itself says of its solution
    stands for that, and so a level after the first takes one call instead of two."""
    elitism: bool = True
    """On: a merged solution that rates below its best input gives way to that, and a reply in a phase that
    inspects to what it was to mend."""
    all_go_on: bool = False
    """On: after the last meeting every chain goes on; off: one does."""
    stall_seconds: float = STALL_SECONDS
    """What is under way when no step of the run ends for so long, a team's phase or a merge, is given up."""
    thrifty: bool = True
    """On: a team may take at most twice its fair share of the budget, and a run whose budget runs low goes on
    with fewer teams, without a merge, in fewer rounds; off: it goes on as it is until it stops."""

    def __post_init__(self) -> None:
        if not 1 <= self.teams <= MOST_TEAMS:
            raise UserError(f"--teams must be between 1 and {MOST_TEAMS}, not {self.teams!r}")
        if self.group_size < 2:
            raise UserError(f"--group-size must be at least 2, not {self.group_size!r}")
        if not 0 <= self.prune < 1:
            raise UserError(f"--prune-share must be at least 0 and below 1, not {self.prune!r}")
        if not 0 < self.stall_seconds < math.inf:
            raise UserError(f"--stall-seconds must be above 0 and finite, not {self.stall_seconds!r}")
        for temperature in self.temperatures:
            if not 0 <= temperature <= 2:
                raise UserError(f"--temperatures must be between 0 and 2, not {temperature!r}")

    def temperature(self, team: int, own: float) -> float:
        """Return the temperature of team number `team`, from 1, in a run whose own is `own`."""
        mix = self.temperatures or ((own,) if self.teams == 1 else DIVERSE_TEMPERATURES)
        return mix[(team - 1) % len(mix)]

    def without(self, switches: Sequence[str]) -> "TeamSettings":
        """Return these settings with parts switched off.

        Raises:
            UserError: a switch is not one of `TEAM_SWITCHES`.
        """
        settings = self
        for switch in switches:
            settings = settings._without_one(switch)
        return settings

    def _without_one(self, switch: str) -> "TeamSettings":
        match switch:
            case "prune":
                return replace(self, prune=0.0)
            case "partition":
                return replace(self, partition=False)
            case "role":
                return replace(self, role=False)
            case "elitism":
                return replace(self, elitism=False)
            case _:
                raise UserError(f"unknown switch {switch!r}; there are: {', '.join(TEAM_SWITCHES)}")
