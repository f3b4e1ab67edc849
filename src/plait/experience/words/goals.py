"""When two goals are the same thing with other values (ICE, section 3.2: similar goals share a pipeline).

Similarity alone takes "cancel the next meeting" for "cancel all future meetings". So the values of a goal are
masked, and one pipeline serves two goals only where every word that is left is the same, in the same order.
Knows nothing of models, embeddings or memories, and nothing of how names are told (`names`). Where that
leaves a doubt the word stays: a missed match costs a plan, a wrong one does harm.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plait.experience.words.courtesy import asks_end, lead_ends, lead_of, literally, plainly, uncourteous
from plait.experience.words.names import Item, names_among
from plait.experience.words.vocabulary import CHANGES, DECIDING, LEMMAS, SAME, UNITS

SpanKind: TypeAlias = Literal["quoted", "email", "date", "time", "number", "name"]


@dataclass(frozen=True, kw_only=True)
class Span:
    """A value in a goal."""

    kind: SpanKind
    start: int
    end: int
    text: str
    """The goal from `start` to `end`; of quoted text what is between the marks."""


@dataclass(frozen=True, kw_only=True)
class Masked:
    """A goal without its values."""

    text: str
    """In lower case, each value replaced by `<kind>`, white space collapsed, final punctuation dropped."""
    spans: Sequence[Span]
    """The values in the order of the goal; they do not overlap."""


def masked(goal: str) -> Masked:
    """Replace the values of a goal by their kinds; takes any string and raises nothing."""
    spans = _spans(goal)
    text = " ".join(_without(goal, spans).lower().split())
    return Masked(text=text.rstrip(" .?!,;:"), spans=spans)


def to_the_letter(goal: str) -> str:
    """Return all that a goal says besides its values: the case, marks and spaces count too.

    What leads up to its request and courtesy are left out, the first letter is small, and units are singular.
    """
    said = literally(_without(goal, _spans(goal)).strip())
    return _FIGURE.sub(lambda unit: f"{unit[1]}{UNITS.get(unit[2].lower(), unit[2])}", said)


def key_of(goal: str) -> str:
    """Return what is equal for goals that say the same with other values: courtesy does not count."""
    return " ".join(_words(goal))


def lead_in(goal: str) -> str:
    """Return what leads up to a goal and makes no difference to its key, its values masked."""
    return lead_of(masked(goal).text)


def request_at(goal: str) -> int:
    """Return where in a goal its request begins, after what leads up to it and courtesy."""
    spans = masked(goal).spans
    begins_with_name = bool(spans) and spans[0].kind == "name" and not goal[: spans[0].start].strip()
    at = lead_ends(goal, spans[0].end if begins_with_name else 0)
    return asks_end(goal, at)


def deciding_words(goal: str) -> tuple[str, ...]:
    """Return what a goal does, to how many, when and in which direction, sorted and as often as it is said.

    Operations are lemmas ("deleting" is `delete`), units are singular, and a contracted "not" is `not`.
    Values do not decide.
    """
    return tuple(sorted(word for word in map(_deciding, _words(goal)) if word))


def asks_for_change(goal: str) -> bool:
    """Whether a goal wants the world to be another afterwards, by the operations that it names."""
    return not CHANGES.isdisjoint(deciding_words(goal))


def agree(one: str, other: str) -> bool:
    """Tell whether one pipeline may serve both goals.

    It may where an operation or a question is known and all words but the values are the same in the same
    order: so are the deciding words then, and "delete that and add this" is not "add that and delete this".
    Only courtesy ("can you", "please"), what leads up to a request (`courtesy`) and the number of a unit
    after a figure ("1 hour", "2 hours") are left aside. Which of the values differ is for `aligned` to say,
    and for the caller to bind: a value that differs and goes into no argument means that the pipeline does
    something else.
    """
    words = _words(one)
    return any(word in LEMMAS for word in words) and words == _words(other)


def aligned(old: str, new: str) -> dict[str, str] | None:
    """Map the values of one goal to those of another that says the same.

    Returns:
        What each value of `old` is in `new`; None where their keys differ, or where a value that `old` says
        twice became two values.
    """
    if key_of(old) != key_of(new):
        return None
    before, after = masked(old), masked(new)
    pairs: dict[str, str] = {}
    for was, becomes in zip(before.spans, after.spans, strict=True):
        if pairs.setdefault(was.text, becomes.text) != becomes.text:
            return None
    return pairs


_MONTH = "january|february|april|june|july|august|september|october|november|december"
_ANY_MONTH = rf"(?:{_MONTH}|(?-i:March|May|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?))"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_ENDS = (
    r"(?=\s*(?:[.,;?!)](?!\d)|$)"
    r"|\s+(?:on|at|with|and|or|to|for|in|from|by|called|titled|named|today|tomorrow)\b)"
)
_FIXED = re.compile(
    rf"""(?P<email>(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}}){{1,5}})
    |(?<![\w.,])(?:(?P<date>
        \d{{4}}-\d{{2}}-\d{{2}}(?!\w)
        | \d{{1,2}}/\d{{1,2}}/\d{{2,4}}(?!\w)
        | \d{{1,2}}\.\d{{1,2}}\.\d{{4}}(?!\w)
        | {_ANY_MONTH}\s+{_DAY}\b(?!:)(?:,?\s+\d{{4}}\b)?
        | {_DAY}\s+(?:of\s+)?{_ANY_MONTH}(?!\w)(?:,?\s+\d{{4}}\b)?
        | (?<=\bon\s)the\s+\d{{1,2}}(?:st|nd|rd|th){_ENDS}
        | (?:{_MONTH}|(?<=\bin\s)(?-i:March|May)|(?-i:March|May)(?=\s+\d{{4}}\b))\b(?:\s+\d{{4}}\b)?
        | (?:mon|tues|wednes|thurs|fri|satur|sun)day(?=s?\b)
        | (?:today|tomorrow|yesterday|tonight)\b)
    |(?P<time>
        \d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:\s?(?:[ap]m\b|[ap]\.m\.))?(?!\w)
        | \d{{1,2}}\s?(?:[ap]m\b|[ap]\.m\.)(?!\w)
        | \d{{1,2}}\s?o['\u2019]clock\b
        | (?:noon|midday|midnight)\b
        | (?:(?<=\bat\s)|(?<=\bbefore\s)|(?<=\bafter\s)|(?<=\buntil\s)|(?<=\btill\s))\d{{1,2}}{_ENDS})
    |(?P<number>
        \d{{1,40}}(?:[.,]\d{{1,40}}){{0,9}}(?=(?:h|hrs?|mins?|secs?|s|d)?(?!\w))
        | half\s+an?(?=\s+hour\b)
        | (?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty
          |sixty|ninety|hundred)\b))""",
    re.VERBOSE | re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"<(?=(?:quoted|email|date|time|number|name)>)", re.IGNORECASE)
_FIGURE = re.compile(r"(<number>[\s-]*)(\w+)")
_WORD = re.compile(r"['\u2019]s\b|\w+(?:[&-]\w+|['\u2019](?!s\b)\w+)*")
_MARK = re.compile("['\"`\u2018\u2019\u201c\u201d\u00ab\u00bb]")
_CLOSES = {"'": "'", '"': '"', "`": "`", "\u2019": "\u2018", "\u201d": "\u201c", "\u00bb": "\u00ab"}
_ELISION = re.compile(r"['\u2018](?:em|til|cause|tis|\d0s)\b")


def _fixed(goal: str) -> list[Span]:
    """Return the values that are told by their form, quoted text before all that is in it."""
    quoted = [Span(kind="quoted", start=a + 1, end=b, text=goal[a + 1 : b]) for a, b in _quotes(goal)]
    found: list[Span] = []
    for match in _FIXED.finditer(goal):
        for kind in ("email", "date", "time", "number"):
            if match[kind] is not None:
                found.append(Span(kind=kind, start=match.start(), end=match.end(), text=match[0]))
    return sorted([*quoted, *_outside(found, quoted)], key=lambda span: span.start)


def _quotes(goal: str) -> list[tuple[int, int]]:
    """Return where the outermost quotations begin and end; a mark without its like is none."""
    opened: dict[str, list[int]] = {mark: [] for mark in _CLOSES.values()}
    pairs: list[tuple[int, int]] = []
    for match in _MARK.finditer(goal):
        mark, at = match[0], match.start()
        before, after = goal[at - 1 : at], goal[at + 1 : at + 2]
        begins = bool(after.strip()) and not (before and (before.isalnum() or before in ".,!?%"))
        ends = not after.isalnum() and bool(before.strip())
        waiting = opened[_CLOSES[mark]] if mark in _CLOSES else []
        # A mark that is its own closing may be nested: 'Hi, 'Create wireframe' is done'.
        if ends and waiting and not (begins and before not in "'\""):
            pairs.append((waiting.pop(), at))
        elif mark in opened and begins and not _ELISION.match(goal, at):
            opened[mark].append(at)
    outermost: list[tuple[int, int]] = []
    for start, end in sorted(pairs):
        if not outermost or start > outermost[-1][1]:
            outermost.append((start, end))
    return outermost


def _outside(spans: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return the spans that touch none of the others; both are in order."""
    kept: list[Span] = []
    at = 0
    for span in spans:
        while at < len(others) and others[at].end <= span.start:
            at += 1
        if at == len(others) or span.end <= others[at].start:
            kept.append(span)
    return kept


