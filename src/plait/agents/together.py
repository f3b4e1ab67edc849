"""Run independent pieces of work at once, and fail as one of them would alone.

Knows nothing of agents. A task group raises a group of errors; a user needs the one that matters.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar, cast

Result = TypeVar("Result")


async def together(pieces: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run all pieces at once and return their results in order.

    The first piece that fails cancels the others; its own error is raised.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(piece) for piece in pieces]
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors
    return [task.result() for task in tasks]


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return (
        _first(cast("BaseExceptionGroup[BaseException]", first))
        if isinstance(first, BaseExceptionGroup)
        else first
    )
