"""Calls to a running engine over loopback HTTP.

Knows nothing of slots or prefixes beyond the bodies it is given. Giving a call up closes its connection,
which is how the engine learns of it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import orjson

from plait.errors import TransientModelError
from plait.models.encoding import encoded
from plait.models.engine_wire import Ask, StreamedReply, chat_body, engine_error
from plait.models.llama import Engine
from plait.models.protocol import Reply, Request
from plait.models.sessions import hold

if TYPE_CHECKING:
    import aiohttp

ENDING_SECONDS = 0.5
SILENCE_SECONDS = 300.0
"""Longest wait for any sign of life; every batch of a prompt and every token is one."""


class EngineClient:
    """Speaks to one engine on behalf of one model."""

    def __init__(self, engine: Engine, holder: object) -> None:
        self.engine = engine
        self._holder = holder

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Return the JSON that the engine answers.

        Raises:
            ModelError: the engine refused.
            TransientModelError: the engine failed or is gone.
        """
        async with self._open(path, body) as response:
            return orjson.loads(await response.read())

    async def chat(self, ask: Ask, asked: Request, slot: int) -> Reply:
        """Return the reply to a request, read in a given slot; one that goes in circles is broken off.

        Raises:
            ModelError, TransientModelError: as `post`.
        """
        started = time.perf_counter()
        stream = StreamedReply()
        async with self._open("/v1/chat/completions", chat_body(ask, slot)) as response:
            async for line in response.content:
                stream.take(line)
                if stream.circles:
                    break
        return stream.reply(ask, asked, time.perf_counter() - started)

    @asynccontextmanager
    async def _open(self, path: str, body: Mapping[str, Any]) -> "AsyncGenerator[aiohttp.ClientResponse]":
        import aiohttp

        # The engine closes a connection after a streamed reply, so that none can be used twice.
        headers = {
            "Authorization": f"Bearer {self.engine.key}",
            "Content-Type": "application/json",
            "Connection": "close",
        }
        timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_SECONDS)
        url = self.engine.address + path
        try:
            async with hold(self._holder).post(
                url, data=encoded(body), headers=headers, timeout=timeout
            ) as response:
                if response.status != 200:
                    raise engine_error(response.status, await response.read())
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The connection breaks a moment before the process is gone.
            if await asyncio.to_thread(self.engine.ends_within, ENDING_SECONDS):
                raise self.engine.died() from error
            raise TransientModelError(
                f"The embedded engine of {self.engine.name!r} does not answer; see {str(self.engine.log)!r}."
            ) from error
