"""Doubts whether a call is what the task means: its tool, the kind of thing, the record, the moment.

Read from words without a model, and easily wrong: the agent is told. Knows nothing of what was done before.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plait.models.schema import is_identifier
from plait.reflection.checks import Known, strings
from plait.reflection.dates import MOMENT, named_shift
from plait.reflection.phrases import KINDS, extreme, kinds, of_several, orders, small_words, topics, words_of
from plait.reflection.requests import request_of
from plait.reflection.trajectory import Step
from plait.tools.tool import Tool

RIGHT = "right seems"
MEANT = "what is meant is"
"""Stronger: only that tool is on offer in the next try."""
FIRST = "try first"
NOTHING_ABOUT = "nothing that was found is about"

_ALIKE = (
    frozenset({"cancel", "delete", "remove"}),
    frozenset({"answer", "reply", "respond"}),
    frozenset({"add", "book", "create", "schedule"}),
)
"""Orders that the same tool may carry out."""
_CELL_CHARACTERS = 60
"""Of a cell that names somebody or something; longer ones are texts."""


def other_verb(tool: Tool, known: Known, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Find a change by `send_letter` where the task orders to answer and there is `answer_letter`."""
    verb, _, thing = _last_part(tool.name).partition("_")
    ordered = {other: order for order in orders(known.task) for other in _same(order)}
    if not thing or verb in ordered or verb in small_words(known.task):
        return
    for name, other in tools.items():
        fits = other.effect != "reads" and group_of(name) == group_of(tool.name)
        other_verb, _, other_thing = _last_part(name).partition("_")
        if fits and other_thing == thing and other_verb in ordered:
            sure = not of_several(known.task)
            yield f"{MEANT if sure else RIGHT} {name}: the task says {ordered[other_verb]}"
            return


def _same(order: str) -> frozenset[str]:
    return next((alike for alike in _ALIKE if order in alike), frozenset({order}))


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


def not_found(known: Known) -> Iterator[str]:
    """Find a change where nothing that was found is about the task's topic, and nobody looked for that."""
    seen = "\n".join(step.observation for step in known.steps if not step.effect)
    sought = "\n".join(step.call for step in known.steps if not step.effect).lower()
    for topic in topics(known.task):
        if (
            seen
            and topic not in seen
            and topic not in "\n".join(known.texts[2:])
            and topic.lower() not in sought
        ):
            yield f"{NOTHING_ABOUT} {topic!r}: search for these words first"


def another_than_meant(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a change to another record than the one of those found that the task means.

    It is about what the task quotes, has most of the names in the task, and is the first or last in time.
    """
    found = [step for step in known.steps if not step.effect and step.ok and not step.empty]
    about, order = topics(known.task), extreme(known.task)
    if not found or not (about or order) or any(step.effect and step.ok for step in known.steps):
        return
    rows = _rows(found if about else found[-1:])
    chosen = ids_of(arguments).intersection(rows)
    fitting = _fitting(rows, about, known.task)
    moments = {id: MOMENT.findall(rows[id]) for id in fitting}
    # Of rows with several moments nobody knows which one counts.
    if order is not None and all(len(each) == 1 for each in moments.values()):
        fitting = sorted(fitting, key=lambda id: moments[id][0], reverse=order == "last")[:1]
    elif not about:
        return
    if len(chosen) == 1 and fitting and not chosen.intersection(fitting):
        yield f"{RIGHT} {fitting[0]}: of those found it is the {order or 'one'} that the task means"


def _rows(found: Sequence[Step]) -> dict[str, str]:
    """Return the rows of tables by their first cell."""
    lines = [line for step in found for line in step.observation.splitlines()[1:]]
    return {line.partition(" | ")[0]: line for line in lines if " | " in line}


def _fitting(rows: Mapping[str, str], about: Sequence[str], task: str) -> list[str]:
    """Return the rows that are about all the task quotes, of these those with most names of the task."""
    words = words_of(task)
    shared = {
        id: len(words & _names(row, about))
        for id, row in rows.items()
        if all(topic in row for topic in about)
    }
    return [id for id, count in shared.items() if count == max(shared.values())]


def _names(row: str, about: Sequence[str]) -> set[str]:
    """Return the words of the cells of a row that name somebody or something, beside what it is about."""
    cells = [cell for cell in row.split(" | ") if len(cell) <= _CELL_CHARACTERS and cell not in about]
    return set(re.findall(r"[a-z]+", " ".join(cells).lower()))


def moved_wrongly(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a record's own moment that was moved the other way than the task says."""
    shift = named_shift(request_of(known.task))
    if shift is None:
        return
    for moment in _moments_of(ids_of(arguments), known.texts):
        right, wrong = shift.moved(moment), shift.moved(moment, times=-1)
        for name, value in arguments.items():
            if isinstance(value, str) and right and value.startswith(wrong):
                yield f"{RIGHT} {name}={right!r}: {moment} {shift.words}"


def _moments_of(ids: set[str], texts: Sequence[str]) -> list[str]:
    """Return the moments in rows of results that have one of the ids as a cell."""
    rows = [line.split(" | ") for text in texts for line in text.splitlines()]
    return [moment for row in rows if ids.intersection(row) for moment in MOMENT.findall(" | ".join(row))]


def ids_of(arguments: Mapping[str, Any]) -> set[str]:
    """Return the identifiers among some arguments, as texts."""
    return {text for name, value in arguments.items() if is_identifier(name) for text in strings(value)}


def group_of(name: str) -> str:
    """Return what tools of one kind share in their names: `calendar` of `calendar.delete_event`."""
    return name.rpartition(".")[0]


def _last_part(name: str) -> str:
    return name.rpartition(".")[2]
