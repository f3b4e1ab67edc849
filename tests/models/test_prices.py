"""What calls cost."""

from plait.models.chat import ChatModel
from plait.models.prices import Prices, price_of
from plait.models.protocol import TokenUsage
from plait.models.retry import RetryingModel
from plait.models.scripted import ScriptedModel

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


def test_a_provider_without_an_address_of_its_own_is_known_by_its_name() -> None:
    named = Prices("gpt-4o-mini", "", "openai").priced(USED)
    assert named == Prices("gpt-4o-mini", OPENAI).priced(USED)
    assert Prices("gpt-4o-mini", "https://proxy.invalid/v1", "openai").priced(USED) == named
    assert Prices("gpt-4o-mini", "").priced(USED) == USED


def test_the_price_of_a_model_is_known_before_it_is_asked_and_through_its_retries() -> None:
    paid = ChatModel("openai:gpt-4o-mini", OPENAI, "gpt-4o-mini", "key")
    assert price_of(RetryingModel(paid), USED) == price_of(paid, USED) == paid.price(USED) > 0
    assert price_of(RetryingModel(ScriptedModel([])), USED) == 0.0
