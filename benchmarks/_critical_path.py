"""The critical path of a run of teams: the sum of the latencies that cannot overlap, from its records.

What has to wait for what follows from the paths of recorded calls and from the events of meetings:

- calls of one phase of one team (`run/team-2/coding/...`) are a dialogue: each waits for the one before;
- a team's phase waits for its phase before, and for the meeting at the end of that, where it took part;
- a meeting waits for all teams that take part, because it compares them;
- a group (`run/coding/level-2/group-1/...`) waits for the groups that made its solutions, and its calls
  for one another; what is done with a solution that is alone in its group nobody waits for but who takes it.

All else may be done at once. So the path is the least time that any implementation of the same calls needs.
Knows nothing of how long a run really took.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from plait.events import GroupsFormed, MeetingStarted, Record, StepRecorded, TeamStarted

Seconds = Callable[[str], float]
"""From the text of a reply to the latency of its call."""


def critical_path(records: Sequence[Record], latency: Seconds) -> float:
    """Return the seconds that the calls of a run take at least, however many may be made at once."""
    spent = _spent(records, latency)
    started = [record.event for record in records if isinstance(record.event, TeamStarted)]
    ready = {event.team: 0.0 for event in started}
    meetings = {
        record.event.phase: record.event.teams
        for record in records
        if isinstance(record.event, MeetingStarted)
    }
    phases = max((event.phases for event in started), key=len, default=())
    for phase in phases:
        for team in ready:
            ready[team] += _below(spent, f"{team}/{phase}")
        if present := meetings.get(phase):
            begins = max(ready[team] for team in present)
            ends = begins + _meeting(records, spent, phase)
            ready |= dict.fromkeys(present, ends)
    return max(ready.values(), default=0.0)


def _meeting(records: Sequence[Record], spent: Mapping[str, float], phase: str) -> float:
    """Return how long the calls of a meeting take at least."""
    levels = [
        record.event
        for record in records
        if isinstance(record.event, GroupsFormed) and _place(record.path) == phase
    ]
    made: dict[str, float] = defaultdict(float)
    for level in levels:
        before = dict(made)
        for number, names in enumerate(level.groups, start=1):
            by = f"{phase}/level-{level.level}/group-{number}"
            ends = max(before.get(name, 0.0) for name in names) + _below(spent, by)
            # Which of its solutions a group hands on, or a new one: all are there when it is done.
            made |= dict.fromkeys([by, *names], ends)
    return max(made.values(), default=0.0)


def _spent(records: Sequence[Record], latency: Seconds) -> dict[str, float]:
    """Return the latency of each recorded model call, by its path without the run's own."""
    return {
        _place(record.path): latency(str(cast("Mapping[str, Any]", record.event.result)["text"]))
        for record in records
        if isinstance(record.event, StepRecorded) and record.event.step == "model"
    }


def _below(spent: Mapping[str, float], place: str) -> float:
    return sum(seconds for path, seconds in spent.items() if path.startswith(f"{place}/"))


def _place(path: str) -> str:
    """Return a path below the run, without the number of an event."""
    return path.partition("/")[2].partition("!")[0]
