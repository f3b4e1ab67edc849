"""What a call costs, by genai-prices; nothing where no price is known.

Knows nothing of requests or budgets.
"""

from dataclasses import replace
from urllib.parse import urlsplit

from plait.models.protocol import TokenUsage


class Prices:
    """The prices of one model at one provider."""

    def __init__(self, model: str, provider_url: str) -> None:
        """Look nothing up yet; the provider is known by its address."""
        self._model = model
        self._url = provider_url
        self._known = urlsplit(provider_url).hostname not in ("localhost", "127.0.0.1", "::1")

    def priced(self, usage: TokenUsage) -> TokenUsage:
        """Return the usage with its money."""
        usd = self._usd(usage) if self._known else 0.0
        return replace(usage, usd=usd) if usd else usage

    def _usd(self, usage: TokenUsage) -> float:
        import genai_prices  # 100 ms to import, and no use for local models

        tokens = genai_prices.Usage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_input_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            price = genai_prices.calc_price(tokens, self._model, provider_api_url=self._url)
        except LookupError:
            self._known = False
            return 0.0
        return float(price.total_price)
