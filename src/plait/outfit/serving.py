"""How what a run recalled served it: each pipeline by the part of the plan it was walked for.

A pure function of a run's records. Knows nothing of memories, nor of what a run teaches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from plait.events import (
    LessonRecalled,
    PipelineEnded,
    Record,
    RunStarted,
    StepRecorded,
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
    """Key of the goal that a pipeline was walked for; empty for what was only shown."""


def uses_of(records: Sequence[Record], *, succeeded: bool) -> list[Use]:
    """Return what a run used of its memory.

    A pipeline served where it came to its end and the subtask that it was walked for succeeded. One that did
    all there was to do in a round is judged by the answer too, which must have passed in the first round.
    What was only shown served where the run succeeded.

    Args:
        records: Of the run.
        succeeded: Whether it did, by its own account.
    """
    last = {record.path: record for record in sorted(records, key=lambda one: (one.revision, one.sequence))}
    current = list(last.values())
    passed = succeeded and rounds_of(records) == 1
    leaves = _leaves(current)
    uses: list[Use] = []
    for record in sorted(current, key=lambda one: one.sequence):
        taken = _is_taken_over(record, last)
        match record.event:
            case WorkflowRecalled(experience=id) | LessonRecalled(experience=id):
                uses.append(Use(experience=id, well=succeeded, taken_over=taken))
            case PipelineEnded(experience=id, left=left):
                place = place_of(record.path)
                goal, reached = leaves.get(place[:2], ("", succeeded))
                alone = sum(round == place.round for round, _ in leaves) < 2
                well = not left and reached and (passed or not alone)
                uses.append(Use(experience=id, well=well, taken_over=taken, goal=goal))
            case _:
                pass
    return uses


def counts_of(uses: Sequence[Use]) -> Iterator[tuple[str, bool]]:
    """Yield each record that the run itself used, once, and whether it served wherever it was used."""
    own = sorted((use for use in uses if not use.taken_over), key=lambda use: use.experience)
    for id, group in groupby(own, key=lambda use: use.experience):
        yield id, all(use.well for use in group)


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


def _is_taken_over(record: Record, last: dict[str, Record]) -> bool:
    """Whether a fork has the look into the memory from its parent that an event tells of."""
    started = next((each for each in last.values() if isinstance(each.event, RunStarted)), None)
    if started is None or not isinstance(started.event, RunStarted) or not started.event.forked_from:
        return False
    place = record.path.partition("!")[0]
    looks = [last[path] for name in _RECALLS if (path := f"{place}/{name}") in last]
    return any(look.at < started.at for look in looks if isinstance(look.event, StepRecorded))
