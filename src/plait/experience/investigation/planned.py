"""The plan of a round with what became of it: lines that were split, added and deleted (ICE, section 3.1).

A pure function of the published events, for all who look at a run. Knows nothing of how plans are made.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.events import PlanMade, PlanRectified, Record, SubtaskFinished
from plait.events.data import Data
from plait.models.ledger import round_of

_PLACE = re.compile(r"/subtask-([^/!]+)/rectify(?=[/!]|$)")
"""Where the planner is asked about a subtask that failed."""


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A subtask of a plan as it is in the end."""

    id: str
    goal: str
    milestone: str
    depends_on: Sequence[str]
    parts: "Sequence[Planned]" = ()
    """What it was split into."""
    others: "Sequence[Planned]" = ()
    """What was added beside it, and stands for it."""

    def items(self) -> "Iterator[Planned]":
        """Yield itself, its parts and what stands for it, in plan order."""
        yield self
        for each in (*self.parts, *self.others):
            yield from each.items()

    def siblings(self) -> "Iterator[Planned]":
        """Yield itself and what was added beside it, in plan order."""
        yield self
        for each in self.others:
            yield from each.siblings()


def planned(records: Sequence[Record], number: int) -> list[Planned]:
    """Return the last plan of a round, from first to last; empty while there is none.

    Args:
        records: That hold in the end, in the order of the log; of any rounds, and of one team or of none.
        number: Of the round.
    """
    own = [record for record in records if (round_of(record.path) or 0) == number]
    made = next((r.event for r in reversed(own) if isinstance(r.event, PlanMade)), None)
    if made is None:
        return []
    rectified = _in_force(own)
    gone = {id for each in rectified.values() for id in each.deleted}
    return _read(made.subtasks, rectified, gone)


def rectifications(records: Sequence[Record]) -> int:
    """Return how often plans were changed after a subtask failed; giving up changes none."""
    numbers = {round_of(record.path) or 0 for record in records if isinstance(record.event, PlanRectified)}
    in_force = [
        each
        for number in numbers
        for each in _in_force([r for r in records if (round_of(r.path) or 0) == number]).values()
    ]
    return sum(each.operation != "give_up" for each in in_force)


def _in_force(records: Sequence[Record]) -> dict[str, PlanRectified]:
    """Return how each failed subtask was rectified.

    What follows no failure is of another way, which the run went before it was taken up again.
    """
    found: dict[str, PlanRectified] = {}
    asked: dict[str, int] = {}
    failed: dict[str, int] = {}
    for record in records:
        event = record.event
        if place := _PLACE.search(record.path):
            asked[place[1]] = record.sequence
        if isinstance(event, PlanRectified):
            found[event.subtask] = event
        elif isinstance(event, SubtaskFinished):
            failed.pop(event.id, None)
            if event.status == "failed":
                failed[event.id] = record.sequence
    return {id: each for id, each in found.items() if id in failed and asked.get(id, 0) > failed[id]}


def _read(
    subtasks: Sequence[Data], rectified: Mapping[str, PlanRectified], gone: Collection[str]
) -> list[Planned]:
    found: list[Planned] = []
    for subtask in subtasks:
        id = str(subtask["id"])
        if id in gone:
            continue
        # Taken once, so that a plan that was damaged has an end.
        way = rectified.get(id)
        rest: Mapping[str, Any] = {other: each for other, each in rectified.items() if other != id}
        below = _read(way.subtasks, rest, gone) if way else []
        found.append(
            Planned(
                id=id,
                goal=str(subtask["goal"]),
                milestone=str(subtask.get("milestone", "")),
                depends_on=tuple(str(other) for other in subtask.get("depends_on", ())),
                parts=below if way and way.operation == "split" else (),
                others=below if way and way.operation == "add" else (),
            )
        )
    return found
