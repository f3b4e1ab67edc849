"""How the figures of a benchmark are shown: a table of methods, and each against the first."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from plait.bench.comparison import Difference, Figures, difference, figures
from plait.bench.statistics import FEW
from plait.bench.trial import Trial
from plait.cli.words import count_text, money_text, one_line, seconds_text, tokens_text

Found = Mapping[str, Sequence[Trial]]


def print_tables(found: Found) -> None:
    """Print the figures of methods, and how each differs from the first."""
    console = Console(highlight=False)
    console.print(_table({method: figures(trials) for method, trials in found.items()}))
    console.print(EXPLAINED, style="dim", soft_wrap=True)
    for method, trials in found.items():
        if broke := [trial for trial in trials if trial.broke]:
            why = one_line(broke[0].status, 160)
            many = count_text(len(broke), "task")
            print(f"{method}: {many} broke and count as wrong ({why}); mend it and add --again")
    first, *others = found
    for method in others:
        console.print(_line(method, first, difference(found[method], found[first])), soft_wrap=True)


def as_object(found: Found, files: Mapping[str, str]) -> dict[str, Any]:
    """Return the same for programs: figures, differences from the first, and the files of single tasks."""
    first, *others = found
    methods = {method: {**asdict(figures(found[method])), "file": files[method]} for method in found}
    against = {method: asdict(difference(found[method], found[first])) for method in others}
    return {"methods": _finite(methods), f"against_{first}": _finite(against)}


def _finite(value: Any) -> Any:
    """Return a value as JSON can hold it: what has no bound is null."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in cast("dict[str, Any]", value).items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


EXPLAINED = "acting: right of those that change something; harm: tasks that changed what they should not"


def _table(found: Mapping[str, Figures]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for name in ("right", "95%", "acting", "harm", "calls", "in", "cached", "out", "median", "money"):
        table.add_column(name, justify="right", no_wrap=True)
    for method, told in found.items():
        cached = told.cached_input_tokens / told.input_tokens if told.input_tokens else 0.0
        table.add_row(
            method,
            f"{told.right}/{told.tasks}",
            f"{told.right_share.low:.0%}-{told.right_share.high:.0%}",
            f"{told.acting_right}/{told.acting}",
            str(told.side_effects),
            f"{told.calls.value:.1f}",
            tokens_text(told.input_tokens),
            f"{cached:.0%}",
            tokens_text(told.output_tokens),
            seconds_text(told.seconds.value),
            money_text(told.usd),
        )
    return table


def _line(method: str, first: str, told: Difference) -> str:
    """Return in a sentence how a method differs from the first."""
    sure_of = f" ({told.calls.low:+.1f} to {told.calls.high:+.1f})" if math.isfinite(told.calls.low) else ""
    calls = f"{told.calls.value:+.1f} calls a task{sure_of}"
    solved = f"solves {told.better} that it does not, and not {told.worse} that it does"
    if told.too_few:
        sure = f"below {FEW} tasks no difference is called significant"
    else:
        sure = f"p = {told.p_right:.3f} (McNemar), {told.p_calls:.3f} (calls, sign flips)"
    return f"{method} against {first}, {told.tasks} tasks: {solved}; {calls}; {sure}"
