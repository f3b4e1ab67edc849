"""The benchmarks there are, by their names.

One more is one more module here with a `Benchmark`, and its name in this table.
"""

from collections.abc import Mapping
from typing import Any

from plait.bench.benchmark import Benchmark
from plait.bench.benchmarks.srdd import SRDD
from plait.bench.benchmarks.stories import STORIES
from plait.bench.benchmarks.workbench import WORKBENCH
from plait.errors import UserError

BENCHMARKS: Mapping[str, Benchmark[Any]] = {each.name: each for each in (WORKBENCH, SRDD, STORIES)}


def named(name: str) -> Benchmark[Any]:
    """Return the benchmark of that name.

    Raises:
        UserError: there is none.
    """
    if name not in BENCHMARKS:
        raise UserError(f"there is no benchmark {name!r}; there is: {', '.join(BENCHMARKS)}")
    return BENCHMARKS[name]
