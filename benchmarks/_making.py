"""What teams make of a benchmark's tasks with a real model: hours on a small machine, so not in `make bench`.

python -m benchmarks._making --domain software --data SRDD.csv --rows 0:1200:240 --teams 4 --out four.jsonl
python -m benchmarks._making --domain story --data rocstories.jsonl --rows 0:100:40 --teams 1 --out one.jsonl
"""

import argparse
import asyncio
import csv
import json
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plait.agents.together import together
from plait.domains.delivery import statistics as solution_statistics
from plait.events import MergeRefused, Record, SolutionRated, SolutionsMerged
from plait.models.resolve import resolve_model
from plait.runner import Hands, new_run_id, start
from plait.runtime.log import RunLog
from plait.runtime.options import DEFAULT_MODEL, chosen
from plait.task import Result
from plait.teams.solution import Solution


def load_tasks(file: Path) -> list[str]:
    """Return the tasks of SRDD (a table with descriptions) or of stories (titles with five sentences)."""
    if file.suffix == ".csv":
        with file.open(encoding="utf-8", newline="") as lines:
            return [row["Description"] for row in csv.DictReader(lines)]
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [f"Write a story with the title {row['title']!r} that tells this: {row['story']}" for row in rows]


async def make(arguments: argparse.Namespace) -> None:
    """Run the tasks that have no line in the file yet, and print the means."""
    start_, stop, step = (int(part) for part in arguments.rows.split(":"))
    tasks = list(enumerate(load_tasks(Path(arguments.data))))[start_:stop:step]
    options = chosen(_said(arguments))
    file = Path(arguments.out)
    done = _lines(file)
    model, log = resolve_model(arguments.model), RunLog.open()
    hands, free = Hands(model=model, log=log), asyncio.Semaphore(arguments.concurrency)

    async def one(index: int, task: str) -> None:
        async with free:
            begun, run_id = time.monotonic(), new_run_id()
            result = await start(task, options, hands, run_id=run_id)
            line = _line(index, task, result, log.records(run_id), time.monotonic() - begun)
            done.append(line)
            _add(file, line)
            print(json.dumps(line), flush=True)

    try:
        finished = {line["index"] for line in done}
        await together([one(index, task) for index, task in tasks if index not in finished])
    finally:
        await log.close()
        await model.aclose()
    print(json.dumps(_means(done), indent=2))


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _add(file: Path, line: Mapping[str, Any]) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")


def _said(arguments: argparse.Namespace) -> Mapping[str, Any]:
    said: dict[str, Any] = {
        "domain": arguments.domain,
        "teams": arguments.teams,
        "seed": arguments.seed,
        "rounds": arguments.rounds,
        "model": arguments.model,
        "without": tuple(arguments.without),
    }
    if arguments.phases:
        said["phases"] = tuple(arguments.phases.split(","))
    return said


def _line(index: int, task: str, result: Result, records: Sequence[Record], seconds: float) -> dict[str, Any]:
    rated = [record.event for record in records if isinstance(record.event, SolutionRated)]
    merged = [record.event for record in records if isinstance(record.event, SolutionsMerged)]
    refused = sum(isinstance(record.event, MergeRefused) for record in records)
    made = {path: _text(path) for path in result.artifacts if not path.endswith(".json")}
    sizes = solution_statistics(
        Solution(product="made", files={name: text for name, text in made.items() if name.endswith(".py")}),
        tokens=result.usage.input_tokens + result.usage.output_tokens,
        seconds=seconds,
    )
    return {
        "index": index,
        "task": task[:80],
        "run_id": result.run_id,
        "status": result.status,
        "quality": result.score,
        "dimensions": next(
            (dict(each.dimensions) for each in reversed(rated) if each.quality == result.score), {}
        ),
        "model_calls": result.usage.model_calls,
        "input_tokens": result.usage.input_tokens,
        "cached_input_tokens": result.usage.cached_input_tokens,
        "output_tokens": result.usage.output_tokens,
        "files": sizes.files,
        "lines": sizes.lines,
        "seconds": round(seconds, 1),
        "merges": len(merged),
        "merges_without_solution": sum(bool(event.failed) for event in merged),
        "merges_refused": refused,
    }


def _text(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")


def _means(lines: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    names = ("quality", "model_calls", "output_tokens", "files", "lines", "seconds")
    means = {name: statistics.mean(line[name] or 0 for line in lines) for name in names}
    for name in sorted({name for line in lines for name in line["dimensions"]}):
        means[name] = statistics.mean(line["dimensions"].get(name, 0.0) for line in lines)
    return {"tasks": len(lines), **{name: round(value, 3) for name, value in means.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domain", required=True)
    parser.add_argument("--data", required=True, help="SRDD's table, or stories as JSON lines")
    parser.add_argument("--rows", required=True, help="start:stop:step")
    parser.add_argument("--out", required=True, help="file of JSON lines; finished tasks are not run again")
    parser.add_argument("--teams", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=2, help="of one dialogue at most")
    parser.add_argument("--phases", default="", help="only these, with commas")
    parser.add_argument("--without", action="append", default=[], help="prune, partition, role, elitism")
    parser.add_argument("--concurrency", type=int, default=1, help="tasks at once; seconds then overlap")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    asyncio.run(make(parser.parse_args()))


if __name__ == "__main__":
    main()
