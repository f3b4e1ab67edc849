"""The guide of a tool task: pipelines of earlier runs as ways through its subtasks.

Where reflection (MIRROR) and experience (ICE) are joined. Knows nothing of how memories are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from plait.errors import ReplyError
from plait.events import PipelineEnded, PipelineRecalled
from plait.experience.recall import Recalled, Recollection
from plait.experience.slots import Reader, Reading, slot_values
from plait.experience.tree import Step as WalkedStep
from plait.experience.walk import Finished, NextCall, Walk
from plait.journal import Journal
from plait.reflection.dates import dates_text, named_dates
from plait.reflection.guide import Arrived, Call, Forward, Lost
from plait.reflection.trajectory import Step


@dataclass(frozen=True, kw_only=True)
class ExperienceGuide:
    """Knows the pipelines of one memory; a `reflection.guide.Guide`."""

    recollection: Recollection
    reader: Reader
    notes: str
    """Facts that come with the tools, for instance today's date."""

    async def knows(self, journal: Journal, goal: str) -> bool:
        """Whether a pipeline fits the whole of a goal."""
        return await self.recollection.pipeline(journal, goal) is not None

    async def trail(self, journal: Journal, goal: str) -> "PipelineTrail | None":
        """Return the pipeline that fits a goal, its slots filled, or None."""
        recalled = await self.recollection.pipeline(journal, goal)
        if recalled is None:
            return None
        facts = dates_text(named_dates(goal, self.notes))
        reading = Reading(
            pipeline=recalled.pipeline,
            goal=goal,
            told=f"{goal}\n{facts}" if facts else goal,
            date_of=self._date_of,
        )

        async def read(branch: Journal, _: None) -> dict[str, str]:
            return await slot_values(branch, self.reader, reading)

        try:
            values = await journal.branch("slots", read, None)
        except ReplyError as error:
            journal.emit(PipelineEnded(experience=recalled.id, calls=0, left=error.message))
            return None
        journal.emit(PipelineRecalled(experience=recalled.id, goal=recalled.goal, slots=values))
        walk = Walk(pipeline=recalled.pipeline, values=values, parameters=self.recollection.tools)
        return PipelineTrail(recalled=recalled, walk=walk)

    def _date_of(self, words: str) -> date | None:
        return next(iter(named_dates(words, self.notes).values()), None)


@dataclass(frozen=True, kw_only=True)
class PipelineTrail:
    """A pipeline as a way through a subtask; a `reflection.guide.Trail`."""

    recalled: Recalled
    walk: Walk

    def next(self, steps: Sequence[Step]) -> Forward:
        """Say what the pipeline calls after `steps`."""
        move = self.walk.next([_walked(step) for step in steps])
        if isinstance(move, NextCall):
            return Call(tool=move.tool, arguments=move.arguments)
        return Arrived() if isinstance(move, Finished) else Lost(reason=move.reason)

    def ended(self, journal: Journal, steps: Sequence[Step], left: str) -> None:
        """Tell how the pipeline served."""
        journal.emit(PipelineEnded(experience=self.recalled.id, calls=len(steps), left=left))


def _walked(step: Step) -> WalkedStep:
    return WalkedStep(
        tool=step.tool,
        arguments=step.arguments,
        observation=step.observation,
        ok=step.ok,
        effect=step.effect,
        whole=step.whole,
    )
