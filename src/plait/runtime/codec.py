"""Events to JSON and back, and the published schema of the log.

Knows nothing of databases: text goes out, text comes in. `python -m plait.runtime.codec` writes
`docs/reference/events.schema.json` anew from the dataclasses in `plait.events`.
"""

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, cast, get_args

from plait.errors import LogError
from plait.events import SCHEMA_VERSION, Event, Record
from plait.runtime.shapes import first_misfit

SCHEMA_FILE = Path("docs/reference/events.schema.json")


def _plain(value: object) -> object:
    """Let any mapping or sequence travel as an object or a list."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return list(cast("Sequence[object]", value))
    raise TypeError(f"{type(value).__name__} is not JSON")


_SUBTASK = {"id", "goal", "depends_on"}
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
_ASCII_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_plain)
_CANONICAL_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"), default=_plain, sort_keys=True)


def dumps(value: object) -> str:
    """Write a JSON value as compact text that any database takes.

    Raises:
        TypeError, ValueError: the value is not JSON (NaN and infinity are not).
    """
    text = _ENCODER.encode(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:  # A lone surrogate, as a broken reply can hold: UTF-8 has no bytes for it.
        return _ASCII_ENCODER.encode(value)
    return text


def canonical_hash(value: object) -> str:
    """Hash a JSON value so that equal values have equal hashes, whatever the order of their keys.

    Raises:
        TypeError, ValueError: the value is not JSON.
    """
    return digest(_CANONICAL_ENCODER.encode(value))


def digest(text: str) -> str:
    """Hash text to 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _event_types() -> dict[str, type[Any]]:
    return {event_type.kind: event_type for event_type in get_args(Event)}


_TYPES = _event_types()
_FIELDS = {
    event_type: tuple(field.name for field in fields(event_type) if field.name != "kind")
    for event_type in _TYPES.values()
}


def encode(event: Event) -> str:
    """Write an event as JSON text, without its kind.

    Raises:
        TypeError, ValueError: a value in the event is not JSON.
    """
    return dumps({name: getattr(event, name) for name in _FIELDS[type(event)]})


def decode(kind: str, data: str) -> Event:
    """Read an event; fields that this version does not know are left out.

    Raises:
        LogError: an unknown kind, text that is not JSON, a missing field or one of another type.
    """
    event_type = _TYPES.get(kind)
    if event_type is None:
        raise LogError(f"the run log holds an event of unknown kind {kind!r}: update Plait to read it")
    try:
        values: dict[str, Any] = json.loads(data)
        known = {name: values[name] for name in _FIELDS[event_type] if name in values}
        if misfit := first_misfit(event_type, known):
            raise TypeError(misfit)
        _check_subtasks(known.get("subtasks", ()))
        return event_type(**known)
    except (ValueError, TypeError) as exc:
        raise LogError(f"the run log holds a {kind!r} event that cannot be read: {data[:80]!r}") from exc


def _check_subtasks(subtasks: Sequence[Mapping[str, Any]]) -> None:
    for subtask in subtasks:
        if not (subtask.keys() >= _SUBTASK and isinstance(subtask["depends_on"], list)):
            raise TypeError("subtasks")


def schema() -> dict[str, Any]:
    """Build the JSON schema of a record, with the event under its kind."""
    from pydantic import TypeAdapter

    built = TypeAdapter(Record).json_schema()
    kinds = {f"#/$defs/{event_type.__name__}": kind for kind, event_type in _TYPES.items()}
    for reference, kind in kinds.items():
        definition = built["$defs"][reference.rsplit("/", 1)[1]]
        definition["required"] = ["kind", *definition.get("required", [])]
        definition["properties"]["kind"] = {"const": kind}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Plait run log, schema version {SCHEMA_VERSION}",
        **{key: value for key, value in built.items() if key != "title"},
    }


def schema_text() -> str:
    """Write the schema as the file in the documentation holds it."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Write the schema file, by default where the documentation has it."""
    target = Path(arguments[0]) if arguments else SCHEMA_FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
