"""The calls of a trajectory: those that were of use, and those that were made once for each row of a result.

The pruning that the paper asks a model for (ICE, section 3.2, Execution-Consolidate). Knows nothing of where
arguments come from otherwise, nor of pipelines but the binding that goes through a result.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from plait.experience.consolidation.goal_words import GoalWords
from plait.experience.consolidation.origins import columns
from plait.experience.investigation.tree import Step
from plait.experience.pipelines.pipeline import FromResult
from plait.experience.pipelines.results import Row, cell_text, is_cut, rows_of
from plait.tools.arguments import canonical
from plait.tools.rendering import not_found


@dataclass(frozen=True, kw_only=True)
class TrajectoryCall:
    """A call of the trajectory, or one that was made again for each row of an earlier result."""

    step: Step
    at: int
    """Place of the first of its steps."""
    last: int
    """Place of the last."""
    members: Sequence[int]
    """The places of all of them."""
    rows: Sequence[Row]
    whole: bool
    each: Mapping[str, FromResult] = field(default_factory=dict[str, FromResult])
    """The arguments that differ from row to row."""


def useful(steps: Sequence[Step], effects: Collection[str] = ()) -> list[Step]:
    """Leave out what failed and what was done before.

    Args:
        steps: Of a trajectory.
        effects: Tools that count as effects whatever the steps say.
    """
    seen: set[tuple[str, str]] = set()
    useful: list[Step] = []
    for step in steps:
        effect = step.effect or step.tool in effects
        # The same question may have another answer once the world was changed.
        call = (canonical(step.tool, step.arguments), "" if effect else step.observation)
        # Some tools say that what they were to change is not there, and call it no failure.
        if step.ok and call not in seen and not (effect and not_found(step.observation)):
            seen.add(call)
            useful.append(replace(step, effect=effect))
    return useful


def calls_of(steps: Sequence[Step], words: GoalWords) -> list[TrajectoryCall]:
    """Take the calls that were made for each row of one result together."""
    calls: list[TrajectoryCall] = []
    taken: set[int] = set()
    for at, step in enumerate(steps):
        if at in taken:
            continue
        members, each = _loop(steps, at, calls, taken, words) or ([at], {})
        taken.update(members)
        calls.append(
            TrajectoryCall(
                step=step,
                at=at,
                last=members[-1],
                members=members,
                rows=[row for member in members for row in rows_of(steps[member].observation)],
                whole=all(_is_whole(steps[member]) for member in members),
                each=each,
            )
        )
    return calls


def _is_whole(step: Step) -> bool:
    return step.whole and not is_cut(step.observation)


def _loop(
    steps: Sequence[Step], at: int, calls: Sequence[TrajectoryCall], taken: Collection[int], words: GoalWords
) -> tuple[list[int], Mapping[str, FromResult]] | None:
    """Return the steps that were taken for each row of one result, the first of which is step `at`."""
    for number, source in reversed(list(enumerate(calls))):
        # What an effect answers is no list to go through.
        if source.last >= at or source.step.effect or not source.whole or len(source.rows) < 2:
            continue
        members = _alike(steps, at, len(source.rows), taken)
        if members and (each := _differing([steps[member] for member in members], number, source, words)):
            return members, each
    return None


def _alike(steps: Sequence[Step], at: int, count: int, taken: Collection[int]) -> list[int] | None:
    """Return step `at` and the next of its tool, `count` in all; None where another effect lies between."""
    members: list[int] = []
    for number in range(at, len(steps)):
        if number not in taken and steps[number].tool == steps[at].tool:
            members.append(number)
        elif steps[number].effect:
            return None
        if len(members) == count:
            return members
    return None


def _differing(
    steps: Sequence[Step], number: int, source: TrajectoryCall, words: GoalWords
) -> Mapping[str, FromResult] | None:
    """Return the arguments that go through a result row by row; None where others differ too."""
    if any(step.arguments.keys() != steps[0].arguments.keys() for step in steps):
        return None
    each: dict[str, FromResult] = {}
    for name in steps[0].arguments:
        values = [cell_text(step.arguments[name]) for step in steps]
        if len(set(values)) == 1:
            continue
        fields = [
            column
            for column in columns(source.rows, name)
            if [row.get(column) for row in source.rows] == values
        ]
        if not fields or any(words.standing(value) for value in values):
            return None
        each[name] = FromResult(node=str(number), field=fields[0], row="each")
    return each
