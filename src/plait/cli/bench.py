"""`plait bench`: run a benchmark with one or several methods, and compare them.

Each finished task is kept, so that the same command goes on where it was stopped. Knows nothing of how a
task is solved or judged.
"""

import asyncio
import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any

import typer

from plait.bench.methods import METHODS, OFFICE, Means
from plait.bench.sample import sample
from plait.bench.trial import Trial, run_trials
from plait.bench.workbench import WorkbenchTask, load_tasks
from plait.cli.bench_table import as_object, print_tables
from plait.cli.flags import changes_of, with_flags
from plait.cli.running import cancel_on_term
from plait.cli.words import one_line, seconds_text
from plait.errors import UserError
from plait.models.paths import data_folder
from plait.models.resolve import resolve_model
from plait.runtime.log import RunLog
from plait.runtime.options import Options, chosen

OPTIONS = (
    *("model", "base_url", "temperature", "seed", "function_calling", "prompts", "preset"),
    *("max_calls", "max_tokens", "max_usd", "max_seconds", "rounds", "steps"),
    *("planner_threshold", "tool_threshold", "answer_threshold"),
)
"""What may be said of each run."""


class Benchmark(StrEnum):
    """What can be run."""

    workbench = "workbench"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is run, and where it is kept."""

    tasks: Sequence[tuple[int, WorkbenchTask]]
    methods: Sequence[str]
    options: Options
    folder: Path
    all_tasks: str
    """Digest of all tasks there are: other data makes other files."""
    at_once: int
    again: bool

    def said(self, method: str) -> dict[str, Any]:
        """Return the options that a method goes by."""
        reads = METHODS[method].reads
        told = self.options.as_json().items()
        return {name: value for name, value in told if reads is None or name in reads}

    def file(self, method: str) -> Path:
        """Return the file of a method's finished tasks, under these options, of these data."""
        what = json.dumps([version("plait"), self.all_tasks, self.said(method)])
        return self.folder / f"{method}-{hashlib.blake2b(what.encode(), digest_size=4).hexdigest()}.jsonl"


def _command(
    name: Annotated[Benchmark, typer.Argument(metavar="NAME", help="workbench.")],
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="Folder with its task files, or one.")],
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help=f"Repeatable: {', '.join(METHODS)}. Default: plait."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="So many tasks, spread over all kinds; else all.")
    ] = None,
    every: Annotated[
        int | None, typer.Option("--every", min=1, help="Every so many tasks, from the first one.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Tasks at once.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Run tasks again that an error ended.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Where finished tasks are kept.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    **given: Any,
) -> None:
    """Run a benchmark with one or several methods on the same tasks, and compare them."""
    methods = list(dict.fromkeys(method or ["plait"]))
    if unknown := [each for each in methods if each not in METHODS]:
        raise UserError(f"--method {unknown[0]!r} is unknown; there is: {', '.join(METHODS)}")
    if limit is not None and every is not None:
        raise UserError("--limit and --every both say which tasks are run: give one")
    tasks = load_tasks(data)
    options = chosen({**changes_of(given), "tools": (OFFICE,), "yes": True})
    plan = Plan(
        tasks=list(enumerate(tasks))[::every] if every else sample(tasks, limit, options.seed, _kind),
        methods=methods,
        options=options,
        folder=_made(out or data_folder() / "bench" / name.value),
        all_tasks=_digest(tasks),
        at_once=concurrency,
        again=again,
    )
    try:
        found = asyncio.run(_run(plan))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped; what is done is kept: the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(as_object(found, {each: str(plan.file(each)) for each in methods})))
    else:
        print_tables(found)
        print(f"\nEvery task is a line in {plan.folder}; plait show RUN tells how it went.")


command = with_flags(_command, OPTIONS, switches=True)


async def _run(plan: Plan) -> Mapping[str, Sequence[Trial]]:
    cancel_on_term()
    model = None
    if any(METHODS[method].asks_model for method in plan.methods):
        model = resolve_model(plan.options.model, base_url=plan.options.base_url or None)
    log = RunLog.open()
    found: dict[str, Sequence[Trial]] = {}
    try:
        for method in plan.methods:
            file = plan.file(method)
            own = plan.options.changed({"memory": _memory(file, plan.said(method))})
            found[method] = await run_trials(
                plan.tasks,
                METHODS[method],
                Means(options=own, log=log, model=model),
                file,
                _progress(method, plan),
                at_once=plan.at_once,
                again=plan.again,
            )
    finally:
        if model is not None:
            await model.aclose()
        await log.close()
    return found


def _memory(file: Path, said: Mapping[str, Any]) -> str:
    """Return the memory of the runs of a file, and write beside it what they are.

    What a run learns serves the runs after it, and no other benchmark or user; a file that is begun anew
    begins with nothing learned.
    """
    beside = file.with_suffix(".json")
    if file.exists() and file.stat().st_size and beside.exists():
        return str(json.loads(beside.read_text(encoding="utf-8"))["memory"])
    memory = f"bench-{file.stem}-{token_hex(3)}"
    about = {"memory": memory, "plait": version("plait"), "options": said}
    beside.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return memory


def _progress(method: str, plan: Plan) -> Callable[[Trial, int], None]:
    """Return what tells of each finished task, and how long the others will take."""
    begun, done = time.monotonic(), 0

    def tell(trial: Trial, left: int) -> None:
        nonlocal done
        done += 1
        rest = f", about {seconds_text((time.monotonic() - begun) / done * left)} left" if left else ""
        verdict = trial.status if trial.broke else "right" if trial.right else "wrong"
        how = f"{trial.model_calls} calls, {seconds_text(trial.seconds)}"
        count = f"{len(plan.tasks) - left}/{len(plan.tasks)}"
        print(
            f"{method} {count}{rest}: {one_line(verdict, 160)}, {how}: {one_line(trial.query, 80)}",
            file=sys.stderr,
            flush=True,
        )

    return tell


def _kind(task: WorkbenchTask) -> str:
    return task.template or task.query


def _digest(tasks: Sequence[WorkbenchTask]) -> str:
    text = json.dumps([[task.query, list(task.gold)] for task in tasks])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    return folder
