"""A reply in lines, and the agent's remarks on it: a critique and a score at its end.

    the reply, one or more lines
    # critique: one sentence
    # score: 9

Small models write this far better than JSON, and it costs a third of the tokens. Knows nothing of what
the lines mean.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_CRITIQUE = 200
"""Characters of a critique under the grammar."""

_REMARK = re.compile(
    r"^[ \t*]*(?:#[ \t#*]*)?critique[ \t*]*:[ \t*]*(?P<critique>.*)$"
    r"|^[ \t*]*#[ \t#*]*score[ \t*]*:(?P<marked>.*)$"
    r"|^[ \t*]*score[ \t*]*:(?P<bare>[^a-z]*)$",
    re.IGNORECASE,
)
_INLINE = re.compile(r"[ \t]+#+[ \t]*critique[ \t]*:", re.IGNORECASE)
_BLOCKS = re.compile(
    r"\n(?:[ \t]*-{3,}[ \t]*\n)?\s*#+[ \t*]*critique[ \t*]*:?[ \t*]*\n(?P<critique>[^#]{0,1000}?)"
    r"\n\s*#+[ \t*]*score[ \t*]*:?[ \t*]*\n\s*(?P<score>\d+(?:\.\d+)?)[ \t*]*(?:/[ \t]*10)?\s*\Z",
    re.IGNORECASE,
)
"""Remarks as sections under headings, where a model writes Markdown."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
PROSE = r'[^#<\x00-\x1F\x7F] | "<" [^|\x00-\x1F\x7F]'
"""GBNF of what a line of prose goes on with: nothing that begins a remark or a token that only models write.

Small models that want to end, and may not, write their remarks over and over, or such tokens, to the limit.
"""
_REMARK_RULES = (
    # Held to a line of their own, small models go on and on before they remark.
    r'gap ::= " " | "\n"',
    f"critique ::= ({PROSE}){{1,{MAX_CRITIQUE}}}",
    'score ::= "10" | [0-9]',
)


@dataclass(frozen=True, kw_only=True)
class Remarked:
    """A reply without its remarks, and the remarks."""

    body: str
    critique: str
    score: float | None
    """0-10, or None where the reply has none in that range."""


def split_remarks(text: str) -> Remarked:
    """Split a reply into its lines and the remarks that end it."""
    # Some models go on in the same line.
    body = _INLINE.sub("\n# critique:", _BLOCKS.sub(_as_lines, text.strip())).splitlines()
    critique, score = "", None
    while body:
        remark = _REMARK.match(body[-1])
        # Others remark twice, with the end of a block in between.
        ends_block = body[-1].strip() == "```" and len(body) > 1 and _REMARK.match(body[-2]) is not None
        if remark is None and not ends_block and body[-1].strip():
            break
        body.pop()
        if remark is None:
            continue
        if remark["critique"] is not None:
            critique, _, inline = remark["critique"].partition("# score:")
            score = _score(inline) if inline else score
        else:
            score = _score(remark["marked"] or remark["bare"] or "")
    return Remarked(body="\n".join(body).strip(), critique=critique.strip(), score=score)


def lines_grammar(line: str, most: int, *, remarks: bool) -> str:
    """Return the GBNF grammar of 1 to `most` lines, then the remarks where they are asked for.

    Args:
        line: GBNF body of one line.
        most: Lines at most.
        remarks: Whether a critique and a score must follow.
    """
    return remarked_grammar(f'line ("\\n" line){{0,{most - 1}}}', [f"line ::= {line}"], remarks=remarks)


def remarked_grammar(body: str, rules: Sequence[str], *, remarks: bool) -> str:
    """Return the GBNF grammar of a reply, then the remarks where they are asked for.

    Args:
        body: GBNF of the reply without its remarks.
        rules: Rules that `body` refers to; not `root`, `critique` or `score`.
        remarks: Whether a critique and a score must follow.
    """
    if not remarks:
        return "\n".join([f"root ::= {body}", *rules]) + "\n"
    root = f'root ::= {body} gap "# critique: " critique gap "# score: " score'
    return "\n".join([root, *rules, *_REMARK_RULES]) + "\n"


def remarks_grammar() -> str:
    """Return the GBNF grammar of a reply that is nothing but remarks."""
    root = 'root ::= "# critique: " critique gap "# score: " score'
    return "\n".join([root, *_REMARK_RULES]) + "\n"


def _as_lines(blocks: re.Match[str]) -> str:
    return f"\n# critique: {' '.join(blocks['critique'].split())}\n# score: {blocks['score']}"


def _score(text: str) -> float | None:
    number = _NUMBER.search(text)
    value = float(number[0]) if number else None
    return value if value is not None and 0 <= value <= 10 else None
