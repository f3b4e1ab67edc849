"""Budgets: limits on calls, tokens, money and time that n parallel calls cannot overspend.

Knows nothing of models or runs. A call reserves what it may cost before it is made and settles what it
did cost afterwards; a reservation that fits only once others have settled waits for them.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from typing import Literal

from plait.errors import BudgetExhausted, UserError
from plait.models.encoding import encoded
from plait.models.protocol import FunctionCalling, Request, TokenUsage, Typed
from plait.task import Usage

DEFAULT_CALLS = 200
DEFAULT_TOKENS = 1_000_000
DEFAULT_USD = 5.0
DEFAULT_SECONDS = 3_600.0

BYTES_PER_TOKEN = 3
"""Of a prompt in UTF-8; most texts have about four, so the estimate is rather too high."""

LimitName = Literal["calls", "tokens", "usd", "seconds"]
_UNITS: dict[LimitName, str] = {
    "calls": "model calls",
    "tokens": "tokens",
    "usd": "USD",
    "seconds": "seconds",
}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run may consume at most."""

    calls: int = DEFAULT_CALLS
    """Model calls."""
    tokens: int = DEFAULT_TOKENS
    """Input and output tokens together, cached ones too."""
    usd: float = DEFAULT_USD
    seconds: float = DEFAULT_SECONDS
    """Wall-clock seconds over all processes of the run."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not (value > 0 and math.isfinite(value)):
                raise UserError(f"--max-{item.name} must be a positive finite number, not {value!r}.")

    def __str__(self) -> str:
        return f"{self.calls:,} calls, {self.tokens:,} tokens, {self.usd:g} USD, {self.seconds:,.0f} s"


@dataclass(frozen=True, kw_only=True)
class Remaining:
    """What is neither spent nor reserved; never below zero."""

    calls: int
    tokens: int
    usd: float
    seconds: float


@dataclass(kw_only=True)
class _Amount:
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0

    def add(self, other: "_Amount", sign: int = 1) -> None:
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.usd += sign * other.usd


@dataclass(kw_only=True)
class Reservation:
    """What one call may consume; settled with what it did consume."""

    _held: _Amount
    _actual: _Amount | None = field(default=None, init=False)

    def settle(self, usage: TokenUsage, *, calls: int = 1) -> None:
        """State the actual consumption; without it, a call that ends well costs what was reserved."""
        tokens = usage.input_tokens + usage.output_tokens
        self._actual = _Amount(calls=calls, tokens=tokens, usd=usage.usd)

    def cost(self, *, failed: bool) -> _Amount:
        """Return what is charged: the settled amount, else the reserved one, else nothing on failure."""
        if self._actual is not None:
            return self._actual
        return _Amount() if failed else self._held


class Budget:
    """The budget of one run, shared by all its branches in one event loop."""

    def __init__(
        self,
        limits: Limits,
        *,
        clock: Callable[[], float] = time.monotonic,
        spent: Usage = Usage(),  # noqa: B008 - frozen
    ) -> None:
        """Start the clock; `spent` is what earlier processes of a resumed run consumed."""
        self.limits = limits
        self._clock = clock
        self._started = clock() - spent.seconds
        self._spent = _Amount(
            calls=spent.model_calls, tokens=spent.input_tokens + spent.output_tokens, usd=spent.usd
        )
        self._reserved = _Amount()
        self._waiting: set[asyncio.Future[None]] = set()

    def remaining(self) -> Remaining:
        """Return what a new reservation could still take at once."""
        spent, reserved = self._spent, self._reserved
        return Remaining(
            calls=max(0, self.limits.calls - spent.calls - reserved.calls),
            tokens=max(0, self.limits.tokens - spent.tokens - reserved.tokens),
            usd=max(0.0, self.limits.usd - spent.usd - reserved.usd),
            seconds=max(0.0, self.limits.seconds - self._elapsed()),
        )

    @asynccontextmanager
    async def reserve(
        self, *, calls: int = 1, tokens: int = 0, usd: float = 0.0
    ) -> AsyncGenerator[Reservation]:
        """Set an amount aside while a call runs; on an error without `settle` it is given back.

        Waits while only the reservations of other calls stand in the way, so a call must not be made
        inside the reservation of another one.

        Raises:
            BudgetExhausted: the amount does not fit into what is not spent, or the time is over.
        """
        held = _Amount(calls=calls, tokens=tokens, usd=usd)
        await self._take(held)
        reservation = Reservation(_held=held)
        failed = True
        try:
            yield reservation
            failed = False
        finally:
            self._reserved.add(held, -1)
            self._spent.add(reservation.cost(failed=failed))
            self._wake()

    @asynccontextmanager
    async def in_time(self) -> AsyncGenerator[None]:
        """Run something that ends, cancelled, when the time is over.

        Raises:
            BudgetExhausted: it did not end by itself.
        """
        limit = asyncio.timeout(self.remaining().seconds)
        try:
            async with limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise _exhausted("seconds", self.limits.seconds, self._elapsed(), 0) from error

    async def _take(self, held: _Amount) -> None:
        while True:
            self._refuse(held)
            if self._fits(held):
                self._reserved.add(held)
                return
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.add(waiter)
            try:
                await waiter
            finally:
                self._waiting.discard(waiter)

    def _fits(self, held: _Amount) -> bool:
        left = self.remaining()
        return held.calls <= left.calls and held.tokens <= left.tokens and held.usd <= left.usd

    def _refuse(self, held: _Amount) -> None:
        """Raise if the amount would not fit even if no other call were running."""
        elapsed = self._elapsed()
        if elapsed >= self.limits.seconds:
            raise _exhausted("seconds", self.limits.seconds, elapsed, 0)
        checks: tuple[tuple[LimitName, float, float, float], ...] = (
            ("calls", self.limits.calls, self._spent.calls, held.calls),
            ("tokens", self.limits.tokens, self._spent.tokens, held.tokens),
            ("usd", self.limits.usd, self._spent.usd, held.usd),
        )
        for name, limit, spent, asked in checks:
            if spent + asked > limit or (spent >= limit and name != "usd"):
                raise _exhausted(name, limit, spent, asked)

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _elapsed(self) -> float:
        return self._clock() - self._started


def estimate(request: Request) -> TokenUsage:
    """Return about what a call may consume at most: its prompt and its form, and the longest reply."""
    texts = [message.content for message in request.messages]
    match request.form:
        case Typed(schema=schema):
            texts.append(encoded(schema).decode())
        case FunctionCalling(tools=tools):
            texts.append(encoded(tools).decode())
        case _:
            pass  # A grammar is held against the reply, never read as a prompt.
    prompt = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return TokenUsage(
        input_tokens=math.ceil(prompt / BYTES_PER_TOKEN), output_tokens=request.settings.max_tokens
    )


def _exhausted(name: LimitName, limit: float, spent: float, asked: float) -> BudgetExhausted:
    need = f", the next call may need {_figure(asked)}" if asked and name != "calls" else ""
    return BudgetExhausted(
        f"The budget of {_figure(limit)} {_UNITS[name]} is used up: {_figure(spent)} spent{need}. "
        f"Raise it with --max-{name}.",
        limit=name,
    )


def _figure(value: float) -> str:
    return f"{value:,.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
