"""`plait bench learn`: what some tasks of each kind teach, and what that is worth for the others.

Knows nothing of how runs learn, nor of how what they learned is kept.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from plait.bench.benchmark import Benchmark
from plait.bench.benchmarks import BENCHMARKS, named
from plait.bench.comparison import Figures, difference, figures
from plait.bench.learning.course import learn_and_use, open_tasks
from plait.bench.learning.plan import DEFAULT_USES, LEARN, USES, LearningPlan, Lessons, learning_plan
from plait.bench.learning.step_counts import COMPLETED, RECTIFICATIONS, REUSED, SUBTASKS
from plait.bench.plan import Found
from plait.bench.trial import Trial
from plait.cli.bench_flags import TOOL_OPTIONS, BenchFlags, spread
from plait.cli.bench_progress import finished, progress
from plait.cli.bench_table import finite, print_broken, sentence, table_of, value_text, wide_console
from plait.cli.flags import changes_of, with_flags
from plait.cli.words import seconds_text, tokens_text

NONE, SAME = "none", "same"
_USES = ", ".join(USES)
_WITH_TOOLS = ", ".join(name for name, benchmark in BENCHMARKS.items() if not benchmark.makes)


def _command(
    flags: BenchFlags,
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"{_WITH_TOOLS}.")],
    learn: Annotated[int, typer.Option("--learn", min=1, help="Tasks of each kind to learn from.")] = 5,
    use: Annotated[
        list[str] | None, typer.Option("--use", help=f"Repeatable: {_USES}. Default: both, none.")
    ] = None,
    skip: Annotated[int, typer.Option("--skip", min=0, help="Kinds to leave out first.")] = 0,
    user: Annotated[
        str,
        typer.Option("--user", metavar="NAME", help="A model that uses what --model learned so before."),
    ] = "",
    **given: Any,
) -> None:
    """Learn from some tasks of each kind, and tell what that is worth for others."""
    plan = _planned(flags, name, Lessons(learn=learn, uses=_uses(use), skip=skip, user=user), given)
    all_tasks = {label: len(plan.all_of(label)) for label in plan.labels}
    tell = progress(plan.benchmark.main, open_tasks(plan), all_tasks)
    found = finished(learn_and_use(plan, tell))
    if flags.as_json:
        print(json.dumps(as_object(plan, found)))
    else:
        _print(plan, found)


_command.__doc__ = "\n\n".join(
    [
        str(_command.__doc__),
        "Each use works with a copy of what was learned by then, so none learns from another:",
        *(f"{name}: {each.about}." for name, each in USES.items()),
    ]
)
learning = with_flags(spread(_command, "limit", "every"), TOOL_OPTIONS, switches=True)


def _planned(flags: BenchFlags, name: str, lessons: Lessons, given: Mapping[str, Any]) -> LearningPlan:
    benchmark = named(name)
    return learning_plan(benchmark, benchmark.options(changes_of(given)), lessons, flags.wanted(name, LEARN))


def _uses(said: Sequence[str] | None) -> Sequence[str]:
    return tuple(dict.fromkeys(said or DEFAULT_USES))


def as_object(plan: LearningPlan, found: Found) -> dict[str, Any]:
    """Return the table for programs: figures, what they are held against, and the files of single tasks."""
    told: dict[str, Any] = {}
    for label, trials in found.items():
        told[label] = {
            **asdict(figures(trials, plan.benchmark.measures)),
            "file": str(plan.file(label)),
        }
        if against := _against(label, found):
            apart = difference(trials, found[against], plan.benchmark.main)
            told[label] |= {"against": against, "difference": asdict(apart)}
    kinds = [plan.benchmark.kind(rows[0][1]) for rows in plan.kinds]
    return {"kinds": kinds, "learned_from": plan.lessons.learn, "runs": finite(told)}


def _against(label: str, found: Found) -> str:
    """Return what runs are held against: the same tasks before, or without what was learned."""
    other = LEARN if label == SAME else NONE
    return other if label not in (LEARN, NONE) and other in found else ""


def _print(plan: LearningPlan, found: Found) -> None:
    benchmark = plan.benchmark
    for number, rows in enumerate(plan.kinds, plan.lessons.skip + 1):
        print(f"{number}. {benchmark.kind(rows[0][1])}")
    heads = [each.head or each.name for each in benchmark.measures if each.column]
    table = table_of("", ["tasks", *heads, "calls", "fewer", "tools", "tokens", "completed", "re-used"])
    for head in ("rectified", "median"):
        table.add_column(head, justify="right", no_wrap=True)
    for label, trials in found.items():
        fewer = _fewer(trials, found.get(_against(label, found), ()))
        table.add_row(label, *_cells(benchmark, figures(trials, benchmark.measures), fewer))
    console = wide_console()
    console.print(table)
    console.print(
        f"{benchmark.explained}; fewer: calls than {NONE}, {SAME}: than {LEARN};"
        " completed, re-used: of subtasks",
        style="dim",
        soft_wrap=True,
    )
    print_broken(found)
    for label, trials in found.items():
        if against := _against(label, found):
            apart = difference(trials, found[against], benchmark.main)
            console.print(sentence(benchmark.main, label, against, apart), soft_wrap=True)
    print(f"\nEvery task is a line in {plan.folder}; the same command goes on with more --kinds.")


def _fewer(trials: Sequence[Trial], others: Sequence[Trial]) -> str:
    """Return how many fewer calls tasks took than when others ran them; of those that no error ended."""
    calls = {trial.index: trial.model_calls for trial in others if not trial.broke}
    both = [trial for trial in trials if trial.index in calls and not trial.broke]
    before = sum(calls[trial.index] for trial in both)
    return f"{1 - sum(trial.model_calls for trial in both) / before:.0%}" if before else ""


def _cells(benchmark: Benchmark[Any], told: Figures, fewer: str) -> list[str]:
    total = {name: round(measured.total) for name, measured in told.measures.items()}
    return [
        str(told.tasks),
        *(value_text(each, told.measures[each.name]) for each in benchmark.measures if each.column),
        str(told.model_calls),
        fewer,
        str(told.tool_calls),
        tokens_text(told.input_tokens + told.output_tokens),
        f"{total[COMPLETED]}/{total[SUBTASKS]}",
        str(total[REUSED]),
        str(total[RECTIFICATIONS]),
        seconds_text(told.seconds.value),
    ]
