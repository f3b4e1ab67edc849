"""What is kept of experience, and the memory that keeps it (ICE, sections 3.1 and 3.2).

A record is a workflow, a pipeline or a lesson under the goal it is for, with where it came from and how it
did since. Knows nothing of databases: `Memory` is what the strand asks for.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from plait.journal import JSONObject

ExperienceKind = Literal["workflow", "pipeline", "lesson"]
ExperienceStatus = Literal["active", "provisional", "suspended", "quarantined"]
"""Used; used only after a success of its own (learned from a run that failed); not used, because it failed
twice in a row; not used until it is approved (imported, or shaped by untrusted text)."""
DEFAULT_MEMORY = "default"
OWN = "own"
"""The source of what runs of one's own taught."""
MEMORY_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class Experience:
    """One record."""

    id: str
    """Unique in its database; hexadecimal digits."""
    memory: str = DEFAULT_MEMORY
    """Name of the memory it is in; memories are separate."""
    kind: ExperienceKind
    domain: str
    goal: str
    """The goal it was learned from, as it was said."""
    key: str
    """The goal with its values masked; see `goals.key_of`."""
    tools: Sequence[str]
    """Names of all tools that it calls."""
    content: JSONObject
    """The workflow, pipeline or lesson."""
    status: ExperienceStatus = "active"
    run_id: str
    """The run it was learned from; empty for an import."""
    model: str
    """The model of that run."""
    source: str = "own"
    """`own`, or what it was imported from."""
    created: float
    """Unix time in seconds."""
    uses: int = 0
    successes: int = 0
    failures: int = 0
    failures_in_a_row: int = 0
    last_used: float = 0.0
    approved: bool = False
    """Whether the user let it be used by hand; `Memory.change` alone says so."""
    vector: Sequence[float] = field(default=(), repr=False, compare=False)
    """Of the key, of unit length; empty until it was embedded."""


class Memory(Protocol):
    """Where experience is kept. Several processes may write at once."""

    async def add(self, experience: Experience) -> Experience:
        """Keep a record and return it as it is kept.

        Of the same memory, kind, domain and key with the same tools, in whatever order, one is kept and its
        counts go on: what was learned again is not kept twice.
        """
        ...

    async def get(self, id: str) -> Experience:
        """Return the record whose id begins so.

        Raises:
            UserError: there is none, or more than one.
        """
        ...

    async def find(
        self,
        *,
        memory: str = DEFAULT_MEMORY,
        kind: ExperienceKind | None = None,
        domain: str = "",
        statuses: Collection[ExperienceStatus] = (),
        tools: Collection[str] | None = None,
        key: str = "",
        most: int | None = None,
    ) -> list[Experience]:
        """Return records without their vectors, newest first; an empty filter takes all.

        Args:
            memory: Name of the memory.
            kind: Workflows, pipelines or lessons.
            domain: Of the run it was learned from.
            statuses: Any of these.
            tools: Only records that call no other tools than these.
            key: The masked goal.
            most: Of the records that fit all but `tools`, only the newest so many.
        """
        ...

    async def without_vector(self, *, memory: str, kind: ExperienceKind, domain: str) -> list[Experience]:
        """Return the active records whose key was not embedded yet."""
        ...

    async def embedded(self, id: str, vector: Sequence[float]) -> None:
        """Keep the vector of a record's key; no error where the record is gone."""
        ...

    async def nearest(
        self,
        vector: Sequence[float],
        most: int,
        *,
        memory: str = DEFAULT_MEMORY,
        kind: ExperienceKind,
        domain: str,
        tools: Collection[str] | None = None,
    ) -> list[tuple[Experience, float]]:
        """Return the active records whose vectors have the highest cosine with `vector`, highest first."""
        ...

    async def used(self, id: str, *, succeeded: bool) -> Experience:
        """Count a use and return the record; a pipeline that failed twice in a row becomes `suspended`, and a
        provisional record that succeeded becomes `active`.

        Raises:
            UserError: there is no such record.
        """
        ...

    async def change(self, id: str, *, status: ExperienceStatus) -> None:
        """Set a record's status.

        Raises:
            UserError: there is no such record.
        """
        ...

    async def remove(self, ids: Sequence[str]) -> None:
        """Forget records; what is not there is no error."""
        ...
