"""A meeting of teams, and what teams agreed on, as lines of a picture.

Knows nothing of live updates.
"""

from collections.abc import Iterable, Mapping

from rich.text import Text

from plait.cli.lines import MARKS, Detail, line
from plait.cli.teams_words import group_text, rating_text, short_name
from plait.cli.words import count_text
from plait.events import ActionsAgreed, SolutionRated
from plait.runtime.teams_story import Level, Meeting, pruned_text

BRANCH = "  "


def meeting_lines(meeting: Meeting, detail: Detail) -> Iterable[Text]:
    """Yield what happened in a meeting, one line each."""
    over = meeting.finished is not None
    mark = MARKS["succeeded" if over else "doing"]
    yield line(mark, (f"meeting after {meeting.phase}", "bold"), _standing(meeting))
    if over and detail < Detail.LAST_ROUND:
        return
    rated = {by: event for by, event in meeting.ratings.items() if by in meeting.teams}
    if rated and detail >= Detail.UNDER_WAY:
        yield indented(1, "rated", _rated_text(rated))
    for each in meeting.pruned:
        yield indented(1, ("pruned", "yellow"), f"{short_name(each.by)} ({pruned_text(each)})")
    levels = meeting.levels if detail > Detail.PLAN else meeting.levels[-1:]
    for level in levels:
        yield from _level_lines(level, meeting)


def _rated_text(rated: Mapping[str, SolutionRated]) -> str:
    first = next(iter(rated.values()))
    if len(rated) > 1 and all(each.digest == first.digest for each in rated.values()):
        return f"{short_name(first.by)} {rating_text(first)}, which all of them have"
    return " · ".join(f"{team} {rating_text(each)}" for team, each in rated.items())


def _standing(meeting: Meeting) -> str:
    if meeting.finished is not None:
        rating = meeting.ratings.get(meeting.finished.by)
        quality = f" ({rating_text(rating)})" if rating else ""
        return f"{short_name(meeting.finished.by)}'s{quality} goes back to {', '.join(meeting.teams)}"
    return f"{'merging' if meeting.levels else 'rating'}: {', '.join(meeting.teams)}"


def _level_lines(level: Level, meeting: Meeting) -> Iterable[Text]:
    # Pruning inside a group leaves inputs out, so groups are told by their numbers.
    done = {merge.by.rpartition("group-")[2]: merge for merge in level.merges}
    for number, group in enumerate(level.groups, start=1):
        merge = done.get(str(number))
        text, mark = group_text(group, merge, level, meeting, short_name)
        yield indented(level.number, MARKS[mark], text)


def indented(level: int, *parts: str | tuple[str, str]) -> Text:
    """Return a line that begins `level` steps from the left margin."""
    return Text(BRANCH * level, no_wrap=True, overflow="ellipsis").append_text(line(*parts))


def agreed_text(agreed: ActionsAgreed) -> str:
    """Return what teams agreed to do, who does it, and how many would do otherwise."""
    calls = count_text(len(agreed.calls), "call")
    what = f"would change the world by the same {calls}" if agreed.calls else "would change nothing"
    others = ", ".join(str(each["team"]) for each in agreed.others)
    other = f"; {others} would do otherwise" if others else ""
    return f"{', '.join(agreed.teams)} {what}{other}: {agreed.by} acts"
