"""Work at once: results in order, and the one error that matters."""

import asyncio

import pytest

from plait.agents.together import together
from plait.errors import BudgetExhausted


async def test_pieces_run_at_once_and_results_keep_their_order() -> None:
    both = asyncio.Barrier(2)

    async def piece(name: str) -> str:
        await both.wait()
        return name

    assert await together([piece("a"), piece("b")]) == ["a", "b"]


async def test_no_piece_gives_no_result() -> None:
    assert await together([]) == []


async def test_the_first_error_is_raised_as_it_is_and_stops_the_others() -> None:
    ended: list[str] = []

    async def fail() -> None:
        raise BudgetExhausted("used up", limit="calls")

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def inner() -> None:
        await together([wait(), fail()])

    with pytest.raises(BudgetExhausted, match="used up"):
        await together([wait(), inner()])
    assert ended == ["cancelled", "cancelled"]


async def test_cancelling_the_whole_cancels_every_piece() -> None:
    started, ended = asyncio.Barrier(3), list[str]()

    async def wait() -> None:
        await started.wait()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    whole = asyncio.create_task(together([wait(), wait()]))
    await started.wait()
    whole.cancel()
    with pytest.raises(asyncio.CancelledError):
        await whole
    assert ended == ["cancelled", "cancelled"]
