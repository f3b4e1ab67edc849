"""Checks of a text that need no model: words that must stand in it, and how long it is.

Knows nothing of solutions and ratings.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Holds: TypeAlias = Callable[[str], bool]


@dataclass(frozen=True, kw_only=True)
class TextCheck:
    """One condition on a text."""

    holds: Holds
    says: str
    """The finding where it does not hold, written for the agent that mends the text."""


def contains(words: str) -> Holds:
    """Return whether a text holds these words, in capitals or not."""
    return lambda text: words.casefold() in text.casefold()


def matches(pattern: str) -> Holds:
    """Return whether a regular expression is found; `^` and `$` stand for the ends of lines.

    Raises:
        re.error: it is no regular expression.
    """
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda text: compiled.search(text) is not None


def min_words(least: int) -> Holds:
    """Return whether a text has at least so many words."""
    return lambda text: len(text.split()) >= least


def max_words(most: int) -> Holds:
    """Return whether a text has at most so many words."""
    return lambda text: len(text.split()) <= most


def min_lines(least: int) -> Holds:
    """Return whether a text has at least so many lines with something in them."""
    return lambda text: sum(1 for line in text.splitlines() if line.strip()) >= least


def findings(checks: Sequence[TextCheck], text: str) -> list[str]:
    """Return what the checks that do not hold say."""
    return [check.says for check in checks if not check.holds(text)]
