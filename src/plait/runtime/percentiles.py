"""Thresholds from the scores on record: `p85` becomes a number when a run starts.

A percentile is a score that was really given: the least one that at least so many percent of the recorded
scores do not exceed. Scores of another model do not count, nor those of forks, which repeat their parent's.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plait.errors import UserError
from plait.events import Gated, Record, RunResumed, RunStarted

THRESHOLDS = {"planner_threshold": "planner", "tool_threshold": "tool", "answer_threshold": "answer"}
"""Options that may be percentiles, each with the role whose scores they are of."""
LEAST_SCORES = 20
"""Of fewer a percentile says nothing."""
KINDS = ("run_started", "run_resumed", "gated")
"""Events that tell who was scored."""

_PERCENTILE = re.compile(r"p([1-9]\d?)")


def read_threshold(option: str, text: str) -> float | str:
    """Read a threshold as it is typed: a number, or a percentile as it is.

    Raises:
        UserError: it is neither.
    """
    try:
        return float(text)
    except ValueError:
        percent_of(option, text)
        return text


def percent_of(option: str, text: str) -> int:
    """Return the percent of a percentile such as `p85`.

    Raises:
        UserError: it is none.
    """
    found = _PERCENTILE.fullmatch(text)
    if found is None:
        raise UserError(
            f"{_flag(option)} must be a score from 0 to 10 or a percentile from p1 to p99, not {text!r}"
        )
    return int(found[1])


def known(threshold: float | str, otherwise: float) -> float:
    """Return a threshold as a number; for a percentile, whose number shows when the run starts, another."""
    return otherwise if isinstance(threshold, str) else threshold


def resolved(options: Mapping[str, Any], records: Iterable[Record]) -> tuple[dict[str, float], list[str]]:
    """Return the thresholds that percentiles stand for, and what to tell the user of each.

    Args:
        options: Of the run that starts.
        records: Those of `KINDS` of all runs, run by run in their order.

    Raises:
        UserError: there are too few scores of a role.
    """
    numbers: dict[str, float] = {}
    notes: list[str] = []
    given = scores(records, str(options["model"]))
    for option, role in THRESHOLDS.items():
        text = options[option]
        if not isinstance(text, str):
            continue
        percent, found = percent_of(option, text), given.get(role, [])
        if len(found) < LEAST_SCORES:
            raise UserError(
                f"{_flag(option)} {text!r} needs at least {LEAST_SCORES} recorded scores of the {role} with"
                f" model {options['model']!r}, and there are {len(found)}: give a number, or run"
                " more tasks first"
            )
        numbers[option] = percentile(found, percent)
        notes.append(
            f"{option.replace('_', ' ')} {numbers[option]} ({_ordinal(percent)} percentile of {len(found)}"
            " recorded scores)"
        )
    return numbers, notes


def scores(records: Iterable[Record], model: str) -> Mapping[str, list[float]]:
    """Return the scores that agents with a model gave themselves, by role."""
    found: dict[str, list[float]] = {}
    counts = False
    for event in (record.event for record in records):
        if isinstance(event, RunStarted):
            counts = not event.forked_from and event.options.get("model") == model
        elif isinstance(event, RunResumed):
            counts = counts if "model" not in event.options else event.options["model"] == model
        elif isinstance(event, Gated) and counts and event.score is not None:
            found.setdefault(event.role, []).append(event.score)
    return found


def percentile(given: Sequence[float], percent: int) -> float:
    """Return the least of the scores that at least `percent` of 100 of them do not exceed."""
    return sorted(given)[math.ceil(len(given) * percent / 100) - 1]


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number in (11, 12, 13) else ending}"
