"""Texts of an earlier task made fit for a prompt: on one line, bounded, and with other values than its own.

Nothing in it can open or close a delimiter of a prompt. Knows nothing of workflows.
"""

import re
from collections.abc import Mapping
from typing import get_args

from plait.experience.words.goals import SpanKind, masked

_KIND = re.compile("|".join(f"<{kind}>" for kind in get_args(SpanKind)))
_BREAKS = re.compile(r"[<>\s]+")


def with_values(text: str, values: Mapping[str, str], most: int) -> str:
    """Return a text on one line, each value in it replaced: by that of `values`, or by its kind.

    Args:
        text: As it was said.
        values: New values by the old ones.
        most: Characters at most.
    """
    known = {old.casefold(): new for old, new in values.items()}
    pieces, at = list[str](), 0
    for span in masked(text).spans:
        pieces += [_plain(text[at : span.start]), known.get(span.text.casefold(), f"<{span.kind}>")]
        at = span.end
    return _shortened("".join([*pieces, _plain(text[at:])]), most)


def quoted_line(text: str, most: int) -> str:
    """Return a text on one line that is at most so long; of tags only kinds of values are left."""
    pieces = _KIND.split(text)
    kinds = [*_KIND.findall(text), ""]
    return _shortened("".join(_plain(piece) + kind for piece, kind in zip(pieces, kinds, strict=True)), most)


def _plain(text: str) -> str:
    return _BREAKS.sub(" ", text)


def _shortened(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
