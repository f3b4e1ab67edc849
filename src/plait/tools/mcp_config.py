"""Reads the usual `mcpServers` JSON: which servers to start or to connect to.

Knows nothing of the protocol. `${NAME}` and `${NAME:-default}` take values from the environment, so
that the file itself needs to hold no secret.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from plait.errors import UserError

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SECRET_NAME = re.compile(r"key|token|secret|passw|credential|auth", re.IGNORECASE)
"""By its name a value counts as secret; others, such as a home folder, must stay readable in results."""
_HTTP_TYPES = ("http", "streamable-http", "streamable_http", "streamableHttp")


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """One server: a command to start, or an address to connect to."""

    name: str
    source: str
    """The configuration file, as the user named it."""
    identity: str
    """What is started or connected to, by name and hash of the text before variables were filled in."""
    command: str = ""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str | None = None
    """Working folder of the command; None: the current one."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: frozenset[str] = frozenset()
    """Values that must not be repeated in any text."""


def read_servers(configuration: Mapping[str, Any], *, source: str) -> list[ServerConfig]:
    """Read all servers that are not disabled.

    Raises:
        UserError: an entry is malformed or names a variable that is not set.
    """
    servers = configuration.get("mcpServers")
    if not isinstance(servers, dict) or not servers:
        raise UserError(f'{source}: "mcpServers" must be an object with at least one server')
    entries = cast("dict[str, Any]", servers)
    for name, entry in entries.items():
        if not isinstance(entry, dict):
            raise UserError(f'{source}: server {name!r} must be an object with "command" or "url"')
    return [_read_server(name, entry, source) for name, entry in entries.items() if not entry.get("disabled")]


def _read_server(name: str, entry: Mapping[str, Any], source: str) -> ServerConfig:
    where = f"{source}: server {name!r}"
    reader = _Reader(where)
    kind = entry.get("type", entry.get("transport", ""))
    if kind == "sse":
        raise UserError(f"{where}: the old SSE transport is not supported; use its streamable HTTP address")
    if bool(entry.get("command")) == bool(entry.get("url")):
        raise UserError(f'{where}: give either "command" or "url"')
    if kind not in ("", "stdio", *_HTTP_TYPES):
        raise UserError(f"{where}: unknown type {kind!r}; use stdio or http")
    identifying = {key: entry.get(key) for key in ("command", "args", "url")}
    digest = hashlib.sha256(json.dumps(identifying, sort_keys=True).encode()).hexdigest()
    return ServerConfig(
        name=name,
        source=source,
        identity=f"{name} {digest[:16]}",
        command=reader.text(entry, "command"),
        args=reader.texts(entry, "args"),
        env=reader.mapping(entry, "env"),
        folder=reader.text(entry, "cwd") or None,
        url=reader.text(entry, "url"),
        headers=reader.mapping(entry, "headers"),
        secrets=frozenset(reader.secrets),
    )


class _Reader:
    """Reads the fields of one entry and remembers the values that came from the environment."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.secrets: set[str] = set()

    def text(self, entry: Mapping[str, Any], key: str) -> str:
        value = entry.get(key, "")
        if not isinstance(value, str):
            raise UserError(f"{self._where}: {key!r} must be text, not {value!r}")
        return self._filled(value)

    def texts(self, entry: Mapping[str, Any], key: str) -> list[str]:
        value = entry.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[Any]", value)):
            raise UserError(f"{self._where}: {key!r} must be a list of texts")
        return [self._filled(item) for item in cast("list[str]", value)]

    def mapping(self, entry: Mapping[str, Any], key: str) -> dict[str, str]:
        value = entry.get(key, {})
        if not isinstance(value, dict) or not all(
            isinstance(v, str) for v in cast("dict[str, Any]", value).values()
        ):
            raise UserError(f"{self._where}: {key!r} must be an object whose values are texts")
        filled = {name: self._filled(text) for name, text in cast("dict[str, str]", value).items()}
        if key == "headers":
            # Any header may be the key; `Bearer KEY` is masked by its last word.
            self.secrets.update(part for text in filled.values() for part in text.split()[-1:])
        self.secrets.update(text for name, text in filled.items() if text and _SECRET_NAME.search(name))
        return filled

    def _filled(self, text: str) -> str:
        def value_of(match: re.Match[str]) -> str:
            value = os.environ.get(match[1])
            if value is None and match[2] is None:
                raise UserError(
                    f"{self._where}: the environment variable {match[1]} is not set; export it first"
                )
            if value and _SECRET_NAME.search(match[1]):
                self.secrets.add(value)
            return value or match[2] or ""

        return _VARIABLE.sub(value_of, text)
