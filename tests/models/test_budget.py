"""Budgets: what parallel calls reserve, settle and give back."""

import asyncio
import random
from typing import Any

import pytest

from plait.errors import BudgetExhausted, UserError
from plait.models.budget import Budget, Limits
from plait.models.estimate import estimate
from plait.models.protocol import FunctionCalling, Message, Request, Settings, TokenUsage, Typed
from plait.task import Usage


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def budget(clock: Clock | None = None, spent: Usage | None = None, **limits: Any) -> Budget:
    return Budget(Limits(**limits), clock=clock or Clock(), spent=spent or Usage())


@pytest.mark.parametrize("name", ["calls", "tokens", "usd", "seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_must_be_positive_and_finite(name: str, value: float) -> None:
    with pytest.raises(UserError, match=f"--max-{name} .*{value!r}"):
        Limits(**{name: value})  # pyright: ignore[reportArgumentType] - what a command line may give


def test_the_default_limits_can_be_shown() -> None:
    assert str(Limits()) == "200 calls, 1,000,000 tokens, 5 USD, 3,600 s"


async def test_a_call_costs_what_it_settles() -> None:
    purse = budget(calls=10, tokens=1_000, usd=1.0)
    async with purse.reserve(tokens=400, usd=0.5) as reservation:
        assert (purse.remaining().calls, purse.remaining().tokens, purse.remaining().usd) == (9, 600, 0.5)
        reservation.settle(TokenUsage(input_tokens=80, output_tokens=20, usd=0.25))
    assert (purse.remaining().calls, purse.remaining().tokens, purse.remaining().usd) == (9, 900, 0.75)


async def test_a_call_that_ends_well_without_settling_costs_what_it_reserved() -> None:
    purse = budget(tokens=1_000)
    async with purse.reserve(tokens=400):
        pass
    assert purse.remaining().tokens == 600


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError])
async def test_a_call_that_fails_gives_back_what_it_reserved(error: type[BaseException]) -> None:
    purse = budget(calls=1, tokens=400)
    with pytest.raises(error):
        async with purse.reserve(tokens=400):
            raise error
    assert (purse.remaining().calls, purse.remaining().tokens) == (1, 400)


async def test_a_call_that_fails_after_settling_is_paid_for() -> None:
    purse = budget(calls=5, tokens=400)

    async def call() -> None:
        async with purse.reserve(tokens=400) as reservation:
            reservation.settle(TokenUsage(input_tokens=100), calls=2)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await call()
    assert (purse.remaining().calls, purse.remaining().tokens) == (3, 300)


@pytest.mark.parametrize(
    ("limits", "asked", "limit", "told"),
    [
        (
            {"calls": 3},
            {},
            "calls",
            r"budget of 3 model calls is used up: 3 spent. Raise it with --max-calls",
        ),
        (
            {"tokens": 1_200},
            {"tokens": 201},
            "tokens",
            r"1,000 spent, the next call may need 201.*--max-tokens",
        ),
        ({"usd": 0.5}, {"usd": 0.3}, "usd", r"budget of 0.5 USD .*0.25 spent.*need 0.3.*--max-usd"),
        ({"seconds": 60}, {}, "seconds", r"60 seconds is used up: 60 spent. .*--max-seconds"),
    ],
)
async def test_what_does_not_fit_ends_with_the_option_that_raises_it(
    limits: dict[str, Any], asked: dict[str, Any], limit: str, told: str
) -> None:
    spent = Usage(model_calls=3, input_tokens=900, output_tokens=100, usd=0.25, seconds=60)
    with pytest.raises(BudgetExhausted, match=told) as caught:
        async with budget(spent=spent, **limits).reserve(**asked):
            pytest.fail("reserved")
    assert (caught.value.limit, caught.value.exit_status) == (limit, 3)


