"""Act: work through a plan, independent subtasks at once, effects in plan order.

Knows nothing of rounds. What a subtask sees is decided by the plan alone (the subtasks it depends on,
and its own steps), never by timing, so that a resumed run asks exactly what was asked before.
"""

import asyncio
from dataclasses import dataclass, field

from plait.agents.together import together
from plait.errors import ReplyError
from plait.events import LoopBroken, Noted, SubtaskFinished, SubtaskStarted
from plait.journal import Journal
from plait.models.callform import format_call
from plait.reflection.checks import Known, call_problems
from plait.reflection.crew import Crew
from plait.reflection.doubts import looped
from plait.reflection.guide import Call, Lost, Trail
from plait.reflection.memory import ShortTermMemory
from plait.reflection.plan import Subtask
from plait.reflection.searches import wider
from plait.reflection.second_opinion import reached
from plait.reflection.tool_agent import MAX_RESULT, Choice, Moment, choose
from plait.reflection.trajectory import Effects, Step, SubtaskRun, Trajectory

KNOWN = "This is how it was done before."
SEARCHES_ENOUGH = 2
"""Different searches that found nothing, after which there is taken to be nothing."""


@dataclass(kw_only=True)
class Round:
    """One round's work under way."""

    crew: Crew
    trajectory: Trajectory
    earlier: Effects
    """Effects of earlier rounds."""
    finished: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    def before(self, subtask: Subtask) -> Trajectory:
        """Return what a subtask may see: itself and all it depends on, in plan order."""
        ids = self._ancestors(subtask) | {subtask.id}
        runs = {id: run for id, run in self.trajectory.runs.items() if id in ids}
        return Trajectory(plan=self.trajectory.plan, runs=runs)

    def known(self, run: SubtaskRun) -> Known:
        """Return what a call of a subtask may draw on."""
        seen = [step for other in self.before(run.subtask).runs.values() for step in other.steps]
        done = [*self.earlier.done, *(step for step in seen if step.effect and step.ok)]
        doubtful = [*self.earlier.doubtful, *(step for step in seen if step.unknown)]
        observations = [step.observation for step in (*seen, *self.earlier.seen)]
        remembered = run.steps
        if not self.crew.settings.short_term:
            remembered = [step for step in run.steps if step.ok]
        return Known(
            task=self.crew.task,
            texts=[self.crew.told_task, run.subtask.goal, *observations],
            notes=self.crew.notes,
            dates=self.crew.dates,
            steps=remembered,
            effects=Effects(done=done, doubtful=doubtful),
        )

    def _ancestors(self, subtask: Subtask) -> set[str]:
        found: set[str] = set()
        for id in subtask.depends_on:
            found |= {id} | self._ancestors(self.trajectory.runs[id].subtask)
        return found


async def act(journal: Journal, crew: Crew, trajectory: Trajectory, effects: Effects) -> None:
    """Work through the plan of `trajectory`, which fills; `effects` takes what was done and seen."""
    earlier = Effects(
        done=list(effects.done),
        doubtful=list(effects.doubtful),
        seen=list(effects.seen),
        finished=dict(effects.finished),
    )
    round_ = Round(crew=crew, trajectory=trajectory, earlier=earlier)
    subtasks = trajectory.plan.subtasks
    round_.finished = {subtask.id: asyncio.Event() for subtask in subtasks}
    await together([_subtask(journal, round_, effects, subtask) for subtask in subtasks])
    for run in trajectory.runs.values():
        effects.seen += run.steps[run.carried :]
        if run.status == "succeeded" and any(step.effect and step.ok for step in run.steps):
            effects.finished[run.subtask.goal.lower()] = run


async def _subtask(journal: Journal, round_: Round, effects: Effects, subtask: Subtask) -> None:
    run = round_.trajectory.runs[subtask.id]
    for id in subtask.depends_on:
        await round_.finished[id].wait()
    if any(round_.trajectory.runs[id].status != "succeeded" for id in subtask.depends_on):
        run.status, run.result = "skipped", "a subtask it depends on did not succeed"

        # Told at the subtask's own place: the round's own order of events would depend on timing.
        async def skip(branch: Journal, _: None) -> None:
            branch.emit(SubtaskFinished(id=subtask.id, status="skipped", result=run.result))

        await journal.branch(f"subtask-{subtask.id}", skip, None)
    else:
        if (done := round_.earlier.finished.get(subtask.goal.lower())) is not None:
            # A weak answer is no reason to change the world anew: the agent goes on from what was done.
            run.steps, run.carried = list(done.steps), len(done.steps)

        async def work(branch: Journal, _: None) -> None:
            await _work(branch, round_, effects, run)

        await journal.branch(f"subtask-{subtask.id}", work, None)
    round_.finished[subtask.id].set()


