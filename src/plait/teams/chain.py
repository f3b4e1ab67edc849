"""A chain of phases as data: what a domain is made of, built in or written by a user.

Knows nothing of files: `domains` reads a chain from one, checks it and gives it its quality.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from plait.errors import UserError
from plait.teams.solution import Quality

ReplyKind = Literal["text", "files", "changes"]
"""Text; every file; or only the files that change, the others stay as they were."""

MOST_ROUNDS = 5
"""Of one phase's dialogue (Croto, section 5)."""
MOST_POINTS = 3
"""Strengths, and weaknesses, of one solution."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One subtask of a chain: an instructor and an assistant talk until they agree (Croto, equation 2)."""

    name: str
    instructor: str
    """Role that instructs, and agrees in the end."""
    assistant: str
    """Role that replies with solutions."""
    prompt: str
    """The first instruction. `{{task}}`, `{{findings}}` and `{{PRODUCT}}` of products are filled in."""
    criteria: str
    """What must hold for the instructor to agree, and what the assistant judges its own reply by."""
    writes: str
    """The product; a phase that writes a product again improves it."""
    reply: ReplyKind = "text"
    rounds: int = MOST_ROUNDS
    """Replies of the assistant at most, 1 to 5; with 1 the instructor is not asked."""
    key: bool = False
    """Teams that have this phase meet at its end (Croto, section 4.1)."""
    optional: bool = False
    """May be missing in some teams (length diversity)."""
    inspects: bool = False
    """The domain's quality looks at the product before the first and after every reply: its findings are the
    instruction, and without findings the two agree at once, without a model."""
    first_file: str = ""
    """Path of the first file of a whole reply, for instance `main.py`; empty: any."""
    most_lines: int = 0
    """Lines of a text at most; 0: as many as it takes."""
    most_points: int = MOST_POINTS
    """Strengths, and weaknesses, that an analysis names of one solution at most."""
    prose: bool = False
    """The text is told freely: it is drawn warmer and with a penalty on repetition."""
    max_tokens: int = 1024
    """Of one reply of the assistant."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The phases of one team, in order (Croto, equation 1)."""

    phases: Sequence[Phase]

    def without(self, names: Sequence[str]) -> "Chain":
        """Return the chain without some of its optional phases.

        Raises:
            UserError: a phase is unknown or not optional.
        """
        optional = {phase.name for phase in self.phases if phase.optional}
        for name in names:
            if name not in optional:
                there = ", ".join(sorted(optional)) or "none"
                raise UserError(f"phase {name!r} cannot be left out; optional are: {there}")
        return replace(self, phases=tuple(phase for phase in self.phases if phase.name not in names))


@dataclass(frozen=True, kw_only=True)
class Domain:
    """What teams work on: chain, roles, quality, and which product is the result."""

    name: str
    chain: Chain
    roles: Mapping[str, str]
    """What each role is told it is, by its name."""
    aggregator: str
    """What the aggregate agent is told it is (Croto, section 4.1.1)."""
    product: str
    """The product that meetings and ratings are about and that the run returns."""
    quality: Quality
