"""A journal in memory for tests of tools: records results, and can be taken up again."""

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from plait.errors import NeedsDecision
from plait.events import Event
from plait.journal import JSON, JSONObject, StepKind


class PlainJournal:
    """Keeps records in dictionaries; `resumed()` is a new process on the same records."""

    def __init__(
        self,
        path: str = "run",
        records: dict[str, Any] | None = None,
        kinds: dict[str, StepKind] | None = None,
        events: list[Event] | None = None,
    ) -> None:
        self.path = path
        self.records: dict[str, Any] = {} if records is None else records
        self.kinds: dict[str, StepKind] = {} if kinds is None else kinds
        self.events: list[Event] = [] if events is None else events

    def resumed(self) -> "PlainJournal":
        return PlainJournal(self.path, dict(self.records), dict(self.kinds))

    async def call(
        self,
        name: str,
        fn: Callable[[JSONObject], Awaitable[JSON]],
        args: JSONObject,
        *,
        kind: StepKind = "value",
    ) -> JSON:
        path = f"{self.path}/{name}"
        if path in self.records:
            return self.records[path]
        if kind == "effect" and path in self.kinds:
            raise NeedsDecision(f"{path} is in doubt", path=path)
        self.kinds[path] = kind
        self.records[path] = await fn(args)
        return self.records[path]

    def recalled(self, name: str) -> bool:
        return False

    async def branch(self, name: str, fn: "Callable[[Any, Any], Awaitable[Any]]", args: Any) -> Any:
        return await fn(PlainJournal(f"{self.path}/{name}", self.records, self.kinds, self.events), args)

    def emit(self, event: Event) -> None:
        self.events.append(event)


@pytest.fixture
def journal() -> PlainJournal:
    return PlainJournal()


@pytest.fixture
def unused_tcp_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
