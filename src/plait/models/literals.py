"""Python literals as models write them: read without `eval`, written in one canonical way.

Knows nothing of tools or schemas. A model's text is mended first where the meaning is plain (raw line
breaks and unknown escapes in strings, `true` and `null`), then parsed by `ast`; whatever is not a
literal is refused with a line that says so.
"""

import ast
import json
import math
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from plait.errors import ReplyError

_NAMES = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_ESCAPES = frozenset("\\'\"abfnrtvxuUN01234567\n")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_MAX_INTEGER = 2**63 - 1


@contextmanager
def nested_plainly() -> Generator[None]:
    """Turn running out of stack, which a reply nested deeply enough always causes, into a ReplyError."""
    try:
        yield
    except RecursionError as exc:
        raise ReplyError("The reply is nested too deeply. Write plain values.") from exc


def format_literal(value: Any) -> str:
    """Write a JSON value as a Python literal: strings double-quoted, one space after commas."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(str(key), ensure_ascii=False)}: {format_literal(item)}"
            for key, item in _items(value)
        )
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(format_literal(item) for item in _elements(value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def find_close(text: str, start: int) -> int:
    """Return where the bracket that opens at `start` closes, or -1; brackets in strings do not count."""
    expected: list[str] = []
    for position, piece in _pieces(text, start):
        if piece in _PAIRS:
            expected.append(_PAIRS[piece])
        elif expected and piece == expected[-1]:
            expected.pop()
            if not expected:
                return position
        elif piece in _PAIRS.values():
            return -1
    return -1


def missing_closers(text: str) -> str | None:
    """Return the brackets that a cut text lacks, or None where it ends inside a string or is crossed."""
    expected: list[str] = []
    for _, piece in _pieces(text, 0):
        if piece in _PAIRS:
            expected.append(_PAIRS[piece])
        elif piece in _PAIRS.values():
            if not expected or expected.pop() != piece:
                return None
        elif piece[0] in "\"'" and (len(piece) < 2 or piece[-1] != piece[0]):
            return None
    return "".join(reversed(expected))


def read_arguments(text: str) -> list[tuple[str | None, Any]]:
    """Read what stands between the parentheses of a call, as (name or None, value) pairs in order.

    Raises:
        ReplyError: it is no Python, or an argument is no literal.
    """
    with nested_plainly():
        return _read_arguments(text)


def _read_arguments(text: str) -> list[tuple[str | None, Any]]:
    call = _parse(f"f({_mend(text)}\n)")
    arguments: list[tuple[str | None, Any]] = []
    for node in call.args:
        arguments.append((None, _value(node, f"argument {len(arguments) + 1}")))
    for keyword in call.keywords:
        value = _value(keyword.value, keyword.arg or "**")
        if keyword.arg is not None:
            arguments.append((keyword.arg, value))
        elif isinstance(value, dict):
            arguments.extend((str(name), item) for name, item in _items(value))
        else:
            raise ReplyError("`**` needs a dict of parameters. Write name=value pairs.")
    return arguments


def read_literal(text: str) -> Any:
    """Read one Python or JSON literal.

    Raises:
        ReplyError: it is none.
    """
    arguments = read_arguments(text)
    if len(arguments) != 1 or arguments[0][0] is not None:
        raise ReplyError(f"Expected one value, not {_short(text)}.")
    return arguments[0][1]


def _parse(source: str) -> ast.Call:
    try:
        node = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        reason = exc.msg if isinstance(exc, SyntaxError) else type(exc).__name__
        raise ReplyError(
            f"The arguments are not valid Python ({reason}). Write name=value pairs, strings double-quoted."
        ) from exc
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ReplyError(
            "The arguments are not valid Python. Write one pair of parentheses with name=value pairs."
        )
    return node


def _value(node: ast.expr, where: str) -> Any:
    match node:
        case ast.Constant(value=bool() | None as value):
            return value
        case ast.Constant(value=int() | float() as value):
            return _finite(value, where)
        case ast.Constant(value=str() as value):
            return _without_surrogates(value)
        case ast.Name(id=name) if name.lower() in _NAMES:
            return _NAMES[name.lower()]
        case ast.UnaryOp(
            op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as value)
        ):
            return _finite(-value if isinstance(sign, ast.USub) else value, where)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [_value(item, where) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key, where): _value(item, where) for key, item in zip(keys, values, strict=True)}
        case ast.JoinedStr(values=parts) if all(isinstance(part, ast.Constant) for part in parts):
            return "".join(str(_value(part, where)) for part in parts)
        case _:
            raise ReplyError(
                f"{where} must be a plain value, not {_short(ast.unparse(node))}. Write the value itself, "
                "strings in double quotes."
            )


def _key(node: ast.expr | None, where: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return _without_surrogates(str(node.value))
    raise ReplyError(f"{where}: the keys of a dict must be strings in double quotes.")


def _finite(value: float, where: str) -> float:
    if isinstance(value, float) and not math.isfinite(value):
        raise ReplyError(f"{where} must be a finite number.")
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        raise ReplyError(f"{where} is too large a number; write it as a string if it is an id.")
    return value


def _without_surrogates(text: str) -> str:
    # JSON writes characters beyond the basic plane as two escapes; Python reads those as two broken halves.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _mend(text: str) -> str:
    return "".join(piece for _, piece in _pieces(text, 0))


def _pieces(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield (position, piece): strings as one mended piece, comments dropped, other characters singly."""
    position = start
    while position < len(text):
        character = text[position]
        if character in "\"'":
            end = _string_end(text, position)
            raw = position > 0 and text[position - 1] in "rR"
            yield position, text[position:end] if raw else _mend_string(text[position:end])
            position = end
        elif character == "#":
            line_end = text.find("\n", position)
            position = len(text) if line_end < 0 else line_end
        else:
            yield position, character
            position += 1


def _string_end(text: str, start: int) -> int:
    quote = text[start] * 3 if text.startswith(text[start] * 3, start) else text[start]
    position = start + len(quote)
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text.startswith(quote, position):
            return position + len(quote)
        else:
            position += 1
    return len(text)


def _mend_string(string: str) -> str:
    """Escape raw line breaks of a one-line string, and backslashes that escape nothing."""
    one_line = not string.startswith(string[0] * 3) or len(string) < 6
    pieces: list[str] = []
    position = 0
    while position < len(string):
        character = string[position]
        if character == "\\" and position + 1 < len(string):
            follower = string[position + 1]
            pieces.append(character + follower if follower in _ESCAPES else "\\\\" + follower)
            position += 1
        elif character in "\r\n" and one_line:
            pieces.append("\\n" if character == "\n" else "\\r")
        else:
            pieces.append(character)
        position += 1
    return "".join(pieces)


def _short(text: str) -> str:
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def _items(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items())


def _elements(value: Any) -> list[Any]:
    return list(value)
