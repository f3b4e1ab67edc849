"""What is said of teams in a few words, the same in every view.

Knows nothing of terminals.
"""

import re
from collections.abc import Callable, Sequence

from plait.cli.words import count_text
from plait.domains.names import Reading
from plait.events import MergeRefused, PhaseFinished, SolutionRated, SolutionsMerged
from plait.runtime.teams_story import Dialogue, Level, Meeting, TeamsStory
from plait.teams.meeting import EQUAL

READINGS: Sequence[Reading] = ("strict", "official")

_MERGE = re.compile(r"/level-(\d+)/group-(\d+)$")


def dialogue_text(dialogue: Dialogue) -> str:
    """Return how far a phase is: `round 2`, or `2 rounds, 48 lines`."""
    finished = dialogue.finished
    if finished is None:
        return f"round {dialogue.round}"
    size = count_text(sum(finished.files.values()), "line") if finished.files else size_text(finished)
    return f"{count_text(finished.rounds, 'round')}, {size}"


def size_text(finished: PhaseFinished) -> str:
    """Return how much a phase yielded."""
    if finished.files:
        files, lines = len(finished.files), sum(finished.files.values())
        return f"{count_text(lines, 'line')} in {count_text(files, 'file')}"
    return f"{finished.characters:,} characters"


def rating_text(rating: SolutionRated) -> str:
    """Return a quality in one word."""
    return f"{rating.quality:.2f}"


def dimensions_text(rating: SolutionRated) -> str:
    """Return what a quality is made of: `consistency 0.61, strict: completeness 1.00, ...`.

    Where a program was measured in two readings, each is told whole.
    """
    plain = [(name, value) for name, value in rating.dimensions.items() if not _reading(name)]
    parts = [", ".join(f"{name} {value:.2f}" for name, value in plain)]
    for reading in READINGS:
        own = {n: v for n, v in rating.dimensions.items() if _reading(n) == reading}
        told = ", ".join(f"{name.removeprefix(reading + '_')} {value:.2f}" for name, value in own.items())
        parts.append(f"{reading}: {told}" if told else "")
    return "; ".join(part for part in parts if part)


def best_first(ratings: Sequence[SolutionRated]) -> Sequence[SolutionRated]:
    """Return ratings, the best first; of equals the first stays."""
    return sorted(ratings, key=lambda rating: -rating.quality)


def doing(story: TeamsStory) -> list[tuple[str, float]]:
    """Return what teams and meetings are at, each with the time since when."""
    found = [
        (f"meeting after {meeting.phase} {'merges' if meeting.levels else 'rates'}", meeting.since)
        for meeting in story.meetings
        if meeting.finished is None
    ]
    for team in story.teams:
        if dialogue := team.current:
            found.append((f"{team.name} {dialogue.phase} round {dialogue.round}", dialogue.since))
    return found


def _reading(dimension: str) -> str:
    return next((reading for reading in READINGS if dimension.startswith(f"{reading}_")), "")


def short_name(by: str) -> str:
    """Return who made a solution as there is room for it live: `merge 2.1` for level 2, group 1."""
    merged = _MERGE.search(by)
    return f"merge {merged[1]}.{merged[2]}" if merged else by


def group_text(
    group: Sequence[str],
    merge: SolutionsMerged | None,
    level: Level,
    meeting: Meeting,
    name: Callable[[str], str] = str,
) -> tuple[str, str]:
    """Return what came of a group, its outcome first, and the name of its mark.

    Args:
        group: Who made its solutions.
        merge: What was made of them, if that is known.
        level: The level that it belongs to.
        meeting: The meeting.
        name: How who made a solution is written.
    """
    left = group if merge is not None else level.left_of(group)
    inputs = " + ".join(map(name, left))
    if merge is None and len(left) == 1:
        listed = [*level.groups].index(group) + 1 in level.analysed
        said = "alone, strengths and weaknesses listed" if listed else "alone, nothing to merge"
        return f"{said}: {inputs}", "succeeded" if level.over else "doing"
    if merge is None:
        return f"merging: {inputs}", "doing"
    if merge.failed:
        return f"not merged, the best stands: {inputs} ({merge.failed})", "failed"
    if merge.changes == EQUAL:
        return f"equal, nothing to merge: {inputs}", "succeeded"
    refused = level.refused.get(merge.by)
    if refused is not None:
        worse = below(refused)
        return f"refused, {worse} of {name(refused.best)}, which stands: {inputs}", "failed"
    rating = meeting.ratings.get(merge.by)
    return f"merged{f', {rating.quality:.2f}' if rating else ''}: {inputs}", "succeeded"


def below(refused: MergeRefused) -> str:
    """Return how a refused merge rates beside its best input, with as many digits as tell them apart."""
    digits = 2 if f"{refused.quality:.2f}" != f"{refused.best_quality:.2f}" else 4
    return f"{refused.quality:.{digits}f} below {refused.best_quality:.{digits}f}"
