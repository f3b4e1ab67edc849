"""Doubts whether a call is what the task means: its tool, the kind of thing, the record, the moment.

Read from words without a model, and easily wrong: the agent is told. Knows nothing of calls made again.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from plait.models.schema import is_identifier
from plait.reflection.checks import Known, strings
from plait.reflection.dates import ISO_DAY, MOMENT, named_shift
from plait.reflection.milestones import ALIKE, CHANGES
from plait.reflection.phrases import KINDS, extreme, kinds, of_several, orders, small_words, topics, words_of
from plait.reflection.requests import request_of, unquoted
from plait.reflection.tables import BAR, rows_of
from plait.tools.tool import Tool

RIGHT = "right seems"
MEANT = "what is meant is"
"""Stronger: only that tool is on offer in the next try."""
FIRST = "try first"
NOTHING_ABOUT = "nothing that was found is about"

_SURE = (frozenset({"answer", "reply", "respond"}), frozenset({"forward"}))
_ALIKE = (*_SURE, *ALIKE)
"""What the first ones order cannot be done by another tool."""
_NONE: frozenset[str] = frozenset()
_BROAD = frozenset({"change", "edit", "modify", "set", "update"})
NAME_CHARACTERS = 60
_NAME = re.compile(r"(^|_)(name|title|subject|summary)$", re.IGNORECASE)
_MARKS = ("''", '""', "\u2018\u2019", "\u201c\u201d")
_CLOCK = re.compile(r"(?: at \d{1,2}(?::\d{2})?(?: ?[ap]\.?m\.?)?)?", re.IGNORECASE)
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """a after all an and are as at be before but by can could do does first for from has have i in into
        is it its last latest me my new newest next of oldest on one or our out please recent s so
        that the their them then this to up was what when which who will with would you your""",
    )
)
"""Words that name nothing."""
_GOAL = re.compile(
    r"(?<!\bneed )(?<!\bwant )(?<!\blike )(?<!\bhave )(?<!\bgoing )\b(?:to|into|as)\b[^.;!?,]*", re.IGNORECASE
)
"""Where something goes or what becomes of it, which tells nothing of what it is."""


def other_verb(tool: Tool, known: Known, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Find a change by `send_letter` where the task orders to answer and there is `answer_letter`.

    Only of a task that orders one thing, and before anything was done. Anything may be done by an update, to
    send something may be to forward it, and to remove a line of a file is to write it: none is doubted.
    """
    verb, _, thing = _last_part(tool.name).partition("_")
    if not thing or verb in _BROAD or known.effects.done or of_several(known.task):
        return
    verbs = CHANGES.union(*_ALIKE, (_last_part(each).partition("_")[0] for each in tools))
    surely, perhaps = (words & verbs for words in orders(known.task))
    order = next(iter(surely), "")
    same = _same(order)
    if same not in _SURE and not _same(verb):
        return
    if len(surely) != 1 or perhaps - same or (_same(verb) | {verb}) & (same | small_words(known.task)):
        return
    for name, other in tools.items():
        fits = other.effect != "reads" and group_of(name) == group_of(tool.name)
        other_verb, _, other_thing = _last_part(name).partition("_")
        if fits and other_thing == thing and other_verb in same:
            sure = same in _SURE and _is_about(order, thing, known.task)
            yield f"{MEANT if sure else RIGHT} {name}: the task says {order}"
            return


def _is_about(order: str, thing: str, task: str) -> bool:
    """Whether the thing is what the order is about: to answer the letter, not to answer by letter."""
    words = "|".join({thing, *(word for word, kind in KINDS.items() if kind == KINDS.get(thing))})
    about = rf"\b{order}\b(?:(?!\b(?:as|by|in|via|with)\b)[^.;!?:,])*\b(?:{words})\b"
    return re.search(about, unquoted(request_of(task)), re.IGNORECASE) is not None


def _same(order: str) -> frozenset[str]:
    return next((alike for alike in _ALIKE if order in alike), _NONE)


