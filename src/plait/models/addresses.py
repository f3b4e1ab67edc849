"""Addresses of endpoints that users give: what can be connected to, and holds no secret.

Knows nothing of what is sent there. An address is recorded and shown; passwords and keys are neither.
"""

import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

from plait.errors import UserError

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
"""By these names an address is known to be of this machine."""
_SECRET = re.compile(
    r"(^|[^a-z])((api|access|auth|app|client)?[^a-z]?(key|token|secret|password|passwd|pwd)|sig|signature|auth"
    r"|authorization|credentials?)$",
    re.IGNORECASE,
)
"""Names of parameters whose values are secrets: `key`, `api_key`, `X-Api-Key`, `access_token`, `sig`."""


def check_address(base_url: str) -> None:
    """Refuse what is no HTTP address, or holds a secret, without showing that.

    Raises:
        UserError: it cannot be used.
    """
    parts = _split(base_url)
    if parts is None:
        shown = re.sub(r"[^/]*@", "***@", base_url.partition("?")[0])
        raise UserError(f"Base URL {shown!r} is no HTTP address; write it like http://localhost:8080/v1.")
    if parts.username or parts.password:
        shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        raise UserError(f"Base URL {shown!r} was given with a password; put keys in the environment instead.")
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _SECRET.search(name):
            raise UserError(
                f"Base URL {base_url.partition('?')[0]!r} was given with a key ({name}=...); put keys in the"
                " environment instead."
            )


def _split(base_url: str) -> SplitResult | None:
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return None
    return parts if usable else None
