"""How much of a program is written, and not left as a placeholder, in two readings.

`official` follows `get_completeness` of the paper's scripts (github.com/OpenBMB/ChatDev, commit 0ee00f7,
chatdev/eval_quality.py): one line with "pass" or "todo" anywhere in it makes a whole program incomplete;
lines with "password", "passenger", "passed" or "passes" are let off, "bypass" and "passing" are not.
`strict` parses the code. Knows nothing of running programs.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from plait.domains.software.program import parsed, python_files

SHOWN_CHARACTERS = 100
"""Of a comment."""

_LET_OFF = ("password", "passenger", "passed", "passes")
_OFFICIAL = ("pass", "todo")
_MARKER = re.compile(r"[#\s]*(?:TODO|FIXME|XXX)\b")
_UNFINISHED = re.compile(
    r"[#\s.…<\[(-]*(?:"
    r"placeholder (?:for|function|method|implementation|logic|code)\b"
    r"|(?:(?:add|put|write|insert|place) )?your (?:own )?(?:code|logic|implementation)(?: goes)? here\b"
    r"|(?:add|put|write|insert|place) (?:\w+ ){0,3}(?:code|logic|functionality|implementation) here\b"
    r"|(?:not|to be) (?:yet )?implemented(?: yet| here| later)?[\s.!…>\])-]*$"
    r"|implement (?:this|me|it|here|later)\b"
    r"|(?:the )?(?:rest of|existing|remaining) (?:the |your )?code(?: here| goes here)?[\s.!…>\])-]*$"
    r"|(?:the |your )?code goes here\b)",
    re.IGNORECASE,
)
"""What models write into comments instead of code: at their beginning, because further in it is prose."""
_ADMITS = re.compile(
    r"\breplace (?:this |it |these )?with (?:the |an? |your )?(?:own|actual|real)\b"
    r"|\b(?:example|dummy|sample|mock|hard-?coded|fixed)\b.{0,30}\bfor (?:simplicity|now|demonstration)\b"
    r"|\bin a real(?:-world)? (?:program|app|application|implementation|system|scenario)\b",
    re.IGNORECASE,
)
"""What they write beside a value that stands for what the program should work out; anywhere in a comment."""
_NO_BODY_NEEDED = ("abstractmethod", "overload")

_NO_BEHAVIOUR = frozenset({"ABC", "Generic", "object"})
"""Bases that have nothing to be silenced."""

_Around: TypeAlias = Literal["", "protocol", "derived"]
_Unit: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, kw_only=True)
class Completeness:
    """How much is written, and what is not."""

    share: float
    findings: Sequence[str]


def official(files: Mapping[str, str]) -> float:
    """Return 1 for a program without placeholders as the paper's scripts see them, else 0."""
    lines = [line.lower() for text in python_files(files).values() for line in text.splitlines()]
    suspicious = [line for line in lines if not any(word in line for word in _LET_OFF)]
    return 0.0 if any(word in line for line in suspicious for word in _OFFICIAL) else 1.0


def strict(files: Mapping[str, str]) -> Completeness:
    """Return which share of the files, classes and functions of a program is without placeholders.

    A placeholder is a body of nothing but `pass`, `...`, a docstring or `raise NotImplementedError`, or a
    comment that says so. Abstract methods, protocols, classes that only name their base, and methods that
    keep a class from elsewhere silent with `pass` are none; a file that is no Python is one.
    """
    units = 0
    findings: list[str] = []
    unfinished = 0
    for path, text in python_files(files).items():
        whole, lacking = _file(path, text)
        units += whole
        unfinished += len(lacking)
        findings += [note for notes in lacking.values() for note in notes]
    share = 1 - unfinished / units if units else 0.0
    return Completeness(share=share, findings=findings)


def _file(path: str, text: str) -> tuple[int, dict[int, list[str]]]:
    """Return how many units a file has, and findings by the first line of their unit; 0 is the file."""
    lacking: dict[int, list[str]] = {}
    tree = parsed(text)
    if isinstance(tree, SyntaxError):
        # What is wrong with it is told by whoever tries to run it.
        return 1, {0: []}
    if not text.strip() and not path.endswith("__init__.py"):
        lacking[0] = [f"{path} is empty: write it."]
    units = list(_units(tree))
    for unit, needs_body in units:
        if needs_body and _is_hollow(unit):
            kind = "class" if isinstance(unit, ast.ClassDef) else "function"
            note = f"{path}, line {unit.lineno}: {kind} {unit.name!r} has no body yet: write it."
            lacking.setdefault(unit.lineno, []).append(note)
    for line, comment in _unfinished_comments(text):
        place = _innermost([unit for unit, _ in units], line)
        note = (
            f"{path}, line {line}: {comment[:SHOWN_CHARACTERS]!r} stands for code that is missing: write it."
        )
        lacking.setdefault(place, []).append(note)
    return 1 + len(units), lacking


def _units(tree: ast.Module) -> Iterator[tuple[_Unit, bool]]:
    """Yield every class and function, in their order, and whether it needs a body."""
    # No recursion: an expression can be nested more deeply than our stack.
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    waiting: list[tuple[ast.AST, _Around]] = [(tree, "")]
    while waiting:
        node, around = waiting.pop()
        inner: _Around = around
        if isinstance(node, ast.ClassDef):
            yield node, not node.bases and not node.keywords and not node.decorator_list
            inner = _around(node, own)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            exempt = any(_last_name(decorator) in _NO_BODY_NEEDED for decorator in node.decorator_list)
            silent = around == "derived" and isinstance(node.body[0], ast.Pass)
            yield node, not (exempt or silent or around == "protocol")
            inner = ""
        waiting.extend((child, inner) for child in reversed(list(ast.iter_child_nodes(node))))


def _around(unit: ast.ClassDef, own: Set[str]) -> _Around:
    """Return what a class is to the functions in it: `own` are the classes of the file itself."""
    bases = {_last_name(base) for base in unit.bases}
    if "Protocol" in bases:
        return "protocol"
    # What such a class does is written elsewhere, and may be too much here.
    return "derived" if bases - own - _NO_BEHAVIOUR else ""


def _is_hollow(unit: _Unit) -> bool:
    return all(_is_nothing(statement) for statement in unit.body)


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass():
            return True
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ... or isinstance(value, str)
        case ast.Raise(exc=ast.Call(func=raised)) | ast.Raise(exc=ast.expr() as raised):
            return _last_name(raised) == "NotImplementedError"
        case _:
            return False


def _last_name(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _unfinished_comments(text: str) -> Iterator[tuple[int, str]]:
    # Python itself ends a line at a lone carriage return too, its tokenizer does not.
    lines = io.StringIO(text, newline=None)
    # What Python reads to its end the tokenizer may not: a last line that ends in a backslash.
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(lines.readline):
            if token.type == tokenize.COMMENT and _says_unfinished(token.string):
                yield token.start[0], token.string.strip("# ")


def _says_unfinished(comment: str) -> bool:
    return bool(_MARKER.match(comment) or _UNFINISHED.match(comment) or _ADMITS.search(comment))


def _innermost(units: Sequence[_Unit], line: int) -> int:
    """Return the first line of the smallest unit that a line is in; 0 is the file."""
    around = [unit for unit in units if unit.lineno <= line <= (unit.end_lineno or unit.lineno)]
    return max((unit.lineno for unit in around), default=0)
