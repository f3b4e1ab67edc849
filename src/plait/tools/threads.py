"""Runs what blocks in a thread of its own: what hangs holds up neither a run nor the end of the process."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any


async def in_thread(work: Callable[[], Any]) -> Any:
    """Run `work` in a daemon thread of its own.

    Not the event loop's pool: there a few hanging tools would block all others and the end of the run.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def body() -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = context.run(work)
        except StopIteration as exc:
            error = RuntimeError(f"StopIteration: {exc}")  # A future cannot carry a StopIteration.
        except BaseException as exc:
            error = exc
        # The loop may be gone when a call that timed out comes to its end.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=body, name="plait-tool", daemon=True).start()
    return await done
