"""Runs of tool tasks on record: worked by scripted crews into a real log, and written by hand."""

from collections.abc import Sequence
from typing import Any

from tests.reflection.crew import Stage

from plait.events import Event, Gated, PlanMade, Record, RunStarted, StepRecorded
from plait.experience.investigation.tree import Goal, Step
from plait.models.callform import format_call
from plait.reflection.rounds import solve_in_rounds
from plait.runtime.log import RunLog

RUN = "run-1"


async def worked(log: RunLog, stage: Stage, *, ends: str = "") -> list[Record]:
    """Let a crew work on its task, and return what is on record; `ends` is the status it ends with."""
    journal = await log.start(RUN, stage.crew.task, {"domain": "tools"})
    await solve_in_rounds(journal, stage.crew, stage.progress)
    stage.assert_done()
    if ends:
        await journal.finish(ends, {"answer": stage.progress.answer})
    await journal.flush()
    await journal.close()
    return log.records(RUN)


def on_record(*places: tuple[str, Event], task: str = "Solve it") -> list[Record]:
    """Write a log by hand, a run's start first; a path that comes again is a revision of itself."""
    started = RunStarted(task=task, options={}, version="0")
    revisions: dict[str, int] = {}
    records: list[Record] = []
    for sequence, (path, event) in enumerate([("run!run_started!0", started), *places], start=1):
        revisions[path] = revisions.get(path, -1) + 1
        records.append(
            Record(
                run_id=RUN,
                sequence=sequence,
                path=path,
                revision=revisions[path],
                epoch=1,
                at=float(sequence),
                event=event,
            )
        )
    return records


def planned(*goals: str, round: int = 1) -> tuple[str, Event]:
    """A plan whose subtasks need none of each other."""
    subtasks = [{"id": str(n), "goal": goal, "depends_on": []} for n, goal in enumerate(goals, start=1)]
    return f"run/round-{round}/plan!0", PlanMade(round=round, subtasks=subtasks)


def chosen(place: str, output: str, *, attempt: int = 1, verdict: Any = "passed") -> tuple[str, Event]:
    """A choice at its gate."""
    event = Gated(
        role="tool",
        attempt=attempt,
        score=9,
        threshold=6,
        critique="",
        problems=(),
        verdict=verdict,
        output=output,
    )
    return f"{place}!{attempt - 1}", event


def called(place: str, tool: str, result: Any = None, *, kind: Any = "tool", **arguments: Any):
    """A call on record."""
    made = {"ok": True, "text": "fine", "cut": False, "shared": False}
    event = StepRecorded(
        step=kind,
        args={"tool": tool, "arguments": arguments},
        args_hash=format_call(tool, arguments),
        result=made if result is None else result,
        seconds=0.0,
    )
    return f"{place}/act/call", event


def statuses(goal: Goal | None) -> dict[str, str]:
    """Return how every goal stands, by its id."""
    assert goal is not None
    return {each.id: each.status for each in goal.goals()}


def calls(steps: Sequence[Step]) -> list[str]:
    """Return steps as calls."""
    return [format_call(step.tool, step.arguments) for step in steps]


def trajectories(goal: Goal | None) -> dict[str, list[str]]:
    """Return the calls of every leaf, by its id."""
    assert goal is not None
    return {leaf.id: calls(leaf.steps) for leaf in goal.leaves()}
