"""Reads single values of a form that anybody may have written, bounded, with one line for what is wrong.

Knows nothing of pipelines.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from plait.errors import UserError
from plait.experience.pipelines.soundness import MOST_CONSTANT, json_size, shown
from plait.journal import JSON

MOST_NAME = 200


def read_object(value: object, where: str) -> Mapping[str, Any]:
    """Return a JSON object.

    Raises:
        UserError: it is none; `where` says what it is.
    """
    if not isinstance(value, Mapping):
        raise UserError(f"{where} must be an object, not {_kind(value)}")
    if not all(isinstance(key, str) for key in cast("Mapping[object, Any]", value)):
        raise UserError(f"{where} must have texts as its keys")
    return cast("Mapping[str, Any]", value)


def read_list(value: object, where: str, most: int) -> Sequence[object]:
    """Return a list of so many items at most.

    Raises:
        UserError: it is none, or longer.
    """
    if not isinstance(value, list | tuple):
        raise UserError(f"{where} must be a list, not {_kind(value)}")
    items = cast("Sequence[object]", value)
    if len(items) > most:
        raise UserError(f"{where}: there are {len(items)}; at most {most} are read")
    return items


def read_text(
    fields: Mapping[str, Any], key: str, where: str, most: int = MOST_NAME, *, empty: bool = False
) -> str:
    """Return the text under a key, of so many characters at most, that a database can hold.

    Raises:
        UserError: there is none, or it is longer, or empty where it must not be.
    """
    value = fields.get(key)
    if not isinstance(value, str):
        raise UserError(f"{where}: {key} must be a text, not {_kind(value)}")
    if not value and not empty:
        raise UserError(f"{where}: {key} is empty")
    if len(value) > most:
        raise UserError(f"{where}: {key} has {len(value)} characters; at most {most} are read")
    if json_size(value) is None:
        raise UserError(f"{where}: {key} holds characters that no database takes: {shown(value)}")
    return value


def read_json(value: Any, where: str) -> JSON:
    """Return a JSON value that is no larger than a constant may be.

    Raises:
        UserError: it is none, or larger.
    """
    size = json_size(value)
    if size is None:
        raise UserError(f"{where} is no JSON value")
    if size > MOST_CONSTANT:
        raise UserError(f"{where} has {size} characters of JSON; at most {MOST_CONSTANT} are read")
    return cast("JSON", value)


def read_choice(value: object, options: Sequence[str], where: str) -> str:
    """Return one of some words.

    Raises:
        UserError: it is none of them.
    """
    if value not in options:
        raise UserError(f"{where} is {shown(value)}; it must be one of {', '.join(options)}")
    return cast("str", value)


def _kind(value: object) -> str:
    """Say what stands where something else should; of what may be large, only its type."""
    if value is None:
        return "nothing"
    return f"the text {shown(value)}" if isinstance(value, str) else f"a value of type {type(value).__name__}"
