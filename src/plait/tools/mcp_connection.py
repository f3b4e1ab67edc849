"""A connection to one MCP server: started, called, started anew when the server died, and closed.

Knows nothing of tools as agents see them. Each start is held by a task of its own, because a connection
must be closed by the task that opened it.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from plait.errors import ToolError, UserError
from plait.tools.arguments import identifier
from plait.tools.masking import mask
from plait.tools.mcp_config import ServerConfig
from plait.tools.tool import OutcomeUnknown

if TYPE_CHECKING:
    from mcp import Client
    from mcp import Tool as OfferedTool
    from mcp.client._transport import Transport, TransportStreams

RESTART_SECONDS = 30.0
"""Shorter than a tool's time-out, so that the call which starts a server anew can say what went wrong."""
MAX_RESTARTS = 3
"""Without a call that succeeds in between."""
CLOSE_SECONDS = 15.0
"""The library itself gives a server a few seconds to end before it kills it."""
HTTP_SECONDS = 30.0
HTTP_READ_SECONDS = 300.0
"""A server may think for long; the tool's own time-out is what ends a call."""
MAX_PAGES = 100


class Connection:
    """One server, its connection and the task that holds it."""

    def __init__(self, config: ServerConfig, folder: Path, connect_seconds: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.config = config
        self.log_file = folder / f"mcp-{identifier(config.name)}.log"
        self._connect_seconds = connect_seconds
        self._client: Client | None = None
        self._line: _Line | None = None
        self._starting = asyncio.Lock()
        self._restarts = 0
        """Since a call last succeeded."""
        self._lost = False
        """A new start failed: no other is tried."""

    async def start(self, seconds: float | None = None) -> "list[OfferedTool]":
        """Connect and list the tools.

        Args:
            seconds: How long it may take; None: what the connection was made with.

        Raises:
            UserError: the server does not start, answer or list its tools in time.
        """
        await self.close()
        seconds = self._connect_seconds if seconds is None else seconds
        line = self._line = _Line(self.config, self.log_file)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                self._client, offered = await line.started
        except BaseException as exc:
            # Whatever ends the wait, the time-out of the tool that is called included, ends the server too.
            await self.close()
            if limit.expired():
                raise UserError(self._failure(f"gave no answer within {seconds:g} seconds")) from exc
            if isinstance(exc, Exception):
                raise UserError(self._failure(f"did not start: {_root(exc)}")) from exc
            raise
        return offered

    async def call(self, tool_name: str, arguments: Mapping[str, Any], *, reads: bool) -> Any:
        """Call a tool; a server that died earlier is started anew.

        A call that is cut off by a dying server is repeated once if it only reads, otherwise never.

        Raises:
            ToolError: the server is gone, or the tool failed.
            OutcomeUnknown: the server stopped during the call.
        """
        try:
            return await self._call(tool_name, arguments)
        except OutcomeUnknown:
            if not reads:
                raise
        return await self._call(tool_name, arguments)

    async def _call(self, tool_name: str, arguments: Mapping[str, Any]) -> Any:
        from mcp import MCPError

        client = await self._connected()
        try:
            result = await client.call_tool(tool_name, dict(arguments))
        except MCPError as exc:
            if not self._is_gone(exc.code):
                raise ToolError(self._masked(exc.message)) from exc
            await self._drop(client)
            raise OutcomeUnknown(f"server {self.config.name!r} stopped during this call") from exc
        self._restarts = 0
        text = _spelled(result.content)
        if result.is_error:
            raise ToolError(self._masked(text or "the tool failed without saying why"))
        if not text and result.structured_content is not None:
            text = json.dumps(result.structured_content, ensure_ascii=False)
        return self._masked(text) or None

    async def close(self) -> None:
        """Close the connection and stop the server; safe to call twice, and again after it was cancelled."""
        self._client = None
        if self._line is not None:
            await self._line.close()
            self._line = None

    async def _connected(self) -> "Client":
        async with self._starting:
            if self._client is not None and (self._line is None or self._line.has_ended()):
                await self.close()
            if self._client is None and not self._lost and self._restarts < MAX_RESTARTS:
                self._restarts += 1
                try:
                    await self.start(min(self._connect_seconds, RESTART_SECONDS))
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


class _Line:
    """One start of a server, held by a task of its own until it is closed."""

    def __init__(self, config: ServerConfig, log_file: Path) -> None:
        import anyio

        self._config = config
        self._log_file = log_file
        self._received: object = None
        self._stop = asyncio.Event()
        # Unlike the cancellation of a task it leaves the library alone while that stops the server.
        self._scope = anyio.CancelScope()
        self.started: asyncio.Future[tuple[Client, list[OfferedTool]]]
        self.started = asyncio.get_running_loop().create_future()
        self._holder = asyncio.create_task(self._hold())

    def has_ended(self) -> bool:
        """Tell whether the server has closed its end, as far as that shows before something is sent."""
        from anyio.streams.memory import MemoryObjectReceiveStream

        if self._holder.done():
            return True
        received = self._received
        return isinstance(received, MemoryObjectReceiveStream) and not received.statistics().open_send_streams

    async def close(self) -> None:
        """Close the connection and stop the server; a cancelled call goes on in the next one."""
        connected = self.started.done() and not self.started.cancelled() and not self.started.exception()
        self._stop.set()
        if connected:
            await asyncio.wait([self._holder], timeout=CLOSE_SECONDS)
        self._scope.cancel()
        await asyncio.wait([self._holder])

    async def _hold(self) -> None:
        """Keep the connection open until `close`; opening and closing belong to one task."""
        try:
            with self._scope:
                async with contextlib.AsyncExitStack() as stack:
                    client = await stack.enter_async_context(await self._client_for(stack))
                    offered = await _offered(client)
                    if not self.started.done():
                        self.started.set_result((client, offered))
                    await self._stop.wait()
        except Exception as exc:
            # After the start a broken connection shows at the next call.
            if not self.started.done():
                self.started.set_exception(exc)

    async def _client_for(self, stack: contextlib.AsyncExitStack) -> "Client":
        from httpx2 import AsyncClient, Timeout
        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        config = self._config
        transport: Transport
        if config.url:
            client = AsyncClient(
                headers=dict(config.headers), timeout=Timeout(HTTP_SECONDS, read=HTTP_READ_SECONDS)
            )
            http = await stack.enter_async_context(client)
            transport = streamable_http_client(config.url, http_client=http)
        else:
            log = stack.enter_context(self._log_file.open("a", encoding="utf-8"))
            parameters = StdioServerParameters(
                command=config.command, args=list(config.args), env=dict(config.env), cwd=config.folder
            )
            transport = stdio_client(parameters, errlog=log)
        return Client(self._watched(transport), cache=None)

    @contextlib.asynccontextmanager
    async def _watched(self, transport: "Transport") -> AsyncGenerator["TransportStreams"]:
        """Keep an eye on what comes from the server: that stream ends when the server does."""
        async with transport as streams:
            self._received = streams[0]
            yield streams


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
