"""Makes the HTTP calls of operations that an OpenAPI document describes.

Knows nothing of the document. Secrets are taken from the environment when a call is made, and are
masked in whatever comes back. Redirects are not followed: they could carry a key to another host.
"""

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from plait.errors import ToolError
from plait.tools.masking import mask
from plait.tools.tool import OutcomeUnknown

if TYPE_CHECKING:
    import aiohttp

MAX_RESPONSE_BYTES = 2_000_000
ERROR_CHARACTERS = 500
_GATEWAY_LOST_IT = (502, 504)
"""A gateway passed the call on and got no answer it could use."""
_BINARY = (
    "image/",
    "audio/",
    "video/",
    "font/",
    "application/octet-stream",
    "application/pdf",
    "application/zip",
)
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|"}


@dataclass(frozen=True, kw_only=True)
class Field:
    """One argument and where it travels."""

    name: str
    """As the model gives it."""
    wire_name: str
    place: str
    """path, query, header, body (a member of it) or whole_body."""
    style: str = "simple"
    explode: bool = False


@dataclass(frozen=True, kw_only=True)
class Credential:
    """A secret that an operation needs, and how it is sent."""

    variable: str
    """The environment variable that holds it; for `basic` it holds `user:password`."""
    place: str
    """header, query or cookie."""
    name: str
    prefix: str
    """bearer, basic, or "" for a bare key."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Everything needed to make one kind of call."""

    name: str
    description: str
    method: str
    url: str
    """With path parameters in braces."""
    fields: Sequence[Field]
    body_type: str
    """Content type of the body; "" for none."""
    credentials: Sequence[Sequence[Credential]]
    """Alternatives; an empty one means that none is needed."""


@dataclass(kw_only=True)
class _Prepared:
    """One call, ready to be sent."""

    url: str
    query: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    members: dict[str, Any] = field(default_factory=dict[str, Any])
    body: Any = None
    secrets: set[str] = field(default_factory=set[str])


