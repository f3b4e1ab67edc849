"""A rehearsal: tools that read are called, and tools that change the world only seem to be.

What several teams would do can be compared that way before one of them does it. Knows nothing of teams.
"""

from collections.abc import Mapping
from typing import Any

from plait.events import EffectRehearsed
from plait.journal import JSON, Journal, JSONObject
from plait.tools.executor import Executor, Observation

SEEMS_DONE = "Done."
"""What an agent is told of an effect that is only rehearsed: told that it waits, small models try again."""


class Rehearsal(Executor):
    """Executes reads as the executor that it rehearses for, which shares equal ones, and no effect."""

    def __init__(self, executor: Executor) -> None:
        super().__init__(tuple(executor.tools.values()), executor.policy)
        self._for = executor

    async def execute(
        self, journal: Journal, name: str, tool_name: str, arguments: Mapping[str, Any]
    ) -> Observation:
        """Make a call that reads; of one with an effect say that it was done, and emit that it would be.

        What the user forbade is refused as it would be.

        Raises:
            LogError: the record of a read cannot be read or written.
        """
        if problem := self.problem(tool_name, arguments):
            return Observation(text=problem, ok=False)
        tool = self.tools[tool_name]
        if tool.effect == "reads":
            return await self._for.execute(journal, name, tool_name, arguments)
        so_far = self._for.effects_done + self.effects_done

        async def decide(_: JSONObject) -> JSON:
            refusal = self.policy.refusal(tool, allowed_by="effect", effects_so_far=so_far)
            return "" if refusal is None or refusal.by == "--dry-run" else refusal.reason

        # On record, as the run may be taken up with other options.
        refused = await journal.call(name, decide, {"tool": tool.name, "arguments": arguments})
        if refused:
            return Observation(text=f"not done: {refused}", ok=False, effect=tool.effect)
        self.effects_done += 1
        journal.emit(EffectRehearsed(tool=tool_name, arguments=arguments))
        return Observation(text=SEEMS_DONE, ok=True, effect=tool.effect)