async def _work(journal: Journal, round_: Round, effects: Effects, run: SubtaskRun) -> None:
    """Take steps until the subtask is done, fails, or is out of steps."""
    memory = ShortTermMemory(enabled=round_.crew.settings.short_term)
    journal.emit(SubtaskStarted(id=run.subtask.id, goal=run.subtask.goal))
    number = 0
    if (trail := await _trail(journal, round_, run)) is not None:
        number = await _follow(journal, round_, effects, run, trail)
        if run.status == "succeeded":
            return None
    last = number + round_.crew.settings.steps
    while number < last:
        number += 1
        try:
            choice = await _choose(journal, round_, run, memory, number)
        except ReplyError as error:
            memory.write(journal, error.message)
            return await _give_up(journal, round_, run, memory, error.message)
        if choice.done:
            return _end(journal, run, memory, "succeeded", str(choice.arguments["result"]))
        step = await _execute(journal, round_, effects, run, choice, number)
        run.steps.append(step)
        if looped(run.steps):
            journal.emit(LoopBroken(call=step.call, times=2))
            return _break_off(journal, run, memory)
        if not step.ok:
            own = f" (own critique before: {step.critique})" if step.critique else ""
            memory.write(journal, f"{step.call} -> {step.observation}{own}")
        elif step.empty:
            memory.write(journal, f"{step.call} found nothing")
            number += await _search_wider(journal, round_, run, number + 1)
    return await _give_up(journal, round_, run, memory, f"not done in {round_.crew.settings.steps} steps")


async def _trail(journal: Journal, round_: Round, run: SubtaskRun) -> Trail | None:
    """Return the way that is known through the whole task, where the subtask is that.

    A part of a task may rest on what other parts found, which its own words do not say.
    """
    guide, task = round_.crew.guide, " ".join(round_.crew.task.split())
    if guide is None or run.subtask.goal != task or len(round_.trajectory.runs) > 1:
        return None
    return await guide.trail(journal, task)


async def _follow(journal: Journal, round_: Round, effects: Effects, run: SubtaskRun, trail: Trail) -> int:
    """Go a known way as far as it leads, and return the number of steps; its end is that of the subtask."""
    number = 0
    while isinstance(forward := trail.next(run.steps), Call):
        tool = round_.crew.executor.tools[forward.tool]
        if problems := call_problems(tool, forward.arguments, round_.known(run)):
            forward = Lost(reason=problems[0])
            break
        number += 1
        choice = Choice(name=forward.tool, arguments=forward.arguments, thought=KNOWN)
        run.steps.append(await _execute(journal, round_, effects, run, choice, number))
    left = forward.reason if isinstance(forward, Lost) else ""
    trail.ended(journal, run.steps, left)
    if not left and run.steps:
        last = run.steps[-1]
        result = f"{last.call}: {last.observation}"[:MAX_RESULT]
        _end(journal, run, ShortTermMemory(enabled=False), "succeeded", result)
    return number


async def _choose(
    journal: Journal, round_: Round, run: SubtaskRun, memory: ShortTermMemory, number: int
) -> Choice:
    moment = Moment(
        run=run,
        trajectory=round_.before(run.subtask),
        known=round_.known(run),
        memory=memory,
    )

    async def place(branch: Journal, _: None) -> Choice:
        passed = await choose(branch, round_.crew, moment)
        for mending in passed.judged.output.mended:
            branch.emit(Noted(text=mending))
        for refused in passed.refused:
            memory.write(branch, f"refused: {refused}")
        if passed.forced:
            memory.write(branch, f"own critique of {passed.judged.shown}: {passed.judged.critique}")
        return passed.judged.output

    return await journal.branch(f"step-{number}", place, None)


