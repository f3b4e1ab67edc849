"""Spells what a tool returned as text for a model, and says of such a text whether nothing was found.

Knows nothing of calls or of how they are recorded.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from plait.errors import ToolError

NO_RESULT = "Done; there is no result to show."
_NOTHING = re.compile(
    r"(?:no|zero|0) [^\n.;,]{0,60}?\b(?:found|match\w*|results?|records?|rows|hits)\b[^\n.;,]{0,100}[.!]?"
    r"|nothing(?: was)?(?: found)?[.!]?"
    r"|none[.!]?",
    re.IGNORECASE,
)
_NOT_FOUND = re.compile(r"(?:[\w'-]+ ){0,6}not found\b[^\n.;,]{0,100}[.!]?", re.IGNORECASE)


def render(result: Any) -> str:
    """Spell a tool's result as text: text as it is, other values as JSON.

    Raises:
        ToolError: the result is neither.
    """
    if result is None:
        return NO_RESULT
    if (rows := table_rows(result)) is not None:
        result = rows
    if not isinstance(result, str):
        try:
            result = json.dumps(result, ensure_ascii=False)
        except (TypeError, ValueError) as exc:
            kind = type(cast("object", result)).__name__
            raise ToolError(f"the tool returned a {kind}, which is neither text nor JSON") from exc
    # Databases take neither half characters nor NUL.
    return result.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def found_nothing(observation: str) -> bool:
    """Whether a result is nothing but a message that there is none."""
    bare = observation.strip()
    return _NOTHING.fullmatch(bare) is not None or not_found(bare)


def not_found(observation: str) -> bool:
    """Whether a result is nothing but a message that what was named is not there."""
    return _NOT_FOUND.fullmatch(observation.strip()) is not None


def table_rows(result: Any) -> str | None:
    """Spell a list of like, flat records as a table; None where the result is something else.

    The names stand once instead of in every record, which halves what a model has to read.
    """
    if not isinstance(result, list) or not result:
        return None
    records = cast("list[Any]", result)
    if not all(isinstance(record, Mapping) and record.keys() == records[0].keys() for record in records):
        return None
    if any(isinstance(value, Mapping | list | tuple) for record in records for value in record.values()):
        return None
    lines = [" | ".join(records[0])]
    lines += [" | ".join(_cell(value) for value in record.values()) for record in records]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.replace("\n", "\\n")
