"""SRDD: descriptions of software from which programs are made (Qian et al., 2024, arXiv 2307.07924).

Its table has a name, a description and a category; it comes from the user, because its licence is not ours to
pass on. Programs are measured as in Croto, section 5, in both readings.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.bench.benchmark import Benchmark, Ended, Measure, Measures
from plait.bench.made import program_in, rated
from plait.bench.methods.making import METHODS
from plait.bench.rows import files_in, rows_of
from plait.domains.delivery import statistics
from plait.domains.software.program import python_files

DIMENSIONS = ("quality", "completeness", "executability", "consistency")
READINGS = ("strict", "official")


@dataclass(frozen=True, kw_only=True)
class SoftwareTask:
    """One row of the table."""

    query: str
    """What the program shall do."""
    name: str
    category: str


def load_software(source: Path) -> Sequence[SoftwareTask]:
    """Read the tasks of a table, or of all tables of a folder.

    Raises:
        UserError: there is none, or a row is no task; the message names file and line.
    """
    return [
        SoftwareTask(query=row["Description"].strip(), name=row["Name"], category=row["Category"])
        for path in files_in(source, "*.csv")
        for row in rows_of(path, ("Name", "Description", "Category"))
    ]


def _category(task: SoftwareTask) -> str:
    return task.category


def _told(task: SoftwareTask) -> Sequence[Any]:
    return [task.query]


async def _judge(task: SoftwareTask, ended: Ended) -> Measures:
    program = None if ended.broke else program_in(ended.folder)
    if program is None or not python_files(program.files):
        return {f"{reading}_{name}": 0.0 for reading in READINGS for name in DIMENSIONS} | {
            "files": 0,
            "lines": 0,
        }
    sizes = statistics(program)
    rating = await rated(task, ended, program)
    return {**rating.dimensions, "files": sizes.files, "lines": sizes.lines}


SRDD = Benchmark(
    name="srdd",
    about="Programs from descriptions, measured by completeness, executability and consistency.",
    load=load_software,
    kind=_category,
    told=_told,
    fixed={"domain": "software"},
    methods=METHODS,
    judge=_judge,
    measures=(
        Measure(name="quality", field="strict_quality"),
        Measure(name="completeness", field="strict_completeness", head="complete"),
        Measure(name="executability", field="strict_executability", head="runs", optional=True),
        Measure(name="consistency", field="strict_consistency", head="consistent", optional=True),
        Measure(name="official_quality", head="official"),
        Measure(name="official_completeness", column=False),
        Measure(name="official_executability", column=False, optional=True),
        Measure(name="official_consistency", column=False, optional=True),
        Measure(name="files", best=None),
        Measure(name="lines", best=None),
    ),
    explained="means, 0 to 1, in the strict reading; official: the quality as the paper's scripts read it",
)
