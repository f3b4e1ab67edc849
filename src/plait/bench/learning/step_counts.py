"""The counts of ICE's Tables 1 to 3 that no ledger has: subtasks, pipelines and rectifications of a run.

Knows nothing of single benchmarks: one that has these counts is made of one that has not.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from plait.bench.benchmark import Benchmark, Ended, Measure, Measures
from plait.bench.methods.method import Exercise, on_record
from plait.events import PipelineEnded, PlanRectified, Record, SubtaskFinished, SubtaskStarted

SUBTASKS = "subtasks"
COMPLETED = "completed"
"""Subtasks that succeeded."""
REUSED = "reused"
"""Subtasks, or whole goals, that a pipeline did from beginning to end."""
RECTIFICATIONS = "rectifications"
COUNTS = (
    Measure(name=SUBTASKS, column=False, best=None),
    Measure(name=COMPLETED, column=False, best=None),
    Measure(name=REUSED, column=False, best=None),
    Measure(name=RECTIFICATIONS, column=False, best=None),
)


def step_counts(records: Iterable[Record]) -> Measures:
    """Count what the records of a run tell."""
    events = [record.event for record in records]
    finished = [event for event in events if isinstance(event, SubtaskFinished)]
    return {
        SUBTASKS: sum(isinstance(event, SubtaskStarted) for event in events),
        COMPLETED: sum(event.status == "succeeded" for event in finished),
        REUSED: sum(isinstance(event, PipelineEnded) and not event.left for event in events),
        RECTIFICATIONS: sum(isinstance(event, PlanRectified) for event in events),
    }


def with_step_counts(benchmark: Benchmark[Exercise]) -> Benchmark[Exercise]:
    """Return a benchmark that counts steps beside what it measures."""

    async def judge(task: Exercise, ended: Ended) -> Measures:
        log = ended.means.log
        begun = await asyncio.to_thread(on_record, log, ended.run_id)
        records = await asyncio.to_thread(log.records, ended.run_id) if begun else []
        return {**await benchmark.judge(task, ended), **step_counts(records)}

    return replace(benchmark, judge=judge, measures=(*benchmark.measures, *COUNTS))
