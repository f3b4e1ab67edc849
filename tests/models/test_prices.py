"""What calls cost."""

from plait.models.prices import Prices
from plait.models.protocol import TokenUsage

USED = TokenUsage(input_tokens=1000, output_tokens=1000)
OPENAI = "https://api.openai.com/v1"


def test_a_known_model_has_a_price_and_cached_tokens_cost_less() -> None:
    prices = Prices("gpt-4o-mini", OPENAI)
    whole = prices.priced(USED).usd
    cached = prices.priced(TokenUsage(input_tokens=1000, cached_input_tokens=1000, output_tokens=1000)).usd
    assert 0 < cached < whole < 0.01


def test_what_is_local_or_unknown_costs_nothing() -> None:
    assert Prices("gpt-4o-mini", "http://localhost:8080/v1").priced(USED) == USED
    unknown = Prices("no-such-model", OPENAI)
    assert unknown.priced(USED) == unknown.priced(USED) == USED
