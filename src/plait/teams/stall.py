"""Stalls: work is given up where no step of the whole run ends for too long.

Long work that goes on is no stall, and neither is work that waits its turn at a model which serves the
others meanwhile: so each step that ends, whoever made it, puts all limits off. Knows nothing of what the
steps are.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from plait.errors import PlaitError
from plait.events import Event
from plait.journal import JSON, Journal, JSONObject, StepKind


class Stalled(PlaitError):
    """No step of the run ended in time."""


class Pulse:
    """Whether a run goes on: all limits of one run in one process."""

    def __init__(self) -> None:
        self._limits: dict[asyncio.Timeout, float] = {}

    def heard(self, journal: Journal) -> Journal:
        """Return a journal whose steps are seen to end, as are those of its branches."""
        return _Heard(journal, self)

    def beat(self) -> None:
        """Say that a step ended."""
        now = asyncio.get_running_loop().time()
        for limit, seconds in self._limits.items():
            if not limit.expired():
                limit.reschedule(now + seconds)

    @asynccontextmanager
    async def bounded(self, seconds: float) -> AsyncGenerator[None]:
        """Bound work that may stall.

        Raises:
            Stalled: no step of the run ended for `seconds`; what was under way in this work is cancelled.
        """
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                self._limits[limit] = seconds
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise Stalled(f"stalled: no step ended for {seconds:g} seconds") from error
        finally:
            self._limits.pop(limit, None)


class _Heard:
    """A journal that tells a pulse of each step's end."""

    def __init__(self, journal: Journal, pulse: Pulse) -> None:
        self._journal = journal
        self._pulse = pulse

    @property
    def path(self) -> str:
        return self._journal.path

    async def call(
        self,
        name: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        *,
        kind: StepKind = "value",
    ) -> JSON:
        result = await self._journal.call(name, fn, args, kind=kind)
        self._pulse.beat()
        return result

    def recalled(self, name: str) -> bool:
        return self._journal.recalled(name)

    async def branch(self, name: str, fn: Callable[[Journal, Any], Awaitable[Any]], args: Any) -> Any:
        async def heard_too(branch: Journal, given: Any) -> Any:
            return await fn(_Heard(branch, self._pulse), given)

        return await self._journal.branch(name, heard_too, args)

    def emit(self, event: Event) -> None:
        self._journal.emit(event)
