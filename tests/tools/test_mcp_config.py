"""The usual `mcpServers` JSON: what is refused, what is filled in, and what is a secret."""

from pathlib import Path
from typing import Any

import pytest

from plait.errors import UserError
from plait.tools.masking import SHORTEST_SECRET_CHARACTERS
from plait.tools.mcp_config import read_servers


def configured(**servers: Any) -> Any:
    return read_servers({"mcpServers": servers}, source="mcp.json")


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ({}, '"mcpServers" must be an object with at least one server'),
        ({"mcpServers": {"a": "x"}}, "server 'a' must be an object"),
        ({"mcpServers": {"a": {}}}, 'server \'a\': give either "command" or "url"'),
        ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "'args' must be a list of texts"),
        (
            {"mcpServers": {"a": {"command": "x", "env": {"k": 1}}}},
            "'env' must be an object whose names and values",
        ),
        ({"mcpServers": {"a": {"command": "x", "env": {1: "v"}}}}, "'env' must be an object whose names"),
        ({"mcpServers": {"a": {"command": "x", "args": [b"y"]}}}, "'args' must be a list of texts"),
        ({"mcpServers": {"a": {"command": b"x"}}}, "'command' must be text, not b'x'"),
        ({"mcpServers": {5: {"command": "x"}}}, "a server's name must be text, not 5: put it in quotes"),
        ({"mcpServers": {"a": {"command": 5}}}, "'command' must be text, not 5"),
        ({"mcpServers": {"a": {"url": "http://x", "type": "sse"}}}, "SSE transport is not supported"),
        ({"mcpServers": {"a": {"url": "http://x/${NO_SUCH}"}}}, "variable NO_SUCH is not set"),
    ],
)
def test_a_malformed_configuration_is_one_clear_line(configuration: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as caught:
        read_servers(configuration, source="mcp.json")
    assert said in caught.value.message
    assert caught.value.message.startswith("mcp.json: ")


def test_variables_defaults_secrets_and_disabled_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "abc-token")
    monkeypatch.setenv("FOLDER", "/home/ada")
    web, local = configured(
        web={
            "url": "${BASE:-http://localhost}/mcp",
            "headers": {"Authorization": "Bearer ${MY_TOKEN}", "K": "plain-key"},
        },
        local={"command": "x", "args": ["${FOLDER}/y"], "env": {"API_KEY": "written", "HOME": "${FOLDER}"}},
        off={"command": "x", "disabled": True},
    )
    assert web.url == "http://localhost/mcp"
    assert web.headers["Authorization"] == "Bearer abc-token"
    assert "abc-token" in web.secrets
    assert "plain-key" in web.secrets
    assert "abc-token" not in web.identity
    assert local.args == ["/home/ada/y"]
    assert local.secrets == {"written"}


@pytest.mark.parametrize(
    ("entry", "secret"),
    [
        ({"args": ["postgres://ada:s3cret-pw@host/table"]}, "s3cret-pw"),
        ({"args": ["--to", "redis://:p/w@d+1@host"]}, "p/w@d+1"),
        ({"env": {"WHERE": "mysql://ada:pass%20word@host"}}, "pass word"),
        ({"args": ["https://ghp_0123456789abcdef@host/x.git"]}, "ghp_0123456789abcdef"),
        ({"url": "https://host/mcp?api_key=in-the-query"}, "in-the-query"),
        ({"args": ["--api-key=after-equals"]}, "after-equals"),
        ({"args": ["--verbose", "--accessToken", "as-its-own"]}, "as-its-own"),
        ({"args": ["-e", "MY_API_KEY_2=for-the-container"]}, "for-the-container"),
        ({"args": ["--header", "Authorization: Bearer of-a-header=="]}, "of-a-header=="),
        ({"args": ["--header=X-Api-Key: joined-header"]}, "joined-header"),
        ({"env": {"CONNECTION": "${DATABASE}"}}, "host=db pw=hidden"),
        ({"env": {"DATABASE_URL": "${DATABASE_URL}"}}, "s3cretpw"),
    ],
)
def test_secrets_are_known_by_where_they_stand(
    entry: dict[str, Any], secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE", "host=db pw=hidden")
    monkeypatch.setenv("DATABASE_URL", "postgres://ada:s3cretpw@db/x")
    (server,) = configured(a=entry if "url" in entry else {"command": "x", **entry})
    assert secret in server.secrets


def test_what_is_no_secret_stays_readable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROJECT", str(tmp_path))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    arguments = [
        "--max-tokens=100000",
        "--key-file",
        "/keys/mine",
        "http://host:8080/a@b",
        "--token",
        "--quiet",
    ]
    variables = {"ROOT": "${PROJECT}", "ZONE": "${TZ}", "MODE": "careful"}
    (server,) = configured(a={"command": "x", "args": arguments, "env": variables})
    assert [secret for secret in server.secrets if len(secret) >= SHORTEST_SECRET_CHARACTERS] == []
