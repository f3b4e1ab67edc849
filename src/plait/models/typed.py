"""The typed form: JSON under a schema, bounded before it is asked for and mended when it comes back.

Knows nothing of models. A small model runs away inside an unbounded string, so every string and list
of a reply schema gets a limit here; and endpoints that only promise JSON return almost-JSON, so a
reply is read as far as its meaning is plain and refused with one line otherwise.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from plait.errors import ReplyError, UserError
from plait.models.literals import find_close, missing_closers, nested_plainly, read_literal
from plait.models.schema import Schema, coerce, first_problem, resolve, types_of

MAX_STRING = 800
"""Characters of a string whose schema sets no limit."""
MAX_ITEMS = 20
"""Items of a list, and entries of a dict with free keys, whose schema sets no limit."""
MAX_CRITIQUE = 300
"""Characters of the critique in a reply with reflection."""
MAX_SCORE = 10
MAX_DEPTH = 100
"""Levels of lists and objects in a reply."""

_NESTED = ("$defs", "definitions", "properties", "patternProperties")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_DESCRIBING = frozenset({"type", "enum", "const", "$ref", "not", *_LISTED})
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_COMPLETE_TAIL = re.compile(r"""(["'\]}]|\b(true|false|null|True|False|None))$""")
_MAX_STARTS = 20
"""How many opening brackets are tried as the beginning of the value."""


@dataclass(frozen=True, kw_only=True)
class Reflected:
    """A reply that was wrapped by `with_reflection`, taken apart."""

    output: Any
    critique: str
    score: float


def bounded(schema: Schema) -> dict[str, Any]:
    """Return the schema with a limit on every string and list and no undeclared properties.

    Limits that are there stay. Where the schema allows anything, a scalar or a list of scalars is left.
    """
    return cast("dict[str, Any]", _bounded(schema))


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a pydantic model, a dataclass or any type pydantic knows.

    Raises:
        UserError: the type has no JSON schema.
    """
    # pydantic takes long to import, and runs without typed results never need it here.
    from pydantic import PydanticUserError, TypeAdapter

    try:
        return TypeAdapter[Any](kind).json_schema()
    except PydanticUserError as exc:
        reason = str(exc).partition("\n")[0]
        raise UserError(
            f"No JSON schema for {kind!r}: {reason} Use a pydantic model or a plain type."
        ) from exc


def parse_typed(text: str, schema: Schema) -> Any:
    """Read a reply as a value of the schema.

    Code fences, prose around the value, trailing commas, single quotes and missing closing brackets
    are mended, values of a near type are turned into the asked one.

    Raises:
        ReplyError: no such value; the message names the place and the reason in one line.
    """
    with nested_plainly():
        return _parsed(text, schema)


def _parsed(text: str, schema: Schema) -> Any:
    first = ""
    for value in _values(text, schema):
        mended = coerce(value, schema, schema)
        problem = first_problem(mended, schema)
        if not problem:
            _check_depth(mended)
            return mended
        first = first or problem
    if first:
        raise ReplyError(f"The reply does not fit the asked form: {first}")
    raise ReplyError(f"The reply is not JSON: {_excerpt(text)}. Reply with the JSON value alone.")


def with_reflection(schema: Schema) -> dict[str, Any]:
    """Wrap the schema of an output as {output, critique, score}, in the order they are to be written."""
    output = dict(schema)
    # References begin at the root of a document, so the definitions must stay there.
    definitions = {key: output.pop(key) for key in ("$defs", "definitions") if key in output}
    properties = {
        "output": output,
        "critique": {"type": "string", "maxLength": MAX_CRITIQUE},
        "score": {"type": "integer", "minimum": 0, "maximum": MAX_SCORE},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **definitions,
    }


def split_reflection(value: Mapping[str, Any]) -> Reflected:
    """Take a value of a schema made by `with_reflection` apart."""
    return Reflected(output=value["output"], critique=value["critique"].strip(), score=float(value["score"]))


def _bounded(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return _scalars() if schema is True else schema
    given = cast("Schema", schema)
    result: dict[str, Any] = {}
    for key, item in given.items():
        if key in _NESTED:
            result[key] = {name: _bounded(part) for name, part in item.items()}
        elif key in _LISTED:
            result[key] = [_bounded(part) for part in item]
        elif key in ("items", "additionalProperties"):
            result[key] = _bounded(item)
        elif key != "title":
            result[key] = item
    if not _DESCRIBING & result.keys() and not types_of(result):
        return {
            **result,
            "anyOf": [_scalars(), {"type": "array", "items": _scalars(), "maxItems": MAX_ITEMS}],
        }
    return _with_limits(result)


def _with_limits(schema: dict[str, Any]) -> dict[str, Any]:
    types = types_of(schema)
    if "enum" in schema or "const" in schema:
        return schema
    if "string" in types:
        schema.setdefault("maxLength", MAX_STRING)
    if "array" in types:
        schema.setdefault("maxItems", MAX_ITEMS)
        schema.setdefault("items", _scalars())
    if "object" in types:
        free = "properties" not in schema
        schema.setdefault("additionalProperties", _scalars() if free else False)
        if schema["additionalProperties"]:
            schema.setdefault("maxProperties", MAX_ITEMS)
    return schema


def _scalars() -> dict[str, Any]:
    return {"type": ["string", "number", "boolean", "null"], "maxLength": MAX_STRING}


def _values(text: str, schema: Schema) -> Iterator[Any]:
    """Yield what the text may mean, likeliest first."""
    types = types_of(resolve(schema, schema))
    for source in dict.fromkeys([text.strip(), *(block.strip() for block in _FENCE.findall(text))]):
        try:
            yield orjson.loads(source)
        except orjson.JSONDecodeError:
            yield from _mended(source, types)
    if types == ("string",):
        yield text.strip()


def _mended(source: str, types: Sequence[str]) -> Iterator[Any]:
    openings = "".join({"object": "{", "array": "["}.get(name, "") for name in types) or "{["
    starts = [position for position, character in enumerate(source) if character in openings][:_MAX_STARTS]
    past = -1
    for start in starts:
        if start <= past:
            continue
        close = find_close(source, start)
        piece = source[start : close + 1] if close >= 0 else _completed(source[start:])
        for value in _read(piece):
            past = close
            yield value


def _completed(cut: str) -> str:
    """Close the brackets of a cut text, if it ends after a whole value; a number may lack digits."""
    cut = cut.rstrip()
    if not _COMPLETE_TAIL.search(cut):
        return ""
    return cut + (missing_closers(cut) or "")


def _read(piece: str) -> Sequence[Any]:
    """Return the value of a piece as JSON or as a Python literal, or nothing."""
    for read in (orjson.loads, read_literal):
        try:
            return (read(piece),)
        except (orjson.JSONDecodeError, ReplyError):
            continue  # The next reader is more tolerant; that none succeeds is told by the caller.
    return ()


def _check_depth(value: Any) -> None:
    """Refuse a value that fits a schema without bounds, and that no log could hold."""
    layer, depth = [value], 0
    while layer := [part for item in layer for part in _parts(item)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ReplyError(f"The reply is nested more than {MAX_DEPTH} levels deep. Write plain values.")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= 80 else flat[:77] + "...") if flat else "it is empty"
