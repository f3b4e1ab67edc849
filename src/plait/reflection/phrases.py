"""What the words of a task say about it, read without a model: one thing or several, ahead or in a period.

English, and easily wrong, so most of what is concluded from here is a doubt that an agent may overrule, or
changes a search. What weighs more: a short task of one thing is its own plan, where it seems reached a second
opinion may end it, and whether a limit in `hours` holds depends on what is meant. Knows nothing of tools.
What a task quotes is not understood, and neither are the texts of its input files.
"""

import re
from collections.abc import Sequence
from typing import Literal

from plait.reflection.dates import DAYS, MONTHS
from plait.reflection.requests import ASKED, is_quoted, request_of, unquoted

_SHORT_MONTHS = "|".join(("sept", *(month[:3] for month in MONTHS)))
_TIME = re.compile(
    r"\b(\d{4}(-\d{2})?|days?|weeks?|months?|quarters?|years?|hours?|today|tonight|tomorrow|yesterday|future|"
    r"upcoming|next|past|overdue|due|ago|since|until|recent|before|after|morning|afternoon|evening|noon|midnight|"
    r"weekends?|christmas|easter|new year|holidays?|season|spring|summer|autumn|fall|winter|q[1-4]|recently|"
    rf"lately|soon|{'|'.join(MONTHS)}|{'|'.join(DAYS)}|\d{{1,2}}(st|nd|rd|th)|\d{{1,2}}[/.]\d{{1,2}}|\d{{1,2}}:\d{{2}}|"
    rf"({_SHORT_MONTHS})\.? \d{{1,2}}|\d{{1,2}}\.? ({_SHORT_MONTHS})|\d{{1,2}} ?[ap]\.?m)\b",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(\d+|few|couple of|next|last|past|this|coming) (hours?|days?|weeks?|months?|years?)\b"
    r"|\b(ago|since|until|weekend)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(all|any|every|each|both|them|those|these|their|and|then|also|plus|another|everyone|everybody)\b",
    re.IGNORECASE,
)
_NOT_NAMES = "|".join(word.title() for word in (*DAYS, *MONTHS))
_NAMES = re.compile(
    r"\b(?i:e-?mail|forward|invit\w+|letter|message|note|reminder|send|tell)\b[^.;!?]* "
    rf"(?!(?:{_NOT_NAMES})\b)[A-Z][a-z]+(?:,| &) (?!(?:{_NOT_NAMES})\b)[A-Z][a-z]+\b"
)
_PEOPLE = re.compile(
    r"\b(attendees|clients|colleagues|customers|employees|leads|managers|members|participants|people|team|users)\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[.!?;,](?:\s+(?:and|then|also|please))*\s+")
_ORDER = re.compile(
    rf"\W*(?P<asked>{ASKED})(?:add|assign|book|cancel|change|create|delete|drop|e-?mail|forward|give|invite|make|mark|"
    r"message|move|notify|postpone|remind|remove|rename|reply|reschedule|schedule|send|set|share|tell|update|write)\b",
    re.IGNORECASE,
)
"""What begins a clause that says what to do."""
_MARKS = re.compile(r"[.!?;,:()\n\u2013\u2014](?:\s+(?:and|or|then|also|please)\b)*|\s-+\s")
_FIRST_WORD = re.compile(rf"\W*{ASKED}([a-z]+)\b", re.IGNORECASE)
_WISHES = re.compile(r"\bi (?:need|want|would)\b", re.IGNORECASE)
_ASKS = re.compile(r"\b(?:can|could|would|will) you\b", re.IGNORECASE)
_PLURAL = re.compile(r"(?<![A-Z\w'])[a-z-]{2,}[^\Wsiu]s\b(?!')")
"""A word in small letters that may be a plural: `meetings`, not `Sales`, `status`, `this`, `class`."""
_ONE = re.compile(
    r"\b(next|last|first|latest|newest|oldest|most \w+)\b(?! (\d|two|three|few|couple|several))",
    re.IGNORECASE,
)
_MAKES = re.compile(
    rf"(?:^|[.!?;]\s+)\W*{ASKED}(?:send|create|add|schedule|book)\s+(?:an?|the|one)\b", re.IGNORECASE
)
_QUOTES = re.compile(
    r"""(?:(?<=\s)|^)(?:'.*'|".*"|\u201c.*\u201d|\u2018.*\u2019)(?=[\s.,;:!?]|$)""", re.DOTALL
)
"""From the first mark to the last: what is to be written may quote something itself."""
_WITH_IT = re.compile(r"\band (?:assign|call|label|name|title) it\b", re.IGNORECASE)
_FIRST = frozenset({"first", "next", "oldest", "earliest"})
_LAST = frozenset({"last", "latest", "newest", "most recent"})
_EXTREME = re.compile(
    r"\b(first|next|oldest|earliest|last|latest|newest|most recent)\b"
    r"(?! (?:hour|day|week|month|quarter|year))",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"\b(?:about|regarding|on the subject of) (?:'(.+?)'|\"(.+?)\")(?=[\s.,;:!?]|$)", re.IGNORECASE
)
_ALIKE = ("event meeting appointment", "email mail e-mail", "task", "customer client")
KINDS = {form: same.split()[0] for same in _ALIKE for word in same.split() for form in (word, f"{word}s")}
"""Words for things that tools are made for, each with the one that stands for its kind."""
_MAILING = frozenset({"email", "mail", "e-mail"})
_BEFORE_VERBS = frozenset({"", "you", "please", "kindly", "to", "and", "then"})
"""After which they say what to do: "email Ann"."""
_NAMING = r"\b(?:re(?:name|title)\b|change the (?:name|title) of\b)(?:(?!\b(?:to|and|then)\b)[^.;,!?])*"
_AHEAD = re.compile(r"\b(?:next|future|upcoming|coming)\b(?P<what>[^.;!?]*)", re.IGNORECASE)
"""With the words among which stands what is to come."""


