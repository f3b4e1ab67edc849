"""Names in a goal: of people, and of things that go by a title without quotation marks.

A name is told by capitals inside a sentence, or by the words around it ("with ... on", "...'s tasks", "called
..."), for people write `from kofi` as well. Knows no names, and nothing of goals, masks or models.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from plait.experience.words import vocabulary
from plait.experience.words.vocabulary import LEMMAS, ORDINARY, PLAIN, RECORDS, STATE, TURNING, UNITS

LONGEST_TITLE = 10
"""Words; what goes on for longer is a sentence and stays."""
_BREAK = re.compile(r"[.?!:;\n]")


@dataclass(frozen=True, kw_only=True)
class Item:
    """A word of a goal, or a value that is told by its form."""

    start: int
    end: int
    text: str
    kind: str
    """Of the value; empty for a word."""
    gap: str
    """What stands between the item before and this one."""
    first: bool

    @cached_property
    def word(self) -> str:
        """The word in lower case; nothing for a value."""
        return "" if self.kind else self.text.lower().replace("\u2019", "'")

    @cached_property
    def opens(self) -> bool:
        """Whether a sentence begins here, where a capital says nothing."""
        return self.first or bool(_BREAK.search(self.gap))

    @cached_property
    def joined(self) -> bool:
        """Whether nothing but space or `&` is before it."""
        return not self.first and "\n" not in self.gap and self.gap.strip() in ("", "&")

    @cached_property
    def capital(self) -> bool:
        """Whether it is a word with a capital."""
        return not self.kind and self.text[:1].isupper()

    @cached_property
    def plain(self) -> bool:
        """Whether the word may be a first name by its form."""
        word = self.word
        plural = word.endswith("s") and not word.endswith(("is", "os", "as", "us"))
        derived = len(word) > 5 and word.endswith(_ENDINGS)
        return word.isalpha() and len(word) > 1 and word not in ORDINARY and not plural and not derived


_ENDINGS = ("ing", "tion", "sion", "ment", "ness", "ed", "ate", "ify", "ise", "ize")
_DONE = ("ed", "sent", "written", "made")
_AFTER_TITLE = TURNING - {"of"}
_NO_EVENT = (TURNING - {"of", "up"}) | STATE | RECORDS | UNITS.keys()
_NO_NAME = TURNING | STATE | vocabulary.OBJECTS
_NO_PLACE = PLAIN | STATE
_NO_LIST = vocabulary.DETERMINERS | {"all", "any", "it", "them"}
_JOINS = frozenset({"and", "or", "but", "then"})
_BEFORE_VERB = _JOINS | {"to", "please", "you", "also", "just", "not", "never", "don't"}
_END = Item(start=0, end=0, text="", kind="", gap=".", first=True)

_Range: TypeAlias = tuple[int, int]


def names_among(items: Sequence[Item]) -> list[_Range]:
    """Return where names begin and end in the text that the items are of, in order; they do not overlap."""
    names: dict[int, int] = {}
    busy: set[int] = set()
    for rule in (_titles, _events, _subjects, _capitals, _people):
        for first, end in rule(items, busy):
            if busy.isdisjoint(range(first, end)):
                names[first] = end
                busy.update(range(first, end))
    return [(items[first].start, items[end - 1].end) for first, end in sorted(names.items())]


def _titles(items: Sequence[Item], _busy: Set[int]) -> Iterator[_Range]:
    """Titles after "called" or "rename ... to"; one word after the latter may be a manner."""
    changing = renaming = False
    for at, item in enumerate(items):
        if item.opens:
            changing = renaming = False
        lemma = LEMMAS.get(item.word)
        changing = changing or lemma == "change"
        renaming = renaming or lemma == "rename" or (changing and item.word in ("name", "title", "subject"))
        called = item.word in ("called", "named", "titled", "entitled")
        if not called and not (renaming and item.word == "to"):
            continue
        end = _title_end(items, at + 1)
        one_word = end - at == 2 and not items[at + 1].capital
        if end > at + 1 and (called or not one_word):
            yield at + 1, end
        renaming = renaming and called


def _title_end(items: Sequence[Item], first: int) -> int:
    """Return the end of the title that begins at an item; the item itself where none does."""
    end = first
    while end < len(items) and _in_title(items, end, first):
        end += 1
        if end - first > LONGEST_TITLE:
            return first
    while end > first and items[end - 1].word in ("of", "'s"):
        end -= 1
    return end


def _in_title(items: Sequence[Item], at: int, first: int) -> bool:
    item = items[at]
    after = items[at + 1] if at + 1 < len(items) else _END
    if item.opens or not (item.joined or (at > first and item.gap == "" and item.word == "'s")):
        return False
    if item.kind:
        return item.kind == "number" and after.word not in UNITS
    if item.word == "and":
        # "called Standup and notify sofia" must not lose what it asks.
        return after.joined and after.capital and after.word not in LEMMAS and at > first
    return item.capital or item.word not in _AFTER_TITLE


def _events(items: Sequence[Item], _busy: Set[int]) -> Iterator[_Range]:
    """Titles in lower case between an order and a noun: "the next risk management forum meeting"."""
    for at, item in enumerate(items):
        if item.word in vocabulary.ORDERS:
            end = at + 1
            while end < len(items) and end - at <= LONGEST_TITLE and _in_event(items, end):
                end += 1
            # One word ("the next weekly meeting") is as likely to choose as to name.
            if end - at > 2 and end < len(items) and items[end].joined and _is_event(items[end]):
                yield at + 1, end


def _is_event(item: Item) -> bool:
    return item.word in vocabulary.EVENTS and not item.capital


def _in_event(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    after = items[at + 1] if at + 1 < len(items) else _END
    if (
        not item.word
        or not item.joined
        or item.word in vocabulary.QUANTITY
        or item.word in vocabulary.CONDITION
    ):
        return False
    if item.word == "and":
        return after.joined and after.capital and after.word not in LEMMAS
    if _is_event(item):
        return after.joined and _is_event(after)
    return item.capital or (item.word not in _NO_EVENT and not item.word.endswith("ed"))


def _subjects(items: Sequence[Item], _busy: Set[int]) -> Iterator[_Range]:
    """Who is, has or does something at the beginning of a sentence, where a capital says nothing."""
    for at, item in enumerate(items):
        one, two, three = [*items[at + 1 : at + 4], _END, _END, _END][:3]
        if not item.opens or not item.plain or not one.joined:
            continue
        if one.word in vocabulary.DOES:
            yield at, at + 1
        elif one.word == "and" and two.joined and two.plain and three.word in vocabulary.DO:
            yield at, at + 1
            yield at + 2, at + 3
        elif one.capital and one.plain and (two.word == "'s" or (two.joined and two.word in vocabulary.DOES)):
            yield at, at + 2


def _capitals(items: Sequence[Item], busy: Set[int]) -> Iterator[_Range]:
    """Words with a capital inside a sentence, unless capitals are put on any word."""
    inside = [item for at, item in enumerate(items) if not item.opens and at not in busy and item.word]
    if any(_shouted(item) for item in inside) or not any(item.text.islower() for item in items if item.word):
        return
    at = 0
    while at < len(items):
        if items[at].opens or not items[at].capital or at in busy:
            at += 1
            continue
        end = at + 1
        while end < len(items) and _continues(items, end) and end not in busy:
            end += 1
        name = _trimmed(items, at, end)
        if name and not _seems_verb(items, *name, busy):
            yield name
        at = end


def _shouted(item: Item) -> bool:
    initials = len(item.text) == 2 and item.text.isupper()
    return item.capital and item.word in PLAIN and item.word[:1] != "i" and not initials


def _continues(items: Sequence[Item], at: int) -> bool:
    item = items[at]
    after = items[at + 1] if at + 1 < len(items) else _END
    # "Bank of America" is one name; "Emails of Sofia" is none.
    of_what = item.word == "of" and items[at - 1].word not in ORDINARY and after.joined and after.capital
    return item.joined and (item.capital or of_what)


def _trimmed(items: Sequence[Item], first: int, end: int) -> _Range | None:
    """Return the name in a run of capitals, and of a place all words ("the Front end backlog")."""
    for place in range(end, min(end + 3, len(items))):
        if not items[place].joined or items[place].word in _AFTER_TITLE:
            break
        if items[place].word in vocabulary.PLACES:
            return None if items[first].word in _NO_PLACE else (first, place)
    while first < end and items[first].word in _NO_NAME:
        first += 1
    while first < end and items[first].word in LEMMAS and items[first - 1].word in _BEFORE_VERB:
        first += 1
    while first < end and items[end - 1].word in _NO_NAME:
        end -= 1
    return (first, end) if any(items[at].word not in ORDINARY for at in range(first, end)) else None


def _seems_verb(items: Sequence[Item], first: int, end: int, busy: Set[int]) -> bool:
    """Tell whether a capital may be that of a verb, as in "find it and Scrub the draft"."""
    if first < 2 or items[first - 1].word not in _JOINS:
        return False
    listed = items[first - 2].capital or first - 2 in busy
    after = items[end].word if end < len(items) else ""
    return not listed or after in _NO_LIST


def _people(items: Sequence[Item], busy: Set[int]) -> Iterator[_Range]:
    """First names, most in lower case, by the words around them; `busy` grows with what is found."""
    said: dict[str, bool] = {}
    for at, item in enumerate(items):
        if item.opens:
            said = {}
        if item.plain and at not in busy and _person(items, at, said, busy):
            yield at, at + 1
        lemma = LEMMAS.get(item.word, "")
        if item.word in vocabulary.MEETS:
            said["meet"] = True
        if item.word in vocabulary.MAILS:
            said["mail"] = True
        if lemma in vocabulary.SENDS or lemma in vocabulary.MOVES:
            said["send"] = lemma in vocabulary.SENDS


def _person(items: Sequence[Item], at: int, said: Mapping[str, bool], busy: Set[int]) -> bool:
    """Tell by the words before and after whether a word is somebody's name."""
    item, before = items[at], items[at - 1] if at else _END
    after = items[at + 1] if at + 1 < len(items) else _END
    if after.word == "'s" and after.gap == "":
        return item.opens or before.word not in vocabulary.DETERMINERS
    if not item.joined:
        return False
    ends = not after.joined or bool(after.kind) or after.word in TURNING
    # What follows "to" or "and" may be a verb: "reply to apologise for it", "from sofia and scrub it".
    apart = not after.joined or after.kind in ("date", "time") or after.word in vocabulary.AFTER_RECIPIENT
    match before.word:
        case "and" | "or":
            return apart and at - 2 in busy
        case "with":
            return ends and said.get("meet", False)
        case "from":
            return ends and said.get("mail", False)
        case "to":
            return apart and said.get("send", False)
        case "by":
            done = items[at - 2].word if at > 1 else ""
            return ends and done.endswith(_DONE) and LEMMAS.get(done) not in vocabulary.SORTS
        case "that":
            return after.joined and after.word in vocabulary.DOES
        case _:
            return ends and LEMMAS.get(before.word) in vocabulary.TELLS
