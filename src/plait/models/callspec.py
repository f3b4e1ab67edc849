"""What a model may know of a tool, and the line by which a prompt shows it.

Knows nothing of how a tool runs.
"""

import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from plait.models import gbnf
from plait.models.literals import format_literal
from plait.models.schema import Schema, alternatives, properties_of, resolve, types_of

_TYPE_NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


@dataclass(frozen=True, kw_only=True)
class CallSpec:
    """What a model may know of a tool."""

    name: str
    """Identifiers joined by dots."""
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of an object; its properties in the order the model sees them."""

    @property
    def as_text(self) -> tuple[str, str, str]:
        """All of it as texts, for the key of what is kept: equal schemas may differ in their order."""
        return self.name, self.description, json.dumps(self.parameters, default=str)


def read_spec(text: tuple[str, str, str]) -> CallSpec:
    """Return what `as_text` gave."""
    name, description, parameters = text
    return CallSpec(name=name, description=description, parameters=json.loads(parameters))


def identifiers(names: Sequence[str]) -> dict[str, str]:
    """Map Python identifiers, as the model writes them, to parameter names, in order and one to one."""
    known: dict[str, str] = {}
    for name in names:
        identifier = unique = _identifier(name)
        while unique in known:
            unique += "_"
        known[unique or identifier] = name
    return known


def signature(spec: CallSpec, *, details: bool = False) -> str:
    """Render a tool as one line for a prompt: `name(a: str, b: int = 5)  # description`.

    With `details`, the descriptions of its parameters follow, one line each.
    """
    return _signature(spec.as_text, details)


@lru_cache(maxsize=512)
def _signature(text: tuple[str, str, str], details: bool) -> str:
    spec = read_spec(text)
    required = cast("Sequence[str]", spec.parameters.get("required", ()))
    parameters: list[str] = []
    notes: list[str] = []
    for identifier, name in identifiers(list(properties_of(spec.parameters))).items():
        schema = properties_of(spec.parameters)[name]
        default = (
            ""
            if name in required
            else f" = {format_literal(resolve(schema, spec.parameters).get('default'))}"
        )
        parameters.append(f"{identifier}: {type_name(schema, spec.parameters)}{default}")
        note = _one_line(str(resolve(schema, spec.parameters).get("description", "")))
        notes.extend([f"    # {identifier}: {note}"] if note else [])
    line = f"{spec.name}({', '.join(parameters)})"
    description = _one_line(spec.description)
    lines = [f"{line}  # {description}" if description else line, *(notes if details else [])]
    return "\n".join(lines)


def type_name(schema: Any, root: Schema) -> str:
    """Write a schema as a Python annotation: `list[str]`, `Literal["a", "b"]`, `int | None`."""
    return _type_name(schema, root, depth=0)


def _identifier(name: str) -> str:
    identifier = re.sub(r"\W", "_", name) or "_"
    if identifier[0].isdigit():
        identifier = f"_{identifier}"
    return f"{identifier}_" if keyword.iskeyword(identifier) else identifier


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _type_name(schema: Any, root: Schema, *, depth: int) -> str:
    resolved = resolve(schema, root)
    if depth > gbnf.MAX_DEPTH:
        return "Any"
    if "enum" in resolved or "const" in resolved:
        members = resolved.get("enum", [resolved.get("const")])
        return f"Literal[{', '.join(format_literal(member) for member in members)}]"
    options = alternatives(resolved)
    if options:
        return " | ".join(dict.fromkeys(_type_name(option, root, depth=depth + 1) for option in options))
    names = [_one_type(name, resolved, root, depth) for name in types_of(resolved)]
    return " | ".join(names) or "Any"


def _one_type(name: str, schema: Schema, root: Schema, depth: int) -> str:
    if name == "array":
        return f"list[{_type_name(schema.get('items'), root, depth=depth + 1)}]"
    if name == "object":
        entries = properties_of(schema).items()
        shown = (f"{format_literal(key)}: {_type_name(item, root, depth=depth + 1)}" for key, item in entries)
        return "{" + ", ".join(shown) + "}" if entries else "dict"
    return _TYPE_NAMES.get(name, "Any")
