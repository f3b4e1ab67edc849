"""JSON schemas as data: follow references, mend values gently, name the first thing that is wrong.

Knows nothing of models, tools or the text a value came in.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Schema: TypeAlias = Mapping[str, Any]

MAX_REFERENCES = 8
"""How many references in a row are followed; more is a schema that never ends."""

_NO_SCHEMAS = ("$defs", "definitions", "enum", "const", "default", "examples")
"""Parts of a schema that say nothing by themselves about what fits it."""
_IDENTIFIER = re.compile(r"(?i:(?:^|[\W_])(?:id|uuid|guid)s?$)|[a-z](?:Id|ID)s?$")
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?")


def is_identifier(name: str) -> bool:
    """Whether a parameter or field is named like one that says which thing is meant: `event_id`, `petId`."""
    return _IDENTIFIER.search(name) is not None


def words_in(name: str) -> list[str]:
    """Return the words of a name in small letters: `time` and `max` of `timeMax` and of `time_max`."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def resolve(schema: Any, root: Schema) -> Schema:
    """Follow local references (`#/$defs/...`); what cannot be followed is a schema that allows anything."""
    for _ in range(MAX_REFERENCES):
        if not isinstance(schema, Mapping):
            return {}
        mapping = cast("Schema", schema)
        reference = mapping.get("$ref")
        if not isinstance(reference, str):
            return mapping
        target: Any = root
        for key in reference.removeprefix("#").strip("/").split("/"):
            target = cast("Schema", target).get(key) if isinstance(target, Mapping) else None
        schema = target
    return {}


def self_reference(root: Schema) -> str:
    """Return a reference of a schema that leads back to itself; empty where there is none."""
    finished: set[str] = set()

    def visit(node: Any, trail: tuple[str, ...]) -> str:
        if isinstance(node, list):
            return next(filter(None, (visit(item, trail) for item in cast("list[Any]", node))), "")
        if not isinstance(node, Mapping):
            return ""
        schema = cast("Schema", node)
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in finished:
            if reference in trail or reference == "#":
                return reference
            if found := visit(resolve(schema, root), (*trail, reference)):
                return found
            finished.add(reference)
        parts = (visit(part, trail) for key, part in schema.items() if key not in _NO_SCHEMAS)
        return next(filter(None, parts), "")

    return visit(root, ())


def alternatives(schema: Schema) -> Sequence[Any]:
    """Return the schemas of which one must hold (`anyOf`, `oneOf`), or nothing."""
    return schema.get("anyOf") or schema.get("oneOf") or ()


def types_of(schema: Schema) -> tuple[str, ...]:
    """Return the JSON types a resolved schema names; where it names none, what its keywords tell."""
    named = schema.get("type")
    if isinstance(named, str):
        return (named,)
    if isinstance(named, Sequence):
        return tuple(str(name) for name in cast("Sequence[Any]", named))
    if "properties" in schema:
        return ("object",)
    return ("array",) if "items" in schema else ()


def properties_of(schema: Schema) -> Mapping[str, Any]:
    """Return an object schema's properties, in order."""
    return cast("Mapping[str, Any]", schema.get("properties") or {})


def allows_null(schema: Any, root: Schema) -> bool:
    """Tell whether null is a value of the schema."""
    resolved = resolve(schema, root)
    if any(allows_null(item, root) for item in alternatives(resolved)):
        return True
    if "enum" in resolved:
        return None in resolved["enum"]
    types = types_of(resolved)
    return "null" in types or not (types or alternatives(resolved) or "const" in resolved)


def first_problem(value: Any, schema: Schema) -> str:
    """Say in one line where and why a value does not fit the schema; empty when it does."""
    # jsonschema takes a tenth of a second to import, which commands without a model need not pay.
    from jsonschema import Draft202012Validator, exceptions

    validator = cast("Any", Draft202012Validator(schema))
    error = cast("ValidationError | None", cast("Any", exceptions).best_match(validator.iter_errors(value)))
    if error is None:
        return ""
    where = ".".join(str(key) for key in error.absolute_path)
    message = error.message if len(error.message) <= 200 else error.message[:197] + "..."
    return f"{where}: {message}" if where else message


def coerce(value: Any, schema: Any, root: Schema) -> Any:
    """Mend a value where the meaning is plain ("5" for 5, 5 for "5"); what is not plain stays as it is."""
    resolved = resolve(schema, root)
    options = alternatives(resolved)
    if options:
        return _coerce_to_one(value, options, root)
    if "enum" in resolved:
        return _enum_member(value, resolved["enum"])
    types = types_of(resolved)
    if isinstance(value, Mapping) and "object" in types:
        return _coerce_object(cast("Mapping[str, Any]", value), resolved, root)
    if isinstance(value, list) and "array" in types:
        return [coerce(item, resolved.get("items"), root) for item in cast("list[Any]", value)]
    if types == ("array",) and isinstance(value, str | int | float):
        return [coerce(value, resolved.get("items"), root)]
    return _coerce_scalar(value, types)


def _coerce_to_one(value: Any, options: Sequence[Any], root: Schema) -> Any:
    definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
    schemas = [{**definitions, **resolve(option, root)} for option in options]
    if any(not first_problem(value, schema) for schema in schemas):
        return value
    for schema in schemas:
        mended = coerce(value, schema, root)
        if not first_problem(mended, schema):
            return mended
    return value


def _enum_member(value: Any, members: Sequence[Any]) -> Any:
    if any(value == member and type(value) is type(member) for member in members):
        return value
    near = [member for member in members if str(member).casefold() == str(value).strip().casefold()]
    return near[0] if len(near) == 1 else value


def _coerce_object(value: Mapping[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    properties = properties_of(schema)
    required = schema.get("required", ())
    mended: dict[str, Any] = {}
    for name, item in value.items():
        if name not in properties:
            mended[name] = item
        elif item is not None or name in required or allows_null(properties[name], root):
            mended[name] = coerce(item, properties[name], root)
    return mended


def _coerce_scalar(value: Any, types: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return value if "string" in types else _from_text(value, types)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if isinstance(value, float) and value.is_integer() and "integer" in types and "number" not in types:
        return int(value)
    return str(value) if types == ("string",) or set(types) == {"string", "null"} else value


def _from_text(value: str, types: tuple[str, ...]) -> Any:
    text = value.strip()
    if _INTEGER.fullmatch(text) and ("integer" in types or "number" in types):
        return int(text)
    if "number" in types and _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    if "boolean" in types and text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if "null" in types and text.casefold() in ("null", "none", ""):
        return None
    return value
