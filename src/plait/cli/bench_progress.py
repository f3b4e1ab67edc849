"""Runs what is planned of a benchmark, and tells on standard error of each task as it is done.

Knows nothing of how what came of them is shown.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import typer

from plait.bench.benchmark import Measure
from plait.bench.plan import Found, Plan, carry_out, ignored, still_open
from plait.bench.trial import Trial
from plait.cli.running import cancel_on_term
from plait.cli.words import one_line, seconds_text


def run_plan(plan: Plan, said: Mapping[str, Any]) -> Found:
    """Run what has no line yet; return how all tasks went.

    Raises:
        typer.Exit: it was stopped.
        UserError: as `carry_out`.
    """
    for label, names in ignored(plan, said).items():
        _tell(f"{label} does not go by {', '.join(_flags(names, said))}")
    return finished(_run(plan))


def finished(running: Coroutine[Any, Any, Found]) -> Found:
    """Run to the end, and say what is kept where it is stopped.

    Raises:
        typer.Exit: it was stopped.
    """

    async def until_stopped() -> Found:
        cancel_on_term()
        return await running

    try:
        return asyncio.run(until_stopped())
    except (KeyboardInterrupt, asyncio.CancelledError):
        _tell("stopped; what is done is kept: the same command goes on from there")
        raise typer.Exit(130) from None


async def _run(plan: Plan) -> Found:
    rows = len(plan.tasks)
    tell = progress(plan.benchmark.main, still_open(plan), dict.fromkeys(plan.files(), rows))
    return await carry_out(plan, lambda entry, trial, _: tell(entry.label, trial))


def _flags(names: Sequence[str], said: Mapping[str, Any]) -> list[str]:
    plain = [f"--{name.replace('_', '-')}" for name in names if name != "without"]
    return [*plain, *(f"--no-{switch}" for switch in said.get("without", ()) if "without" in names)]


def progress(
    main: Measure, still_open: Mapping[str, int], all_tasks: Mapping[str, int]
) -> Callable[[str, Trial], None]:
    """Return what tells of each finished task, and how long all others will take.

    Args:
        main: The measure that a line tells.
        still_open: Tasks to be run, by label.
        all_tasks: All tasks, by label.
    """
    left, begun, done = dict(still_open), time.monotonic(), 0

    def tell(label: str, trial: Trial) -> None:
        nonlocal done
        done += 1
        left[label] -= 1
        seconds = (time.monotonic() - begun) / done * sum(left.values())
        rest = f", about {seconds_text(seconds)} left" if sum(left.values()) else ""
        how = f"{trial.model_calls} calls, {seconds_text(trial.seconds)}"
        count = f"{all_tasks[label] - left[label]}/{all_tasks[label]}"
        verdict = one_line(_verdict(main, trial), 160)
        _tell(f"{label} {count}{rest}: {verdict}, {how}: {one_line(trial.query, 80)}")

    return tell


def _verdict(main: Measure, trial: Trial) -> str:
    if trial.broke:
        return trial.status
    value = trial.measures[main.of]
    if main.yes_no:
        return "right" if value else "wrong"
    return f"{main.name} {value:.2f}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
