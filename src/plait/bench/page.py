"""One page with the results of a benchmark and its figures: a file that needs no other.

Knows nothing of how figures are drawn.
"""

import base64
import html
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from plait.agents.prompting import fill
from plait.bench.benchmark import Benchmark, Measure
from plait.bench.comparison import Measured, figures
from plait.bench.figures import Figure, Missing
from plait.bench.kept import Kept
from plait.bench.statistics import FEW


def page(
    benchmark: Benchmark[Any],
    labelled: Sequence[tuple[str, Kept]],
    drawn: Sequence[tuple[Figure, bytes]],
    missing: Sequence[Missing],
) -> str:
    """Return the page as HTML.

    Args:
        benchmark: What the results are of.
        labelled: All that is kept, each with its label.
        drawn: Figures with their PNG.
        missing: Figures that are not there.
    """
    places: Mapping[str, str] = {
        "title": html.escape(f"plait bench {benchmark.name}"),
        "about": html.escape(benchmark.about),
        "table": _table(benchmark, labelled),
        "explained": html.escape(benchmark.explained),
        "few": str(FEW),
        "figures": "\n".join(_figure(figure, png) for figure, png in drawn) or "<p>None yet.</p>",
        "missing": _missing(missing),
    }
    return fill(resources.files("plait.bench").joinpath("report.html").read_text(encoding="utf-8"), **places)


def _table(benchmark: Benchmark[Any], labelled: Sequence[tuple[str, Kept]]) -> str:
    measures = [each for each in benchmark.measures if each.column]
    heads = [
        "",
        "tasks",
        *(each.name for each in measures),
        "calls a task",
        "tokens a task",
        "seconds",
        "USD",
    ]
    rows = [_row("th", heads)]
    for label, kept in labelled:
        told = figures(kept.trials, benchmark.measures)
        measured = [_value(each, told.measures[each.name]) for each in measures]
        cost = [f"{told.calls.value:.1f}", f"{told.tokens_a_task:,.0f}", f"{told.seconds.value:.1f}"]
        rows.append(_row("td", [label, str(told.tasks), *measured, *cost, f"{told.usd:.2f}"]))
    return f"<table>\n{chr(10).join(rows)}\n</table>"


def _value(measure: Measure, told: Measured) -> str:
    if not told.tasks:
        return "-"
    form = ".0%" if measure.yes_no else ".2f"
    interval = told.mean
    known = interval.low > float("-inf")
    spread = f" ({interval.low:{form}} to {interval.high:{form}})" if known else ""
    return f"{interval.value:{form}}{spread}"


def _row(cell: str, values: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{html.escape(value)}</{cell}>" for value in values) + "</tr>"


def _figure(figure: Figure, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    title, note = html.escape(figure.title), html.escape(figure.note)
    image = f'<img alt="{title}" src="data:image/png;base64,{data}">'
    return f"<figure>\n{image}\n<figcaption>{title}. {note}</figcaption>\n</figure>"


def _missing(missing: Sequence[Missing]) -> str:
    if not missing:
        return ""
    lines = [f"<li>{html.escape(each.title)}: {html.escape(each.why)}</li>" for each in missing]
    return f"<h2>Not drawn</h2>\n<ul>\n{chr(10).join(lines)}\n</ul>"
