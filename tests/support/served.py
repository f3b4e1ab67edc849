"""An `Endpoint` in a thread of its own, for tests of commands, which have an event loop of their own."""

import asyncio
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tests.support.endpoint import Answer, Endpoint, Respond


@contextmanager
def served(script: Sequence[Answer] = (), *, respond: Respond | None = None) -> Generator[Endpoint]:
    """Serve in the background; see `Endpoint`."""
    endpoint = Endpoint(script, respond=respond)
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with endpoint:
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    try:
        assert ready.wait(10)
        yield endpoint
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(10)
        loop.close()
