"""Doubts about a call: what its agent should think over, read from words without a model.

A doubt may be wrong, so it mostly costs a second thought: the agent is told, and a call that it insists on
is made, at the latest in the next step. After some the next try has fewer tools on offer. Only where the
task seems reached a second opinion is asked instead; it may end the subtask. Small models need them: they
search again for what they have, act once more when they are done, and move times the wrong way.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from plait.models.callform import format_call
from plait.models.schema import words_in
from plait.reflection.checks import Known, strings
from plait.reflection.dates import ISO_DAY
from plait.reflection.hours import hour_limit, outside
from plait.reflection.leftover import FEW_ROWS, texts_of
from plait.reflection.meant import (
    another_than_meant,
    dated_name,
    group_of,
    ids_of,
    moved_wrongly,
    not_found,
    other_kind,
    other_verb,
)
from plait.reflection.phrases import makes_one, names_period, of_one, of_several
from plait.reflection.searches import alike, within
from plait.reflection.tables import identifiers
from plait.reflection.trajectory import Step
from plait.tools.tool import Tool

FOUND_NOTHING = "this very call was made before and found nothing: go on from there, or call done"
WITHIN_EMPTY = "a wider search found nothing, so this one finds nothing: go on from there, or call done"
WITHIN_SHOWN = "a wider search was made before and its result is above: use it now, or call done"
ANSWERED = "this very call was made before and its result is above: use it now, or call done"
REACHED = "the task speaks of one thing, and"
ALL_ACTED_ON = "all it found is acted on"
FAILED = "this very call failed before: change it, or use another tool"

NO_TOOLS: Mapping[str, Tool] = {}
SHOWN_LEFT = 5
_SEARCHES = frozenset({"search", "find", "list", "query", "lookup"})
_MEASURES = frozenset(
    {"available", "availability", "balances", "count", "free", "slot", "slots", "times", "total", "totals"}
)


def doubts(
    tool: Tool, arguments: Mapping[str, Any], known: Known, tools: Mapping[str, Tool] = NO_TOOLS
) -> list[str]:
    """Return what speaks against a call that can be made, in words for the agent.

    Args:
        tool: The tool that is called.
        arguments: Of the call.
        known: What the call may draw on.
        tools: All tools, by their names.
    """
    if reached := [*_too_much(tool, arguments, known)]:
        return reached
    found = [*_repeated(tool.name, arguments, known)]
    if tool.effect == "reads":
        found += other_kind(tool, known, tools)
        found += [*_unheard_of(tool, arguments, known), *_other_day(arguments, known)]
    else:
        found += [*other_verb(tool, known, tools), *not_found(arguments, known)]
        found += [*another_than_meant(arguments, known), *moved_wrongly(arguments, known)]
        found += dated_name(arguments, known)
    return found


def done_doubts(known: Known, tools: Mapping[str, Tool]) -> list[str]:
    """Return why a subtask should not be ended yet: one narrow search found nothing, and that was all."""
    searches = {step.call for step in known.steps if not step.effect and step.ok}
    if len(known.steps) == 0 or len(searches) != 1 or any(step.effect for step in known.steps):
        return []
    last = known.steps[-1]
    required = tools[last.tool].parameters.get("required", ())
    if not last.empty or not set(last.arguments) - set(required):
        return []
    return [
        "one search that found nothing does not show that there is nothing: search once more with"
        " fewer or wider parameters (leave out what is not needed)"
    ]


def _repeated(name: str, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    call = format_call(name, arguments)
    at = next((n for n, step in reversed(list(enumerate(known.steps))) if step.call == call), None)
    if at is None:
        yield from _within_another(name, arguments, known)
        return
    same, since = known.steps[at], known.steps[at + 1 :]
    if not same.ok:
        yield FAILED
    elif not any(step.effect for step in since):
        yield FOUND_NOTHING if same.empty else ANSWERED
    elif left := _left(known):
        yield f"{ANSWERED}; {left}"


def _within_another(name: str, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a search for records among those that another one found, or would have found."""
    words = words_in(name.rpartition(".")[2])
    if _SEARCHES.isdisjoint(words[:1]) or not _MEASURES.isdisjoint(words):
        return  # A narrower search finds some of the records of a wider one, but not of what is measured.
    wider = [step for step in _latest(known) if step.tool == name and within(arguments, step.arguments)]
    if any(step.empty for step in wider):
        yield WITHIN_EMPTY
    elif any(step.whole and 0 < len(identifiers(step.observation)) <= FEW_ROWS for step in wider):
        yield WITHIN_SHOWN


def _latest(known: Known) -> Iterator[Step]:
    """Yield the steps since the last effect, from the latest."""
    for step in reversed(known.steps):
        if step.effect:
            return
        yield step


def _left(known: Known) -> str:
    """Name the ids found that no effect was done to yet, where the task is of several."""
    acted = [step for step in known.steps if step.effect and step.ok]
    found = [step for step in known.steps if not step.effect and step.ok and not step.empty]
    named = {name for step in acted for name in step.arguments}
    ids = identifiers(found[-1].observation, named) if found else []
    if not acted or not ids or not of_several(known.task):
        return ""
    done = texts_of(acted)
    if (limit := hour_limit(known.task)) is not None:
        done |= outside(limit, ids, known.texts[1:]).keys()
    left = [value for value in ids if value not in done]
    return f"not acted on yet: {', '.join(left[:SHOWN_LEFT])}" if left else ALL_ACTED_ON


def _too_much(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a call after the effect that reached a task of one thing.

    The search that led to it once more, at whatever times, the same record changed again, the next record of
    a kind of which one was meant, a tool of another kind, such as a letter about what was done, or any look
    around after the one new thing that was wanted is there.
    """
    done = [step for step in known.steps if step.effect and step.ok]
    makes = makes_one(known.task)
    if not done or (of_several(known.task) and not makes):
        return
    last, one = done[-1], makes or of_one(known.task)
    if tool.effect == "reads":
        made = [step.arguments for step in known.steps if step.tool == tool.name]
        beyond = makes or (one and any(alike(arguments, each) for each in made))
    else:
        ids = ids_of(arguments)
        again = tool.name == last.tool and (one or (ids and ids == ids_of(last.arguments)))
        beyond = again or group_of(tool.name) != group_of(last.tool)
    if beyond:
        yield f"{REACHED} {last.call} did it: call done if nothing is left to do"


def _unheard_of(tool: Tool, arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a search for words of which none is in the task, in a result or in the tool's description."""
    heard = "\n".join([*known.texts, known.notes, tool.description, str(tool.parameters)]).lower()
    for name, value in arguments.items():
        for text in strings(value):
            words = re.findall(r"[^\W\d_]{3,}", text.lower())
            if words and not any(word in heard for word in words):
                yield f"{name} {text!r} is not in the task and in no result: use words of the task"


def _other_day(arguments: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Find a search for another day than the one that the task names."""
    days = [day for value in arguments.values() if isinstance(value, str) for day in ISO_DAY.findall(value)]
    if not days or not known.dates or names_period(known.task):
        return
    texts = "\n".join(known.texts)
    if not any(day in texts for day in days):
        facts = "; ".join(f"{words} is {day.isoformat()}" for words, day in known.dates.items())
        yield f"{days[0]} is not a date of the task: {facts}"


def looped(steps: Sequence[Step]) -> bool:
    """Whether the last call brought what it had brought before, with no effect in between."""
    last = steps[-1]
    for step in reversed(steps[:-1]):
        if step.effect and step.ok:
            return False
        if step.call == last.call and step.observation == last.observation:
            return True
    return False
