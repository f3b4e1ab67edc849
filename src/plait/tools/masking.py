"""Keeps secrets out of texts: whatever a tool server says may repeat the key it was given.

Knows nothing of where secrets come from.
"""

from collections.abc import Collection

MASK = "***"
SHORTEST_SECRET_CHARACTERS = 6
"""Shorter values, such as a port or `true`, are no secrets; masking them would mangle results."""


def mask(text: str, secrets: Collection[str]) -> str:
    """Replace every secret in `text`; the longest first, as one may be a part of another."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET_CHARACTERS:
            text = text.replace(secret, MASK)
    return text
