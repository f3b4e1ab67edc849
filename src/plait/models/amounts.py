"""Calls, tokens, money and time as one value: what is left of a budget, was spent, or will be needed.

Knows nothing of limits or calls.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LimitName = Literal["calls", "tokens", "usd", "seconds"]
UNITS: dict[LimitName, str] = {"calls": "model calls", "tokens": "tokens", "usd": "USD", "seconds": "seconds"}


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """Never below zero."""

    calls: float = 0
    tokens: float = 0
    usd: float = 0.0
    seconds: float = 0.0


def mean_of(amounts: Sequence[Amounts]) -> Amounts:
    """Return the mean of at least one."""
    return Amounts(
        calls=math.fsum(each.calls for each in amounts) / len(amounts),
        tokens=math.fsum(each.tokens for each in amounts) / len(amounts),
        usd=math.fsum(each.usd for each in amounts) / len(amounts),
        seconds=math.fsum(each.seconds for each in amounts) / len(amounts),
    )


def share_of(amounts: Amounts, parts: int) -> Amounts:
    """Return what one of several equal parts took."""
    return Amounts(
        calls=amounts.calls / parts,
        tokens=amounts.tokens / parts,
        usd=amounts.usd / parts,
        seconds=amounts.seconds / parts,
    )


def lacking(left: Amounts, needed: Amounts) -> LimitName | None:
    """Return the first limit by which there is too little; None where all is enough."""
    names: tuple[LimitName, ...] = ("calls", "tokens", "usd", "seconds")
    return next((name for name in names if getattr(needed, name) > getattr(left, name)), None)


def shortage(limit: LimitName, left: Amounts, needed: Amounts) -> str:
    """Say in a few words how much of a limit is left, and how much will be needed."""
    there, asked = (getattr(each, limit) for each in (left, needed))
    if limit == "usd":
        return f"{there:,.2f} USD are left, about {asked:,.2f} are needed"
    # Half a call pays for none.
    there, asked = f"{math.floor(there):,}", f"{math.ceil(asked):,}"
    return f"{there} {UNITS[limit]} are left, about {asked} are needed"
