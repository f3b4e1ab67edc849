"""Runs what is planned of a benchmark, and tells on standard error of each task as it is done.

Knows nothing of how what came of them is shown.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from plait.bench.plan import Entry, Found, Plan, carry_out, ignored, still_open
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
    try:
        return asyncio.run(_run(plan))
    except (KeyboardInterrupt, asyncio.CancelledError):
        _tell("stopped; what is done is kept: the same command goes on from there")
        raise typer.Exit(130) from None


async def _run(plan: Plan) -> Found:
    cancel_on_term()
    return await carry_out(plan, _progress(plan))


def _flags(names: Sequence[str], said: Mapping[str, Any]) -> list[str]:
    plain = [f"--{name.replace('_', '-')}" for name in names if name != "without"]
    return [*plain, *(f"--no-{switch}" for switch in said.get("without", ()) if "without" in names)]


def _progress(plan: Plan) -> Callable[[Entry, Trial, int], None]:
    """Return what tells of each finished task, and how long all others will take."""
    left_of, begun, done = still_open(plan), time.monotonic(), 0

    def tell(entry: Entry, trial: Trial, left: int) -> None:
        nonlocal done
        done += 1
        left_of[entry.label] = left
        seconds = (time.monotonic() - begun) / done * sum(left_of.values())
        rest = f", about {seconds_text(seconds)} left" if sum(left_of.values()) else ""
        how = f"{trial.model_calls} calls, {seconds_text(trial.seconds)}"
        count = f"{len(plan.tasks) - left}/{len(plan.tasks)}"
        verdict = one_line(_verdict(plan, trial), 160)
        _tell(f"{entry.label} {count}{rest}: {verdict}, {how}: {one_line(trial.query, 80)}")

    return tell


def _verdict(plan: Plan, trial: Trial) -> str:
    if trial.broke:
        return trial.status
    main = plan.benchmark.main
    value = trial.measures[main.of]
    if main.yes_no:
        return "right" if value else "wrong"
    return f"{main.name} {value:.2f}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
