"""The plan of a round as it comes to be: leaves, and what took the place of failed ones (ICE, section 2).

A leaf sees what it depends on and what it stands for, and nothing that hangs on timing. Knows nothing of
models, nor of how leaves are worked on.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from plait.reflection.plan import Plan
from plait.reflection.rectification import Offer, Rectification, RectifyingOperation
from plait.reflection.trajectory import SubtaskRun, Trajectory

MOST_ADDED = 8
"""Leaves beyond the plan in one round."""


@dataclass(kw_only=True, eq=False)
class Leaf:
    """A leaf of the plan, or of what was put in the place of another."""

    run: SubtaskRun
    origin: "Leaf | None" = None
    """The leaf that failed and that this one stands for, alone or with others."""
    group: "Sequence[Leaf]" = ()
    """In plan order: the plan's own leaves, or all that stand for one; itself among them."""
    stand_ins: "Sequence[Leaf]" = ()
    """What was put in its place after it failed."""
    operation: RectifyingOperation | None = None
    """How it was rectified."""
    deleted_by: "Leaf | None" = None
    """Whose rectification dropped it."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it and all that stand for it came to their end."""

    @property
    def id(self) -> str:
        return self.run.subtask.id

    @property
    def needs(self) -> "list[Leaf]":
        """The leaves that it depends on, apart from those that its origin depends on."""
        return [leaf for leaf in self.group if leaf.id in self.run.subtask.depends_on]

    @property
    def origins(self) -> "list[Leaf]":
        """The leaves that it stands for, the nearest first."""
        return [] if self.origin is None else [self.origin, *self.origin.origins]

    @property
    def reached(self) -> bool:
        """Whether its goal is: by itself, or by all that stand for it. A dropped one is in nobody's way."""
        if self.deleted_by is not None:
            return all(leaf.reached for leaf in self.needs)
        if self.stand_ins:
            return all(leaf.reached for leaf in self.stand_ins)
        return self.run.status == "succeeded"

    @property
    def changed(self) -> bool:
        """Whether it changed the world, or may have."""
        return any(step.effect and (step.ok or step.unknown) for step in self.run.steps)

    def below(self) -> "Iterator[Leaf]":
        """Yield itself and all that stands for it, in plan order."""
        yield self
        for leaf in self.stand_ins:
            yield from leaf.below()


class PlanTree:
    """All leaves of a round."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.leaves = [Leaf(run=run) for run in trajectory.runs.values()]
        for leaf in self.leaves:
            leaf.group = self.leaves
        self._trajectory = trajectory

    @property
    def added(self) -> int:
        """Leaves beyond the plan."""
        return sum(1 for _ in self._all()) - len(self.leaves)

    def apply(self, leaf: Leaf, way: Rectification) -> None:
        """Rectify the plan where a leaf failed, and show it in the round's trajectory."""
        leaf.operation = way.operation
        leaf.stand_ins = [Leaf(run=SubtaskRun(subtask=subtask), origin=leaf) for subtask in way.subtasks]
        for stand_in in leaf.stand_ins:
            stand_in.group = leaf.stand_ins
        for other in [leaf, *self.waiting(leaf)]:
            if other.id in way.deleted:
                other.deleted_by = leaf
        leaf.run.replaced = bool(leaf.stand_ins) or leaf.deleted_by is leaf
        if way.operation == "split":
            leaf.run.status = "split"
        self._trajectory.runs = {each.id: each.run for each in self._all() if each.deleted_by is None}

    def runs(self) -> list[SubtaskRun]:
        """Return every leaf's work in plan order, that of dropped ones too."""
        return [leaf.run for leaf in self._all()]

    def visible(self, leaf: Leaf) -> list[Leaf]:
        """Return all that a leaf may see besides itself, in plan order.

        What it depends on, the failed leaves that it stands for, and what those depend on: all of it has
        ended before the leaf begins, so that what is seen is never a matter of timing.
        """
        seen = self._seen(leaf)
        return [other for other in self._all() if other in seen]

    def waiting(self, leaf: Leaf) -> list[Leaf]:
        """Return the leaves that wait for a leaf to be reached, in plan order."""
        found = [other for other in leaf.group if other is not leaf and leaf in self._chain(other)]
        return found + (self.waiting(leaf.origin) if leaf.origin is not None else [])

    async def turn(self, leaf: Leaf) -> None:
        """Wait until every leaf before this one in the plan has come to its end."""
        if leaf.origin is not None:
            await self.turn(leaf.origin)
        for earlier in leaf.group:
            if earlier is leaf:
                return
            await earlier.ended.wait()

    def plan_for(self, leaf: Leaf) -> Plan:
        """Return the leaves of the plan as a leaf may know them: rectified only where it can see that."""
        seen = {*self._seen(leaf), leaf}

        def known(leaves: Sequence[Leaf]) -> Iterator[Leaf]:
            for each in leaves:
                if each.deleted_by in seen:
                    continue
                if each.stand_ins and each in seen:
                    yield from known(each.stand_ins)
                else:
                    yield each

        return Plan(subtasks=[each.run.subtask for each in known(self.leaves)])

    def before(self, leaf: Leaf) -> Trajectory:
        """Return what a leaf may see, as agents are told it: of failed tries only what came of them."""
        runs = {each.id: _came_of(each.run) for each in self.visible(leaf)} | {leaf.id: leaf.run}
        return Trajectory(plan=self.plan_for(leaf), runs=runs)

    def status_lines(self, leaf: Leaf) -> list[str]:
        """Return the plan as a leaf that failed may know it, with what it may know of how things stand.

        Whether a leaf that neither waits for it nor was waited for has ended is a matter of timing.
        """
        told = {each: each.run.status for each in self.visible(leaf)}
        told |= dict.fromkeys(self.waiting(leaf), "todo")
        states = {each.id: f" ({status})" for each, status in told.items()} | {leaf.id: " (failed)"}
        return [f"{each.id}. {each.goal}{states.get(each.id, '')}" for each in self.plan_for(leaf).subtasks]

    def offer(self, leaf: Leaf) -> Offer:
        """Return what may be done about a leaf that failed."""
        waiting = self.waiting(leaf)
        deletable = [other.id for other in waiting if other.deleted_by is None]
        if not leaf.changed and len(self.plan_for(leaf).subtasks) > 1:
            deletable = [leaf.id, *deletable]
        return Offer(leaf=leaf.run.subtask, more=MOST_ADDED - self.added, deletable=deletable)

    def _all(self) -> Iterator[Leaf]:
        for leaf in self.leaves:
            yield from leaf.below()

    def _chain(self, leaf: Leaf) -> set[Leaf]:
        """Return what a leaf depends on within its group."""
        found: set[Leaf] = set()
        for other in leaf.needs:
            found |= {other} | self._chain(other)
        return found

    def _seen(self, leaf: Leaf) -> set[Leaf]:
        found: set[Leaf] = set()
        for other in self._chain(leaf):
            found |= set(other.below())
        if leaf.origin is not None:
            found |= {leaf.origin} | self._seen(leaf.origin)
        return found


def _came_of(run: SubtaskRun) -> SubtaskRun:
    """Return a failed try without its failed calls, which an agent would copy."""
    return replace(run, steps=[step for step in run.steps if step.ok]) if run.replaced else run
