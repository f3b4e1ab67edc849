"""The guide of a tool task: a pipeline of an earlier run as the way through the whole of it.

Where reflection (MIRROR) and experience (ICE) are joined. Knows nothing of how memories are kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plait.events import PipelineEnded, PipelineRecalled
from plait.experience.consolidation.caution import loses_choice
from plait.experience.exploitation.recall import Recalled, Recollection
from plait.experience.exploitation.references import MOST_GOAL, References, Reminders
from plait.experience.investigation.tree import Step as WalkedStep
from plait.experience.pipelines.results import rows_of
from plait.experience.pipelines.walk import Finished, Fork, NextCall, Walk
from plait.journal import Journal
from plait.models.schema import is_identifier
from plait.reflection.guide import Advice, Arrived, CallAhead, ForkAhead, Forward, Lost
from plait.reflection.trajectory import Step

KNOWN = "This is how it was done before."
MOST_ROW = 300
"""Characters of the row that an effect was on."""


@dataclass(frozen=True, kw_only=True)
class ExperienceGuide:
    """Knows the pipelines, workflows and lessons of one memory; a `reflection.guide.Guide`."""

    recollection: Recollection
    references: References | None = None
    """Without it there is no advice."""
    walks: bool = True
    """Off: no pipeline is walked, as if there were none."""

    async def advice(self, journal: Journal, goal: str) -> Advice:
        """Return workflows of similar goals and lessons; a step on record, without a language model."""
        found = await self._found(journal, goal)
        return Advice(
            workflows=tuple(each.text for each in found.workflows),
            lessons=tuple(each.text for each in found.lessons),
        )

    async def warnings(self, journal: Journal, goal: str) -> Sequence[str]:
        """Return the lessons alone, where nobody reads workflows."""
        return tuple(each.text for each in (await self._found(journal, goal, workflows=False)).lessons)

    async def _found(self, journal: Journal, goal: str, *, workflows: bool = True) -> Reminders:
        if self.references is None or len(goal) > MOST_GOAL:
            return Reminders()
        return await self.references.find(journal, goal, workflows=workflows)

    async def knows(self, journal: Journal, goal: str, task: str) -> bool:
        """Whether a pipeline fits the whole of a goal, as `trail` would go it."""
        recalled = await self.recollection.pipeline(journal, goal) if self.walks else None
        return recalled is not None and not _chooses_otherwise(recalled, goal, task)

    async def trail(self, journal: Journal, goal: str, task: str) -> "PipelineTrail | None":
        """Return the pipeline that fits a goal, its slots filled, or None.

        For a part of a task that chooses among things in other words only one that changes nothing.
        """
        recalled = await self.recollection.pipeline(journal, goal) if self.walks else None
        if recalled is None:
            return None
        if _chooses_otherwise(recalled, goal, task):
            return None
        journal.emit(PipelineRecalled(experience=recalled.id, goal=recalled.goal, slots=recalled.values))
        walk = Walk(
            pipeline=recalled.pipeline,
            values=recalled.values,
            parameters=self.recollection.parameters,
            limits=self.recollection.limits,
        )
        return PipelineTrail(recalled=recalled, walk=walk)


@dataclass(frozen=True, kw_only=True)
class PipelineTrail:
    """A pipeline as a way through a task; a `reflection.guide.Trail`."""

    recalled: Recalled
    walk: Walk
    thought: str = KNOWN

    def next(self, steps: Sequence[Step], chosen: Mapping[str, int]) -> Forward:
        """Say what the pipeline calls after `steps`."""
        move = self.walk.next([_walked(step) for step in steps], chosen)
        if isinstance(move, NextCall):
            return CallAhead(tool=move.tool, arguments=move.arguments)
        if isinstance(move, Fork):
            return ForkAhead(place=move.node, ways=move.ways)
        return Arrived() if isinstance(move, Finished) else Lost(reason=move.reason)

    def result(self, steps: Sequence[Step]) -> str:
        """Say what its last call brought."""
        return f"{steps[-1].call}: {steps[-1].observation}" if steps else ""

    def told(self, steps: Sequence[Step]) -> str:
        """Say what was done, and what there was nothing to do to.

        Empty where the pipeline only reads, or where it is not known how its effects are answered: the walk
        has compared the answers of those that it knows. It came to its end, so where an effect was not done
        there was nothing to do it to.
        """
        effects = [node for node in self.walk.pipeline.calls if node.effect]
        if not effects or not all(node.answer for node in effects):
            return ""
        done = [f"{step.call}: {step.observation}{_about(step, steps)}" for step in steps if step.effect]
        reads = [step for step in steps if not step.effect]
        vain = [f"{step.call} found nothing." for step in reads if not rows_of(step.observation)]
        if not done:
            return f"There was nothing to do: {' '.join(vain)}" if vain else ""
        return "\n".join([*done, *(vain if len(done) < len(effects) else ())])

    def ended(self, journal: Journal, steps: Sequence[Step], *, left: str, forks: int) -> None:
        """Tell how the pipeline served."""
        journal.emit(PipelineEnded(experience=self.recalled.id, calls=len(steps), left=left, judged=forks))


def _chooses_otherwise(recalled: Recalled, goal: str, task: str) -> bool:
    """Whether a part of a task lost what its effects are chosen by, in the words of the task."""
    return any(node.effect for node in recalled.pipeline.calls) and loses_choice(goal, task)


def _about(effect: Step, steps: Sequence[Step]) -> str:
    """Return the row that an effect was on, in brackets: an identifier alone says nothing to a user."""
    ids = {str(value) for name, value in effect.arguments.items() if is_identifier(name)}
    rows = (row for step in steps if not step.effect for row in rows_of(step.observation))
    nothing: Mapping[str, str] = {}
    row = next((row for row in rows if not ids.isdisjoint(row.values())), nothing)
    text = ", ".join(f"{name} {value}" for name, value in row.items() if value and value not in ids)
    return f" ({text[:MOST_ROW]})" if text else ""


def _walked(step: Step) -> WalkedStep:
    return WalkedStep(
        tool=step.tool,
        arguments=step.arguments,
        observation=step.observation,
        ok=step.ok,
        effect=step.effect,
        whole=step.whole,
    )
