"""What in the wording of a goal makes no difference: what leads up to a request, and equal phrases.

Works on goals whose values are masked, so that these stay as they are. What is left out or put for something
else is little: a missed match costs a plan, a wrong one does harm. Knows nothing of which goals are alike.
"""

import re

from plait.experience.words.vocabulary import CONDITION, LEMMAS, OBJECTS, QUANTITY, QUESTIONS, STATE

LEAVING = frozenset({"leave", "leaves", "leaving", "left"})
"""What somebody does and no tool."""
_TELLING = (LEMMAS.keys() - LEAVING) | QUESTIONS | OBJECTS | QUANTITY | CONDITION | STATE
"""Words by which what leads up to a request may be a part of it."""
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_SENTENCE = re.compile(r"(?P<lead>[^<.?!;:]+)[.!;]\s+(?=\S)")
_OF_SOMEBODY = re.compile(
    r"(?P<who><name>)(?P<lead>(?:['\u2019]s|\s+(?:is|was|has|will be))\b[^<.?!;:]*?)"
    r"(?:[.!;]\s+|,?\s+(?:(?:now|and)\s+)?so\s+)(?P<rest>\S.*)",
    re.DOTALL,
)
_PRONOUN = re.compile(r"\b(?:them|him|their|his)\b")
_OTHER_PRONOUN = re.compile(r"\b(?:they|he|she|her|hers|theirs|it|its)\b")
_EQUAL = (
    (re.compile(r"\ball(?: of)?(?: the)?\b"), "all"),
    (re.compile(r"\b(?:most recent|newest)\b"), "latest"),
)


def plainly(text: str) -> str:
    """Return a masked goal as one would say it with no more words than it takes.

    "<name> is ill so cancel all of their meetings" becomes "cancel all <name>'s meetings", and "something
    came up. cancel it" becomes "cancel it". Values keep their order.

    Args:
        text: In lower case, with `<name>` and the like for values.
    """
    lead = _SENTENCE.match(text)
    if lead is not None and not _tells(lead["lead"]):
        text = text[lead.end() :]
    text = _with_name(text)
    for phrase, plain in _EQUAL:
        text = phrase.sub(plain, text)
    return text


def _with_name(text: str) -> str:
    """Put somebody of whom something is told first in place of the one word that means him."""
    told = _OF_SOMEBODY.match(text)
    if told is None or _tells(told["lead"]):
        return text
    rest = told["rest"]
    meant = [*_PRONOUN.finditer(rest)]
    if len(meant) != 1 or _OTHER_PRONOUN.search(rest):
        return text
    [word] = meant
    before, after = rest[: word.start()], rest[word.end() :]
    if "<" in before:  # The values would change places, and another name may be meant.
        return text
    return f"{before}{told['who']}{chr(39) + 's' if word[0] in ('their', 'his') else ''}{after}"


def _tells(lead: str) -> bool:
    words = _WORD.findall(lead)
    return any(word in _TELLING or word.endswith(("n't", "n\u2019t")) for word in words)
