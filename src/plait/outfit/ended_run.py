"""A run that ended, and the records that a memory keeps of it.

Values only; knows nothing of what a run teaches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from secrets import token_hex
from time import time
from typing import Any

from plait.experience.exploitation.recall import TOOLS_KEY, digest_of
from plait.experience.pipelines.paper_form import as_json
from plait.experience.pipelines.pipeline import Pipeline
from plait.experience.record import Experience, ExperienceStatus
from plait.experience.words.goals import key_of
from plait.journal import JSONObject
from plait.runtime.options import Options
from plait.task import TOOLS
from plait.teams.chain import Domain
from plait.teams.solution import Solution
from plait.tools.tool import Tool


@dataclass(frozen=True, kw_only=True)
class EndedRun:
    """A run that ended, and what it worked with."""

    task: str
    """As the user said it, without input files."""
    options: Options
    run_id: str
    tools: Sequence[Tool] = ()
    notes: str = ""
    """What the tools say of the day and of themselves."""
    succeeded: bool
    """Whether it did, by its own account."""
    domain: Domain | None = None
    """What teams worked on; None for a tool task."""
    products: Mapping[str, Solution] | None = None
    """What teams made, by name."""
    share: float | None = None
    """Quality of that, as a share of the best there can be; None where it is not known."""

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """JSON schema of each tool's parameters."""
        return {tool.name: tool.parameters for tool in self.tools}

    @property
    def limits(self) -> dict[str, int]:
        """Rows that the result of a tool has at most, where that is known."""
        return {tool.name: tool.most_rows for tool in self.tools if tool.most_rows is not None}

    def record(
        self, kind: Any, goal: str, content: Any, *, tools: Sequence[str] = (), status: Any = "active"
    ) -> Experience:
        """Return a record of this run."""
        return Experience(
            id=token_hex(8),
            memory=self.options.memory,
            kind=kind,
            domain=self.domain.name if self.domain is not None else TOOLS,
            goal=goal,
            key=key_of(goal),
            tools=tools,
            content=content,
            status=status,
            run_id=self.run_id,
            model=self.options.model,
            created=time(),
        )

    def record_of(
        self,
        pipeline: Pipeline,
        goal: str,
        status: ExperienceStatus = "active",
        more: JSONObject | None = None,
    ) -> Experience:
        """Return the record of a pipeline, with digests of its tools; `more` stands beside it."""
        names = list(dict.fromkeys(node.tool for node in pipeline.calls))
        known = {tool.name: digest_of(tool) for tool in self.tools if tool.name in names}
        content = {**as_json(pipeline), TOOLS_KEY: known, **(more or {})}
        return self.record("pipeline", goal, content, tools=names, status=status)
