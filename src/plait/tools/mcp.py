"""Tools of MCP servers, over stdio and streamable HTTP.

Knows nothing of approval or the log. Each server is held by a task of its own, because a connection
must be closed by the task that opened it; what servers write on standard error goes to files. A call
that is cut off by a dying server is never repeated: the next call tries once to start it anew.
"""

import asyncio
import contextlib
import importlib.util
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from plait.errors import ToolError, UserError
from plait.tools.arguments import identifier, inline
from plait.tools.masking import mask
from plait.tools.mcp_config import ServerConfig
from plait.tools.pins import Pins
from plait.tools.tool import Tool

if TYPE_CHECKING:
    from mcp import Client
    from mcp import Tool as OfferedTool
    from mcp.client._transport import Transport

CONNECT_SECONDS = 60.0
"""Long enough for a launcher that first installs the server."""
CLOSE_SECONDS = 15.0
"""The library itself gives a server a few seconds to end before it kills it."""
HTTP_SECONDS = 30.0
HTTP_READ_SECONDS = 300.0
"""A server may think for long; the tool's own time-out is what ends a call."""
MAX_PAGES = 100


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
    connections = [_Connection(config, folder, connect_seconds) for config in servers]
    try:
        starts = (connection.start() for connection in connections)
        offers = await asyncio.gather(*starts, return_exceptions=True)
        tools: list[Tool] = []
        for connection, offered in zip(connections, offers, strict=True):
            if isinstance(offered, BaseException):
                raise offered
            made = [_tool(connection, tool) for tool in offered]
            if pins is not None:
                await pins.check(connection.config.identity, made)
            tools.extend(made)
        yield tools
    finally:
        await asyncio.gather(*(connection.close() for connection in connections))


def _quiet_library() -> None:
    """Keep the library's own warnings off the terminal unless the program set up logging."""
    if importlib.util.find_spec("mcp") is None:
        raise UserError("MCP servers need the extra 'mcp': pip install 'plait[mcp]'")
    library = logging.getLogger("mcp")
    if not library.handlers:
        library.addHandler(logging.NullHandler())