def _items(goal: str, fixed: Sequence[Span]) -> list[Item]:
    """Return words and values in order, each with what stands between it and the one before."""
    found: list[tuple[int, int, str]] = []
    at = 0
    for span in fixed:
        found += [(*match.span(), "") for match in _WORD.finditer(goal, at, span.start)]
        found.append((span.start, span.end, span.kind))
        at = span.end
    found += [(*match.span(), "") for match in _WORD.finditer(goal, at)]
    ends = [0, *(end for _, end, _ in found)]
    return [
        Item(start=start, end=end, text=goal[start:end], kind=kind, gap=goal[last:start], first=not last)
        for (start, end, kind), last in zip(found, ends, strict=False)
    ]


def _spans(goal: str) -> list[Span]:
    """Return the values of a goal, in order."""
    fixed = _fixed(goal)
    ranges = names_among(_items(goal, fixed))
    names = [Span(kind="name", start=start, end=end, text=goal[start:end]) for start, end in ranges]
    return sorted([*_outside(fixed, names), *names], key=lambda span: span.start)


def _without(goal: str, spans: Sequence[Span]) -> str:
    """Return a goal with each value replaced by its kind."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        mark = 1 if span.kind == "quoted" else 0
        pieces += [_literal(goal[at : span.start - mark]), f"<{span.kind}>"]
        at = span.end + mark
    return "".join([*pieces, _literal(goal[at:])])


def _literal(piece: str) -> str:
    """Return what stays of a goal, so that nobody can say a placeholder."""
    return _PLACEHOLDER.sub("\u2039", piece)


_SENTENCE = re.compile(r"(?<=[.?!;:])\s")
_TOKEN = re.compile(r"<[a-z]+>|\w+(?:['\u2019&-]\w+)*|[^\w\s.,!?;:'\u2019\"()]")


def _words(goal: str) -> list[str]:
    """Return the words of a goal said plainly, without courtesy; a full stop between sentences."""
    words: list[str] = []
    for sentence in _SENTENCE.split(plainly(uncourteous(masked(goal).text))):
        found: list[str] = _TOKEN.findall(sentence)
        tokens = [SAME.get(token, token) for token in found]
        words += [".", *tokens] if words and tokens else tokens
    return [_unit(words, at) for at in range(len(words))]


def _unit(words: Sequence[str], at: int) -> str:
    """Return a word, in the singular where it is the unit of a figure."""
    figure = words[max(0, at - 2) : at]
    measured = figure[-1:] == ["<number>"] or figure == ["<number>", "-"]
    return UNITS.get(words[at], words[at]) if measured else words[at]


def _deciding(word: str) -> str:
    """Return the lemma of a deciding word, or nothing."""
    if word.endswith(("n't", "n\u2019t")):
        return "not"
    return LEMMAS.get(word) or UNITS.get(word) or (word if word in DECIDING else "")