def other_kind(tool: Tool, known: Known, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Find a call of `search_tasks` where the task speaks of a meeting and no `search_events` came before.

    Small models insist on it where the meeting has a name like a task's.
    """
    verb, _, thing = _last_part(tool.name).partition("_")
    meant = kinds(known.task)
    if not meant or thing not in KINDS or KINDS[thing] in meant:
        return
    made = {step.tool for step in known.steps}
    for name in tools:
        other_verb, _, other_thing = _last_part(name).partition("_")
        if other_verb == verb and KINDS.get(other_thing) in meant and name not in made:
            yield f"{FIRST} {name}: the task speaks of no {thing}"
            return


def not_found(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a change to a record where nothing found is about the task's topic, and nobody looked for that."""
    reads = [step for step in known.steps if not step.effect]
    seen = "\n".join(step.observation for step in reads).lower()
    sought = "\n".join(text for step in reads for value in step.arguments.values() for text in strings(value))
    heard = "\n".join([seen, sought, *known.texts[2:]]).lower()
    written = "\n".join(text for value in arguments.values() for text in strings(value)).lower()
    named = ids_of(arguments)
    for topic in topics(known.task) if seen and named and not _told(named, known) else ():
        # What is to be written need not be found.
        if topic.lower() not in heard and topic.lower() not in written:
            yield f"{NOTHING_ABOUT} {topic!r}: search for these words first"


def another_than_meant(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a change to another record than the one of those found that the task means.

    It is about what the task quotes, of the people whom the task names, and is the first or last in time.
    """
    found = [step for step in known.steps if not step.effect and step.ok and not step.empty]
    about, order = topics(known.task), extreme(known.task)
    if not found or not (about or order) or any(step.effect and step.ok for step in known.steps):
        return
    tables = [step.observation for step in (found if about else found[-1:])]
    rows = rows_of(tables)
    chosen = ids_of(arguments).intersection(rows)
    if _told(chosen, known):
        return
    fitting = _fitting(rows, about, known.task)
    moments = {id: MOMENT.findall(rows[id]) for id in fitting}
    # Of rows with several moments nobody knows which one counts.
    if order is not None and all(len(each) == 1 for each in moments.values()):
        fitting = sorted(fitting, key=lambda id: moments[id][0], reverse=order == "last")[:1]
    elif not about:
        return
    if len(chosen) != 1 or not fitting or chosen.intersection(fitting):
        return
    said = _telling(known.task)
    if not said & _names(rows[chosen.pop()]) - _names(rows[fitting[0]]):
        yield f"{RIGHT} {fitting[0]}: of those found it is the {order or 'one'} that the task means"


def _fitting(rows: Mapping[str, str], about: Sequence[str], task: str) -> list[str]:
    """Return the rows that are about all the task quotes, of these those with most names of the task."""
    said = _telling(_GOAL.sub(" ", task))
    shared = {
        id: len(said & _names(row))
        for id, row in rows.items()
        if all(topic.lower() in row.lower() for topic in about)
    }
    return [id for id, count in shared.items() if count == max(shared.values())]


def _told(ids: set[str], known: Known) -> bool:
    """Whether the task itself says one of the ids, which is no day of it."""
    told = request_of(known.task)
    for words in known.dates:
        told = told.replace(words, " ")
    return any(re.search(rf"(?<!\w){re.escape(id)}(?!\w)", told) for id in ids)


def _telling(task: str) -> set[str]:
    """Return the words of a task that may tell one record from another of its kind."""
    return words_of(task) - KINDS.keys() - _COMMON


def _names(row: str) -> set[str]:
    """Return the words of the cells of a row that name somebody or something; longer ones are texts."""
    cells = [cell for cell in row.lower().split(BAR) if len(cell) <= NAME_CHARACTERS]
    return set(re.findall(r"[a-z]+", " ".join(cells)))


def dated_name(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a new name that ends in the day that the task only says when it is: `Sync on May 2 at 12`.

    Only where another argument says when that is: a letter about `Lunch on Monday` has no other place for it.
    """
    told = request_of(known.task).lower()
    if not any(ISO_DAY.match(value) for value in arguments.values() if isinstance(value, str)):
        return
    for name, value in arguments.items():
        for words in known.dates if isinstance(value, str) and _NAME.search(name) else ():
            bare, dated, rest = str(value).partition(f" on {words}")
            quoted = any(f"{left}{value}{right}".lower() in told for left, right in _MARKS)
            if bare and dated and _CLOCK.fullmatch(rest) and not quoted:
                yield f"{RIGHT} {name}={bare!r}: the rest says when it is"


def moved_wrongly(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a record's own moment that was moved the other way than the task says."""
    shift = named_shift(request_of(known.task))
    if shift is None:
        return
    ids = ids_of(arguments)
    for name, value in arguments.items():
        # `start=...`, or `field="start", value=...`
        columns = {name, *(text for each in arguments.values() for text in strings(each))}
        moments = _moments_of(ids, known.texts, columns) if isinstance(value, str) else []
        # The end moved the wrong way may be the start moved the right one.
        rightly = tuple(moved for moment in moments if (moved := shift.moved(moment)))
        for moment in moments:
            right, wrong = shift.moved(moment), shift.moved(moment, times=-1)
            if right and wrong and value.startswith(wrong) and not value.startswith(rightly):
                yield f"{RIGHT} {name}={right!r}: {moment} {shift.words}"


def _moments_of(ids: set[str], texts: Sequence[str], columns: Collection[str]) -> list[str]:
    """Return the moments in rows of results that have one of the ids as a cell.

    Where a table has a column of one of these names, only those in it.
    """
    found: list[str] = []
    for text in texts:
        header, *rows = [line.split(BAR) for line in text.splitlines()] or [[]]
        named = [place for place, name in enumerate(header) if name in columns]
        for row in rows:
            if ids.intersection(row):
                cells = [row[place] for place in named if place < len(row)] or row
                found += MOMENT.findall(BAR.join(cells))
    return found


def ids_of(arguments: Mapping[str, Any]) -> set[str]:
    """Return the identifiers among some arguments, as texts."""
    return {text for name, value in arguments.items() if is_identifier(name) for text in strings(value)}


def group_of(name: str) -> str:
    """Return what tools of one kind share in their names: `calendar` of `calendar.delete_event`."""
    return name.rpartition(".")[0]


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]
