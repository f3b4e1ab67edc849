"""Act: work through a plan, independent leaves at once, effects in plan order, mended where a leaf fails.

Knows nothing of rounds. What is asked where a leaf fails hangs on the plan alone, never on timing, so that
a resumed run asks exactly what was asked before (ICE, section 3.1; MIRROR, section 3.3).
"""

from plait.agents.together import together
from plait.events import SubtaskFinished
from plait.journal import Journal
from plait.reflection.crew import Crew
from plait.reflection.leaf import Round, work
from plait.reflection.plan_tree import Leaf, PlanTree
from plait.reflection.rectification import Rectification
from plait.reflection.rectifier import failure_of, rectify, remember
from plait.reflection.trajectory import Effects, SubtaskRun, Trajectory


async def act(journal: Journal, crew: Crew, trajectory: Trajectory, effects: Effects) -> None:
    """Work through the plan of `trajectory`, which fills; `effects` takes what was done and seen."""
    tree = PlanTree(trajectory)
    round_ = Round(crew=crew, tree=tree, earlier=effects.copy(), effects=effects)
    await together([_subtask(journal, round_, leaf) for leaf in tree.leaves])
    for run in tree.runs():
        effects.seen += run.steps[run.carried :]
    for leaf in tree.leaves:
        _keep(effects, leaf)


def _keep(effects: Effects, leaf: Leaf) -> None:
    """Note what was reached with an effect: given the goal again, an agent goes on from what was done."""
    for stand_in in leaf.stand_ins:
        _keep(effects, stand_in)
    if not leaf.reached or leaf.deleted_by is not None:
        return
    run = leaf.run
    if leaf.stand_ins:
        steps = [s for each in leaf.below() for s in each.run.steps if s.ok or not each.run.replaced]
        run = SubtaskRun(subtask=run.subtask, status="succeeded", steps=steps)
    if any(step.effect and step.ok for step in run.steps):
        effects.finished[run.subtask.goal.lower()] = run


async def _subtask(journal: Journal, round_: Round, leaf: Leaf) -> None:
    for other in leaf.needs:
        await other.ended.wait()
    if leaf.deleted_by is None:
        if all(other.reached for other in leaf.needs):
            await _worked(journal, round_, leaf)
        else:
            await _skipped(journal, leaf)
    leaf.ended.set()


async def _skipped(journal: Journal, leaf: Leaf) -> None:
    run = leaf.run
    run.status, run.result = "skipped", "a subtask it depends on did not succeed"

    # Told at the subtask's own place: the round's own order of events would depend on timing.
    async def skip(branch: Journal, _: None) -> None:
        branch.emit(SubtaskFinished(id=leaf.id, status="skipped", result=run.result))

    await journal.branch(f"subtask-{leaf.id}", skip, None)


async def _worked(journal: Journal, round_: Round, leaf: Leaf) -> None:
    run, goal = leaf.run, leaf.run.subtask.goal.lower()
    again = any(origin.run.subtask.goal.lower() == goal for origin in leaf.origins)
    if (done := round_.earlier.finished.get(goal)) is not None and not again:
        # A weak answer is no reason to change the world anew: the agent goes on from what was done.
        run.steps, run.carried, run.result = list(done.steps), len(done.steps), done.result

    async def place(branch: Journal, _: None) -> None:
        await work(branch, round_, leaf)

    await journal.branch(f"subtask-{leaf.id}", place, None)
    if run.status == "failed":
        await _rectified(journal, round_, leaf)


async def _rectified(journal: Journal, round_: Round, leaf: Leaf) -> None:
    """Ask the planner how to go on after a leaf failed, and go on so."""
    crew, tree, tried = round_.crew, round_.tree, round_.effects.rectified
    if not crew.settings.rectifications:
        return
    # Which leaf takes the last of a round's rectifications must not hang on timing.
    await tree.turn(leaf)
    if round_.rectified >= crew.settings.rectifications:
        return
    failure, plan = failure_of(tree, leaf, crew.task, tried), tree.status_lines(leaf)
    if not failure.offer.words:
        return  # As many leaves were added as may be.
    round_.rectified += 1

    async def place(branch: Journal, _: None) -> Rectification:
        return await rectify(branch, crew, plan, failure)

    way = await journal.branch(f"subtask-{leaf.id}/rectify", place, None)
    remember(tried, leaf, way)
    tree.apply(leaf, way)
    await together([_subtask(journal, round_, stand_in) for stand_in in leaf.stand_ins])
