"""What went wrong between us and an endpoint, as one clear line.

Knows status codes, headers and aiohttp's exceptions, and nothing of requests or retries. Secrets never
reach a message: everything an endpoint says passes through `mask`.
"""

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson

from plait.errors import ModelError, RequestRefused, TransientModelError

TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
REFUSED_STATUS = frozenset({400, 413, 422})
"""What is wrong is the request, not the account or the address."""
MESSAGE_CHARACTERS = 300
SHORTEST_SECRET = 5
"""A shorter key, such as `none`, protects nothing, and its letters are in every message."""
_NO_QUOTA = re.compile(r"insufficient.quota|exceeded your current quota|billing", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(sk|pk|gsk|xai|key|hf)[-_][A-Za-z0-9_\-]{8,}|(?<=Bearer )\S+", re.IGNORECASE)


def mask(text: str, secret: str | None) -> str:
    """Replace the key in use, and what looks like any key, by stars."""
    if secret and len(secret) >= SHORTEST_SECRET:
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)


def shown_url(url: str) -> str:
    """Return a URL without its query, which may hold a key."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def complaint_of(body: bytes) -> str:
    """Return the endpoint's own message in one line, whatever shape its body has."""
    try:
        return complaint_in(orjson.loads(body))
    except orjson.JSONDecodeError:
        return complaint_in(body.decode(errors="replace"))


def complaint_in(said: Any) -> str:
    """Return the message of an error that was read from JSON, in one line."""
    for key in ("error", "message", "detail"):
        if isinstance(said, dict) and key in said:
            said = said[key]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(said, str):
        said = orjson.dumps(said).decode()
    text = re.sub(r"<[^>]*>", " ", said) if said.lstrip().startswith("<") else said
    return one_line(text)


def one_line(text: str) -> str:
    """Return the text without line breaks, cut to a length that fits a message."""
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_CHARACTERS else line[: MESSAGE_CHARACTERS - 3] + "..."


def retry_after_seconds(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read `Retry-After`, given as seconds or as an HTTP date; None where it is missing or unreadable."""
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # 10 ms to import, for the rarest of headers

    try:
        at = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0.0, at - (time.time() if now is None else now))


def status_error(
    status: int, complaint: str, *, who: str, key_variable: str, headers: Mapping[str, str]
) -> ModelError:
    """Return the error for an answer that is not a success.

    Args:
        status: The HTTP status.
        complaint: The endpoint's own message, masked.
        who: The model and where it was asked, for instance `'qwen' at http://localhost:8080/v1`.
        key_variable: The environment variable that holds the key.
        headers: The answer's headers.
    """
    said = f": {complaint}" if complaint else ""
    if status in (401, 403):
        return ModelError(f"{who} refused the key (HTTP {status}){said}. Set a valid one in {key_variable}.")
    if status == 429 and _NO_QUOTA.search(complaint):
        return ModelError(f"{who}: the account's quota is used up (HTTP 429){said}. Check its billing.")
    if status in TRANSIENT_STATUS:
        problem = "is rate limited" if status == 429 else "failed"
        wait = retry_after_seconds(headers)
        return TransientModelError(f"{who} {problem} (HTTP {status}){said}", retry_after_seconds=wait)
    if status == 404:
        return ModelError(
            f"{who} was not found (HTTP 404){said}. "
            "Check the model's name and --base-url, which mostly ends in /v1."
        )
    if 300 <= status < 400:
        to = shown_url(headers.get("Location", "")).removesuffix("/chat/completions")
        return ModelError(f"{who} redirects to {to!r} (HTTP {status}). Give that address as --base-url.")
    kind = RequestRefused if status in REFUSED_STATUS else ModelError
    return kind(f"{who} refused the request (HTTP {status}){said}")


def network_error(error: Exception, *, who: str, timeout_seconds: float) -> ModelError:
    """Return the error for a request that got no whole answer."""
    import aiohttp

    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return ModelError(f"{who}: the secure connection failed: {_reason(error)}. Check --base-url.")
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return TransientModelError(
                f"{who} cannot be reached: {_reason(error)}. Is it running? Check --base-url."
            )
        case TimeoutError():
            return TransientModelError(f"{who} did not answer within {timeout_seconds:g} s")
        case aiohttp.ClientPayloadError():
            return TransientModelError(f"{who} broke off in the middle of its answer")
        case aiohttp.ClientResponseError():
            return ModelError(f"{who} does not speak HTTP as expected: {_reason(error)}. Check --base-url.")
        case _:
            return TransientModelError(f"{who} lost the connection: {_reason(error)}")


def _reason(error: Exception) -> str:
    inner = getattr(error, "os_error", None) or error
    said = getattr(inner, "strerror", None) or str(inner) or type(error).__name__
    return one_line(str(said))
