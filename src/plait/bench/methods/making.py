"""The methods that benchmarks compare where something is made: Plait with its teams, and its baselines.

Knows nothing of how what they make is judged.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from plait.bench.baselines.generation import best_of, one_chain, one_step
from plait.bench.methods.method import OF_MODEL, PLAIT, Asked, Means, Method
from plait.runtime.options import Options


async def _baseline(options_of: Callable[[Options], Options], task: Asked, run_id: str, means: Means) -> str:
    return await PLAIT.solve(task, run_id, replace(means, options=options_of(means.options)))


_OF_MAKING = OF_MODEL | {"reading", "sandbox", "stall_seconds"}

METHODS: Mapping[str, Method[Any]] = {
    "plait": PLAIT,
    "single-agent": Method(
        solve=partial(_baseline, one_step),
        about="one agent in one step, the way of GPT-Engineer (Osika, 2023)",
        reads=_OF_MAKING,
    ),
    "single-chain": Method(
        solve=partial(_baseline, one_chain),
        about="one team through all phases, the way of ChatDev (Qian et al., 2024)",
        reads=_OF_MAKING | {"rounds", "prompts", "phases"},
    ),
    "best-of-n": Method(
        solve=partial(_baseline, best_of),
        about="the best of as many single agents as there would be teams, by the domain's quality",
        reads=_OF_MAKING | {"teams"},
        counts="teams",
    ),
}
