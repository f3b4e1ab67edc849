"""Teams as a story: their phases and dialogues, and the meetings, as values that every view reads.

Knows nothing of records, terminals or databases; `teams_telling.tell_teams` makes it from records. The
result of a run, its record page and the terminal all read this.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plait.events import (
    Gated,
    Instructed,
    MeetingFinished,
    MergeRefused,
    PhaseFinished,
    SolutionPruned,
    SolutionRated,
    SolutionsMerged,
    TeamDropped,
    TeamFinished,
)


@dataclass(frozen=True, kw_only=True)
class Dialogue:
    """One phase of one team: what its two agents said."""

    phase: str
    instructor: str
    assistant: str
    place: str
    """Path of the phase."""
    happenings: Sequence[Gated | Instructed | SolutionRated]
    """Replies at their gates, the instructor's words, and what the domain's quality found; in order."""
    finished: PhaseFinished | None
    since: float
    """When something last happened in it."""

    @property
    def disagreed(self) -> bool:
        """Whether it ended without agreement although somebody was asked."""
        asked = any(isinstance(each, Instructed) for each in self.happenings)
        return self.finished is not None and not self.finished.agreed and asked

    @property
    def round(self) -> int:
        """The round under way, from 1, or the number of rounds it took."""
        if self.finished is not None:
            return self.finished.rounds
        said = (each for each in self.happenings if isinstance(each, Instructed) and not each.agreed)
        return 1 + max((each.round for each in said), default=0)


@dataclass(frozen=True, kw_only=True)
class Team:
    """One team and how far it came."""

    name: str
    temperature: float
    phases: Sequence[str]
    """Of its chain, in order."""
    dialogues: Sequence[Dialogue]
    ratings: Mapping[str, SolutionRated]
    """Of its versions of the result, by digest."""
    dropped: TeamDropped | None
    finished: TeamFinished | None
    """None again where a closed team took over from another."""
    pruned: bool
    """In a meeting, its solution did not take part in the merge."""

    @property
    def quality(self) -> float | None:
        """How good the last rated version of its own was; None where none was rated."""
        rated = list(self.ratings.values())
        return rated[-1].quality if rated else None

    @property
    def current(self) -> Dialogue | None:
        """The phase under way."""
        if self.over or not self.dialogues or self.dialogues[-1].finished is not None:
            return None
        return self.dialogues[-1]

    @property
    def over(self) -> bool:
        """Whether it does no more."""
        return self.dropped is not None or self.finished is not None

    def dialogue(self, phase: str) -> Dialogue | None:
        """Return the dialogue of a phase, if it was begun."""
        return next((each for each in self.dialogues if each.phase == phase), None)


@dataclass(frozen=True, kw_only=True)
class Level:
    """One level of a meeting: its groups, and what came of each."""

    number: int
    groups: Sequence[Sequence[str]]
    merges: Sequence[SolutionsMerged]
    refused: Mapping[str, MergeRefused]
    """By who made the refused solution."""
    analysed: Sequence[int]
    """Numbers of the groups, from 1, of whose solutions strengths and weaknesses were listed."""
    pruned: Sequence[str]
    """Who was left out of its groups, where each group prunes."""
    over: bool
    """All of its groups are done."""

    def left_of(self, group: Sequence[str]) -> Sequence[str]:
        """Return who of a group takes part in its merge."""
        return [each for each in group if each not in self.pruned]


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """Teams that met at a key phase."""

    phase: str
    place: str
    """Path of the meeting."""
    teams: Sequence[str]
    ratings: Mapping[str, SolutionRated]
    """By who made the rated solution: of the teams that met, and of merges."""
    pruned: Sequence[SolutionPruned]
    levels: Sequence[Level]
    finished: MeetingFinished | None
    since: float


@dataclass(frozen=True, kw_only=True)
class TeamsStory:
    """All teams and their meetings, as far as they are on record."""

    teams: Sequence[Team] = ()
    meetings: Sequence[Meeting] = ()
    results: Sequence[SolutionRated] = ()
    """Of what the chains ended with."""

    @property
    def phases(self) -> Sequence[str]:
        """Every phase that any team has, in the order of the chains."""
        return in_order([team.phases for team in self.teams])


def in_order(chains: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return all names of several lists that leave out different parts of one order."""
    names = list(max(chains, key=len, default=()))
    for chain in chains:
        at = 0
        for name in chain:
            if name in names:
                at = names.index(name) + 1
            else:
                names.insert(at, name)
                at += 1
    return names


def pruned_text(pruned: SolutionPruned) -> str:
    """Return how good a pruned solution was: `0.10`, `0.10, tied`, or `not rated`."""
    if not pruned.rated:
        return "not rated"
    return f"{pruned.quality:.2f}{', tied' if pruned.tied else ''}"
