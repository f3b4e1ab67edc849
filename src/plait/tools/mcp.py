"""Tools of MCP servers, over stdio and streamable HTTP.

Knows nothing of approval, the log or how a connection is kept. What servers write on standard error
goes to files.
"""

import asyncio
import contextlib
import importlib.util
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.errors import UserError
from plait.tools.arguments import distinct_name, identifier, inline
from plait.tools.mcp_config import ServerConfig
from plait.tools.mcp_connection import Connection
from plait.tools.pins import Pins
from plait.tools.tool import Tool

if TYPE_CHECKING:
    from mcp import Tool as OfferedTool

CONNECT_SECONDS = 60.0
"""Long enough for a launcher that first installs the server."""


@contextlib.asynccontextmanager
async def open_mcp(
    servers: Sequence[ServerConfig],
    folder: Path,
    *,
    pins: Pins | None = None,
    connect_seconds: float = CONNECT_SECONDS,
) -> AsyncGenerator[list[Tool]]:
    """Connect to all servers at once and yield their tools, named `server.tool`.

    Args:
        servers: What to connect to.
        folder: Where each server's standard error goes, as `mcp-NAME.log`.
        pins: Known descriptions to compare with; None: do not compare.
        connect_seconds: How long a server may take to start and list its tools.

    Raises:
        UserError: a server does not start, or a tool's description changed.
    """
    _quiet_library()
    connections = [Connection(config, folder, connect_seconds) for config in servers]
    try:
        starts = (connection.start() for connection in connections)
        offers = await asyncio.gather(*starts, return_exceptions=True)
        tools: dict[str, Tool] = {}
        for connection, offered in zip(connections, offers, strict=True):
            if isinstance(offered, BaseException):
                raise offered
            made: list[Tool] = []
            for tool in (_tool(connection, each) for each in offered):
                made.append(replace(tool, name=distinct_name(tool.name, tools)))
                tools[made[-1].name] = made[-1]
            if pins is not None:
                await pins.check(connection.config.identity, made)
        yield list(tools.values())
    finally:
        await asyncio.gather(*(connection.close() for connection in connections))


def _quiet_library() -> None:
    """Keep the library's own warnings off the terminal unless the program set up logging."""
    if importlib.util.find_spec("mcp") is None:
        raise UserError("MCP servers need the extra 'mcp': pip install 'plait[mcp]'")
    library = logging.getLogger("mcp")
    if not library.handlers:
        library.addHandler(logging.NullHandler())


def _tool(connection: Connection, offered: "OfferedTool") -> Tool:
    reads = offered.annotations is not None and offered.annotations.read_only_hint is True

    async def run(arguments: Mapping[str, Any]) -> Any:
        return await connection.call(offered.name, arguments, reads=reads)

    return Tool(
        name=f"{identifier(connection.config.name)}.{identifier(offered.name)}",
        description=" ".join((offered.description or "").split()),
        parameters=inline(offered.input_schema),
        effect="reads" if reads else "changes",
        run=run,
        source=connection.config.source,
    )
