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
from plait.reflection.checks import Known, wider
from plait.reflection.crew import Crew
from plait.reflection.memory import ShortTermMemory
from plait.reflection.plan import Plan, Subtask
from plait.reflection.tool_agent import Choice, Moment, choose
from plait.reflection.trajectory import Effects, Step, SubtaskRun, Trajectory

LOOP_LIMIT = 2
"""A call that was answered already, chosen this often in a row, ends the subtask."""


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
        observations = [step.observation for step in (*seen, *self.earlier.done)]
        return Known(
            task=self.crew.task,
            texts=[self.crew.told_task, *observations],
            notes=self.crew.notes,
            dates=self.crew.dates,
            steps=run.steps,
            effects=Effects(done=done),
        )

    def _ancestors(self, subtask: Subtask) -> set[str]:
        found: set[str] = set()
        for id in subtask.depends_on:
            found |= {id} | self._ancestors(self.trajectory.runs[id].subtask)
        return found


async def act(journal: Journal, crew: Crew, plan: Plan, effects: Effects) -> Trajectory:
    """Work through `plan` and return what happened; effects done are added to `effects`."""
    trajectory = Trajectory.of(plan)
    round_ = Round(crew=crew, trajectory=trajectory, earlier=Effects(done=list(effects.done)))
    round_.finished = {subtask.id: asyncio.Event() for subtask in plan.subtasks}
    await together([_subtask(journal, round_, effects, subtask) for subtask in plan.subtasks])
    return trajectory


async def _subtask(journal: Journal, round_: Round, effects: Effects, subtask: Subtask) -> None:
    run = round_.trajectory.runs[subtask.id]
    for id in subtask.depends_on:
        await round_.finished[id].wait()
    if any(round_.trajectory.runs[id].status != "succeeded" for id in subtask.depends_on):
        run.status, run.result = "skipped", "a subtask it depends on did not succeed"
        journal.emit(SubtaskFinished(id=subtask.id, status="skipped", result=run.result))
    else:

        async def work(branch: Journal, _: None) -> None:
            await _work(branch, round_, effects, run)

        await journal.branch(f"subtask-{subtask.id}", work, None)
    round_.finished[subtask.id].set()


async def _work(journal: Journal, round_: Round, effects: Effects, run: SubtaskRun) -> None:
    """Take steps until the subtask is done, fails, or is out of steps."""
    memory = ShortTermMemory(enabled=round_.crew.settings.short_term)
    journal.emit(SubtaskStarted(id=run.subtask.id, goal=run.subtask.goal))
    repeats = 0
    for number in range(1, round_.crew.settings.steps + 1):
        try:
            choice = await _choose(journal, round_, run, memory, number)
        except ReplyError as error:
            memory.write(journal, error.message)
            return _give_up(journal, run, memory, error.message)
        if choice.done:
            return _end(journal, run, memory, "succeeded", str(choice.arguments["result"]))
        step = await _execute(journal, round_, effects, run, choice, number)
        repeats = repeats + 1 if _is_repeat(run, step) else 0
        if repeats >= LOOP_LIMIT:
            journal.emit(LoopBroken(call=step.call, times=repeats + 1))
            return _end(journal, run, memory, "failed", f"{step.call} was chosen again and again")
        run.steps.append(step)
        if not step.ok:
            memory.write(journal, f"{step.call} -> {step.observation}")
        elif step.empty:
            memory.write(journal, f"{step.call} found nothing")
            run.steps += await _wider(journal, round_, run, step, number)
    return _end(journal, run, memory, "failed", f"not done in {round_.crew.settings.steps} steps")


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
        if passed.judged.output.left_out:
            branch.emit(Noted(text=f"left out {', '.join(passed.judged.output.left_out)}"))
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
        if effects.has(again.call):
            return _refused(choice, "not done: exactly this was done before in this run")

    async def place(branch: Journal, _: None) -> Step:
        return await _made(branch, round_, choice)

    step = await journal.branch(f"step-{number}/act", place, None)
    if step.effect and step.ok:
        effects.done.append(step)
    return step


async def _wider(journal: Journal, round_: Round, run: SubtaskRun, step: Step, number: int) -> list[Step]:
    """Make a search that found nothing once more without the bound that the task does not set."""
    arguments = wider(step, round_.known(run))
    if arguments is None:
        return []
    choice = Choice(name=step.tool, arguments=arguments, thought="Nothing was found, so I search wider.")
    if any(old.call == format_call(choice.name, arguments) for old in run.steps):
        return []

    async def place(branch: Journal, _: None) -> Step:
        return await _made(branch, round_, choice)

    return [await journal.branch(f"step-{number}/wider", place, None)]


async def _made(journal: Journal, round_: Round, choice: Choice) -> Step:
    """Execute a call and return it with its observation."""
    observation = await round_.crew.executor.execute(journal, "call", choice.name, choice.arguments)
    return Step(
        tool=choice.name,
        arguments=choice.arguments,
        thought=choice.thought,
        ok=observation.ok,
        observation=observation.text,
        effect=round_.crew.executor.tools[choice.name].effect == "changes",
    )


async def _turn(round_: Round, subtask: Subtask) -> None:
    """Wait until every subtask before this one in the plan has come to its end."""
    for earlier in round_.trajectory.plan.subtasks:
        if earlier.id == subtask.id:
            return
        await round_.finished[earlier.id].wait()


def _refused(choice: Choice, why: str) -> Step:
    return Step(tool=choice.name, arguments=choice.arguments, ok=False, observation=why, effect=False)


def _is_repeat(run: SubtaskRun, step: Step) -> bool:
    """Whether the same call brought the same result before in this subtask."""
    return any(old.call == step.call and old.observation == step.observation for old in run.steps)


def _end(journal: Journal, run: SubtaskRun, memory: ShortTermMemory, status: str, result: str) -> None:
    """Finish a subtask; short-term memory is cleared by success and by nothing else."""
    run.status = "succeeded" if status == "succeeded" else "failed"
    run.result = result
    if run.status == "succeeded":
        memory.clear(journal)
    journal.emit(SubtaskFinished(id=run.subtask.id, status=run.status, result=result))


def _give_up(journal: Journal, run: SubtaskRun, memory: ShortTermMemory, why: str) -> None:
    """End a subtask whose agent has no further call to offer.

    Where its last call did its work there may just be nothing left to do: the results stand, and the
    answer agent judges them.
    """
    last = run.steps[-1] if run.steps else None
    if last is not None and last.ok and not last.empty:
        return _end(journal, run, memory, "succeeded", f"no further step after {last.call}")
    return _end(journal, run, memory, "failed", why)
