"""One HTTP session for each event loop, shared by every model that is used in it.

Knows nothing of models or requests: it counts who holds a session and closes it with the last one.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import aiohttp

CONNECT_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 60.0


@dataclass(kw_only=True)
class _Shared:
    session: aiohttp.ClientSession
    holders: set[int] = field(default_factory=set[int])


_by_loop: dict[asyncio.AbstractEventLoop, _Shared] = {}


def hold(holder: object) -> aiohttp.ClientSession:
    """Return the running loop's session and note that `holder` uses it."""
    loop = asyncio.get_running_loop()
    shared = _by_loop.get(loop)
    if shared is None:
        _forget_closed_loops()
        shared = _by_loop[loop] = _Shared(session=_open())
    shared.holders.add(id(holder))
    return shared.session


async def release(holder: object) -> None:
    """Note that `holder` is done; the last one closes the session. Safe to call twice."""
    loop = asyncio.get_running_loop()
    shared = _by_loop.get(loop)
    if shared is None:
        return
    shared.holders.discard(id(holder))
    if not shared.holders:
        del _by_loop[loop]
        await shared.session.close()


def _open() -> aiohttp.ClientSession:
    import aiohttp  # 190 ms to import, for commands that call no model

    return aiohttp.ClientSession(
        # Agents wait for each other elsewhere (budgets, engine slots); a limit here would only hide it.
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
        cookie_jar=aiohttp.DummyCookieJar(),
        raise_for_status=False,
    )


def _forget_closed_loops() -> None:
    # A loop that ended without `release` can no longer close its session; holding it would only leak it.
    for loop in [loop for loop in _by_loop if loop.is_closed()]:
        del _by_loop[loop]
