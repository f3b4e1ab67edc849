"""A journal in a dictionary: for tests of strands, which need the seam and no database."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from plait.events import Event
from plait.journal import JSON, Journal, JSONObject, StepKind


@dataclass
class Memory:
    """What one run remembers: results and events by path, in the order they came."""

    results: dict[str, JSON] = field(default_factory=dict[str, JSON])
    kinds: dict[str, StepKind] = field(default_factory=dict[str, StepKind])
    events: list[tuple[str, Event]] = field(default_factory=list[tuple[str, Event]])

    def of(self, kind: type[Any]) -> list[Any]:
        """Return the events of one type, in order."""
        return [event for _, event in self.events if isinstance(event, kind)]


class MemoryJournal:
    """The `Journal` protocol over a `Memory`."""

    def __init__(self, memory: Memory, path: str = "run") -> None:
        self.memory = memory
        self._path = path
        self._made: set[str] = set()

    @property
    def path(self) -> str:
        return self._path

    async def call(
        self,
        name: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        *,
        kind: StepKind = "value",
    ) -> JSON:
        path = f"{self._path}/{name}"
        if path not in self.memory.results:
            self.memory.results[path] = await fn(args)
            self.memory.kinds[path] = kind
            self._made.add(path)
        return self.memory.results[path]

    def recalled(self, name: str) -> bool:
        path = f"{self._path}/{name}"
        return path in self.memory.results and path not in self._made

    async def branch(self, name: str, fn: Callable[[Journal, Any], Awaitable[Any]], args: Any) -> Any:
        return await fn(MemoryJournal(self.memory, f"{self._path}/{name}"), args)

    def emit(self, event: Event) -> None:
        self.memory.events.append((self._path, event))
