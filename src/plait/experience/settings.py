"""Which parts of ICE are on: one value, every switch of its Tables 1 and 2.

Knows nothing of memories or runs.
"""

from collections.abc import Collection
from dataclasses import dataclass

EXPERIENCE = "experience"
PLANNING = "planning-experience"
EXECUTION = "execution-experience"
SWITCHES = (EXPERIENCE, PLANNING, EXECUTION)
"""What `--no-...` can switch off: all of it, what is shown to agents, and what is done without them."""


@dataclass(frozen=True, kw_only=True)
class ExperienceSettings:
    """What a run recalls; it learns whatever is off here."""

    planning: bool = True
    """Workflows of similar goals are references, and lessons are warnings (ICE, section 3.1)."""
    execution: bool = True
    """Pipelines are walked (ICE, section 3.2)."""
    lessons: bool = True
    """What failed warns, which goes beyond the paper."""

    def without(self, switches: Collection[str]) -> "ExperienceSettings":
        """Return these settings with parts switched off; names of other strands are passed over."""
        return ExperienceSettings(
            planning=self.planning and PLANNING not in switches,
            execution=self.execution and EXECUTION not in switches,
            lessons=self.lessons and PLANNING not in switches,
        )
