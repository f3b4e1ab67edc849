"""Draws figures as PNG, with matplotlib, which is an extra.

Knows nothing of where the values come from.
"""

import io
import math
from collections.abc import Sequence
from typing import Any

from plait.bench.figures import Figure, Line, Panel
from plait.errors import UserError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888")
"""Told apart by people who see few colours too (Okabe and Ito)."""
MARKERS = "os^Dv<>P*X"
DOTS_PER_INCH = 130
WIDTH, PANEL_HEIGHT, BAR_HEIGHT = 7.5, 3.4, 1.7
"""Inches."""
LEGEND_HEIGHT = 0.2
"""Of one line, where each point has one."""
THOUSANDS = "{x:,.0f}"


def draw(figure: Figure) -> bytes:
    """Return a figure as PNG.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Paper
    except ImportError as error:
        raise UserError("drawing figures needs matplotlib: pip install 'plait[report]'") from error
    rows = len(figure.panels)
    told = sum(len(panel.lines) for panel in figure.panels) if figure.kind == "points" else 0
    height = (BAR_HEIGHT if figure.kind == "bars" else PANEL_HEIGHT) * rows + LEGEND_HEIGHT * told
    # Its types leave arguments open, which strict checks do not take.
    paper: Any = Paper(figsize=(WIDTH, 0.9 + height), dpi=DOTS_PER_INCH, layout="constrained")
    FigureCanvasAgg(paper)
    axes = [paper.add_subplot(rows, 1, row + 1) for row in range(rows)]
    for panel, place in zip(figure.panels, axes, strict=True):
        _panel(place, panel, figure)
    axes[-1].set_xlabel(figure.x)
    paper.suptitle(figure.title, fontweight="bold")
    if told:
        paper.legend(loc="outside lower left", fontsize="small", frameon=False)
    file = io.BytesIO()
    paper.savefig(file, format="png")
    return file.getvalue()


def _panel(axes: Any, panel: Panel, figure: Figure) -> None:
    if figure.kind == "bars":
        _bars(axes, panel)
    else:
        for number, line in enumerate(panel.lines):
            _line(axes, line, number, joined=figure.kind == "lines")
        axes.set_ylim(bottom=0, top=None if panel.best is None else panel.best * 1.04)
        if figure.kind == "points":
            axes.set_xlim(left=0)
            axes.xaxis.set_major_formatter(THOUSANDS)
        elif len(panel.lines) > 1:
            axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        if panel.best is None:
            axes.yaxis.set_major_formatter(THOUSANDS)
    axes.set_ylabel(panel.y)
    if figure.kind != "points":
        axes.set_xticks(sorted({point.x for line in panel.lines for point in line.points}))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)


def _line(axes: Any, line: Line, number: int, *, joined: bool) -> None:
    xs, ys = [point.x for point in line.points], [point.y.value for point in line.points]
    colour = COLOURS[number % len(COLOURS)]
    axes.errorbar(
        xs,
        ys,
        yerr=_errors(line),
        label=line.name.replace("_", " "),
        linewidth=2.2 if number == 0 else 1.2,
        color=colour,
        marker=MARKERS[number % len(MARKERS)],
        linestyle="-" if joined else "none",
        capsize=3,
        elinewidth=1,
    )


def _errors(line: Line) -> tuple[Sequence[float], Sequence[float]]:
    """Return how far each interval goes below and above; not at all where that is not known."""
    known = [point.y if math.isfinite(point.y.low) else None for point in line.points]
    return (
        [0.0 if y is None else max(0.0, y.value - y.low) for y in known],
        [0.0 if y is None else max(0.0, y.high - y.value) for y in known],
    )


def _bars(axes: Any, panel: Panel) -> None:
    for line in panel.lines:
        axes.bar(
            [point.x for point in line.points], [point.y.value for point in line.points], color=COLOURS[0]
        )
        total = line.points[0].tasks if line.points else 0
        axes.set_title(f"{total} scores", fontsize="small", loc="left")
    for mark in panel.marks:
        axes.axvline(mark - 0.5, color=COLOURS[1], linestyle=":")
    axes.set_xlim(-0.6, 10.6)
