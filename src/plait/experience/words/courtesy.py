"""What in the wording of a goal makes no difference: courtesy, how it is led up to, and equal phrases.

Works on goals whose values are masked, so that these stay as they are. Only what is listed here is left out:
no list of what must stay could be complete, a missed match costs a plan, and a wrong one does harm. Knows
nothing of which goals are alike.
"""

import re

from plait.experience.words.vocabulary import QUESTIONS

NAME = "<name>"
_LEAD = re.compile(
    r"(?:something (?:has )?(?:came|come) up|sorry|hi|hello|hey)[.!;,]\s+(?=\S)", re.IGNORECASE
)
_STATE = (
    r"(?:now |currently )?(?:(?:off )?(?:ill|sick)|unwell|on (?:vacation|holiday|(?:parental |sick )?leave)"
    r"|out of office|leaving(?: the (?:company|team|firm))?|leaving us)(?: now)?"
)
_TOLD = re.compile(
    rf"\s+(?:is|will be) {_STATE}(?:[.!;]\s+|,?\s+(?:(?:now|and) )?so\s+)(?=\S)", re.IGNORECASE
)
"""What is told of somebody, after the name."""
_PRONOUN = re.compile(r"\b(?:them|him|their|his)\b")
_OTHER_PRONOUN = re.compile(r"\b(?:they|he|she|her|hers|theirs|it|its)\b")
_OTHERS = re.compile(r"\b(?:this|that|and|or)\b|[.?!;:]\s|<")
"""Where others may be meant by a pronoun that follows, or values would change places with the name."""
_ALL = re.compile(r"\ball(?: of)?(?: the)?\b(?! (?:best|time))")
_ASKS = re.compile(
    r"(?:(?:can|could|would|will) you (?:please |kindly )?|please |kindly "
    r"|(?:i need|i want|i would like|i'd like)(?: you)? to )+",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"(?:[.?!;,]\s*(?:thanks|thank you)"
    r"|[.?!;]\s*(?:can|could|would|will) you (?:please )?do (?:that|this|it)(?: for me)?"
    r"|[.?!;,]?\s+please)[\s.?!]*$",
    re.IGNORECASE,
)
"""Courtesy after what is asked for; without a mark before it, "thanks" may be what is to be said."""
_MOST_THANKS = 3
_SAYS = re.compile(r"(?::|\b(?:say|says|saying|said)\b)(?!\s*<quoted>)", re.IGNORECASE)
"""What a text follows that is to be written or said: all of it up to the end may be meant."""
_WRITES = re.compile(
    r"\b(?:(?:e-?)?mail|reply|respond|answer|write|post|send|tell|message|comment|note|remind|notify|inform|ask"
    r"|announce|publish|(?:e-?)?mailing|replying|responding|answering|writing|posting|sending|telling|asking"
    r"|called|named|titled|entitled|subject|body|text|title)\b",
    re.IGNORECASE,
)
"""What such a text may follow without a mark before it."""
_QUOTED_LAST = re.compile(r"<quoted>[\s.?!]*$", re.IGNORECASE)
_QUESTION = re.compile(rf"(?:{'|'.join(sorted(QUESTIONS))}|is|are|do|does|did|has|have)\b", re.IGNORECASE)


def plainly(text: str) -> str:
    """Return a masked goal as one would say it with no more words than it takes.

    "<name> is ill so cancel all of their meetings" becomes "cancel all <name>'s meetings", and "something
    came up. cancel it" becomes "cancel it". Values keep their order.

    Args:
        text: In lower case, with `<name>` and the like for values.
    """
    lead = lead_of(text)
    rest = text.removeprefix(lead)
    if lead.startswith(NAME) and (word := _meant(rest)) is not None:
        owned = "'s" if word[0] in ("their", "his") else ""
        rest = f"{rest[: word.start()]}{NAME}{owned}{rest[word.end() :]}"
    return _ALL.sub("all", rest)


def asks_end(text: str, at: int) -> int:
    """Return where courtesy ends that a text has at a place, such as "can you please"."""
    asks = _ASKS.match(text, at)
    return asks.end() if asks is not None else at


def uncourteous(text: str) -> str:
    """Return a masked goal without courtesy before and after what it asks for.

    Only there: "can you" and "thanks" within a goal, or in what is to be said, are a part of it.
    """
    at = _request_at(text)
    return text[:at] + without_thanks(text[asks_end(text, at) :])


def without_thanks(text: str) -> str:
    """Return a text without courtesy at its end, where that cannot be a part of what is to be said."""
    if _SAYS.search(text):
        return text
    for _ in range(_MOST_THANKS):
        text = _THANKS.sub("", text)
    return text


def literally(text: str) -> str:
    """Return what a masked goal asks for to the letter, but for courtesy and marks that come of it.

    Those at the end stay where they may be a part of a text that is to be written or said.

    Args:
        text: As it is written, with `<name>` and the like for values.
    """
    at = _request_at(text)
    begins = asks_end(text, at)
    said = without_thanks(text[begins:]).strip()
    if _SAYS.search(said) or (_WRITES.search(said) and not _QUOTED_LAST.search(said)):
        # Of a last question mark nobody can tell whether it is the text's or that of "can you".
        said = text[begins:].strip()
        said = text[at:].strip() if said.endswith("?") else said
    else:
        asked = begins > at or _QUESTION.match(said)
        said = re.sub(r"(?<=[\w>)])[.?]$" if asked else r"(?<=[\w>)])\.$", "", said)
    return said[:1].lower() + said[1:]


def _request_at(text: str) -> int:
    """Return where the request of a masked goal begins, with courtesy, after what leads up to it."""
    return lead_ends(text, len(NAME) if text.startswith(NAME) else 0)


def lead_of(text: str) -> str:
    """Return what leads up to a masked goal and says nothing of what is asked for; often nothing."""
    if end := lead_ends(text, 0):
        return text[:end]
    end = lead_ends(text, len(NAME)) if text.startswith(NAME) else 0
    return text[:end] if end and _meant(text[end:]) is not None else ""


def lead_ends(text: str, name_ends: int) -> int:
    """Return where what leads up to a request ends in a text; 0: nothing does.

    Args:
        text: A goal, masked or not.
        name_ends: Where the name that it begins with ends; 0: it begins with none.
    """
    found = _TOLD.match(text, name_ends) if name_ends else _LEAD.match(text)
    return found.end() if found is not None else 0


def _meant(rest: str) -> re.Match[str] | None:
    """Return the one word that means somebody of whom was spoken; None where another may be meant."""
    found = [*_PRONOUN.finditer(rest)]
    if len(found) != 1 or _OTHER_PRONOUN.search(rest) or _OTHERS.search(rest[: found[0].start()]):
        return None
    return found[0]
