"""The benchmarks there are, by their names."""

from collections.abc import Mapping
from typing import Any

from plait.bench.benchmark import Benchmark
from plait.bench.benchmarks.workbench import WORKBENCH

BENCHMARKS: Mapping[str, Benchmark[Any]] = {each.name: each for each in (WORKBENCH,)}
