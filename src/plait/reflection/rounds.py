"""Rounds: plan, act, answer, until an answer reaches its threshold (MIRROR, sections 3.4-3.6).

A round whose execution fails or whose answer is weak goes into long-term memory, and the planner of
the next round starts from there. Knows nothing of the command line, the log or other strands.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from plait.agents.gate import Judged
from plait.errors import ReplyError
from plait.events import LoopBroken, Noted, RoundFinished, RoundStarted
from plait.journal import JSON, Journal, JSONObject
from plait.reflection.act import act
from plait.reflection.answer_agent import write_answer
from plait.reflection.crew import Crew
from plait.reflection.memory import LongTermMemory
from plait.reflection.plan import Plan
from plait.reflection.planner import make_plan, whole_task
from plait.reflection.trajectory import Effects, Trajectory
from plait.reflection.wording import trajectory_text
from plait.verdict import Check

SERVED = "all effects were answered as when this was learned, so no model is asked for an answer"


@dataclass(kw_only=True)
class Progress:
    """How far a task has come; kept by the caller, so that a run that is cut short has its best result."""

    rounds: int = 0
    answer: Any = None
    score: float | None = None
    passed: bool = False
    weakness: str = ""
    """What the last answer lacks, where it did not pass."""
    trajectory: Trajectory | None = None
    """Of the round under way, or of the last."""
    effects: Effects = field(default_factory=Effects)

    def offer(self, answer: Any, score: float | None) -> None:
        """Keep the answer where it is the best so far; a later one wins a tie."""
        if self.answer is None or (score or 0.0) >= (self.score or 0.0):
            self.answer, self.score = answer, score


async def solve_in_rounds(journal: Journal, crew: Crew, progress: Progress) -> None:
    """Solve the crew's task; the outcome is in `progress`, also when an error ends it early."""
    memory = LongTermMemory(enabled=crew.settings.long_term)
    failures: list[str] = []
    for number in range(1, crew.settings.rounds + 1):

        async def one(branch: Journal, _: None, number: int = number) -> str | None:
            return await _round(branch, crew.at_round(number), progress, memory.entries, number)

        failure = await journal.branch(f"round-{number}", one, None)
        if failure is None:
            break
        if failure in failures:
            journal.emit(LoopBroken(call=f"round {number}", times=failures.count(failure) + 1))
            if progress.answer is None and progress.trajectory is not None:
                await _answer(journal, crew, progress, number)
            break
        failures.append(failure)
        memory.write(journal, f"Round {number}\n{failure}")
    memory.clear(journal)


async def _round(
    journal: Journal, crew: Crew, progress: Progress, lessons: Sequence[str], number: int
) -> str | None:
    """Run one round; return None when its answer passed, else the round as text."""
    journal.emit(RoundStarted(round=number))
    progress.rounds, progress.trajectory = number, None
    try:
        plan = await _plan(journal, crew, lessons, number)
    except ReplyError as error:
        journal.emit(RoundFinished(round=number, answer="", score=None, passed=False))
        return f"No plan: {error.message}"
    progress.trajectory = Trajectory.of(plan.output)
    progress.trajectory.remarks = f"Plan: {plan.critique} (score {plan.score})" if plan.critique else ""
    await act(journal, crew, progress.trajectory, progress.effects)
    last = number == crew.settings.rounds
    if progress.trajectory.failed and not last:
        journal.emit(RoundFinished(round=number, answer="", score=None, passed=False))
        return trajectory_text(progress.trajectory, remarks=True)
    return await _answer(journal, crew, progress, number)


async def _plan(journal: Journal, crew: Crew, lessons: Sequence[str], number: int) -> Judged[Plan]:
    async def place(branch: Journal, _: None) -> Judged[Plan]:
        guide = crew.guide if crew.goes_known_ways else None
        if guide is not None and await guide.knows(branch, " ".join(crew.task.split())):
            return whole_task(branch, crew.task, number)
        return await make_plan(branch, crew, lessons, number)

    return await journal.branch("plan", place, None)


async def _answer(journal: Journal, crew: Crew, progress: Progress, number: int) -> str | None:
    trajectory = progress.trajectory
    assert trajectory is not None

    async def place(branch: Journal, _: None) -> tuple[Any, float | None, bool, str]:
        if told := _told(crew, trajectory):
            branch.emit(Noted(text=SERVED))
            return told, None, True, ""
        passed = await write_answer(branch, crew, trajectory)
        judged = passed.judged
        good = not passed.forced and (
            not crew.settings.answer.enabled or (judged.score or 0.0) >= crew.settings.answer.threshold
        )
        return judged.output, judged.score, good and not trajectory.failed, judged.critique

    try:
        answer, score, good, critique = await journal.branch("answer", place, None)
    except ReplyError as error:
        journal.emit(RoundFinished(round=number, answer="", score=None, passed=False))
        return f"{trajectory_text(trajectory, remarks=True)}\n\nNo answer: {error.message}"
    progress.offer(answer, score)
    if crew.check is not None:
        good, critique = await _checked(journal, crew.check, answer)
    progress.passed, progress.weakness = good, critique
    journal.emit(RoundFinished(round=number, answer=str(answer), score=score, passed=good))
    if good:
        progress.answer, progress.score = answer, score
        return None
    done = trajectory_text(trajectory, remarks=True)
    return f"{done}\n\nAnswer: {answer}\nCritique: {critique} (score {score})"


def _told(crew: Crew, trajectory: Trajectory) -> str:
    """Return what came of a task that was done in a known way; empty where an agent must say it."""
    if len(trajectory.runs) != 1 or crew.returns is not None or trajectory.failed:
        return ""
    (run,) = trajectory.runs.values()
    # A plan of one line may have lost a part of the task.
    return run.told if run.subtask.goal == " ".join(crew.task.split()) else ""


async def _checked(journal: Journal, check: Check, answer: Any) -> tuple[bool, str]:
    """Ask the user's own oracle; it overrules what the agents think."""

    async def ask(args: JSONObject) -> JSON:
        verdict = await check(str(args["answer"]))
        return {"right": verdict.right, "output": verdict.output}

    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    result = cast("Mapping[str, Any]", await journal.call("check", ask, {"answer": text}))
    return bool(result["right"]), f"the user's check says wrong: {result['output']}"
