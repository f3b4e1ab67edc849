"""Work on one leaf of a plan, step by step until it is done, fails, or is out of steps (MIRROR, section 3.3).

Knows nothing of rounds, nor of what becomes of the plan where a leaf fails. What a leaf sees is decided by
the plan alone, never by timing, so that a resumed run asks exactly what was asked before.
"""

from dataclasses import dataclass

from plait.errors import ReplyError
from plait.events import LoopBroken, Noted, SubtaskStarted
from plait.journal import Journal
from plait.models.callform import format_call
from plait.reflection.checks import Known, call_problems
from plait.reflection.crew import Crew
from plait.reflection.doubts import looped
from plait.reflection.guide import CallAhead, ForkAhead, Lost, Trail
from plait.reflection.leaf_end import break_off, claimed, done_before, give_up
from plait.reflection.memory import ShortTermMemory
from plait.reflection.offer import MAX_RESULT
from plait.reflection.plan_tree import Leaf, PlanTree
from plait.reflection.references import warnings_for
from plait.reflection.searches import wider
from plait.reflection.second_opinion import which_way
from plait.reflection.tool_agent import Choice, Moment, choose
from plait.reflection.trajectory import Effects, Step


@dataclass(kw_only=True)
class Round:
    """One round's work under way."""

    crew: Crew
    tree: PlanTree
    earlier: Effects
    """What earlier rounds did and saw."""
    effects: Effects
    """What the run did, this round too; takes what is done."""
    rectified: int = 0
    """How often the planner was asked about a failed leaf."""

    def known(self, leaf: Leaf) -> Known:
        """Return what a call of a leaf may draw on."""
        run = leaf.run
        seen = [step for other in (*self.tree.visible(leaf), leaf) for step in other.run.steps]
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


async def work(journal: Journal, round_: Round, leaf: Leaf) -> None:
    """Take steps until the leaf is done, fails, or is out of steps."""
    memory, run = ShortTermMemory(enabled=round_.crew.settings.short_term), leaf.run
    run.status = "doing"
    journal.emit(SubtaskStarted(id=leaf.id, goal=run.subtask.goal))
    await done_before(journal, round_.crew, run, memory)
    if run.status != "doing":
        return None
    number = 0
    if (trail := await _trail(journal, round_, leaf)) is not None:
        number = await _follow(journal, round_, leaf, memory, trail)
        if run.status != "doing":
            return None
    run.warnings = await warnings_for(journal, round_.crew.guide, run.subtask.goal)
    last = number + round_.crew.settings.steps
    while number < last:
        number += 1
        try:
            choice = await _choose(journal, round_, leaf, memory, number)
        except ReplyError as error:
            memory.write(journal, error.message)
            return await give_up(journal, round_.crew, run, memory, error.message)
        if choice.done:
            await claimed(journal, round_.crew, run, memory, str(choice.arguments["result"]), number)
            if run.status != "doing":
                return None
            continue
        step = await _execute(journal, round_, leaf, choice, number)
        run.steps.append(step)
        if looped(run.steps):
            journal.emit(LoopBroken(call=step.call, times=2))
            return await break_off(journal, round_.crew, run, memory, number)
        if not step.ok:
            own = f" (own critique before: {step.critique})" if step.critique else ""
            memory.write(journal, f"{step.call} -> {step.observation}{own}")
        elif step.empty:
            memory.write(journal, f"{step.call} found nothing")
            number += await _search_wider(journal, round_, leaf, number + 1)
    return await give_up(journal, round_.crew, run, memory, f"not done in {round_.crew.settings.steps} steps")


async def _trail(journal: Journal, round_: Round, leaf: Leaf) -> Trail | None:
    """Return the way that is known through a leaf, or None."""
    guide = round_.crew.guide
    if guide is None or not round_.crew.goes_known_ways:
        return None
    return await guide.trail(journal, leaf.run.subtask.goal, " ".join(round_.crew.task.split()))


async def _follow(journal: Journal, round_: Round, leaf: Leaf, memory: ShortTermMemory, trail: Trail) -> int:
    """Go a known way as far as it leads, and return the number of steps.

    Its end is that of the leaf, where the milestone is reached.
    """
    number, run = 0, leaf.run
    chosen: dict[str, int] = {}
    while isinstance(forward := trail.next(run.steps, chosen), CallAhead | ForkAhead):
        if isinstance(forward, ForkAhead):
            place = f"step-{number + 1}/fork-{len(chosen) + 1}"
            way = await which_way(journal, round_.crew, run, forward.ways, place)
            if way is None:
                forward = Lost(reason=f"nobody could say which way leads on from {forward.place}")
                break
            chosen[forward.place] = way
            continue
        tool = round_.crew.executor.tools[forward.tool]
        if problems := call_problems(tool, forward.arguments, round_.known(leaf)):
            forward = Lost(reason=problems[0])
            break
        number += 1
        choice = Choice(name=forward.tool, arguments=forward.arguments, thought=trail.thought)
        run.steps.append(await _execute(journal, round_, leaf, choice, number))
    left = forward.reason if isinstance(forward, Lost) else ""
    trail.ended(journal, run.steps, left=left, forks=len(chosen))
    if not left and (result := trail.result(run.steps)):
        number += 1
        await claimed(journal, round_.crew, run, memory, result[:MAX_RESULT], number)
        if run.status == "succeeded":
            run.told = trail.told(run.steps)
    return number


async def _choose(
    journal: Journal, round_: Round, leaf: Leaf, memory: ShortTermMemory, number: int
) -> Choice:
    moment = Moment(
        run=leaf.run,
        trajectory=round_.tree.before(leaf),
        known=round_.known(leaf),
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


async def _execute(journal: Journal, round_: Round, leaf: Leaf, choice: Choice, number: int) -> Step:
    tool, effects = round_.crew.executor.tools[choice.name], round_.effects
    if tool.effect == "changes":
        await round_.tree.turn(leaf)
        if effects.has(tool, choice.arguments) or effects.may_have(tool, choice.arguments):
            return _refused(choice, "not done: exactly this was, or may have been, done before in this run")

    async def place(branch: Journal, _: None) -> Step:
        return await _made(branch, round_, choice)

    step = await journal.branch(f"step-{number}/act", place, None)
    if step.effect and step.ok:
        effects.done.append(step)
    if step.unknown:
        effects.doubtful.append(step)
    return step


async def _search_wider(journal: Journal, round_: Round, leaf: Leaf, number: int) -> int:
    """Make a search that found nothing once more without the bound that the task does not set.

    Needs no model; returns the steps it took, 0 or 1.
    """
    run, step = leaf.run, leaf.run.steps[-1]
    arguments = wider(step, round_.known(leaf)) if round_.crew.settings.tool.enabled else None
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


def _refused(choice: Choice, why: str) -> Step:
    return Step(tool=choice.name, arguments=choice.arguments, ok=False, observation=why, effect=False)
