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
from plait.tools.secret_finding import is_secret_name, secrets_in_arguments, secrets_in_url

_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_PLAIN_VARIABLES = re.compile(
    r"HOME|PATH|LANG|LANGUAGE|LC_\w+|USER|USERNAME|LOGNAME|SHELL|TERM|TZ|PWD|TMPDIR|TMP|TEMP|XDG_\w+|PYTHONPATH"
)
"""What these hold must stay readable in results; whatever else `env` takes from the environment is masked."""
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
    entries = cast("dict[object, Any]", servers)
    for name, entry in entries.items():
        if not isinstance(name, str):  # As YAML may read it.
            raise UserError(f"{source}: a server's name must be text, not {name!r}: put it in quotes")
        if not isinstance(entry, dict):
            raise UserError(f'{source}: server {name!r} must be an object with "command" or "url"')
    named = cast("dict[str, dict[str, Any]]", entries)
    return [_read_server(name, entry, source) for name, entry in named.items() if not entry.get("disabled")]


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
    return ServerConfig(
        name=name,
        source=source,
        command=reader.text(entry, "command"),
        args=reader.texts(entry, "args"),
        env=reader.mapping(entry, "env"),
        folder=reader.text(entry, "cwd") or None,
        url=reader.text(entry, "url"),
        headers=reader.mapping(entry, "headers"),
        # After the fields: only texts can be hashed, and only then all secrets are known.
        identity=_identity(name, entry),
        secrets=frozenset(reader.secrets),
    )


def _identity(name: str, entry: Mapping[str, Any]) -> str:
    identifying = {key: entry.get(key) for key in ("command", "args", "url")}
    digest = hashlib.sha256(json.dumps(identifying, sort_keys=True).encode()).hexdigest()
    return f"{name} {digest[:16]}"


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
        filled = [self._filled(item) for item in cast("list[str]", value)]
        self.secrets.update(secrets_in_arguments(filled))
        return filled

    def mapping(self, entry: Mapping[str, Any], key: str) -> dict[str, str]:
        value = entry.get(key, {})
        if not isinstance(value, dict) or not all(
            isinstance(part, str) for item in cast("dict[Any, Any]", value).items() for part in item
        ):
            raise UserError(f"{self._where}: {key!r} must be an object whose names and values are texts")
        filled = {
            name: self._filled(text, within=name if key == "env" else None)
            for name, text in cast("dict[str, str]", value).items()
        }
        if key == "headers":
            # Any header may be the key; `Bearer KEY` is masked by its last word.
            self.secrets.update(part for text in filled.values() for part in text.split()[-1:])
        self.secrets.update(text for name, text in filled.items() if text and is_secret_name(name))
        return filled

    def _filled(self, text: str, within: str | None = None) -> str:
        """Fill in variables.

        Args:
            text: As it stands in the file.
            within: The variable of the server that it becomes the value of; None: it becomes something else.
        """

        def value_of(match: re.Match[str]) -> str:
            value = os.environ.get(match[1])
            if value is None and match[2] is None:
                raise UserError(
                    f"{self._where}: the environment variable {match[1]} is not set; export it first"
                )
            if value and (is_secret_name(match[1]) or (within and not _is_plain(value, match[1], within))):
                self.secrets.add(value)
            return value or match[2] or ""

        filled = _VARIABLE.sub(value_of, text)
        self.secrets.update(secrets_in_url(filled))
        return filled


def _is_plain(value: str, *variables: str) -> bool:
    """Tell whether a value is no secret, by the names it goes by or as it names a file."""
    if any(_PLAIN_VARIABLES.fullmatch(variable) for variable in variables):
        return True
    # Agents work with paths: masked, they could not be given to the next call.
    return os.path.isabs(value) and os.path.exists(value)
