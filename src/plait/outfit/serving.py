"""How what a run recalled served it: each pipeline by the part of the plan it was walked for.

A pure function of a run's records. Knows nothing of memories, nor of what a run teaches.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from plait.events import (
    LessonRecalled,
    PipelineEnded,
    Record,
    RunStarted,
    SubtaskFinished,
    SubtaskStarted,
    WorkflowRecalled,
)
from plait.experience.exploitation.references import STEP
from plait.experience.investigation.investigate import rounds_of
from plait.experience.investigation.recorded_steps import place_of
from plait.experience.words.goals import key_of

_RECALLS = ("recall", STEP)
"""Steps that look into the memory, beside what they tell of it."""


@dataclass(frozen=True, kw_only=True)
class Use:
    """One use of a record of the memory."""

    experience: str
    """Its id."""
    well: bool
    """Whether it served."""
    taken_over: bool
    """Whether the run has it on record of its parent, which counted it."""
    goal: str = ""
    """Key of the goal that a pipeline was walked for in the last round; empty for all else."""


def uses_of(records: Sequence[Record], *, succeeded: bool) -> list[Use]:
    """Return what a run used of its memory.

    A pipeline served where it came to its end and the subtask that it was walked for succeeded. Those that
    did all there was to do in a round are judged by the answer too, which must have passed in the first one.
    What was only shown served where the run succeeded.

    Args:
        records: Of the run.
        succeeded: Whether it did, by its own account.
    """
    last = {record.path: record for record in sorted(records, key=lambda one: (one.revision, one.sequence))}
    current = sorted(last.values(), key=lambda one: one.sequence)
    begun, rounds, leaves = _begun(current), rounds_of(records), _leaves(current)
    walked = {place_of(one.path)[:2] for one in current if _is_walked(one)}
    uses: list[Use] = []
    for record in current:
        event = record.event
        if not isinstance(event, PipelineEnded | WorkflowRecalled | LessonRecalled):
            continue
        well, goal, place = succeeded, "", place_of(record.path)
        if isinstance(event, PipelineEnded):
            goal, reached = leaves.get(place[:2], ("", succeeded))
            whole = all(leaf in walked for leaf in leaves if leaf[0] == place.round)
            well = not event.left and reached and (not whole or (succeeded and rounds == 1))
            goal = goal if place.round == rounds else ""
        taken = _is_taken_over(record, last, begun)
        uses.append(Use(experience=event.experience, well=well, taken_over=taken, goal=goal))
    return uses


def counts_of(uses: Sequence[Use]) -> Iterator[tuple[str, bool]]:
    """Yield each record that the run itself used, once, and whether it served wherever it was used."""
    own = sorted((use for use in uses if not use.taken_over), key=lambda use: use.experience)
    for id, group in groupby(own, key=lambda use: use.experience):
        yield id, all(use.well for use in group)


def _is_walked(record: Record) -> bool:
    """Whether a record tells that a pipeline came to its end."""
    return isinstance(record.event, PipelineEnded) and not record.event.left


def _leaves(current: Sequence[Record]) -> dict[tuple[int, str], tuple[str, bool]]:
    """Return the key of every subtask's goal and whether it was reached, by its round and id."""
    leaves: dict[tuple[int, str], tuple[str, bool]] = {}
    for record in sorted(current, key=lambda one: one.sequence):
        place = place_of(record.path)[:2]
        if isinstance(record.event, SubtaskStarted):
            leaves[place] = key_of(record.event.goal), False
        elif isinstance(record.event, SubtaskFinished):
            leaves[place] = leaves.get(place, ("", False))[0], record.event.status == "succeeded"
    return leaves


def _begun(current: Sequence[Record]) -> float:
    """Return when a fork began, before which all on record is its parent's; 0 for a run of its own."""
    starts = (
        record for record in current if isinstance(record.event, RunStarted) and record.event.forked_from
    )
    return next((start.at for start in starts), 0.0)


def _is_taken_over(record: Record, last: Mapping[str, Record], begun: float) -> bool:
    """Whether a fork has the look into the memory from its parent that an event tells of."""
    place = record.path.partition("!")[0]
    return any(last[path].at < begun for name in _RECALLS if (path := f"{place}/{name}") in last)
