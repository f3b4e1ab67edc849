"""`plait bench`: run a benchmark with one or several methods, and compare them.

Each finished task is kept, so that the same command goes on where it was stopped. Knows nothing of how a
task is solved or judged.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any

import typer

from plait.bench.benchmark import Benchmark
from plait.bench.benchmarks import BENCHMARKS
from plait.bench.plan import Entry, plan
from plait.cli.bench_ablate import ablating
from plait.cli.bench_flags import MAKING_OPTIONS, TOOL_OPTIONS, BenchFlags, spread
from plait.cli.bench_learn import learning
from plait.cli.bench_progress import run_plan
from plait.cli.bench_report import reporting
from plait.cli.bench_table import as_object, print_tables
from plait.cli.flags import changes_of, with_flags

app = typer.Typer(help="Run a benchmark and compare methods.", no_args_is_help=True)


def _command_of(benchmark: Benchmark[Any]) -> Callable[..., Any]:
    methods = f"Repeatable: {', '.join(benchmark.methods)}. Default: plait."

    def command(
        flags: BenchFlags,
        method: Annotated[list[str] | None, typer.Option("--method", help=methods)] = None,
        **given: Any,
    ) -> None:
        said = changes_of(given)
        options = benchmark.options(said)
        entries = [
            Entry(label=benchmark.method(name).label(name, options), method=name, options=options)
            for name in dict.fromkeys(method or ["plait"])
        ]
        planned = plan(benchmark, entries, flags.wanted(benchmark.name))
        found = run_plan(planned, said)
        if flags.as_json:
            print(json.dumps(as_object(benchmark, found, planned)))
        else:
            print_tables(benchmark, found, planned.kinds())
            print(f"\nEvery task is a line in {planned.folder}; plait show RUN tells how it went.")

    ways = "\n\n".join(f"{name}: {each.about}." for name, each in benchmark.methods.items())
    command.__doc__ = f"{benchmark.about}\n\nSeveral methods run the same tasks and are compared:\n\n{ways}"
    return with_flags(spread(command), MAKING_OPTIONS if benchmark.makes else TOOL_OPTIONS, switches=True)


for _benchmark in BENCHMARKS.values():
    app.command(_benchmark.name)(_command_of(_benchmark))

app.command("ablate")(ablating)
app.command("learn")(learning)
app.command("report")(reporting)
