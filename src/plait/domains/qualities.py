"""From the table `[quality]` of a domain file to the quality that rates its solutions.

Knows nothing of the rest of the file.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from plait.domains.checks import Holds, TextCheck, contains, matches, max_words, min_lines, min_words
from plait.domains.declaration import CheckDeclared, QualityDeclared
from plait.domains.judge import TAKEN, Judge
from plait.domains.kit import Kit
from plait.domains.quality import TextQuality
from plait.domains.software.quality import SoftwareQuality
from plait.errors import UserError
from plait.teams.solution import Quality

KINDS = ("checks", "judge", "software")

_CONDITIONS: Mapping[str, Callable[[Any], Holds]] = {
    "contains": contains,
    "matches": matches,
    "min_words": min_words,
    "max_words": max_words,
    "min_lines": min_lines,
}


def quality_of(declared: QualityDeclared, kit: Kit, source: str) -> Quality:
    """Return the quality that a domain declares.

    Args:
        declared: Its table.
        kit: What it works with.
        source: What errors call the file.

    Raises:
        UserError: a kind is unknown, cannot be combined, or lacks what it needs.
    """
    place = f"domain file {source!r}: quality"
    kinds = list(declared.kinds)
    for kind in kinds:
        if kind not in KINDS:
            raise UserError(f"{place}: kind is {kind!r}, but must be one of {', '.join(KINDS)}")
    if not kinds or len(set(kinds)) < len(kinds) or (len(kinds) > 1 and "software" in kinds):
        raise UserError(f"{place}: kind is {kinds!r}, but must be one kind, or ['checks', 'judge']")
    for kind, field in (("judge", "dimensions"), ("checks", "checks")):
        if bool(getattr(declared, field)) != (kind in kinds):
            raise UserError(f"{place}: {field} go with kind {kind!r}, and it with them; give both or neither")
    if "software" in kinds:
        return SoftwareQuality(kit)
    checks = [_check(check, f"{place}: checks {n}") for n, check in enumerate(declared.checks, 1)]
    return TextQuality(checks=checks, judge=_judge(declared, kit, place) if "judge" in kinds else None)


def _judge(declared: QualityDeclared, kit: Kit, place: str) -> Judge:
    for name in declared.dimensions:
        # It becomes a line of the reply, up to its colon.
        if not re.fullmatch(r"\w[\w -]{0,38}\w", name):
            raise UserError(f"{place}: dimensions: {name!r} may hold letters, digits, spaces, - and _ only")
        if name.lower() in TAKEN:
            raise UserError(f"{place}: dimensions: the name {name!r} is taken")
    return Judge(
        agent=kit.judge,
        gate=kit.gate,
        dimensions=declared.dimensions,
        scale=declared.scale,
        prompts=kit.prompts,
    )


def _check(declared: CheckDeclared, place: str) -> TextCheck:
    given = {
        name: value for name in _CONDITIONS if (value := getattr(declared, name)) is not None and value != ""
    }
    if len(given) != 1:
        raise UserError(f"{place}: give one condition, of {', '.join(_CONDITIONS)}")
    [(name, value)] = given.items()
    try:
        return TextCheck(holds=_CONDITIONS[name](value), says=declared.says)
    except re.error as error:
        raise UserError(f"{place}: matches is {value!r}, which is no regular expression: {error}") from error
