"""How the figures of a benchmark are shown: what came of it, what it took, and each against the first."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from plait.bench.benchmark import Benchmark, Measure
from plait.bench.comparison import Difference, Figures, Measured, difference, figures, like_one_before
from plait.bench.plan import Found, Plan
from plait.bench.statistics import FEW, Interval
from plait.cli.words import count_text, money_text, one_line, seconds_text, tokens_text

TABLE_WIDTH = 120
LEAST_P = 0.001


def print_tables(benchmark: Benchmark[Any], found: Found, kinds: Mapping[int, Hashable]) -> None:
    """Print the figures of methods, what each gains from what came before, and how it differs from the first.

    Args:
        benchmark: Which one.
        found: How the tasks went, by method.
        kinds: Of which kind each task is, by its row.
    """
    told = {label: figures(trials, benchmark.measures) for label, trials in found.items()}
    console = wide_console()
    console.print(_results(benchmark, told))
    console.print(benchmark.explained, style="dim", soft_wrap=True)
    console.print()
    console.print(_costs(told))
    if len(set(kinds.values())) < len(kinds):
        console.print()
        console.print(_in_time(benchmark, found, kinds))
    print_broken(found)
    first, *others = found
    for label in others:
        apart = difference(found[label], found[first], benchmark.main)
        console.print(sentence(benchmark.main, label, first, apart), soft_wrap=True)


def print_broken(found: Found) -> None:
    """Say which tasks an error ended."""
    for label, trials in found.items():
        if broke := [trial for trial in trials if trial.broke]:
            why = one_line(broke[0].status, 160)
            many = count_text(len(broke), "task")
            print(f"{label}: {many} broke and count as wrong ({why}); mend it and add --again")


def as_object(benchmark: Benchmark[Any], found: Found, planned: Plan) -> dict[str, Any]:
    """Return the same for programs: figures, differences from the first, and the files of single tasks."""
    first, *others = found
    files, kinds = planned.files(), planned.kinds()
    methods: dict[str, Any] = {}
    for label, trials in found.items():
        later = figures(like_one_before(trials, kinds), benchmark.measures)
        told = asdict(figures(trials, benchmark.measures))
        methods[label] = {**told, "like_one_before": asdict(later), "file": files[label]}
    against = {label: asdict(difference(found[label], found[first], benchmark.main)) for label in others}
    return {"methods": finite(methods), f"against_{first}": finite(against)}


def finite(value: Any) -> Any:
    """Return a value as JSON can hold it: what has no bound is null."""
    if isinstance(value, dict):
        return {name: finite(item) for name, item in cast("dict[str, Any]", value).items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def wide_console() -> Console:
    """Return a console in which no figure of a table is cut off; a narrow terminal wraps lines instead."""
    return Console(highlight=False, width=max(Console().width, TABLE_WIDTH))


def table_of(first: str, heads: Sequence[str]) -> Table:
    """Return an empty table: names on the left, figures on the right of their columns."""
    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def value_text(measure: Measure, told: Measured) -> str:
    """Return a figure: in how many of how many tasks, or a mean."""
    if not told.tasks:
        return "-"
    if measure.yes_no:
        return f"{told.total:.0f}/{told.tasks}"
    return f"{told.mean.value:.2f}" if measure.best is not None else f"{told.mean.value:.1f}"


def range_text(measure: Measure, interval: Interval) -> str:
    """Return where a figure lies; empty where that is not known."""
    form = ".0%" if measure.yes_no else ".2f"
    return f"{interval.low:{form}}-{interval.high:{form}}" if math.isfinite(interval.low) else ""


def _results(benchmark: Benchmark[Any], found: Mapping[str, Figures]) -> Table:
    main, *others = (measure for measure in benchmark.measures if measure.column)
    table = table_of("method", [main.head or main.name, "95%", *(each.head or each.name for each in others)])
    for label, told in found.items():
        measured = told.measures
        table.add_row(
            label,
            value_text(main, measured[main.name]),
            range_text(main, measured[main.name].mean),
            *(value_text(each, measured[each.name]) for each in others),
        )
    return table


def _costs(found: Mapping[str, Figures]) -> Table:
    table = table_of("method", ["tasks", "calls", "in", "cached", "out", "a task", "median", "money"])
    for label, told in found.items():
        cached = told.cached_input_tokens / told.input_tokens if told.input_tokens else 0.0
        table.add_row(
            label,
            str(told.tasks),
            f"{told.calls.value:.1f}",
            tokens_text(told.input_tokens),
            f"{cached:.0%}",
            tokens_text(told.output_tokens),
            tokens_text(round(told.tokens_a_task)),
            seconds_text(told.seconds.value),
            money_text(told.usd),
        )
    return table


def _in_time(benchmark: Benchmark[Any], found: Found, kinds: Mapping[int, Hashable]) -> Table:
    """Return a table of the first task of each kind beside those that came after one of their kind."""
    main = benchmark.main
    head = main.head or main.name
    table = table_of(
        "method", [f"first of a kind: {head}", "calls", f"after one of its kind: {head}", "calls"]
    )
    for label, trials in found.items():
        later = like_one_before(trials, kinds)
        after = {trial.index for trial in later}
        cells: list[str] = []
        for part in ([trial for trial in trials if trial.index not in after], later):
            told = figures(part, benchmark.measures)
            cells += [value_text(main, told.measures[main.name]), f"{told.calls.value:.1f}"]
        table.add_row(label, *cells)
    return table


def sentence(main: Measure, label: str, first: str, told: Difference) -> str:
    """Return in a sentence how a method differs from the first."""
    if main.yes_no:
        solved = f"solves {told.better} that it does not, and not {told.worse} that it does"
    else:
        change = f"{told.change.value:+.2f} {main.name}{between(told.change, '+.2f')}"
        solved = f"better on {told.better}, worse on {told.worse}, {change}"
    calls = f"{told.calls.value:+.1f} calls a task{between(told.calls, '+.1f')}"
    if told.too_few:
        sure = f"below {FEW} tasks no difference is called significant"
    else:
        test = "McNemar" if main.yes_no else "sign flips"
        sure = f"{p_text(told.p)} ({test}), {p_text(told.p_calls)} (calls, sign flips)"
    return f"{label} against {first}, {told.tasks} tasks: {solved}; {calls}; {sure}"


def p_text(p: float) -> str:
    """Return a p-value; the tests draw too rarely to tell small ones apart."""
    return f"p = {p:.3f}" if p >= LEAST_P else f"p < {LEAST_P}"


def between(interval: Interval, form: str) -> str:
    """Return where a difference lies, in brackets; empty where that is not known."""
    return f" ({interval.low:{form}} to {interval.high:{form}})" if math.isfinite(interval.low) else ""
