"""Rounds: plan, act, answer, until an answer reaches its threshold (MIRROR, sections 3.4-3.6).

A round whose execution fails or whose answer is weak goes into long-term memory, and the planner of
the next round starts from there. Knows nothing of the command line, the log or other strands.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from plait.agents.gate import Judged
from plait.errors import BudgetExhausted, ReplyError
from plait.events import LoopBroken, Noted, RoundFinished, RoundStarted
from plait.journal import JSON, Journal, JSONObject
from plait.reflection.crew import Crew
from plait.reflection.guide import Guide
from plait.reflection.memory import LongTermMemory
from plait.reflection.phases import OneCrew, Phases
from plait.reflection.plan import Plan
from plait.reflection.planner import whole_task
from plait.reflection.round_text import trajectory_text
from plait.reflection.thrift import teams_paid
from plait.reflection.trajectory import Effects, Trajectory
from plait.verdict import Check

STALE = "its calls were all made before, with the same results, and its answer is no better:"
IDLE = "it is one of {rounds} in a row that changed nothing and brought no better answer:"
PATIENCE = 2
"""So many further rounds in a row may bring nothing."""
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


@dataclass(frozen=True, kw_only=True)
class _Before:
    """What was known before a round."""

    made: frozenset[tuple[str, str]]
    """Calls with what they brought."""
    answered: bool
    score: float | None
    effects: int
    """How many there were."""

    @classmethod
    def of(cls, progress: Progress) -> "_Before":
        return cls(
            made=frozenset((step.call, step.observation) for step in progress.effects.seen),
            answered=progress.answer is not None,
            score=progress.score,
            effects=len(progress.effects.done),
        )

    def brought_nothing(self, progress: Progress) -> bool:
        """Whether a round changed nothing and came to no better answer."""
        better = progress.answer is not None and (
            not self.answered or (progress.score or 0.0) > (self.score or 0.0)
        )
        return not better and len(progress.effects.done) == self.effects

    def knew_all(self, progress: Progress) -> bool:
        """Whether a round learned nothing from the tools it called, and came to no better answer."""
        trajectory = progress.trajectory
        if trajectory is None or (progress.answer is not None and not self.answered):
            return False
        made = trajectory.made
        if (progress.score or 0.0) > (self.score or 0.0) or not made or not all(step.ok for step in made):
            return False  # Tools that fail may work the next time.
        return {(step.call, step.observation) for step in made} <= self.made


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What all rounds of a task share."""

    crew: Crew
    """Of the round under way."""
    phases: Phases
    progress: Progress


async def solve_in_rounds(
    journal: Journal, crew: Crew, progress: Progress, phases: Phases | None = None
) -> None:
    """Solve the crew's task; the outcome is in `progress`, also when an error ends it early.

    Args:
        journal: Of the run.
        crew: The agents.
        progress: Takes what comes of it.
        phases: Who plans, acts and answers; by default the crew alone.
    """
    work = _Work(crew=crew, phases=phases or OneCrew(), progress=progress)
    memory = LongTermMemory(enabled=crew.settings.long_term)
    failures: list[str] = []
    idle = 0
    for number in range(1, crew.settings.rounds + 1):
        own, before = replace(work, crew=crew.at_round(number)), _Before.of(progress)

        async def one(branch: Journal, _: None, own: _Work = own, number: int = number) -> str | None:
            return await _round(branch, own, memory.entries, number)

        failure = await journal.branch(f"round-{number}", one, None)
        if failure is None:
            break
        idle = idle + 1 if number > 1 and before.brought_nothing(progress) else 0
        if _in_circles(journal, own, before, failures, failure) or _out_of_patience(journal, own, idle):
            if progress.answer is None and progress.trajectory is not None:
                await _last_answer(journal, work, number)
            break
        failures.append(failure)
        memory.write(journal, f"Round {number}\n{failure}")
        if number < crew.settings.rounds:
            work = await _paid(journal, work, own.crew)
    memory.clear(journal)


def _in_circles(
    journal: Journal, work: _Work, before: _Before, failures: Sequence[str], failure: str
) -> bool:
    """Whether the round that just failed shows that another would bring nothing; it is told."""
    number = work.progress.rounds
    if failure in failures:
        journal.emit(LoopBroken(call=f"round {number}", times=failures.count(failure) + 1))
        return True
    if work.crew.check is not None or number == work.crew.settings.rounds:
        return False  # What a user's check says of an answer is no matter of its score.
    if before.knew_all(work.progress):
        journal.emit(Noted(text=f"{STALE} round {number} is the last"))
        return True
    return False


