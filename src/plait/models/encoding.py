"""JSON as the bytes that go over a wire, also where a text in it is not quite Unicode.

Knows nothing of what is sent. A file name, a command line or a tool's description can hold half a
character, which UTF-8 has no bytes for: it becomes a question mark. Whole numbers may have any length.
"""

import json

import orjson


def encoded(value: object) -> bytes:
    """Return a JSON value as bytes.

    Raises:
        TypeError, ValueError: the value is not JSON.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
