"""How large an embedded engine may be: parallel slots and context within a stated limit of memory.

Knows nothing of processes. The limit and the sizes can be set in the environment:
PLAIT_ENGINE_MEMORY (such as 4GiB), PLAIT_ENGINE_CONTEXT (tokens of one slot), PLAIT_ENGINE_SLOTS,
PLAIT_ENGINE_THREADS.
"""

import os
import re
from dataclasses import dataclass

from plait.errors import UserError
from plait.models.gguf import ModelShape
from plait.models.machine import GIB, available_memory_bytes, threads

DEFAULT_MEMORY_BYTES = 4 * GIB
DEFAULT_CONTEXT_TOKENS = 8192
LEAST_CONTEXT_TOKENS = 2048
MOST_SLOTS = 8
# Measured: weights that llama.cpp repacks for the processor count again, by about a third.
_WEIGHTS_FACTOR = 1.4
_BUFFER_BYTES = GIB // 4
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True, kw_only=True)
class EngineSize:
    """What one engine is started with."""

    slots: int
    context_tokens: int
    """Of one slot."""
    threads: int
    memory_bytes: int
    """What it takes when all slots are full, about."""


def engine_size(name: str, shape: ModelShape) -> EngineSize:
    """Return the size of the engine for a model, as the environment and this machine allow.

    Raises:
        UserError: not even one small slot fits, or a setting cannot be read.
    """
    limit, stated = memory_limit_bytes(), _number("PLAIT_ENGINE_CONTEXT", least=256)
    wanted = stated or DEFAULT_CONTEXT_TOKENS
    wanted = min(wanted, shape.trained_context or wanted)
    # A context that was asked for is given whole or not at all; the default may shrink.
    least = wanted if stated else min(wanted, LEAST_CONTEXT_TOKENS)
    fixed = int(shape.file_bytes * _WEIGHTS_FACTOR) + _BUFFER_BYTES
    room = max(0, limit - fixed) // max(shape.bytes_per_token, 1)
    if room < least:
        needed = fixed + least * shape.bytes_per_token
        raise UserError(
            f"Model {name!r} needs {needed / GIB:.1f} GiB of memory and the embedded engine may take "
            f"{limit / GIB:.1f} GiB; set PLAIT_ENGINE_MEMORY higher or choose a smaller model."
        )
    context = wanted if room >= wanted else max(least, room // 256 * 256)
    most = _number("PLAIT_ENGINE_SLOTS", least=1) or MOST_SLOTS
    slots = max(1, min(most, room // context))
    return EngineSize(
        slots=slots,
        context_tokens=context,
        threads=_number("PLAIT_ENGINE_THREADS", least=1) or threads(),
        memory_bytes=fixed + slots * context * shape.bytes_per_token,
    )


def memory_limit_bytes() -> int:
    """Return the stated limit, by default half of what is free and 4 GiB at most."""
    stated = os.environ.get("PLAIT_ENGINE_MEMORY", "").strip()
    if not stated:
        return min(available_memory_bytes() // 2, DEFAULT_MEMORY_BYTES)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", stated, re.IGNORECASE)
    if match is None or float(match[1]) == 0:
        raise UserError(f"PLAIT_ENGINE_MEMORY={stated!r} is no amount of memory; write it like 4GiB.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def _number(variable: str, *, least: int) -> int | None:
    stated = os.environ.get(variable, "").strip()
    if not stated:
        return None
    if not stated.isdecimal() or int(stated) < least:
        raise UserError(f"{variable}={stated!r} is no whole number of at least {least}.")
    return int(stated)
