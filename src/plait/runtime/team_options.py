"""The options of teams, and what a run of a domain is given where the user says nothing.

Knows nothing of the command line, nor of the options that every run has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from plait.agents.gate import GateSettings
from plait.domains.names import NAMED, Reading
from plait.errors import UserError
from plait.task import TOOLS
from plait.teams.settings import DEFAULT_GROUP_SIZE, DEFAULT_PRUNE, STALL_SECONDS, TEAM_SWITCHES, TeamSettings

FILE_ENDING = ".toml"
LENT = "python:"
"""What the name of a domain begins with that a Python program lends."""

PHASE_GATE = "phase-gate"
"""What `--no-...` switches off besides the strand's own switches: the gates of phases and merges."""
PHASE_THRESHOLD = 8.0
NO_TEAMS = "teams"
"""What `--no-teams` and `without` switch off: one team works, and meets nobody."""
PAPER = "paper"
PRESETS = (PAPER,)
PAPER_TEAMS = 8
PAPER_TEMPERATURE = 0.2
"""Of every team, and how many there are (section 5), where the user says nothing."""

GENERATION_DEFAULTS: Mapping[str, Any] = {
    "teams": 4,
    "max_calls": 1_500,
    "max_tokens": 8_000_000,
    "max_seconds": 14_400.0,
}
"""Options of a run that makes something, where the user says nothing: a chain of eight phases asks far
more than a tool task."""


@dataclass(frozen=True, kw_only=True)
class TeamOptions:
    """The options of teams, with their defaults."""

    teams: int = 1
    temperatures: Sequence[float] = ()
    """One per team, repeated as needed; empty: the mix that did best in the paper, or with its preset the
    one that its main results have."""
    phases: Sequence[str] = ()
    """Keep only these phases of the chain; empty: all."""
    leave_out: Sequence[str] = ()
    """Optional phases a team does without: `2:code review,manual` for team 2."""
    group_size: int = DEFAULT_GROUP_SIZE
    prune_share: float = DEFAULT_PRUNE
    """Share of the lowest rated solutions that is dropped, from 8 solutions on."""
    analyse_merged: bool = False
    """Merged solutions are analysed anew at each level; so they are with the preset of the paper."""
    stall_seconds: float = STALL_SECONDS
    phase_threshold: float = PHASE_THRESHOLD
    """Score at which a reply in a phase passes its gate."""
    reading: str = ""
    """How quality is read: official or strict; empty: strict, and official with the preset of the paper."""
    preset: str = ""
    """`paper`: everything beyond the paper is off."""
    sandbox: bool = True
    """Off: programs that the teams wrote run on this machine without isolation."""

    def team_settings(self, without: Sequence[str] = ()) -> TeamSettings:
        """Return the settings of the teams strand.

        Args:
            without: What is switched off; names of other strands are passed over.

        Raises:
            UserError: a value is out of bounds.
        """
        paper = self.preset == PAPER
        switches = [name for name in without if name in TEAM_SWITCHES]
        return TeamSettings(
            teams=self.teams,
            temperatures=tuple(self.temperatures) or ((PAPER_TEMPERATURE,) if paper else ()),
            leave_out=self._left_out(),
            group_size=self.group_size,
            prune=self.prune_share,
            prune_in_groups=paper,
            analyse_merged=self.analyse_merged or paper,
            elitism=not paper,
            all_go_on=paper,
            stall_seconds=self.stall_seconds,
            thrifty=not paper,
        ).without(switches)

    def phase_gate(self, without: Sequence[str] = ()) -> GateSettings:
        """Return how strict the gates of phases and merges are.

        Raises:
            UserError: the threshold is out of bounds.
        """
        if not 0 <= self.phase_threshold <= 10:
            raise UserError(f"--phase-threshold must be between 0 and 10, not {self.phase_threshold!r}")
        enabled = not {PHASE_GATE, "gates", "reflection"}.intersection(without)
        return GateSettings(threshold=self.phase_threshold, enabled=enabled)

    def quality_reading(self) -> Reading:
        """Return how quality is read.

        Raises:
            UserError: there is no such reading.
        """
        if self.reading in get_args(Reading):
            return cast("Reading", self.reading)
        if self.reading:
            raise UserError(
                f"--reading {self.reading!r} is unknown; there are: {', '.join(get_args(Reading))}"
            )
        return "official" if self.preset == PAPER else "strict"

    def _left_out(self) -> Sequence[Sequence[str]]:
        """Return the phases that team 1, 2, ... does without."""
        by_team: dict[int, list[str]] = {}
        for said in self.leave_out:
            number, colon, names = said.partition(":")
            phases = [name.strip() for name in names.split(",") if name.strip()]
            if not (colon and number.strip().isdecimal() and phases):
                raise UserError(
                    f"--leave-out {said!r} must be TEAM:PHASE, for instance '2:code review,manual'"
                )
            if not 1 <= int(number) <= self.teams:
                raise UserError(f"--leave-out {said!r} names team {int(number)}, and there are {self.teams}")
            by_team.setdefault(int(number), []).extend(phases)
        return tuple(tuple(by_team.get(team, ())) for team in range(1, max(by_team, default=0) + 1))


def is_generation(domain: str) -> bool:
    """Whether teams make something in this domain, instead of acting with tools."""
    return domain != TOOLS


def defaults_of(domain: str, preset: str) -> Mapping[str, Any]:
    """Return the options of a run that differ from those of a tool task, where the user says nothing.

    Args:
        domain: What the run is about.
        preset: Which preset it has, or "".
    """
    if not is_generation(domain):
        return {}
    return {**GENERATION_DEFAULTS, "teams": PAPER_TEAMS} if preset == PAPER else GENERATION_DEFAULTS


def without_teams(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what was said with teams switched off said as one team.

    Raises:
        UserError: several teams were asked for too.
    """
    without = said.get("without", ())
    if NO_TEAMS not in without:
        return said
    if said.get("teams", 1) != 1:
        raise UserError(f"--teams {said['teams']!r} and --no-teams exclude each other: say one")
    return {**said, "teams": 1, "without": tuple(name for name in without if name != NO_TEAMS)}


def check_domain(domain: str) -> None:
    """Check the name of a domain.

    Raises:
        UserError: it is none that is built in, and no domain file.
    """
    if domain not in NAMED and not domain.endswith(FILE_ENDING) and not domain.startswith(LENT):
        raise UserError(
            f"--domain {domain!r} is unknown; there are: {', '.join(NAMED)},"
            f" or a domain file of your own, which ends in {FILE_ENDING}"
        )
