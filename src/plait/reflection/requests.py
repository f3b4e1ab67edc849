"""What of a task is the user's own request: without the texts of input files, without what it quotes.

Knows nothing of what the words mean.
"""

import re

ASKED = r"(?:(?:can|could|would|will) you |please |kindly |i (?:need|want|would like) (?:you )?to )*"
"""How one asks, as a pattern that ignores case: what follows says what is to be done."""

_QUOTED = re.compile(
    r"""(?:(?<=\s)|^)(?:'.*?'|".*?"|\u201c.*?\u201d|\u2018.*?\u2019)(?=[\s.,;:!?]|$)""", re.DOTALL
)
_UNCLOSED = re.compile(
    r"""(?<=\s)(with|says?|saying|called|named|titled?|title it) """
    r"""(?:(?P<mark>['"])(?=\w)(?!\d0s\b)(?!.*(?P=mark)(?!\w))|[\u2018\u201c](?!.*[\u2019\u201d](?!\w))).*\Z""",
    re.IGNORECASE | re.DOTALL,
)
"""A quotation that is begun and not ended: nobody knows how far it goes."""


def request_of(task: str) -> str:
    """Return what the user asks for, without the texts of input files."""
    return task.partition("\n\n<file name=")[0]


def is_quoted(text: str, place: int) -> bool:
    """Whether a place of a text is within what it quotes."""
    return any(found.start() < place < found.end() for found in _QUOTED.finditer(text))


def unquoted(text: str) -> str:
    """Return a text without what it quotes: words to be used as they are, not to be understood."""
    return _UNCLOSED.sub(r"\1 ", _QUOTED.sub(" ", text))
