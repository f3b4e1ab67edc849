"""Steps to record in tests: functions that count how often they really ran."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from plait.events import PromptPart, Record
from plait.journal import JSON, JSONObject
from plait.runtime.prompts import restore


class Step:
    """A function for `Journal.call` that counts its runs."""

    def __init__(self, result: JSON = "done", error: BaseException | None = None) -> None:
        self.result = result
        self.error = error
        self.runs = 0

    async def __call__(self, _: JSONObject) -> JSON:
        self.runs += 1
        if self.error is not None:
            raise self.error
        return self.result


def never() -> Callable[[JSONObject], Awaitable[JSON]]:
    """Return a function that must not be run."""

    async def fail(args: JSONObject) -> JSON:
        raise AssertionError(f"done again: {args}")

    return fail


def chat(*texts: str) -> Mapping[str, Any]:
    """Return the arguments of a model call."""
    return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}


def prompt_of(records: Sequence[Record], head: str) -> list[dict[str, str]]:
    """Return the chat on record whose last part is `head`."""
    parts = {record.event.id: record.event for record in records if isinstance(record.event, PromptPart)}
    return restore(parts, head)
