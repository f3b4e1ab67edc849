"""What a call costs, by genai-prices; nothing where no price is known.

Knows nothing of requests or budgets.
"""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from plait.models.addresses import LOOPBACK_HOSTS
from plait.models.protocol import LanguageModel, TokenUsage


def price_of(model: LanguageModel, usage: TokenUsage) -> float:
    """Return what such a call of any model costs, in US dollars; 0 where no price is known.

    A model that knows its prices has a method `price(usage)`; one that need not be paid for has none.
    """
    price: Callable[[TokenUsage], float] | None = getattr(model, "price", None)
    return price(usage) if price is not None else 0.0


class Prices:
    """The prices of one model at one provider."""

    def __init__(self, model: str, provider_url: str, provider: str | None = None) -> None:
        """Look nothing up yet; the provider is known by its address, else by its name."""
        self._model = model
        self._url = provider_url
        self._provider = provider
        self._known = urlsplit(provider_url).hostname not in LOOPBACK_HOSTS

    def priced(self, usage: TokenUsage) -> TokenUsage:
        """Return the usage with its money."""
        usd = self.usd(usage)
        return replace(usage, usd=usd) if usd else usage

    def usd(self, usage: TokenUsage) -> float:
        """Return the money for a usage; 0 where no price is known."""
        if not self._known:
            return 0.0
        usd = self._looked_up(usage, by_url=True) if self._url else None
        if usd is None and self._provider:
            usd = self._looked_up(usage, by_url=False)
        self._known = usd is not None
        return usd or 0.0

    def _looked_up(self, usage: TokenUsage, *, by_url: bool) -> float | None:
        import genai_prices  # 100 ms to import, and no use for local models

        tokens = genai_prices.Usage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_input_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            if by_url:
                price = genai_prices.calc_price(tokens, self._model, provider_api_url=self._url)
            else:
                price = genai_prices.calc_price(tokens, self._model, provider_id=self._provider)
        except LookupError:
            return None
        return float(price.total_price)
