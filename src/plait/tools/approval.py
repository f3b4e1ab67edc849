"""Decides whether a call may run: what the user denied, allowed, limited or is asked about.

Knows nothing of runs, logs or terminals; who asks the user is passed in. A model's score or wish plays
no part here.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from plait.errors import NeedsDecision, UserError
from plait.tools.tool import Tool

Decider = Literal["effect", "user", "--yes", "--allow", "--deny", "--dry-run", "--max-effects"]
"""Who decided; `effect`: the tool only reads, which needs nobody's leave."""

AskUser = Callable[[Tool, Mapping[str, Any]], Awaitable[bool]]


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """Whether a call may run, and who says so."""

    allowed: bool
    by: Decider
    reason: str
    """One line; where the call may not run it is written for the agent."""


@dataclass(frozen=True, kw_only=True)
class ApprovalPolicy:
    """What the user said beforehand about effects, and how to ask about the rest."""

    yes: bool = False
    """Allow every effect that is not denied."""
    allow: Sequence[str] = ()
    """Names of tools, or patterns such as `calendar.*`, whose effects are allowed."""
    deny: Sequence[str] = ()
    """Names or patterns of tools that are never called, not even to read. Beats all else."""
    max_effects: int | None = None
    """How many effects one run may have; None: no limit."""
    dry_run: bool = False
    """Do no effect; say what would have been done."""
    ask: AskUser | None = None
    """Asks the user about one call."""

    def __post_init__(self) -> None:
        if self.max_effects is not None and self.max_effects < 0:
            raise UserError(f"--max-effects {self.max_effects!r}: give 0 or more")

    async def decide(
        self, tool: Tool, arguments: Mapping[str, Any], *, effects_so_far: int = 0, path: str = ""
    ) -> Ruling:
        """Decide about one call.

        Args:
            tool: The tool to be called.
            arguments: What it would be called with.
            effects_so_far: Effects this run has already had, for `max_effects`.
            path: The step that waits, for the message when nobody can decide.

        Raises:
            NeedsDecision: the call has an effect, nothing was said about it and nobody can be asked.
        """
        said = self._said(tool, effects_so_far)
        return said or await self._asked(tool, arguments, path)

    def refusal(self, tool: Tool, *, allowed_by: Decider, effects_so_far: int = 0) -> Ruling | None:
        """Say what forbids a call that was allowed, perhaps long ago; None: it may run.

        Between the leave and the call a run may have been stopped, and taken up with other options.
        """
        said = self._said(tool, effects_so_far)
        if said is not None:
            return None if said.allowed else said
        if allowed_by in ("--yes", "--allow"):
            return _refused(allowed_by, f"{allowed_by} allowed {tool.name} and was taken back; do without it")
        return None

    def _said(self, tool: Tool, effects_so_far: int) -> Ruling | None:
        """Decide by what was said beforehand; None: it takes a question."""
        if _matches(tool.name, self.deny):
            return _refused("--deny", f"{tool.name} is denied by the user (--deny); do without it")
        if tool.effect == "reads":
            return Ruling(allowed=True, by="effect", reason="it only reads")
        if self.dry_run:
            return _refused("--dry-run", "dry run: nothing is changed")
        if self.max_effects is not None and effects_so_far >= self.max_effects:
            return _refused(
                "--max-effects", f"the limit of {self.max_effects} effects (--max-effects) is reached"
            )
        if _matches(tool.name, self.allow):
            return Ruling(allowed=True, by="--allow", reason="allowed by name")
        if self.yes:
            return Ruling(allowed=True, by="--yes", reason="all effects are allowed")
        return None

    async def _asked(self, tool: Tool, arguments: Mapping[str, Any], path: str) -> Ruling:
        if self.ask is None:
            raise NeedsDecision(
                f"{tool.name} would change something and nobody can be asked;"
                f" allow it with --allow {tool.name!r} or all effects with --yes",
                path=path,
            )
        if await self.ask(tool, arguments):
            return Ruling(allowed=True, by="user", reason="the user said yes")
        return _refused("user", f"the user refused this call of {tool.name}; do not repeat it")


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _refused(by: Decider, reason: str) -> Ruling:
    return Ruling(allowed=False, by=by, reason=reason)
