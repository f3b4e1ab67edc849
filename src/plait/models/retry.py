"""Try a model again when its failure may pass: exponential backoff with full jitter.

Knows nothing of what failed: only a `TransientModelError` is tried again, everything else goes through.
"""

import asyncio
import random as _random
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from plait.errors import ModelError, TransientModelError
from plait.models.prices import price_of
from plait.models.protocol import LanguageModel, Reply, Request, TokenUsage

OnRetry: TypeAlias = Callable[[str, int, float], None]
"""Called with the reason, the number of the attempt that failed (from 1) and the seconds until the next."""

ATTEMPTS = 5
BASE_SECONDS = 0.5
"""The longest pause after the first failure; it doubles with each."""
LONGEST_RETRY_AFTER_SECONDS = 120.0
"""An endpoint that asks for a longer pause ends the call: the user should hear of it, not wait unasked."""


class RetryingModel:
    """A model whose passing failures do not show."""

    def __init__(
        self,
        inner: LanguageModel,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Callable[[], float] = _random.random,
        on_retry: OnRetry | None = None,
    ) -> None:
        """Wrap a model.

        Args:
            inner: The model that is asked.
            sleep: Waits; tests give their own.
            random: Uniform between 0 and 1; tests give their own.
            on_retry: Told of every failure that is tried again, in the task that called `complete`.
        """
        self.inner = inner
        self._sleep = sleep
        self._random = random
        self._on_retry = on_retry

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def takes_grammar(self) -> bool:
        return self.inner.takes_grammar

    def price(self, usage: TokenUsage) -> float:
        """Return what such a call costs; see `price_of`."""
        return price_of(self.inner, usage)

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            ModelError: every attempt failed, or one failed for good; never a TransientModelError.
        """
        for attempt in range(1, ATTEMPTS):
            try:
                return await self.inner.complete(request)
            except TransientModelError as error:
                delay = self._delay(attempt, error)
                if self._on_retry is not None:
                    self._on_retry(error.message, attempt, delay)
            await self._sleep(delay)
        try:
            return await self.inner.complete(request)
        except TransientModelError as error:
            raise ModelError(f"{error.message.rstrip('.')} (gave up after {ATTEMPTS} attempts).") from error

    async def aclose(self) -> None:
        """Close the wrapped model."""
        await self.inner.aclose()

    def _delay(self, attempt: int, error: TransientModelError) -> float:
        asked = error.retry_after_seconds or 0.0
        if asked > LONGEST_RETRY_AFTER_SECONDS:
            raise ModelError(
                f"{error.message.rstrip('.')}; it asks to wait {asked:.0f} s, "
                f"longer than the {LONGEST_RETRY_AFTER_SECONDS:.0f} s that a run waits. Try again later."
            ) from error
        jitter = self._random() * BASE_SECONDS * 2 ** (attempt - 1)
        # Jitter comes on top of what was asked for, or all agents would come back in the same moment.
        return asked + jitter
