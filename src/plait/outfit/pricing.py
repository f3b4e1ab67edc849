"""The model of a run before it is asked anything: whether it can be used, and whether its price is known.

Knows nothing of calls.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from plait.models.addresses import LOOPBACK_HOSTS
from plait.models.budget import Limits
from plait.models.prices import price_of
from plait.models.protocol import TokenUsage
from plait.models.resolve import SERVICES, resolve_model
from plait.outfit.hands import Hands
from plait.runtime.options import Options

EMBEDDED = "local"
"""What the names of models begin with that this process runs."""
PRICED_BY = ("model", "base_url", "max_usd")
"""Options on which it depends whether a limit on money binds."""
_SAMPLE = TokenUsage(input_tokens=1_000_000, output_tokens=1_000_000)


async def check_model(options: Options, hands: Hands) -> dict[str, Any]:
    """Look at the model before anything is recorded; nothing is connected.

    Returns:
        What to note about it, as an option.

    Raises:
        UserError: its name or its address cannot be used.
    """
    if hands.model is not None:
        return {"unpriced": price_of(hands.model, _SAMPLE) == 0}
    model = resolve_model(options.model, base_url=options.base_url or None)
    try:
        return {"unpriced": price_of(model, _SAMPLE) == 0}
    finally:
        await model.aclose()


def pricing_notes(options: Options, hands: Hands) -> Sequence[str]:
    """Say that a limit on money does not bind, where that may be a surprise."""
    free = hands.model is not None or at_home(options.model, options.base_url)
    if not options.unpriced or (free and options.max_usd == Limits.usd):
        return ()
    return (f"no price is known for model {options.model!r}, so --max-usd does not bind",)


def at_home(model: str, base_url: str = "") -> bool:
    """Whether the model runs on this machine, as far as its name and address tell."""
    provider = model.partition(":")[0]
    service = SERVICES.get(provider)
    address = base_url or (service.base_url if service else "")
    return urlsplit(address).hostname in LOOPBACK_HOSTS if address else provider == EMBEDDED
