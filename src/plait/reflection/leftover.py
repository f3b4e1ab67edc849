"""Whether anything that was found is left to be ended within the hours that a task names.

Where it is sure of nothing it says that something may be: a day that was not looked at, a page of a longer
list, a result that is no table. Knows nothing of what is done about it.
"""

from collections.abc import Iterable, Mapping

from plait.reflection.checks import Known, strings
from plait.reflection.dates import MOMENT
from plait.reflection.hours import HourLimit, hour_limit, only_ends, outside
from plait.reflection.phrases import names_period
from plait.reflection.tables import identifiers
from plait.reflection.trajectory import Step
from plait.tools.tool import Tool

FEW_ROWS = 3
"""Fewer than any tool shows at most: a result of so many rows is all that there is."""


def none_left(known: Known, tools: Mapping[str, Tool]) -> bool:
    """Whether of all records found each is acted on, or outside of the hours that the task names.

    Only of a task that wants nothing else, and where all there is was sought on its day and within its hours.
    """
    limit = hour_limit(known.task)
    if limit is None or not only_ends(known.task) or names_period(known.task):
        return False
    looks = [step for step in known.steps if not step.effect and step.ok and not step.empty]
    acted = [step for step in known.steps if step.effect and step.ok]
    named = {name for step in acted for name in step.arguments} or {""}
    found = [identifiers(look.observation, named) for look in looks if not _of_one(look)]
    if not all(found) or not any(_covers(limit, look, known, tools) for look in looks):
        return False
    ids = {id for each in found for id in each}
    left = ids - texts_of(acted)
    return outside(limit, left, known.texts[1:]).keys() == left


def texts_of(steps: Iterable[Step]) -> set[str]:
    """Return what calls were made with, also within lists: ids that were acted on are among it."""
    return {text for step in steps for value in step.arguments.values() for text in strings(value)}


def _of_one(look: Step) -> bool:
    """Whether a result tells of one record that another one showed: `{"event_start": ...}`."""
    return "\n" not in look.observation.strip() and look.observation.lstrip().startswith("{")


def _covers(limit: HourLimit, look: Step, known: Known, tools: Mapping[str, Tool]) -> bool:
    """Whether a result is all there is, of the day and the hours of the task."""
    rows = len(identifiers(look.observation))
    most = tools[look.tool].most_rows if look.tool in tools else None
    # A tool that shows 0 at most always shows all.
    is_page = rows > FEW_ROWS if most is None else 0 < most <= rows
    if not rows or not look.whole or is_page:
        return False
    days = {day.isoformat() for day in known.dates.values()}
    texts = texts_of([look])
    moments = [moment for text in texts for moment in MOMENT.findall(text)]
    if not moments:
        return not days or any(text.strip() in days for text in texts)
    return any(moment[:10] in days and limit.admits_moment(moment) for moment in moments)
