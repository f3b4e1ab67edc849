"""Compare methods on WorkBench tasks with a real model: hours on a small machine, so not in `make bench`.

python -m benchmarks._workbench --method plait --data DIR --rows 0:280:14 --out plait.jsonl
"""

import argparse
import asyncio
import json
from pathlib import Path

from plait.bench.trial import METHODS, OFFICE, Trial, run_trials, summary
from plait.bench.workbench import load_tasks
from plait.models.resolve import resolve_model
from plait.runtime.options import DEFAULT_MODEL, Options


async def compare(arguments: argparse.Namespace) -> None:
    """Run one method over the chosen rows and print its figures."""
    start, stop, step = (int(part) for part in arguments.rows.split(":"))
    tasks = list(enumerate(load_tasks(Path(arguments.data))))[start:stop:step]
    options = Options(tools=(OFFICE,), yes=True, model=arguments.model, seed=arguments.seed)
    model = resolve_model(arguments.model)
    try:
        trials = await run_trials(tasks, arguments.method, model, options, Path(arguments.out), _tell)
    finally:
        await model.aclose()
    print(json.dumps({"method": arguments.method, "model": arguments.model, **summary(trials)}, indent=2))


def _tell(trial: Trial) -> None:
    print(f"{'right' if trial.right else 'wrong'} {trial.seconds:5.0f} s  {trial.query[:90]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", choices=sorted(METHODS), required=True)
    parser.add_argument("--data", required=True, help="folder with WorkBench's task files")
    parser.add_argument("--rows", default="0:280:14", help="start:stop:step in the joined files")
    parser.add_argument("--out", required=True, help="file of JSON lines; finished tasks are not run again")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--seed", type=int, default=0)
    asyncio.run(compare(parser.parse_args()))


if __name__ == "__main__":
    main()
