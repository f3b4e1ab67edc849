"""What some instances of a WorkBench template teach, used on its other instances, with a real model.

Templates are taken in an order that the seed gives. Of each, runs on the first instances teach a memory
that goes on growing; then the other instances are run, each on a copy of that memory as it is, with both
halves of experience, with none, with either, with both on what half of the instances taught, with two teams
beside both, and by a plain ReAct loop. Resumable: a task that has a line is not run again. The memories stay in the home, so that
another model can be run with what the first one learned: --user names it, and only its own lines are added.

python -m benchmarks._experience --data DIR --home DIR [--templates 3] [--skip 0] [--train 5] [--seed 0]
    [--model ID] [--user ID] [--teach model|gold] [--variants both,none,half,execution,planning,teams,react]
    [--same]
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks._gold_memory import FILES, teach

from plait.bench.benchmarks.workbench import WORKBENCH
from plait.bench.methods.method import Means
from plait.bench.methods.tools import METHODS, OFFICE
from plait.bench.trial import Trial, Work, run_trials
from plait.bench.workbench import WorkbenchTask, load_tasks
from plait.events import PipelineEnded, PlanRectified, SubtaskFinished, SubtaskStarted
from plait.models.protocol import LanguageModel
from plait.models.resolve import resolve_model
from plait.paths import models_folder
from plait.runtime.log import RunLog
from plait.runtime.options import DEFAULT_MODEL, Options

REACT = "react"
TEAMS = "teams"
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "both": (),
    "none": ("experience",),
    "half": (),
    "execution": ("planning-experience",),
    "planning": ("execution-experience",),
    TEAMS: (),
    REACT: (),
}
"""What is switched off; `half` uses what half of the instances taught, `teams` are two."""
Rows = Sequence[tuple[int, WorkbenchTask]]


def chosen(data: Path, seed: int) -> Sequence[Rows]:
    """Return the templates in the order of the seed, each with its instances in an order of the seed."""
    tasks = list(enumerate(load_tasks([data / f"{name}_queries_and_answers.csv" for name in FILES])))
    order = [list(rows) for _, rows in groupby(tasks, key=lambda row: row[1].template)]
    for rows in order:
        random.Random(seed).shuffle(rows)
    random.Random(seed).shuffle(order)
    return order


class Study:
    """One memory that grows by learning, and copies of it that are used."""

    def __init__(self, home: Path, model: LanguageModel, options: Options) -> None:
        self.home = home
        self._model = model
        self._options = options
        weights = models_folder()
        for name in ("learn", "use"):
            (home / name).mkdir(parents=True, exist_ok=True)
            if not (home / name / "models").exists():
                (home / name / "models").symlink_to(weights)

    def _enter(self, name: str) -> None:
        os.environ["PLAIT_HOME"] = str(self.home / name)

    async def learn(self, rows: Rows) -> None:
        """Let runs on tasks teach the memory."""
        self._enter("learn")
        await self._run(rows, "learn", ())

    async def learn_from_gold(self, rows: Rows) -> None:
        """Let scripted runs of the tasks' gold calls teach the memory."""
        self._enter("learn")
        file = self.home / "gold.jsonl"
        done = [json.loads(line)["index"] for line in file.read_text().splitlines()] if file.exists() else []
        log = RunLog.open()
        for index, task in rows:
            if index not in done:
                right = await teach(log, task, embedder=None)
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"index": index, "query": task.query, "right": right}) + "\n")
        await log.close()

    def keep(self, number: str) -> None:
        """Keep the memory as it is after a template or a half of it, for those who use it later."""
        if not (kept := self.home / f"memory-{number}").exists():
            part = self.home / "memory.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            for file in _database(self.home / "learn"):
                shutil.copy(file, part)
            part.rename(kept)

    async def use(self, rows: Rows, number: str, variant: str, file: str) -> None:
        """Run each task on a copy of a memory that was kept."""
        if not (self.home / f"memory-{number}").exists():
            raise SystemExit(f"{self.home} holds no memory {number}: learn first, with the same --skip")
        for row in rows:
            for old in _database(self.home / "use"):
                old.unlink()
            for kept in _database(self.home / f"memory-{number}"):
                shutil.copy(kept, self.home / "use")
            self._enter("use")
            await self._run([row], file, VARIANTS[variant])

    async def _run(self, rows: Rows, name: str, without: Sequence[str]) -> None:
        def tell(trial: Trial, left: int) -> None:
            measured = trial.as_json() | measures(log, trial.run_id)
            with (self.home / f"{name}.jsonl").open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(measured) + "\n")
            verdict = "right" if trial.measures["right"] else "wrong"
            how = f"{verdict} {trial.status:16} {trial.model_calls:3} calls"
            print(f"{name:10} {how} {trial.seconds:6.1f} s  {trial.query[:90]}", flush=True)

        teams = 2 if name.endswith(TEAMS) else 1
        options = replace(self._options, without=tuple(without), teams=teams)
        log = RunLog.open()
        try:
            means = Means(options=options, log=log, model=self._model)
            file = self.home / f"{name}.done.jsonl"
            method = METHODS[REACT if name.endswith(REACT) else "plait"]
            work = Work(benchmark=WORKBENCH, method=method, means=means, file=file)
            await run_trials(rows, work, tell)
        finally:
            await log.close()


