"""What of a task is the user's own request: without the texts of input files, without what it quotes.

Knows nothing of what the words mean.
"""

import re

ASKED = r"(?:(?:can|could|would|will) you |please |kindly |i (?:need|want|would like) (?:you )?to )*"
"""How one asks, as a pattern that ignores case: what follows says what is to be done."""

_QUOTED = re.compile(
    r"""(?:(?<=\s)|^)(?:'.*?'|".*?"|\u201c.*?\u201d|\u2018.*?\u2019)(?=[\s.,;:!?]|$)""", re.DOTALL
)


def request_of(task: str) -> str:
    """Return what the user asks for, without the texts of input files."""
    return task.partition("\n\n<file name=")[0]


def unquoted(text: str) -> str:
    """Return a text without what it quotes: words to be used as they are, not to be understood."""
    return _QUOTED.sub(" ", text)