def _out_of_patience(journal: Journal, work: _Work, idle: int) -> bool:
    """Whether so many rounds in a row brought nothing that no other is begun; it is told."""
    number = work.progress.rounds
    if idle < PATIENCE or work.crew.check is not None or number == work.crew.settings.rounds:
        return False
    journal.emit(Noted(text=f"{IDLE.format(rounds=idle)} round {number} is the last"))
    return True


async def _paid(journal: Journal, work: _Work, last: Crew) -> _Work:
    """Return the work as the budget pays another round of it; else answer from what there is, and end.

    Raises:
        BudgetExhausted: it does not.
    """
    progress, teams = work.progress, work.phases.teams
    try:
        paid = await teams_paid(journal, progress.rounds + 1, last.planner.budget, teams)
    except BudgetExhausted:
        if progress.answer is None and progress.trajectory is not None:
            await _last_answer(journal, work, progress.rounds)
        raise
    if paid == teams:
        return work
    journal.emit(Noted(text=f"the budget runs low, so one team goes on in round {progress.rounds + 1}"))
    return replace(work, phases=OneCrew())


async def _round(journal: Journal, work: _Work, lessons: Sequence[str], number: int) -> str | None:
    """Run one round; return None when its answer passed, else the round as text."""
    crew, progress = work.crew, work.progress
    journal.emit(RoundStarted(round=number))
    progress.rounds, progress.trajectory = number, None
    try:
        plan = await _plan(journal, work, lessons, number)
    except ReplyError as error:
        journal.emit(RoundFinished(round=number, answer="", score=None, passed=False))
        return f"No plan: {error.message}"
    before = bool(progress.effects.done or progress.effects.doubtful)
    progress.trajectory = Trajectory.of(plan.output, changed_before=before)
    scored = "" if plan.score is None else f" (score {plan.score})"
    progress.trajectory.remarks = f"Plan: {plan.critique}{scored}" if plan.critique else ""
    await work.phases.act(journal, crew, progress.trajectory, progress.effects)
    last = number == crew.settings.rounds
    if progress.trajectory.failed and not last:
        journal.emit(RoundFinished(round=number, answer="", score=None, passed=False))
        return trajectory_text(progress.trajectory, remarks=True)
    return await _answer(journal, work, number)


async def _plan(journal: Journal, work: _Work, lessons: Sequence[str], number: int) -> Judged[Plan]:
    """Return the plan of a round; a task with a known way through all of it is its own."""
    crew = work.crew

    async def known(branch: Journal, guide: Guide) -> Judged[Plan] | None:
        task = " ".join(crew.task.split())
        knows = await guide.knows(branch, task, task)
        return whole_task(branch, crew.task, number) if knows else None

    if crew.guide is not None and crew.goes_known_ways:
        plan = await journal.branch("plan", known, crew.guide)
        if plan is not None:
            return plan
    return await work.phases.plan(journal, crew, lessons, number)


async def _answered(
    journal: Journal, work: _Work, trajectory: Trajectory
) -> tuple[Any, float | None, bool, str]:
    """Return the answer, its score, whether it is good enough, and what it lacks."""
    gate = work.crew.settings.answer
    if told := _told(work.crew, trajectory):
        await journal.branch("answer", _say_served, None)
        return told, None, True, ""
    passed = await work.phases.answer(journal, work.crew, trajectory)
    judged = passed.judged
    good = not passed.forced and (not gate.enabled or (judged.score or 0.0) >= gate.threshold)
    return judged.output, judged.score, good and not trajectory.failed, judged.critique


async def _say_served(journal: Journal, _: None) -> None:
    journal.emit(Noted(text=SERVED))


async def _answer(journal: Journal, work: _Work, number: int) -> str | None:
    crew, progress = work.crew, work.progress
    trajectory = progress.trajectory
    assert trajectory is not None
    try:
        answer, score, good, critique = await _answered(journal, work, trajectory)
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


async def _last_answer(journal: Journal, work: _Work, number: int) -> None:
    """Answer from what there is, after a round that came to no answer of its own."""

    async def last(branch: Journal, _: None) -> None:
        await _answer(branch, work, number)

    # In each round a place of its own: a run that is resumed with a higher limit may come to this again.
    await journal.branch(f"round-{number}/last", last, None)


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
