"""A small reading of GBNF, apart from the grammars of ours: a grammar becomes a predicate on texts.

Only the notation that llama.cpp documents and we use: rules, terminals, character classes, groups,
alternatives, `? * +` and `{m,n}`. Grammars are turned into one regular expression, which works as long
as no rule refers to itself.
"""

import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|\{\d+,\d*\}|[a-zA-Z][a-zA-Z0-9-]*|[()|?*+]|\s+')


def accepts(grammar: str, text: str) -> bool:
    """Tell whether the whole text is a sentence of the grammar."""
    return re.fullmatch(expression(grammar), text) is not None


def expression(grammar: str) -> str:
    """Return the grammar as a regular expression."""
    rules: dict[str, str] = {}
    for line in grammar.splitlines():
        name, arrow, body = line.partition(" ::= ")
        assert arrow, f"not a rule: {line!r}"
        assert name not in rules, f"two rules {name!r}"
        rules[name] = body
    return _expanded("root", rules, ())


def _expanded(name: str, rules: dict[str, str], above: tuple[str, ...]) -> str:
    assert name in rules, f"no rule {name!r}"
    assert name not in above, f"rule {name!r} refers to itself"
    body, position, pieces = rules[name], 0, list[str]()
    while position < len(body):
        token = _TOKEN.match(body, position)
        assert token, f"cannot read {body[position:]!r}"
        pieces.append(_piece(token[0], rules, (*above, name)))
        position = token.end()
    return f"(?:{''.join(pieces)})"


def _piece(token: str, rules: dict[str, str], above: tuple[str, ...]) -> str:
    if token.isspace():
        return ""
    if token[0] == '"':
        return f"(?:{re.escape(_unescaped(token[1:-1]))})"
    if token[0].isalpha():
        return _expanded(token, rules, above)
    return "(?:" if token == "(" else token


def _unescaped(terminal: str) -> str:
    escapes = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}
    return re.sub(
        r"\\x([0-9A-F]{2})|\\(.)",
        lambda found: chr(int(found[1], 16)) if found[1] else escapes[found[2]],
        terminal,
    )
