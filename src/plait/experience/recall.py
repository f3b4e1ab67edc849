"""Which pipeline a goal calls to mind (ICE, section 3.2, Execution-Exploit).

The paper takes the most similar one above a threshold. Here a goal must say the same with other values: of
goals that only are near in meaning, "cancel the next" and "cancel all", the wrong one would be done. Knows
nothing of how a pipeline is walked.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from plait.errors import LogError, UserError
from plait.events import Noted
from plait.experience.goals import agree, key_of
from plait.experience.paper_form import from_json
from plait.experience.pipeline import Pipeline
from plait.experience.record import DEFAULT_MEMORY, OWN, Experience, Memory
from plait.experience.slots import DateOf, slot_values
from plait.experience.soundness import misdeclared, problems_of
from plait.journal import JSON, Journal, JSONObject
from plait.tools.tool import Tool

TOOLS_KEY = "tool_digests"
"""Where the content of a record says which tools it was learned with."""


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A pipeline that fits a goal."""

    id: str
    """Of its record."""
    goal: str
    """That it was learned from."""
    pipeline: Pipeline
    values: Mapping[str, str]
    """What the goal says in each slot."""


@dataclass(frozen=True, kw_only=True)
class Recollection:
    """What a run may recall, and from where."""

    memory: Memory
    domain: str
    tools: Mapping[str, Tool]
    """The tools of the run, by name."""
    date_of: DateOf
    name: str = DEFAULT_MEMORY

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """JSON schema of each tool's parameters."""
        return {name: tool.parameters for name, tool in self.tools.items()}

    @property
    def limits(self) -> dict[str, int]:
        """Rows that the result of a tool has at most, where that is known."""
        return {name: tool.most_rows for name, tool in self.tools.items() if tool.most_rows is not None}

    async def pipeline(self, journal: Journal, goal: str) -> Recalled | None:
        """Return the pipeline for a goal, or None; what was recalled is a step on record.

        A memory that cannot be read costs the run nothing but what it might have recalled.
        """

        async def find(_: JSONObject) -> JSON:
            try:
                found = await self._best(goal)
            except (LogError, UserError) as error:
                journal.emit(Noted(text=f"nothing is recalled: {error.message}"))
                return None
            if found is None:
                return None
            record, values = found
            return {"id": record.id, "goal": record.goal, "content": record.content, "values": values}

        result = await journal.call("recall", find, {"goal": goal, "memory": self.name})
        if result is None:
            return None
        value = cast("Mapping[str, Any]", result)
        return Recalled(
            id=value["id"],
            goal=value["goal"],
            pipeline=from_json(value["content"]),
            values=value["values"],
        )

    async def _best(self, goal: str) -> tuple[Experience, dict[str, str]] | None:
        """Return the record that served best of those whose pipeline can run, with its slots filled."""
        found = await self.memory.find(
            memory=self.name,
            kind="pipeline",
            domain=self.domain,
            statuses=("active",),
            tools=self.tools,
            key=key_of(goal),
        )
        for record in sorted(found, key=_usefulness, reverse=True):
            if (values := self._values(record, goal)) is not None:
                return record, values
        return None

    def _values(self, record: Experience, goal: str) -> dict[str, str] | None:
        """Return the slots of a record's pipeline; None where it does something else or cannot run."""
        known = {name: digest_of(self.tools[name]) for name in record.tools}
        if record.content.get(TOOLS_KEY) != known or not agree(record.goal, goal):
            return None
        try:
            pipeline = from_json(record.content)
        except UserError:
            # A foreign record that cannot be read is passed over; `plait memory show` says what is wrong.
            return None
        if pipeline.unknown or problems_of(pipeline, self.parameters):
            return None
        if misdeclared(pipeline, {name: tool.effect == "changes" for name, tool in self.tools.items()}):
            return None
        return slot_values(pipeline, goal, self.date_of)


def digest_of(tool: Tool) -> str:
    """Return a digest of what a tool is: another of its name is not called in its place."""
    parts = [tool.name, tool.description, tool.effect, tool.source, tool.parameters, tool.most_rows]
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _usefulness(record: Experience) -> tuple[int, bool, float]:
    return record.successes - record.failures, record.source == OWN, record.created
