"""Budgets: limits on calls, tokens, money and time that n parallel calls cannot overspend.

A call reserves what it may cost before it is made and settles what it did cost afterwards; a reservation
that fits only once others have settled waits for them. A budget has parts (of a run its teams, of a team
its phases), each with a limit of its own; a call reserves from the part it belongs to and from all above.
Knows nothing of models, runs or teams.
"""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields

from plait.errors import BudgetExhausted, UserError
from plait.models.amounts import UNITS, Amounts, LimitName
from plait.models.protocol import TokenUsage
from plait.task import Usage

DEFAULT_CALLS = 200
DEFAULT_TOKENS = 1_000_000
DEFAULT_USD = 5.0
DEFAULT_SECONDS = 3_600.0


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


@dataclass(kw_only=True)
class _Amount:
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0
    """That models took; not those of the clock."""

    def add(self, other: "_Amount", sign: int = 1) -> None:
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.usd += sign * other.usd
        self.seconds += sign * other.seconds


@dataclass(kw_only=True)
class Reservation:
    """What one call may consume; settled with what it did consume."""

    _held: _Amount
    _actual: _Amount | None = field(default=None, init=False)

    def settle(self, usage: TokenUsage, *, calls: int = 1) -> None:
        """State the actual consumption; without it, a call that ends well costs what was reserved."""
        self._actual = _consumed(usage, calls)

    def cost(self, *, failed: bool) -> _Amount:
        """Return what is charged: the settled amount, else the reserved one, else nothing on failure."""
        if self._actual is not None:
            return self._actual
        return _Amount() if failed else self._held


class Budget:
    """The budget of one run or of a part of it, shared by all its branches in one event loop."""

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
        self._above: tuple[Budget, ...] = ()
        self._name = ""
        self._bound = True
        """Whether it has limits of its own."""

    def part(self, name: str, share: float = 1.0) -> "Budget":
        """Return the budget of a part: what it spends, this one spends too.

        Args:
            name: What errors call it.
            share: Of this budget's limits on calls, tokens and money, above 0: so much of them the part may
                take; from 1 on it has no limit of its own. Time has no parts: work at once takes it together.
        """
        limits = Limits(
            calls=math.ceil(self.limits.calls * share),
            tokens=math.ceil(self.limits.tokens * share),
            usd=self.limits.usd * share,
            seconds=self.limits.seconds,
        )
        part = Budget(limits, clock=self._clock)
        part._started, part._name, part._above = self._started, name, (self, *self._above)
        part._bound = share < 1
        return part

    @property
    def spent(self) -> Amounts:
        """What was spent; the seconds are those that models took, one after the other."""
        spent = self._spent
        return Amounts(calls=spent.calls, tokens=spent.tokens, usd=spent.usd, seconds=spent.seconds)

    def unspent(self) -> Amounts:
        """Return what is not spent, here and above, whatever is reserved of it."""
        levels = [each for each in (self, *self._above) if each._bound]
        return Amounts(
            calls=max(0, min(each.limits.calls - each._spent.calls for each in levels)),
            tokens=max(0, min(each.limits.tokens - each._spent.tokens for each in levels)),
            usd=max(0.0, min(each.limits.usd - each._spent.usd for each in levels)),
            seconds=max(0.0, self.limits.seconds - self._elapsed()),
        )

    def recall(self, usage: TokenUsage) -> None:
        """Count a call that is on record: to the parts only, for the run was charged when it began."""
        for level in (self, *self._above)[:-1]:
            level._spent.add(_consumed(usage, 1))

    def remaining(self) -> Amounts:
        """Return what a new reservation could still take at once, as far as this budget alone goes."""
        spent, reserved = self._spent, self._reserved
        return Amounts(
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
            BudgetExhausted: the amount does not fit into what is not spent, here or above, or the time is
                over.
        """
        held = _Amount(calls=calls, tokens=tokens, usd=usd)
        reservation = Reservation(_held=held)
        taken: list[Budget] = []
        failed = True
        try:
            # What the whole lacks is no matter of the part.
            for level in reversed((self, *self._above)):
                level._refuse(held)
            for level in (self, *self._above):
                await level._take(held)
                taken.append(level)
            yield reservation
            failed = False
        finally:
            cost = reservation.cost(failed=failed)
            for level in taken:
                level._reserved.add(held, -1)
                level._spent.add(cost)
                level._wake()

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
        fits = held.calls <= left.calls and held.tokens <= left.tokens and held.usd <= left.usd
        return fits or not self._bound

    def _refuse(self, held: _Amount) -> None:
        """Raise if the amount would not fit even if no other call were running."""
        if not self._bound:
            return
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
                raise _exhausted(name, limit, spent, asked, self._name)

    def _wake(self) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)

    def _elapsed(self) -> float:
        return self._clock() - self._started


def _exhausted(name: LimitName, limit: float, spent: float, asked: float, part: str = "") -> BudgetExhausted:
    need = f", the next call may need {_figure(asked)}" if asked and name != "calls" else ""
    what = f"The share of {part} of the budget," if part else "The budget of"
    whole = "the whole" if part else "it"
    return BudgetExhausted(
        f"{what} {_figure(limit)} {UNITS[name]}{',' if part else ''} is used up: {_figure(spent)} spent"
        f"{need}. Raise {whole} with --max-{name}.",
        limit=name,
        part=part,
    )


def _consumed(usage: TokenUsage, calls: int) -> _Amount:
    tokens = usage.input_tokens + usage.output_tokens
    return _Amount(calls=calls, tokens=tokens, usd=usage.usd, seconds=usage.seconds)


def _figure(value: float) -> str:
    return f"{value:,.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"