async def _execute(
    journal: Journal, round_: Round, effects: Effects, run: SubtaskRun, choice: Choice, number: int
) -> Step:
    tool = round_.crew.executor.tools[choice.name]
    if tool.effect == "changes":
        await _turn(round_, run.subtask)
        again = Step(tool=choice.name, arguments=choice.arguments, ok=True, observation="", effect=True)
        if effects.has(again.call) or effects.may_have(again.call):
            return _refused(choice, "not done: exactly this was, or may have been, done before in this run")

    async def place(branch: Journal, _: None) -> Step:
        return await _made(branch, round_, choice)

    step = await journal.branch(f"step-{number}/act", place, None)
    if step.effect and step.ok:
        effects.done.append(step)
    if step.unknown:
        effects.doubtful.append(step)
    return step


async def _search_wider(journal: Journal, round_: Round, run: SubtaskRun, number: int) -> int:
    """Make a search that found nothing once more without the bound that the task does not set.

    Needs no model; returns the steps it took, 0 or 1.
    """
    step = run.steps[-1]
    arguments = wider(step, round_.known(run))
    if arguments is None or any(old.call == format_call(step.tool, arguments) for old in run.steps):
        return 0
    choice = Choice(name=step.tool, arguments=arguments, thought="Nothing was found, so I search wider.")

    async def place(branch: Journal, _: None) -> Step:
        return await _made(branch, round_, choice)

    run.steps.append(await journal.branch(f"step-{number}/act", place, None))
    return 1


async def _made(journal: Journal, round_: Round, choice: Choice) -> Step:
    """Execute a call and return it with its observation."""
    observation = await round_.crew.executor.execute(journal, "call", choice.name, choice.arguments)
    return Step(
        tool=choice.name,
        arguments=choice.arguments,
        thought=choice.thought,
        critique=choice.critique,
        score=choice.score,
        ok=observation.ok,
        observation=observation.text,
        effect=round_.crew.executor.tools[choice.name].effect == "changes",
        unknown=observation.unknown,
        whole=not observation.cut,
    )


async def _turn(round_: Round, subtask: Subtask) -> None:
    """Wait until every subtask before this one in the plan has come to its end."""
    for earlier in round_.trajectory.plan.subtasks:
        if earlier.id == subtask.id:
            return
        await round_.finished[earlier.id].wait()


def _refused(choice: Choice, why: str) -> Step:
    return Step(tool=choice.name, arguments=choice.arguments, ok=False, observation=why, effect=False)


def _end(journal: Journal, run: SubtaskRun, memory: ShortTermMemory, status: str, result: str) -> None:
    """Finish a subtask; short-term memory is cleared by success and by nothing else."""
    run.status = "succeeded" if status == "succeeded" else "failed"
    run.result = result
    if run.status == "succeeded":
        memory.clear(journal)
    journal.emit(SubtaskFinished(id=run.subtask.id, status=run.status, result=result))


async def _give_up(
    journal: Journal, round_: Round, run: SubtaskRun, memory: ShortTermMemory, why: str
) -> None:
    """End a subtask whose agent has no call to offer that can be made, or is out of steps.

    Where it changed something, it may be done all the same: a second opinion says so.
    """
    changed = [step for step in run.steps if step.effect and step.ok]
    if changed and round_.crew.settings.tool.enabled and await reached(journal, round_.crew, run):
        result = f"a second opinion: done by {changed[-1].call}"
        return _end(journal, run, memory, "succeeded", result)
    return _end(journal, run, memory, "failed", why)


def _break_off(journal: Journal, run: SubtaskRun, memory: ShortTermMemory) -> None:
    """End a subtask whose agent makes the same call with the same result again.

    Where the call found something, or different searches found nothing, there may just be nothing left
    to do: the results stand, and the answer agent judges them.
    """
    last = run.steps[-1]
    empty = {step.call for step in run.steps if step.empty}
    if last.ok and not last.empty:
        return _end(journal, run, memory, "succeeded", f"no further step after {last.call}")
    if last.empty and len(empty) >= SEARCHES_ENOUGH:
        return _end(journal, run, memory, "succeeded", f"{len(empty)} searches found nothing to act on")
    return _end(journal, run, memory, "failed", f"{last.call} brings the same again and again")
