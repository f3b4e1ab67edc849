"""Whether what an agent wrote was copied from what a tool wrote (design, section 8: trust).

A workflow is shown to later planners, and its steps were written by a planner that may have seen results.
Words that stand in a result and not in the task make it wait for approval. Knows nothing of memories.
"""

import re
from collections.abc import Iterable, Iterator

from plait.experience.words.goals import masked

RUN_OF_WORDS = 3
"""So many words in a row that stand in a result are no accident."""
_VALUE = re.compile(r"<\w+>")
_WORD = re.compile(r"\w+(?:['\u2019@.-]\w+)*")


def copied(texts: Iterable[str], task: str, written: Iterable[str]) -> bool:
    """Whether a run of words of `texts` was taken from a result; values are masked before they are shown.

    Args:
        texts: What an agent wrote.
        task: As the user said it; what stands here is no copy.
        written: Results as agents saw them.
    """
    said, results = _flat(task), _flat(" \n ".join(written))
    return any(f" {run} " in results and f" {run} " not in said for text in texts for run in _runs(text))


def _runs(text: str) -> Iterator[str]:
    for piece in _VALUE.split(masked(text).text):
        words = _flat(piece).split()
        for start in range(len(words) - RUN_OF_WORDS + 1):
            yield " ".join(words[start : start + RUN_OF_WORDS])


def _flat(text: str) -> str:
    """Return the words of a text in lower case with a space around each."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