def _database(folder: Path) -> Iterator[Path]:
    """Yield the files of the run log; the folder beside them says which runs are alive."""
    return (path for path in folder.glob("plait.db*") if path.is_file())


def measures(log: RunLog, run_id: str) -> dict[str, int]:
    """Return the counts of the paper's tables that no ledger has."""
    events = [record.event for record in log.records(run_id)]
    ended = [event for event in events if isinstance(event, PipelineEnded)]
    finished = [event for event in events if isinstance(event, SubtaskFinished)]
    return {
        "subtasks": sum(isinstance(event, SubtaskStarted) for event in events),
        "completed": sum(event.status == "succeeded" for event in finished),
        "by_pipeline": sum(not event.left for event in ended),
        "left": sum(bool(event.left) for event in ended),
        "rectifications": sum(isinstance(event, PlanRectified) for event in events),
    }


def table(home: Path) -> Iterator[str]:
    """Write a line for each file of finished tasks."""
    yield (
        f"{'':12} tasks right harm  calls (median)  tools  completed  by pipeline  rectified  "
        "seconds (median)"
    )
    for file in sorted(home.glob("*.jsonl")):
        if file.name.endswith(".done.jsonl") or file.stem == "gold":
            continue
        lines: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]

        def total(name: str, of: Sequence[dict[str, Any]] = lines) -> int:
            return sum(line[name] for line in of)

        def median(name: str, of: Sequence[dict[str, Any]] = lines) -> float:
            return statistics.median(line[name] for line in of)

        yield (
            f"{file.stem:12} {len(lines):5} {total('right'):5} {total('side_effects'):4} "
            f"{total('model_calls'):6} {median('model_calls'):6}   {total('tool_calls'):6} "
            f"{total('completed'):5}/{total('subtasks'):<4} {total('by_pipeline'):8} "
            f"{total('rectifications'):12} {total('seconds'):10.0f} {median('seconds'):8.1f}"
        )


async def study(arguments: argparse.Namespace) -> None:
    """Learn and use, template by template."""
    options = Options(
        tools=(OFFICE,),
        yes=True,
        rounds=2,
        seed=arguments.seed,
        max_calls=arguments.max_calls,
        max_seconds=arguments.max_seconds,
    )
    order = chosen(arguments.data, arguments.seed)
    model = resolve_model(arguments.user or arguments.model)
    work = Study(arguments.home, model, options)
    try:
        await _each(work, order, arguments)
    finally:
        await model.aclose()


async def _each(work: Study, order: Sequence[Rows], arguments: argparse.Namespace) -> None:
    learn = work.learn_from_gold if arguments.teach == "gold" else work.learn
    first, last = arguments.skip, arguments.skip + arguments.templates
    for number, rows in enumerate(order[first:last], first + 1):
        print(f"== {rows[0][1].template}", flush=True)
        taught, others = rows[: arguments.train], rows[arguments.train :]
        if not arguments.user:
            await learn(taught[: arguments.train // 2])
            work.keep(f"{number}-half")
            await learn(taught)
            work.keep(f"{number}")
        prefix = re.sub(r"\W+", "-", arguments.user) + "-" if arguments.user else ""
        if arguments.same:
            await work.use(taught, f"{number}", "both", f"{prefix}same")
        for variant in arguments.variants.split(","):
            memory = f"{number}-half" if variant == "half" else f"{number}"
            await work.use(others, memory, variant, f"{prefix}{variant}")


def main() -> None:
    """Run the study and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--templates", type=int, default=3)
    parser.add_argument("--skip", type=int, default=0, help="templates of the order to leave to another home")
    parser.add_argument("--train", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--user", help="a model to use the kept memories with; nothing is learned then")
    parser.add_argument("--teach", choices=("model", "gold"), default="model")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--same", action="store_true", help="also run the tasks again that were learned from")
    parser.add_argument("--max-calls", type=int, default=30)
    parser.add_argument("--max-seconds", type=float, default=400)
    arguments = parser.parse_args()
    arguments.home = arguments.home.absolute()
    asyncio.run(study(arguments))
    print("\n".join(table(arguments.home)))


if __name__ == "__main__":
    main()
