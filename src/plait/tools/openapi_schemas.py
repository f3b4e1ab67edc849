"""The schemas of an OpenAPI document, in its older and newer dialects, as JSON schemas."""

from collections.abc import Mapping
from typing import Any, cast

Object = Mapping[str, Any]


def merged(schema: dict[str, Any]) -> dict[str, Any]:
    """Join the parts of a top-level `allOf` into one object."""
    parts = schema.get("allOf")
    if not isinstance(parts, list):
        return schema
    whole: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
    for part in (merged(dict(as_schema(part))) for part in cast("list[object]", parts)):
        whole["properties"] = {**as_object(whole.get("properties")), **as_object(part.get("properties"))}
        whole["required"] = [*whole.get("required", []), *part.get("required", [])]
        whole = {**part, **whole}
    return whole


def modern(schema: Any) -> Any:
    """Rewrite what OpenAPI 3.0 says in its own way as JSON schema."""
    if isinstance(schema, list):
        return [modern(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, Mapping):
        return schema
    node = {key: modern(value) for key, value in cast("Object", schema).items()}
    for bound, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(node.get(strict), bool) and node.pop(strict) and bound in node:
            node[strict] = node.pop(bound)
    if isinstance(node.get("nullable"), bool) and node.pop("nullable") and isinstance(node.get("type"), str):
        node["type"] = [node["type"], "null"]
        if isinstance(node.get("enum"), list):
            node["enum"] = [*node["enum"], None]
    return node


def as_schema(value: object) -> Object:
    """Return a schema as an object; since OpenAPI 3.1 it may be true or false."""
    if isinstance(value, bool):
        return {} if value else {"not": {}}
    return as_object(value)


def as_object(value: object) -> Object:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"expected an object, not {value!r:.80}")
    return cast("Object", value)
