"""Runs whose process is killed at any moment go on: no finished step again, no effect twice, nothing lost."""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.runtime.chain import STEPS, chain, is_effect

from plait.errors import NeedsDecision
from plait.events import StepRecorded
from plait.runtime.log import RunLog

RUNS = 6
EFFECTS = sum(is_effect(number) for number in range(STEPS))


def begin(url: str, run_id: str, world: Path, fatal: str = "") -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.runtime.chain", url, run_id, str(world), fatal]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def kill_at_random(child: "subprocess.Popen[str]", generator: random.Random, *, earliest: int = 1) -> None:
    """Kill a process a moment after one of its lines."""
    assert child.stdout is not None
    for _ in range(generator.randint(earliest, STEPS)):
        child.stdout.readline()
    time.sleep(generator.random() * 0.006)
    child.kill()
    child.wait()
    child.stdout.close()


async def resume(url: str, run_id: str, world: Path) -> int:
    """Take a killed run to its end, as its user would; return how many steps the log answered."""
    log = RunLog.open(url)
    finished = [record.path for record in log.records(run_id) if isinstance(record.event, StepRecorded)]
    journal = await log.resume(run_id)
    try:
        await chain(journal, world)
    except NeedsDecision as exc:
        await journal.close()
        done = exc.path.removeprefix("run/") in lines(world)
        journal = await log.resume(run_id, decision="assume-done" if done else "retry")
        await chain(journal, world)
    assert all(journal.recalled(path.removeprefix("run/")) for path in finished)
    await journal.finish("succeeded", {})
    assert (run_id, "succeeded") in [(run.run_id, run.status) for run in log.runs()]
    await log.close()
    return len(finished)


def lines(world: Path) -> list[str]:
    return world.read_text().split() if world.exists() else []


@pytest.mark.parametrize(
    ("kind", "runs"), [("file", RUNS), pytest.param("postgres", 2, marks=pytest.mark.postgres)]
)
async def test_killed_runs_go_on(
    kind: str, runs: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = request.getfixturevalue(f"{kind}_url")
    RunLog.open(url).close_now()
    generator = random.Random()
    children = [begin(url, f"r{number}", tmp_path / f"world-{number}") for number in range(runs)]
    for number, child in enumerate(children):
        # Of one at least something is on record: what was done before its third line.
        kill_at_random(child, generator, earliest=3 if number == 0 else 1)

    finished = 0
    for number in range(runs):
        finished += await resume(url, f"r{number}", tmp_path / f"world-{number}")
    for number in range(runs):
        counts = Counter(lines(tmp_path / f"world-{number}"))
        assert all(count == 1 for name, count in counts.items() if name.startswith("effect"))
        assert sum(name.startswith("effect") for name in counts) == EFFECTS
        assert len(counts) == STEPS
        assert sum(counts.values()) <= STEPS + 1  # One call may have been under way.
    assert finished > 0


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_killed_within_an_effect(file_url: str, tmp_path: Path, moment: str) -> None:
    world = tmp_path / "world"
    child = begin(file_url, "r1", world, f"{moment} effect-5")
    child.communicate()
    assert child.returncode == -9

    log = RunLog.open(file_url)
    assert [(run.status, run.live) for run in log.runs()] == [("interrupted", False)]
    journal = await log.resume("r1")
    with pytest.raises(NeedsDecision, match="effect in doubt at 'run/effect-5'"):
        await chain(journal, world)
    done = ["call-0", "call-1", "effect-2", "call-3", "call-4"]
    assert all(journal.recalled(name) for name in done)
    await log.close()
    assert lines(world) == (done if moment == "before" else [*done, "effect-5"])
