"""Words and numbers as the terminal shows them: one line, bounded, free of control characters.

Knows nothing of runs. What tools and models wrote passes through `clean` or `one_line` before it is
shown, so that no text can move the cursor or forge a line of the display.
"""

import json
from collections.abc import Mapping
from typing import Any

from plait.models.ledger import cached_share
from plait.task import Usage

ELLIPSIS = "…"
MINUTE_SECONDS = 60
HOUR_SECONDS = 3_600
DAY_SECONDS = 86_400
EXACT_TOKENS = 10_000
"""Below, every token is counted in what is shown."""
LIMITS = {
    "max_calls": "{:,} calls",
    "max_tokens": "{:,} tokens",
    "max_usd": "${:,.2f}",
    "max_seconds": "{:,g} s",
}
"""How each limit of a budget is spelled, by the name of its option."""


def clean(text: str) -> str:
    """Drop what a terminal could act on (control and formatting characters); keep line breaks."""
    spaced = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(character for character in spaced if character == "\n" or character.isprintable())


def one_line(text: str, limit: int = 400) -> str:
    """Return text as one clean line of at most `limit` characters."""
    line = clean(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + ELLIPSIS


def value_text(value: Any) -> str:
    """Return any JSON value as text: text as it is, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def domain_text(domain: str) -> str:
    """Return the name of a domain: of a file, the file's; of a Python program, what that calls it."""
    return one_line(domain.rpartition("/")[2].removesuffix(".toml").removeprefix("python:"))


def score_text(score: float | None) -> str:
    """Return a score as `9/10`."""
    return "no score" if score is None else f"{score:g}/10"


def seconds_text(seconds: float) -> str:
    """Return a duration, finer the shorter it is."""
    if seconds < MINUTE_SECONDS:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), MINUTE_SECONDS)
    if minutes < MINUTE_SECONDS:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // MINUTE_SECONDS} h {minutes % MINUTE_SECONDS:02d} min"


def age_text(seconds: float) -> str:
    """Return how long ago something was, in its largest unit."""
    if seconds < MINUTE_SECONDS:
        return "just now"
    for unit, size in (("d", DAY_SECONDS), ("h", HOUR_SECONDS), ("min", MINUTE_SECONDS)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    raise AssertionError("a minute or more always has a unit")


def money_text(usd: float) -> str:
    """Return money: cents where there are some, more digits where there are not."""
    return f"${usd:.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.4f}"


def count_text(number: int, noun: str) -> str:
    """Return `1 call`, `1,200 calls`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def settings_text(options: Mapping[str, Any]) -> str:
    """Return the options that are set, as `name=value`; empty and switched-off ones are left out."""
    shown = {name: value for name, value in options.items() if value not in (None, "", False, [], (), {})}
    return ", ".join(f"{name}={one_line(value_text(value), 120)}" for name, value in shown.items())


def limits_text(options: Mapping[str, Any]) -> str:
    """Return the budget of a run, from its options; empty where it has none.

    Money is left out where no price is known: that limit does not bind.
    """
    shown = [
        spell.format(options[name])
        for name, spell in LIMITS.items()
        if isinstance(options.get(name), int | float) and not (name == "max_usd" and options.get("unpriced"))
    ]
    return "at most " + " · ".join(shown) if shown else ""


def usage_text(usage: Usage) -> str:
    """Return what was consumed: time, calls, tokens, and money where there was any; and what was saved."""
    cached = f" ({cached_text(usage)} cached)" if usage.cached_input_tokens else ""
    parts = [
        seconds_text(usage.seconds),
        count_text(usage.model_calls, "model call"),
        f"{tokens_text(usage.input_tokens)} tokens in{cached}, {tokens_text(usage.output_tokens)} out",
        count_text(usage.tool_calls, "tool call"),
    ]
    if usage.usd:
        parts.append(money_text(usage.usd))
    if usage.shared_calls:
        calls = count_text(usage.shared_calls, "equal call")
        parts.append(f"saved {calls}, {tokens_text(usage.saved_tokens)} tokens")
    return " · ".join(parts)


def tokens_text(tokens: int) -> str:
    """Return a number of tokens, in thousands where it is large."""
    return f"{tokens:,}" if tokens < EXACT_TOKENS else f"{tokens / 1000:,.1f}k"


def cached_text(usage: Usage) -> str:
    """Return the share of the input that did not have to be read again."""
    return f"{cached_share(usage):.0%}"
