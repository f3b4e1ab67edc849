"""Which pipeline a goal calls to mind (ICE, section 3.2, Execution-Exploit).

The paper takes the most similar one above a threshold. Here a goal must say the same with other values: of
goals that only are near in meaning, "cancel the next" and "cancel all", the wrong one would be done. Knows
nothing of how a pipeline is walked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from plait.errors import UserError
from plait.experience.goals import agree, key_of, masked
from plait.experience.paper_form import from_json
from plait.experience.pipeline import Pipeline
from plait.experience.record import DEFAULT_MEMORY, Experience, Memory
from plait.experience.soundness import problems_of
from plait.journal import JSON, Journal, JSONObject

_KEPT = ("id", "goal", "content")


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A pipeline that fits a goal."""

    id: str
    """Of its record."""
    goal: str
    """That it was learned from."""
    pipeline: Pipeline


@dataclass(frozen=True, kw_only=True)
class Recollection:
    """What a run may recall, and from where."""

    memory: Memory
    domain: str
    tools: Mapping[str, Mapping[str, Any]]
    """JSON schema of the parameters of each tool of the run."""
    name: str = DEFAULT_MEMORY

    async def pipeline(self, journal: Journal, goal: str) -> Recalled | None:
        """Return the pipeline for a goal, or None; what was recalled is a step on record."""

        async def find(_: JSONObject) -> JSON:
            record = await self._best(goal)
            return None if record is None else {name: getattr(record, name) for name in _KEPT}

        result = await journal.call("recall", find, {"goal": goal, "memory": self.name})
        if result is None:
            return None
        value = cast("Mapping[str, Any]", result)
        return Recalled(id=value["id"], goal=value["goal"], pipeline=from_json(value["content"]))

    async def _best(self, goal: str) -> Experience | None:
        """Return the record that served best of those whose pipeline can run."""
        found = await self.memory.find(
            memory=self.name,
            kind="pipeline",
            domain=self.domain,
            statuses=("active",),
            tools=self.tools,
            key=key_of(goal),
        )
        fitting = (record for record in found if self._serves(record, goal))
        return max(fitting, key=_usefulness, default=None)

    def _serves(self, record: Experience, goal: str) -> bool:
        """Whether a record's pipeline may run for a goal: it does the same, and nothing in it is unknown."""
        if not agree(record.goal, goal):
            return False
        try:
            pipeline = from_json(record.content)
        except UserError:
            # A foreign record that cannot be read is passed over; `plait memory show` says what is wrong.
            return False
        if pipeline.unknown or problems_of(pipeline, self.tools):
            return False
        return takes_in(pipeline, record.goal, goal)


def takes_in(pipeline: Pipeline, before: str, goal: str) -> bool:
    """Whether every value in which two goals differ goes into a slot; another would stay as it was."""
    old, new = masked(before).spans, masked(goal).spans
    if len(old) != len(new):
        return False
    changed = [
        was.text for was, now in zip(old, new, strict=True) if was.text.casefold() != now.text.casefold()
    ]
    return all(any(text in slot.said for slot in pipeline.slots) for text in changed)


def _usefulness(record: Experience) -> tuple[int, float]:
    return record.successes - record.failures, record.created
