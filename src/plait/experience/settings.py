"""Which parts of ICE are on: one value, every switch of its Tables 1 and 2.

Knows nothing of memories or runs.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from plait.errors import UserError

EXPERIENCE = "experience"
PLANNING = "planning-experience"
EXECUTION = "execution-experience"
SWITCHES = (EXPERIENCE, PLANNING, EXECUTION)
"""What `--no-...` can switch off: all of it, what is shown to agents, and what is done without them."""

Consolidation: TypeAlias = Literal["compiled", "model"]
"""Who makes pipelines of what worked: nobody, as they are compiled from it; or a model, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class ExperienceSettings:
    """What a run recalls; it learns whatever is off here."""

    planning: bool = True
    """Workflows of similar goals are references, and lessons are warnings (ICE, section 3.1)."""
    execution: bool = True
    """Pipelines are walked (ICE, section 3.2)."""
    lessons: bool = True
    """What failed warns, which goes beyond the paper."""
    consolidation: Consolidation = "compiled"
    """Who makes pipelines of what worked."""

    def without(self, switches: Collection[str]) -> "ExperienceSettings":
        """Return these settings with parts switched off; names of other strands are passed over."""
        return ExperienceSettings(
            planning=self.planning and PLANNING not in switches,
            execution=self.execution and EXECUTION not in switches,
            lessons=self.lessons and PLANNING not in switches,
            consolidation=self.consolidation,
        )


def consolidation(said: str, *, unsaid: Consolidation) -> Consolidation:
    """Return who makes pipelines; `unsaid` where nothing was said.

    Raises:
        UserError: there is no such way.
    """
    if not said:
        return unsaid
    known = get_args(Consolidation)
    if said not in known:
        raise UserError(f"--consolidate {said!r} is unknown; there are: {', '.join(known)}")
    return cast("Consolidation", said)
