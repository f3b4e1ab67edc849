"""A report: figures as PNG files and one page with all of them, from what is kept of a benchmark.

Knows nothing of commands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.bench.benchmark import Benchmark
from plait.bench.drawing import draw
from plait.bench.figures import Figure, Missing, figures_of
from plait.bench.kept import Kept, labels_of, read_kept
from plait.bench.page import page
from plait.errors import UserError
from plait.events import Record
from plait.runtime.log import RunLog

PAGE = "report.html"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was written."""

    page: Path
    pictures: Sequence[Path]
    missing: Sequence[Missing]


def make_report(benchmark: Benchmark[Any], kept_in: Path, folder: Path) -> Report:
    """Draw what can be drawn and write it into a folder, which is made if need be.

    Args:
        benchmark: What the results are of.
        kept_in: Folder of finished tasks.
        folder: Takes the report; what an earlier one left there is written over.

    Raises:
        UserError: nothing is kept, matplotlib is not installed, or the folder cannot be written.
        LogError: the log cannot be read.
    """
    kept = read_kept(benchmark, kept_in)
    labelled = list(zip(labels_of(benchmark, kept), kept, strict=True))
    found = figures_of(benchmark, labelled, _scored(kept))
    missing = [each for each in found if isinstance(each, Missing)]
    drawn = [(each, draw(each)) for each in found if isinstance(each, Figure)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pictures = [_write(folder / f"{figure.name}.png", png) for figure, png in drawn]
        whole = page(benchmark, labelled, drawn, missing).encode()
        return Report(page=_write(folder / PAGE, whole), pictures=pictures, missing=missing)
    except OSError as error:
        raise UserError(f"the report cannot be written to {str(folder)!r}: {error.strerror}") from error


def _write(file: Path, content: bytes) -> Path:
    file.write_bytes(content)
    return file


def _scored(kept: Sequence[Kept]) -> list[Record]:
    """Return the scores of the runs of Plait that are still on record."""
    wanted = {trial.run_id for each in kept if each.method == "plait" for trial in each.trials}
    log = RunLog.open()
    try:
        return [record for record in log.records_of_kinds(("gated",)) if record.run_id in wanted]
    finally:
        log.close_now()