def of_several(task: str) -> bool:
    """Whether a task speaks of more than one thing to do."""
    told = _told(task)
    plural = _PLURAL.search(told) is not None and not _ONE.search(told)
    return plural or _says_more(told)


def of_one(task: str) -> bool:
    """Whether a task speaks of the one next, last or first thing, and of nothing else to do."""
    return _ONE.search(_told(task)) is not None and not of_several(task)


def makes_one(task: str) -> bool:
    """Whether a task wants one new thing, such as a letter that is sent, and nothing else."""
    told = _WITH_IT.sub(" ", _QUOTES.sub(" ", request_of(task)))
    return _MAKES.search(told) is not None and not _PEOPLE.search(told) and not _says_more(told)


def extreme(task: str) -> Literal["first", "last"] | None:
    """Return which of several things in time a task means, if it means one at an end."""
    words = {word.lower() for word in _EXTREME.findall(_told(task))}
    first, last = bool(words & _FIRST), bool(words & _LAST)
    if first == last or not of_one(task):
        return None
    return "first" if first else "last"


def topics(task: str) -> list[str]:
    """Return what the things a task means are about, in its quoted words."""
    told = request_of(task)
    found = [each for each in _TOPIC.finditer(told) if not is_quoted(told, each.start())]
    return [(each[1] or each[2]).rstrip(".,;:!?") for each in found]


def words_of(task: str) -> set[str]:
    """Return the words of a task, small, without what it quotes."""
    return set(re.findall(r"[a-z]+", _told(task).lower()))


def ahead(task: str) -> set[str]:
    """Return words for what may be meant that is still to come, as things are named: those after `next`, and
    the kinds that the task speaks of; e-mails that are still to come nobody has.
    """
    told = _told(task)
    words = {word for found in _AHEAD.finditer(told) for word in things_named(found["what"])}
    return (words | things(told)) - {"email"} if words else words


def things_named(words: str) -> set[str]:
    """Return words as things are named: each in the singular, and one word for each kind of thing."""
    said: list[str] = re.findall(r"[a-z]+(?:-[a-z]+)?", words.lower())
    return {KINDS.get(word, word.removesuffix("s")) for word in said}


def kinds(task: str) -> set[str]:
    """Return the kinds of things that a task speaks of, where it names them: a meeting is an event."""
    return things(_told(task))


def things(words: str) -> set[str]:
    """Return the kinds of things that some words of a task speak of."""
    said = re.findall(r"[a-z]+(?:-[a-z]+)?", words.lower())
    return {
        KINDS[word]
        for before, word in zip(["", *said], said, strict=False)
        if word in KINDS and not (word in _MAILING and before in _BEFORE_VERBS)
    }


def becomes(task: str, value: str) -> bool:
    """Whether a task wants something to be called `value`, which it is not called yet."""
    named = re.compile(rf"{_NAMING}\s+to\s+['\"\u2018\u201c]?{re.escape(value.strip())}\W*$", re.IGNORECASE)
    return named.search(" ".join(request_of(task).split())) is not None


def orders(task: str) -> tuple[set[str], set[str]]:
    """Return the words that say what to do: the first of each clause, after `please` and the like.

    In the second set also those after a colon, a bracket, a dash or in a new line, which may be what a letter
    is to say.
    """
    told = _told(task)
    return _first_words(_CLAUSES.split(told)), _first_words(_MARKS.split(told))


def _first_words(clauses: Sequence[str]) -> set[str]:
    return {found[1].lower() for clause in clauses if (found := _FIRST_WORD.match(clause))}


def small_words(task: str) -> set[str]:
    """Return the words of a task that begin with a small letter, without what it quotes: no names."""
    return set(re.findall(r"\b[a-z]+\b", _told(task)))


def names_time(task: str) -> bool:
    """Whether a task says anything about when."""
    return _TIME.search(_told(task)) is not None


def names_period(task: str) -> bool:
    """Whether a task speaks of a stretch of time: `in the last 3 weeks`."""
    return _PERIOD.search(_told(task)) is not None


def _says_more(told: str) -> bool:
    """Whether words name several, or say more than once what to do."""
    if _SEVERAL.search(told) or _NAMES.search(told):
        return True
    orders = [order["asked"] for clause in _CLAUSES.split(told) if (order := _ORDER.match(clause))]
    # "I need to ... Can you ...?" wishes and asks for the same.
    return len(orders) > (2 if orders and _WISHES.search(orders[0]) and _ASKS.search(orders[-1]) else 1)


def _told(task: str) -> str:
    return unquoted(request_of(task))
