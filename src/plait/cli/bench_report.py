"""`plait bench report`: figures and a page of what is kept of a benchmark."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from plait.bench.benchmarks import BENCHMARKS, named
from plait.bench.report import make_report
from plait.cli.bench_flags import kept_folder


def reporting(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"{', '.join(BENCHMARKS)}.")],
    kept: Annotated[
        Path | None,
        typer.Option("--kept", metavar="DIR", help="Where finished tasks are kept, as --out said then."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the report. Default: report, beside the tasks."),
    ] = None,
) -> None:
    """Draw the figures of the papers from finished tasks, as PNG and as one page."""
    benchmark = named(name)
    folder = kept or kept_folder(name)
    report = make_report(benchmark, folder, out or folder / "report")
    for file in (*report.pictures, report.page):
        print(file)
    for each in report.missing:
        print(f"not drawn: {each.title}: {each.why}", file=sys.stderr)
