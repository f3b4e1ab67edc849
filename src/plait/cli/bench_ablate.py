"""`plait bench ablate`: the whole system against itself without one part, on the same tasks."""

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from plait.bench.ablation import Table, entries_of
from plait.bench.benchmark import Benchmark, Measure
from plait.bench.benchmarks import BENCHMARKS, named
from plait.bench.comparison import Difference, Figures, difference, figures
from plait.bench.plan import Found, plan
from plait.bench.statistics import FEW
from plait.cli.bench_flags import MAKING_OPTIONS, TOOL_OPTIONS, BenchFlags, spread
from plait.cli.bench_progress import run_plan
from plait.cli.bench_table import (
    between,
    finite,
    p_text,
    print_broken,
    range_text,
    table_of,
    value_text,
    wide_console,
)
from plait.cli.flags import changes_of, with_flags
from plait.cli.words import seconds_text, tokens_text


def _command(
    flags: BenchFlags,
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"{', '.join(BENCHMARKS)}.")],
    table: Annotated[
        Table, typer.Option("--table", help="Which parts are switched off.", show_default=False)
    ] = Table.strands,
    **given: Any,
) -> None:
    """Run a benchmark with Plait as a whole and without each part, and tell what each is worth."""
    benchmark = named(name)
    said = changes_of(given)
    planned = plan(benchmark, entries_of(table, benchmark.options(said)), flags.wanted(name))
    found = run_plan(planned, said)
    if flags.as_json:
        print(json.dumps(as_object(benchmark, found, planned.files())))
        return
    print_table(benchmark, found)
    print(f"\nEvery task is a line in {planned.folder}; the same command goes on with more of them.")


ablating = with_flags(spread(_command), tuple(dict.fromkeys([*TOOL_OPTIONS, *MAKING_OPTIONS])), switches=True)


def as_object(benchmark: Benchmark[Any], found: Found, files: dict[str, str]) -> dict[str, Any]:
    """Return the table for programs: each line's figures, its file, and how it differs from the first."""
    first, *_ = found
    lines: dict[str, Any] = {}
    for label, trials in found.items():
        told = {**asdict(figures(trials, benchmark.measures)), "file": files[label]}
        if label != first:
            told["against_first"] = asdict(difference(trials, found[first], benchmark.main))
        lines[label] = told
    return {"first": first, "variants": finite(lines)}


def print_table(benchmark: Benchmark[Any], found: Found) -> None:
    """Print a line for each variant, with its differences from the first."""
    main = benchmark.main
    first, *others = found
    heads = [main.head or main.name, "95%", "change", "calls", "change", "tokens", "median"]
    table = table_of("variant", heads)
    for label, trials in found.items():
        apart = difference(trials, found[first], main) if label in others else None
        table.add_row(label, *_cells(main, figures(trials, benchmark.measures), apart))
    wide_console().print(table)
    print("change: from the first line, on the same tasks, with its 95% interval; calls, tokens: of a task")
    print_broken(found)
    if min(len(trials) for trials in found.values()) < FEW:
        print(f"below {FEW} tasks no difference is called significant")
        return
    for label in others:
        apart = difference(found[label], found[first], main)
        print(f"{label} against {first}: {p_text(apart.p)}, calls {p_text(apart.p_calls)}")


def _cells(main: Measure, told: Figures, apart: Difference | None) -> list[str]:
    measured = told.measures[main.name]
    form = "+.0%" if main.yes_no else "+.2f"
    return [
        value_text(main, measured),
        range_text(main, measured.mean),
        "" if apart is None else f"{apart.change.value:{form}}{between(apart.change, form)}",
        f"{told.calls.value:.1f}",
        "" if apart is None else f"{apart.calls.value:+.1f}{between(apart.calls, '+.1f')}",
        tokens_text(round(told.tokens_a_task)),
        seconds_text(told.seconds.value),
    ]
