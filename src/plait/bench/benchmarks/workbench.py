"""WorkBench: office tasks whose result is judged by the tables at the end (Styles et al., 2024).

The paper is arXiv 2405.00823. Its tasks come from a folder of the user's; `bench.workbench` reads them.
"""

from collections.abc import Sequence
from typing import Any

from plait.bench.benchmark import Benchmark, Ended, Measure, Measures
from plait.bench.methods.tools import METHODS, OFFICE
from plait.bench.workbench import WorkbenchTask, judge, load_tasks


def _kind(task: WorkbenchTask) -> str:
    return task.template or task.query


def _told(task: WorkbenchTask) -> Sequence[Any]:
    return [task.query, list(task.gold)]


async def _judge(task: WorkbenchTask, ended: Ended) -> Measures:
    found = judge(ended.folder, task.gold, error=ended.broke)
    return {
        "right": found.correct,
        "side_effects": found.side_effects,
        "gold_changes": found.gold_changes,
    }


WORKBENCH = Benchmark(
    name="workbench",
    about="Office tasks with tools, judged by the tables at the end.",
    load=load_tasks,
    kind=_kind,
    told=_told,
    fixed={"tools": (OFFICE,), "yes": True},
    methods=METHODS,
    judge=_judge,
    measures=(
        Measure(name="right", yes_no=True),
        Measure(name="acting", field="right", among="gold_changes", yes_no=True),
        Measure(name="harm", field="side_effects", yes_no=True),
    ),
    explained="acting: right of those that change something; harm: tasks that changed what they should not",
)
