"""Tells the story of the teams of a run from its records.

Knows nothing of terminals or databases. What belongs together is found by where it was recorded: an
event of a phase or a meeting stands at or under the place where that began.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from plait.events import (
    Gated,
    GroupsFormed,
    Instructed,
    MeetingFinished,
    MeetingStarted,
    MergeRefused,
    PhaseFinished,
    PhaseStarted,
    Record,
    SolutionPruned,
    SolutionRated,
    SolutionsMerged,
    TeamDropped,
    TeamFinished,
    TeamStarted,
)
from plait.runtime.teams_story import Dialogue, Level, Meeting, Team, TeamsStory

_Within: TypeAlias = Mapping[str, Sequence[Record]]
"""Records by the place of a phase or a meeting that they are at or under."""

_TOLD = (
    MeetingStarted,
    PhaseFinished,
    PhaseStarted,
    SolutionPruned,
    SolutionRated,
    TeamDropped,
    TeamFinished,
    TeamStarted,
)
"""Events that are looked for in a whole run; all others, at their place."""


_ANALYSIS = re.compile(r"/level-(\d+)/group-(\d+)/analysis!")
"""Where an aggregate agent's gate tells of strengths and weaknesses."""


def latest(records: Sequence[Record]) -> list[Record]:
    """Keep of each path the last revision, in the order of the log."""
    by_path = {record.path: record for record in records}
    return sorted(by_path.values(), key=lambda record: record.sequence)


def tell_teams(records: Sequence[Record]) -> TeamsStory | None:
    """Arrange records, of each path the last revision; None where no team started."""
    # A team that takes over from another starts a second time.
    started = {r.event.team: r.event for r in records if isinstance(r.event, TeamStarted)}
    if not started:
        return None
    within = _within(records)
    inside = {id(record) for place in within.values() for record in place}
    told = [record for record in records if isinstance(record.event, _TOLD)]
    return TeamsStory(
        teams=[_team(started[name], told, within) for name in sorted(started, key=_number)],
        meetings=_meetings(told, within),
        results=[r.event for r in told if isinstance(r.event, SolutionRated) and id(r) not in inside],
    )


def tell_meetings(records: Sequence[Record]) -> Sequence[Meeting]:
    """Arrange what happened in meetings, of each path the last revision."""
    return _meetings([record for record in records if isinstance(record.event, _TOLD)], _within(records))


def _meetings(told: Sequence[Record], within: _Within) -> list[Meeting]:
    return [_meeting(r, r.event, told, within) for r in told if isinstance(r.event, MeetingStarted)]


def _number(team: str) -> tuple[int, str]:
    digits = team.rpartition("-")[2]
    return (int(digits) if digits.isdecimal() else 0, team)


def _team(started: TeamStarted, records: Sequence[Record], within: _Within) -> Team:
    name = started.team
    own = [
        r.event for r in records if isinstance(r.event, TeamStarted | TeamFinished) and r.event.team == name
    ]
    rated = [r.event for r in records if isinstance(r.event, SolutionRated) and r.event.by == name]
    pruned = {r.event.by for r in records if isinstance(r.event, SolutionPruned)}
    return Team(
        name=name,
        temperature=started.temperature,
        phases=started.phases,
        dialogues=[
            _dialogue(record, record.event, within)
            for record in records
            if isinstance(record.event, PhaseStarted) and record.event.team == name
        ],
        dropped=_last(
            [r.event for r in records if isinstance(r.event, TeamDropped) and r.event.team == name]
        ),
        ratings={rating.digest: rating for rating in rated},
        finished=own[-1] if isinstance(own[-1], TeamFinished) else None,
        pruned=name in pruned,
    )


def _dialogue(begun: Record, started: PhaseStarted, within: _Within) -> Dialogue:
    inside = within[place_of_event(begun.path)]
    events = [record.event for record in inside]
    mine = (started.team, started.phase)
    return Dialogue(
        phase=started.phase,
        instructor=started.instructor,
        assistant=started.assistant,
        place=place_of_event(begun.path),
        happenings=[event for event in events if isinstance(event, Gated | Instructed | SolutionRated)],
        finished=_last([e for e in events if isinstance(e, PhaseFinished) and (e.team, e.phase) == mine]),
        since=max(record.at for record in inside),
    )


def _meeting(begun: Record, started: MeetingStarted, records: Sequence[Record], within: _Within) -> Meeting:
    inside = within[place_of_event(begun.path)]
    events = [record.event for record in inside]
    rated = {event.by: event for event in events if isinstance(event, SolutionRated)}
    return Meeting(
        phase=started.phase,
        place=place_of_event(begun.path),
        teams=started.teams,
        ratings={**_brought(started, records), **rated},
        pruned=[event for event in events if isinstance(event, SolutionPruned)],
        levels=_levels(inside),
        finished=_last([event for event in events if isinstance(event, MeetingFinished)]),
        since=max(record.at for record in inside),
    )


def _brought(started: MeetingStarted, records: Sequence[Record]) -> dict[str, SolutionRated]:
    """Return the ratings, of whatever time, of what the teams brought: a content is rated once."""
    by_digest = {r.event.digest: r.event for r in records if isinstance(r.event, SolutionRated)}
    brought = {
        r.event.team: r.event.digest
        for r in records
        if isinstance(r.event, PhaseFinished) and r.event.phase == started.phase
    }
    return {
        team: by_digest[brought[team]]
        for team in started.teams
        if team in brought and brought[team] in by_digest
    }


def _levels(records: Sequence[Record]) -> list[Level]:
    events = [record.event for record in records]
    formed = sorted((e for e in events if isinstance(e, GroupsFormed)), key=lambda event: event.level)
    merges = [event for event in events if isinstance(event, SolutionsMerged)]
    refused = {event.by: event for event in events if isinstance(event, MergeRefused)}
    found = [_ANALYSIS.search(record.path) for record in records if isinstance(record.event, Gated)]
    analysed = sorted({(int(match[1]), int(match[2])) for match in found if match})
    ended = any(isinstance(event, MeetingFinished) for event in events)
    return [
        Level(
            number=level.level,
            groups=level.groups,
            merges=[merge for merge in merges if f"/level-{level.level}/" in merge.by],
            refused=refused,
            analysed=[group for number, group in analysed if number == level.level],
            pruned=[
                record.event.by
                for record in records
                if isinstance(record.event, SolutionPruned) and f"/level-{level.level}/" in record.path
            ],
            over=ended or level is not formed[-1],
        )
        for level in formed
    ]


def _within(records: Sequence[Record]) -> _Within:
    """Return the records at or under each place where a phase or a meeting began."""
    begun = (r.path for r in records if isinstance(r.event, PhaseStarted | MeetingStarted))
    within: dict[str, list[Record]] = {place_of_event(path): [] for path in begun}
    for record in records:
        place = place_of_event(record.path)
        while place:
            if place in within:
                within[place].append(record)
            place = place.rpartition("/")[0]
    return within


def place_of_event(path: str) -> str:
    """Return where an event was emitted, without its number at that place."""
    return path.split("!", 1)[0]


def _last(events: Sequence[Any]) -> Any:
    return events[-1] if events else None