class _Connection:
    """One server, its connection and the task that holds it."""

    def __init__(self, config: ServerConfig, folder: Path, connect_seconds: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.config = config
        self.log_file = folder / f"mcp-{identifier(config.name)}.log"
        self._connect_seconds = connect_seconds
        self._client: Client | None = None
        self._holder: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._starting = asyncio.Lock()
        self._lost = False
        """A new start failed: no other is tried."""

    async def start(self) -> "list[OfferedTool]":
        """Connect and list the tools.

        Raises:
            UserError: the server does not start, answer or list its tools in time.
        """
        self._stop = asyncio.Event()
        started: asyncio.Future[tuple[Client, list[OfferedTool]]] = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold(started, self._stop))
        limit = asyncio.timeout(self._connect_seconds)
        try:
            async with limit:
                self._client, offered = await started
        except Exception as exc:
            await self.close()
            if limit.expired():
                raise UserError(
                    self._failure(f"gave no answer within {self._connect_seconds:g} seconds")
                ) from exc
            raise UserError(self._failure(f"did not start: {_root(exc)}")) from exc
        return offered

    async def call(self, tool_name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool; a server that died earlier is started anew, once for each death.

        Raises:
            ToolError: the server is gone, or the tool failed.
        """
        from mcp import MCPError

        client = await self._connected()
        try:
            result = await client.call_tool(tool_name, dict(arguments))
        except MCPError as exc:
            if not self._is_gone(exc.code):
                raise ToolError(self._masked(exc.message)) from exc
            await self._drop(client)
            text = f"server {self.config.name!r} stopped during this call; whether it was done is not known"
            raise ToolError(text) from exc
        text = _spelled(result.content)
        if result.is_error:
            raise ToolError(self._masked(text or "the tool failed without saying why"))
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        return self._masked(text) or None

    async def close(self) -> None:
        """Close the connection and stop the server; safe to call twice."""
        holder, self._holder = self._holder, None
        if holder is None:
            return
        self._stop.set()
        if self._client is not None:
            self._client = None
            await asyncio.wait([holder], timeout=CLOSE_SECONDS)
        holder.cancel()
        await asyncio.wait([holder])

    async def _connected(self) -> "Client":
        async with self._starting:
            if self._client is None and not self._lost:
                try:
                    await self.start()
                except UserError as exc:
                    self._lost = True
                    raise ToolError(exc.message) from exc
            if self._client is None:
                raise ToolError(f"server {self.config.name!r} is gone; do without its tools")
            return self._client

    async def _drop(self, client: "Client") -> None:
        """Close a broken connection, unless another call has done so."""
        async with self._starting:
            if self._client is client:
                await self.close()

    async def _hold(
        self, started: "asyncio.Future[tuple[Client, list[OfferedTool]]]", stop: asyncio.Event
    ) -> None:
        """Keep the connection open until `stop`; opening and closing belong to one task."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                client = await stack.enter_async_context(await self._client_for(stack))
                offered = await _offered(client)
                if not started.done():
                    started.set_result((client, offered))
                await stop.wait()
        except Exception as exc:
            # After the start a broken connection shows at the next call.
            if not started.done():
                started.set_exception(exc)

    async def _client_for(self, stack: contextlib.AsyncExitStack) -> "Client":
        from httpx2 import AsyncClient, Timeout
        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        config = self.config
        transport: Transport
        if config.url:
            client = AsyncClient(
                headers=dict(config.headers), timeout=Timeout(HTTP_SECONDS, read=HTTP_READ_SECONDS)
            )
            http = await stack.enter_async_context(client)
            transport = streamable_http_client(config.url, http_client=http)
        else:
            log = stack.enter_context(self.log_file.open("a", encoding="utf-8"))
            parameters = StdioServerParameters(
                command=config.command, args=list(config.args), env=dict(config.env), cwd=config.folder
            )
            transport = stdio_client(parameters, errlog=log)
        return Client(transport, cache=None)

    def _is_gone(self, code: int) -> bool:
        from mcp_types import CONNECTION_CLOSED

        return code == CONNECTION_CLOSED

    def _masked(self, text: str) -> str:
        return mask(text, self.config.secrets)

    def _failure(self, what: str) -> str:
        said = ""
        if not self.config.url and self.log_file.exists():
            lines = self.log_file.read_text(encoding="utf-8", errors="replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            said = f"; it said {last[:200]!r}" if last else ""
        return self._masked(f"{self.config.source}: server {self.config.name!r} {what}{said}")


def _tool(connection: _Connection, offered: "OfferedTool") -> Tool:
    async def run(arguments: Mapping[str, Any]) -> Any:
        return await connection.call(offered.name, arguments)

    reads = offered.annotations is not None and offered.annotations.read_only_hint is True
    return Tool(
        name=f"{identifier(connection.config.name)}.{identifier(offered.name)}",
        description=" ".join((offered.description or "").split()),
        parameters=inline(offered.input_schema),
        effect="reads" if reads else "changes",
        run=run,
        source=connection.config.source,
    )


async def _offered(client: "Client") -> "list[OfferedTool]":
    offered: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        offered.extend(page.tools)
        cursor = page.next_cursor
        if not cursor:
            return offered
    raise ValueError(f"its list of tools has more than {MAX_PAGES} pages")


def _spelled(content: Sequence[Any]) -> str:
    """Spell the parts of a result as text; what is no text is named, not shown."""
    parts: list[str] = []
    for block in content:
        if block.type == "text":
            parts.append(block.text)
        elif block.type == "resource" and hasattr(block.resource, "text"):
            parts.append(block.resource.text)
        elif block.type == "resource_link":
            parts.append(f"[resource {block.uri}]")
        else:
            parts.append(f"[{block.type} left out: not text]")
    return "\n".join(parts)


def _root(error: BaseException) -> str:
    """Say in one line what lies at the bottom of nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
