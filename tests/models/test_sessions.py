"""Who shares an HTTP session, and when it closes."""

import asyncio

from plait.models.sessions import hold, release


async def test_a_session_lasts_as_long_as_its_last_holder() -> None:
    first, second = object(), object()
    session = hold(first)
    assert hold(second) is session
    await release(first)
    await release(first)
    assert not session.closed
    await release(second)
    assert session.closed
    fresh = hold(first)
    assert fresh is not session
    await release(first)


async def test_letting_go_of_what_was_never_held_closes_nothing() -> None:
    holder = object()
    await release(holder)
    session = hold(holder)
    await release(object())
    assert not session.closed
    await release(holder)


def test_each_loop_has_its_own() -> None:
    holder = object()

    async def held() -> int:
        number = id(hold(holder))
        await release(holder)
        return number

    async def one_in_another_thread() -> None:
        session = hold(holder)
        assert await asyncio.to_thread(lambda: asyncio.run(held())) != id(session)
        assert not session.closed
        await release(holder)
        assert session.closed

    asyncio.run(one_in_another_thread())
