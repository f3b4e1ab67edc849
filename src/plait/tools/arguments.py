"""What a tool may be called with: schemas without references, and checks of a call against them.

Knows nothing of where a tool comes from or how it runs. Nothing here asks a model or a network: a
reference that leaves the document accepts anything instead of being fetched.
"""

import json
import keyword
import re
from collections.abc import Callable, Container, Mapping
from functools import lru_cache
from typing import Any, cast

from plait.errors import UserError
from plait.tools.tool import Tool

ArgumentCheck = Callable[[Mapping[str, Any]], str | None]
"""Answers with what is wrong with some arguments, in one line for a model, or None."""
Schemas = Mapping[str, Mapping[str, Any]]
"""The JSON schema of each tool's parameters, by the tool's name."""

PROBLEM_CHARACTERS = 300
MAX_REFERENCE_DEPTH = 8
MAX_SCHEMA_NODES = 5_000
MAX_FAULTS = 100
_PLAIN_VALUES = frozenset({"default", "const", "enum", "example", "examples"})


def identifier(name: str) -> str:
    """Turn any name into one that can stand in a call, such as `X-Request-ID` into `X_Request_ID`."""
    spelled = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not spelled or spelled[0].isdigit():
        spelled = f"_{spelled}"
    return f"{spelled}_" if keyword.iskeyword(spelled) else spelled


def distinct_name(name: str, taken: Container[str]) -> str:
    """Number a name that is taken, as two names of a document may become one identifier."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def canonical(tool_name: str, arguments: Mapping[str, Any]) -> str:
    """Spell a call so that equal calls are equal texts, whatever the order of their arguments."""
    spelled = json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return f"{tool_name}({spelled})"


def same_arguments(tool: Tool, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two calls of a tool ask for the same, in any order, and with defaults written out or not."""
    return canonical(tool.name, _said(tool, one)) == canonical(tool.name, _said(tool, other))


def _said(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not the defaults of their parameters."""
    schemas: Mapping[str, Any] = tool.parameters.get("properties", {})
    defaults = {
        name: cast("Mapping[str, Any]", schema)["default"]
        for name, schema in schemas.items()
        if isinstance(schema, Mapping) and "default" in schema
    }
    return {name: v for name, v in arguments.items() if name not in defaults or defaults[name] != v}


def inline(schema: Mapping[str, Any], document: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Replace every `$ref` into `document` (default: the schema itself) by what it names.

    A cycle, a reference out of the document and whatever lies deeper than a few references become a
    schema that accepts anything. Titles, which tell a model nothing, are dropped.
    """
    expanded = _Inliner(schema if document is None else document).expand(schema, ())
    expanded.pop("$defs", None)
    expanded.pop("definitions", None)
    return expanded


class _Inliner:
    """Expands one document, within a bound on the size of what comes out."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._nodes = 0

    def expand(self, schema: Mapping[str, Any], trail: tuple[str, ...]) -> dict[str, Any]:
        self._nodes += 1
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return {
                key: self._value(key, value, trail) for key, value in schema.items() if self._keep(key, value)
            }
        target = self._target(reference)
        around = {key: value for key, value in schema.items() if key != "$ref"}
        if target is None or reference in trail or len(trail) >= MAX_REFERENCE_DEPTH:
            return self.expand(around, trail)
        return self.expand({**target, **around}, (*trail, reference))

    @staticmethod
    def _keep(key: str, value: Any) -> bool:
        # A property that is called "title" has a schema as its value, never a text.
        return not (key == "title" and isinstance(value, str)) and key not in ("$defs", "definitions")

    def _value(self, key: str, value: Any, trail: tuple[str, ...]) -> Any:
        if key in _PLAIN_VALUES and not isinstance(value, Mapping):
            return value
        if isinstance(value, Mapping):
            if self._nodes > MAX_SCHEMA_NODES:
                return {}
            return self.expand(cast("Mapping[str, Any]", value), trail)
        if isinstance(value, list):
            return [self._value("", item, trail) for item in cast("list[Any]", value)]
        return value

    def _target(self, reference: str) -> Mapping[str, Any] | None:
        if not reference.startswith("#"):
            return None
        node: Any = self._document
        for step in reference[1:].strip("/").split("/"):
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, Mapping) or step not in node:
                return None
            node = cast("Mapping[str, Any]", node)[step]
        return cast("Mapping[str, Any]", node) if isinstance(node, Mapping) else None


def without_faults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the keywords that are no JSON schema, such as a pattern in a dialect that is not Python's.

    One slip in one parameter must not cost all tools of a document that somebody else wrote.
    """
    from jsonschema import exceptions, validators

    mended = inline(schema)
    kind = validators.validator_for(mended, default=validators.Draft202012Validator)
    for _ in range(MAX_FAULTS):
        try:
            kind.check_schema(mended)
        except exceptions.SchemaError as exc:
            if not exc.absolute_path:
                break
            *way, last = exc.absolute_path
            node: Any = mended
            for step in way:
                node = node[step]
            del node[last]
        else:
            break
    return mended


def argument_check(tool: Tool) -> ArgumentCheck:
    """Return the check of arguments for `tool`.

    Names the tool does not have are refused unless its schema allows them in so many words.

    Raises:
        UserError: the tool's schema is not a JSON schema.
    """
    schema = inline(tool.parameters)
    validator, fault = _validator(json.dumps(schema, default=str))
    if validator is None:
        raise UserError(f"tool {tool.name!r} of {tool.source!r} has a broken schema: {fault}")
    from jsonschema import exceptions

    best_match = cast("Any", exceptions).best_match
    known = list(cast("Mapping[str, Any]", schema.get("properties", {})))
    closed = "patternProperties" not in schema and not schema.get("additionalProperties", False)

    def check(arguments: Mapping[str, Any]) -> str | None:
        unknown = [name for name in arguments if name not in known]
        if unknown and closed:
            names = ", ".join(known) or "none"
            return f"{tool.name} has no parameter {', '.join(map(repr, unknown))}; its parameters: {names}"
        error = best_match(validator.iter_errors(dict(arguments)))
        if error is None:
            return None
        where = ".".join(str(step) for step in error.absolute_path)
        return f"wrong arguments for {tool.name}: {where + ': ' if where else ''}{_short(error.message)}"

    return check


@lru_cache(maxsize=512)
def _validator(schema: str) -> tuple[Any, str]:
    """Return what checks arguments by a schema, written as JSON, or None and what is wrong with the schema.

    The schemas of 27 tools take a quarter of a second to check, so each is checked once in a process.
    """
    from jsonschema import exceptions, validators

    read = json.loads(schema)
    kind = validators.validator_for(read, default=validators.Draft202012Validator)
    try:
        kind.check_schema(read)
    except exceptions.SchemaError as exc:
        return None, _short(str(exc.message))
    return kind(read), ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= PROBLEM_CHARACTERS else line[:PROBLEM_CHARACTERS] + "..."