async def test_a_resumed_run_goes_on_with_what_is_left() -> None:
    clock = Clock()
    purse = budget(clock, Usage(model_calls=4, input_tokens=100, usd=1.0, seconds=50), calls=5, seconds=60)
    clock.now += 9
    left = purse.remaining()
    assert (left.calls, left.usd, left.seconds) == (1, 4.0, 1.0)
    clock.now += 5
    assert purse.remaining().seconds == 0
    with pytest.raises(BudgetExhausted, match="seconds"):
        async with purse.reserve():
            pytest.fail("reserved")


async def test_a_call_waits_while_only_reservations_stand_in_the_way() -> None:
    purse, order = budget(tokens=100), list[str]()
    release = asyncio.Event()

    async def first() -> None:
        async with purse.reserve(tokens=80) as reservation:
            order.append("first")
            await release.wait()
            reservation.settle(TokenUsage(input_tokens=10))

    async def second() -> None:
        async with purse.reserve(tokens=80):
            order.append("second")

    tasks = [asyncio.create_task(first()), asyncio.create_task(second())]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == ["first"]
    release.set()
    await asyncio.gather(*tasks)
    assert order == ["first", "second"]
    assert purse.remaining().tokens == 10


async def test_a_call_that_waited_in_vain_is_refused() -> None:
    purse = budget(calls=1)
    inside = asyncio.Event()
    release = asyncio.Event()

    async def first() -> None:
        async with purse.reserve():
            inside.set()
            await release.wait()

    async def second() -> None:
        async with purse.reserve():
            pytest.fail("reserved")

    holder = asyncio.create_task(first())
    await inside.wait()
    waiter = asyncio.create_task(second())
    await asyncio.sleep(0)
    assert not waiter.done()
    release.set()
    await holder
    with pytest.raises(BudgetExhausted):
        await waiter


async def test_a_cancelled_wait_takes_nothing() -> None:
    purse = budget(calls=1)

    async def second() -> None:
        async with purse.reserve():
            pytest.fail("reserved")

    async with purse.reserve() as reservation:
        waiter = asyncio.create_task(second())
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        reservation.settle(TokenUsage(), calls=0)
    assert purse.remaining().calls == 1


@pytest.mark.parametrize("seed", range(20))
async def test_parallel_calls_never_overspend(seed: int) -> None:
    draw = random.Random(seed)
    limits = Limits(calls=draw.randint(1, 30), tokens=draw.randint(1, 3_000), usd=draw.randint(1, 8))
    purse = Budget(limits, clock=Clock())
    spent = {"calls": 0, "tokens": 0, "usd": 0.0}
    open_now = {"calls": 0, "tokens": 0, "usd": 0.0}

    async def call(tokens: int, usd: float, fails: bool) -> None:
        async with purse.reserve(tokens=tokens, usd=usd) as reservation:
            for name, amount in (("calls", 1), ("tokens", tokens), ("usd", usd)):
                open_now[name] += amount
                assert spent[name] + open_now[name] <= getattr(limits, name)
            for _ in range(draw.randint(0, 3)):
                await asyncio.sleep(0)
            for name, amount in (("calls", 1), ("tokens", tokens), ("usd", usd)):
                open_now[name] -= amount
            if fails:
                raise RuntimeError
            used = draw.randint(0, tokens)
            reservation.settle(TokenUsage(input_tokens=used, usd=usd / 2))
            spent["calls"] += 1
            spent["tokens"] += used
            spent["usd"] += usd / 2

    asked = [call(draw.randint(0, 400), draw.choice([0, 0.25, 1]), draw.random() < 0.2) for _ in range(60)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(result) for result in results} <= {type(None), RuntimeError, BudgetExhausted}
    left = purse.remaining()
    assert left.calls == limits.calls - spent["calls"]
    assert left.tokens == limits.tokens - spent["tokens"]
    assert left.usd == pytest.approx(limits.usd - spent["usd"])


