"""The three agents of MIRROR with what they share: task, tools, settings, prompts.

Knows nothing of rounds or of the order of work.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from plait.agents.agent import Agent
from plait.journal import JSON, Journal, JSONObject
from plait.models.callspec import CallSpec
from plait.models.embeddings import Embedder
from plait.models.protocol import Message
from plait.reflection.crew_prompts import CrewPrompts
from plait.reflection.dates import dates_text, named_dates
from plait.reflection.guide import Guide
from plait.reflection.settings import ReflectionSettings
from plait.tools.executor import Executor
from plait.tools.nearest import nearest
from plait.tools.tool import Tool
from plait.verdict import Check

CANDIDATES = 32
"""Tools in one prompt at most; with more, those nearest to the task or the subtask."""
CHOICES = 16
"""Tools that one reply may call at most."""


@dataclass(frozen=True, kw_only=True)
class Crew:
    """Everything the planner, the tool agent and the answer agent work with."""

    task: str
    notes: str
    """Facts that come with the tools, for instance today's date."""
    tools: Sequence[Tool]
    executor: Executor
    planner: Agent
    tool: Agent
    answer: Agent
    settings: ReflectionSettings
    prompts: CrewPrompts
    returns: Mapping[str, Any] | None = None
    """JSON schema of the answer, or None for text."""
    embedder: Embedder | None = None
    check: Check | None = None
    """The user's own oracle for answers."""
    guide: Guide | None = None
    """Knows ways that were gone before, and what was learned on others."""
    goes_known_ways: bool = True
    """Whether a way through the whole task is gone where the guide knows one."""

    async def candidates(self, journal: Journal, text: str) -> Sequence[CallSpec]:
        """Return the tools to describe in a prompt: all, or the nearest to `text` where there are many."""
        return await self._nearest(journal, "candidates", text, CANDIDATES)

    async def choices(self, journal: Journal, text: str) -> Sequence[CallSpec]:
        """Return the tools that a reply may call: the nearest to `text`, in the toolset's order.

        Fewer than are described, at no cost: the prompt stays the same, only the grammar is narrower. Where
        no grammar binds, they are all that are described.
        """
        limit = CHOICES if self.tool.model.takes_grammar else CANDIDATES
        return await self._nearest(journal, "choices", text, limit)

    async def _nearest(self, journal: Journal, name: str, text: str, limit: int) -> Sequence[CallSpec]:
        tools = self.tools
        if self.embedder is not None and len(tools) > limit:
            embedder = self.embedder

            async def choose(_: JSONObject) -> JSON:
                return [tool.name for tool in await nearest(tools, text, embedder, limit)]

            names = cast("list[str]", await journal.call(name, choose, {"text": text}))
            tools = [tool for tool in tools if tool.name in names]
        return [
            CallSpec(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in tools
        ]

    def at_round(self, number: int) -> "Crew":
        """Return the crew of a round.

        A later one is drawn from other seeds, so that it does not repeat itself, and does not go a known way
        that ended in a weak answer. What it spends is told apart.
        """
        budget = self.planner.budget.part(f"round-{number}")
        return replace(
            self,
            planner=replace(self.planner.at_round(number), budget=budget),
            tool=replace(self.tool.at_round(number), budget=budget),
            answer=replace(self.answer.at_round(number), budget=budget),
            goes_known_ways=number == 1,
        )

    @property
    def dates(self) -> Mapping[str, date]:
        """The dates that the task names, by their words."""
        return named_dates(self.task, self.notes)

    @property
    def told_task(self) -> str:
        """The task as agents are told it: with its dates worked out."""
        facts = dates_text(self.dates)
        return f"{self.task}\n{facts}" if facts else self.task

    def messages(self, specs: Sequence[CallSpec], prompt: str) -> list[Message]:
        """Return the whole prompt of one call; the tools come first, equal for all agents."""
        return [self.system(specs), Message(role="user", content=prompt)]

    def system(self, specs: Sequence[CallSpec]) -> Message:
        """Return the first message of every prompt: the tools, equal for all agents."""
        return Message(role="system", content=self.prompts.shared(self.notes, specs))