class Caller:
    """Makes calls over one HTTP session."""

    def __init__(self, session: "aiohttp.ClientSession") -> None:
        self._session = session

    async def call(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        """Make one call and return its JSON value, its text, or None for an empty reply.

        Raises:
            ToolError: a key is missing, the service cannot be reached or answers with an error.
            OutcomeUnknown: the call was sent, and the connection ended before the answer came.
        """
        import aiohttp
        from yarl import URL

        prepared = prepare(operation, arguments, os.environ)
        url = URL(prepared.url, encoded=True).extend_query(prepared.query)
        sent = self._session.request(
            operation.method.upper(),
            url,
            data=_encoded(operation, prepared),
            headers=prepared.headers,
            allow_redirects=False,
        )
        try:
            async with sent as response:
                return await _read(operation, response, prepared.secrets)
        except aiohttp.ClientError as exc:
            reason = mask(" ".join(str(exc).split()) or type(exc).__name__, prepared.secrets)
            message = f"{operation.name}: no answer from {url.host}: {reason}"
            if isinstance(exc, aiohttp.ClientConnectorError | aiohttp.InvalidURL):
                raise ToolError(message) from exc  # Nothing was sent.
            raise OutcomeUnknown(message) from exc


def prepare(operation: Operation, arguments: Mapping[str, Any], environment: Mapping[str, str]) -> _Prepared:
    """Put every argument and secret in its place.

    Raises:
        ToolError: a path argument is unusable or a key is missing.
    """
    prepared = _Prepared(url=operation.url)
    for part in operation.fields:
        if part.name in arguments:
            _place(prepared, operation, part, arguments[part.name])
    _authorize(prepared, operation, environment)
    return prepared


def _place(prepared: _Prepared, operation: Operation, part: Field, value: Any) -> None:
    if part.place == "path":
        text = _joined(value)
        # A dot segment would turn the call into one of another operation.
        if text in ("", ".", ".."):
            raise ToolError(f"{operation.name}: {part.name} cannot be {text!r}")
        prepared.url = prepared.url.replace(f"{{{part.wire_name}}}", quote(text, safe=""))
    elif part.place == "query":
        prepared.query.extend(_query(part, value))
    elif part.place == "header":
        prepared.headers[part.wire_name] = _joined(value)
    elif part.place == "body":
        prepared.members[part.wire_name] = value
    else:
        prepared.body = value


def _authorize(prepared: _Prepared, operation: Operation, environment: Mapping[str, str]) -> None:
    if not operation.credentials:
        return
    for alternative in sorted(operation.credentials, key=len, reverse=True):  # A key that is there is sent.
        secrets = [environment.get(credential.variable, "") for credential in alternative]
        if all(secrets):
            for credential, secret in zip(alternative, secrets, strict=True):
                _send(prepared, credential, secret)
            return
    needed = " or ".join(
        " and ".join(credential.variable for credential in alternative)
        for alternative in operation.credentials
    )
    raise ToolError(f"{operation.name} needs a key that is not there: set {needed} in the environment")


def _send(prepared: _Prepared, credential: Credential, secret: str) -> None:
    prepared.secrets.add(secret)
    sent = secret
    if credential.prefix == "basic":
        sent = b64encode(secret.encode()).decode()
        prepared.secrets.update((sent, secret.partition(":")[2]))
    if credential.place == "query":
        prepared.query.append((credential.name, sent))
        prepared.secrets.add(quote(sent, safe=""))
    elif credential.place == "cookie":
        prepared.headers["Cookie"] = f"{credential.name}={sent}"
    else:
        prepared.headers[credential.name] = f"{credential.prefix.capitalize()} {sent}".strip()


def _query(part: Field, value: Any) -> list[tuple[str, str]]:
    if part.style == "json":
        return [(part.wire_name, json.dumps(value))]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        if part.style == "deepObject":
            return [(f"{part.wire_name}[{key}]", _plain(member)) for key, member in members]
        return [(key, _plain(member)) for key, member in members]
    if isinstance(value, list):
        items = [_plain(item) for item in cast("list[Any]", value)]
        if part.explode:
            return [(part.wire_name, item) for item in items]
        return [(part.wire_name, _SEPARATORS.get(part.style, ",").join(items))]
    return [] if value is None else [(part.wire_name, _plain(value))]


def _joined(value: Any) -> str:
    return ",".join(map(_plain, cast("list[Any]", value))) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _encoded(operation: Operation, prepared: _Prepared) -> Any:
    if not operation.body_type or (prepared.body is None and not prepared.members):
        return None
    body = prepared.members if prepared.body is None else prepared.body
    if operation.body_type == "application/x-www-form-urlencoded":
        return {name: _plain(value) for name, value in cast("Mapping[str, Any]", body).items()}
    prepared.headers["Content-Type"] = operation.body_type
    return json.dumps(body).encode()


async def _read(operation: Operation, response: "aiohttp.ClientResponse", secrets: set[str]) -> Any:
    data = await _bounded(response)
    text = mask(data.decode("utf-8", "replace"), secrets).strip()
    if response.status >= 400:
        shown = text if len(text) <= ERROR_CHARACTERS else f"{text[:ERROR_CHARACTERS]}..."
        kind = OutcomeUnknown if response.status in _GATEWAY_LOST_IT else ToolError
        raise kind(f"{operation.name}: HTTP {response.status} {response.reason}: {shown}".rstrip(": "))
    if response.status >= 300:
        target = mask(response.headers.get("Location", "nowhere"), secrets)
        raise ToolError(
            f"{operation.name}: HTTP {response.status}: redirected to {target}, which is not followed"
        )
    if not data:
        return None
    if response.content_type.startswith(_BINARY):
        return f"[{len(data)} bytes of {response.content_type}, not shown]"
    if "json" in response.content_type:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


async def _bounded(response: "aiohttp.ClientResponse") -> bytes:
    data = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        data.extend(chunk)
        if len(data) >= MAX_RESPONSE_BYTES:
            break
    return bytes(data[:MAX_RESPONSE_BYTES])