def test_an_estimate_counts_prompt_form_and_longest_reply() -> None:
    messages = (Message(role="system", content="a" * 30), Message(role="user", content="b" * 30))
    plain = Request(messages=messages, settings=Settings(max_tokens=100))
    assert estimate(plain) == TokenUsage(input_tokens=20, output_tokens=100)
    typed = Request(
        messages=messages, form=Typed(schema={"type": "object"}), settings=Settings(max_tokens=100)
    )
    assert estimate(typed).input_tokens > 20
    tools = FunctionCalling(tools=[{"name": "a", "description": "d" * 300, "parameters": {}}])
    offered = Request(messages=messages, form=tools, settings=Settings(max_tokens=100))
    assert estimate(offered).input_tokens > 120


def test_an_estimate_does_not_underrate_scripts_of_long_characters() -> None:
    request = Request(
        messages=(Message(role="user", content="\u6f22" * 90),), settings=Settings(max_tokens=1)
    )
    assert estimate(request) == TokenUsage(input_tokens=90, output_tokens=1)


async def test_what_a_part_spends_the_whole_spends_too() -> None:
    run = budget(calls=10, tokens=1_000, usd=1.0)
    team = run.part("team-1", 0.5)
    phase = team.part("coding")
    async with phase.reserve(tokens=300, usd=0.25) as reservation:
        assert (run.remaining().calls, team.remaining().calls) == (9, 4)
        assert (run.unspent().tokens, phase.unspent().tokens) == (1_000, 500)
        reservation.settle(TokenUsage(input_tokens=80, output_tokens=20, seconds=3.0, usd=0.125))
    for level in (run, team, phase):
        assert (level.spent.calls, level.spent.tokens, level.spent.usd) == (1, 100, 0.125)
        assert level.spent.seconds == 3.0
    assert (run.unspent().calls, team.unspent().calls, phase.unspent().calls) == (9, 4, 4)
    assert run.part("other").unspent().calls == 9


async def test_a_part_that_used_its_share_up_ends_alone() -> None:
    run = budget(calls=10)
    first, second = run.part("team-1", 0.2), run.part("team-2", 0.2)
    for _ in range(2):
        async with first.reserve():
            pass
    with pytest.raises(
        BudgetExhausted, match="The share of team-1 of the budget, 2 model calls, is"
    ) as error:
        async with first.reserve():
            pass
    assert (error.value.part, error.value.limit) == ("team-1", "calls")
    assert run.remaining().calls == 8
    async with second.reserve():
        pass


async def test_what_the_whole_lacks_is_no_matter_of_its_parts() -> None:
    run = budget(calls=2)
    limited, free = run.part("team-1", 0.5), run.part("team-2")
    async with limited.reserve():
        pass
    async with run.reserve():
        pass
    for part in (limited, free):
        with pytest.raises(BudgetExhausted) as error:
            async with part.reserve():
                pass
        assert error.value.part == ""
        assert error.value.message.startswith("The budget of 2 model calls is used up")


async def test_parts_wait_for_what_others_reserved() -> None:
    run = budget(calls=10, tokens=100)
    parts = [run.part(f"team-{number}", 0.9) for number in range(4)]
    held: list[int] = []

    async def spend(part: Budget) -> None:
        async with part.reserve(tokens=60) as reservation:
            held.append(100 - int(run.remaining().tokens))
            await asyncio.sleep(0.01)
            reservation.settle(TokenUsage(input_tokens=10))

    await asyncio.gather(*map(spend, parts))
    assert held == [60, 70, 80, 90]
    assert run.spent.tokens == 40
    assert all(part.remaining().calls == 8 for part in parts)


async def test_a_call_on_record_counts_to_the_part_alone() -> None:
    run = budget(spent=Usage(model_calls=3, input_tokens=30), calls=10)
    team = run.part("team-1", 0.5)
    team.part("coding").recall(TokenUsage(input_tokens=20, output_tokens=5))
    assert (team.spent.calls, team.spent.tokens) == (1, 25)
    assert (run.spent.calls, run.spent.tokens) == (3, 30)


def test_the_time_of_a_part_is_that_of_the_whole() -> None:
    clock = Clock()
    run = budget(clock, seconds=100.0)
    clock.now += 30
    part = run.part("team-1", 0.1)
    clock.now += 30
    assert part.unspent().seconds == part.remaining().seconds == 40
