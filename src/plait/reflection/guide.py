"""A way that was gone before: says a subtask's next calls without a model.

What the weave lends the agents of reflection; knows nothing of where such ways come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from plait.journal import Journal
from plait.reflection.trajectory import Step


@dataclass(frozen=True, kw_only=True)
class CallAhead:
    """The next call of the way."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ForkAhead:
    """The way parts, and only words say where it goes on: somebody must judge which of them holds."""

    place: str
    """Its name on this way."""
    ways: Sequence[str]
    """Conditions of which one holds, or none."""


@dataclass(frozen=True, kw_only=True)
class Arrived:
    """The way came to its end: the subtask is done."""


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The way leads no further from here."""

    reason: str


Forward: TypeAlias = CallAhead | ForkAhead | Arrived | Lost


class Trail(Protocol):
    """A way through one subtask."""

    @property
    def thought(self) -> str:
        """Why its calls are made, as an agent would say it."""
        ...

    def next(self, steps: Sequence[Step], chosen: Mapping[str, int]) -> Forward:
        """Say what comes after `steps`, which are all of this way; the same steps give the same answer.

        Args:
            steps: In order.
            chosen: By the place of each fork so far which of its ways was taken, from 1; 0: none holds.
        """
        ...

    def result(self, steps: Sequence[Step]) -> str:
        """Say what its end brought the subtask; empty where nothing was done."""
        ...

    def told(self, steps: Sequence[Step]) -> str:
        """Say what came of it, where all effects were answered as they should be; empty where somebody must
        look.
        """
        ...

    def ended(self, journal: Journal, steps: Sequence[Step], *, left: str, forks: int) -> None:
        """Tell how it ended; `left` says why it led no further, or is empty, and `forks` how many were
        judged.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What earlier tasks say about a goal, as texts for a prompt."""

    workflows: Sequence[str] = ()
    """How similar goals were reached: a goal and its steps, a line each; the most similar first."""
    lessons: Sequence[str] = ()
    """Warnings from what failed, a sentence each."""


class Guide(Protocol):
    """Knows ways, and what was learned on others."""

    async def advice(self, journal: Journal, goal: str) -> Advice:
        """Return what may help to plan or reach `goal`; asks no language model."""
        ...

    async def warnings(self, journal: Journal, goal: str) -> Sequence[str]:
        """Return the lessons of `advice` alone, for who does not plan."""
        ...

    async def knows(self, journal: Journal, goal: str, task: str) -> bool:
        """Whether there is a way through all of `goal`, so that it needs no plan; as in `trail`."""
        ...

    async def trail(self, journal: Journal, goal: str, task: str) -> Trail | None:
        """Return the way through `goal`, or None.

        Args:
            journal: Of the leaf.
            goal: Of the leaf.
            task: That the leaf is a part of; they are equal where it is its own plan.
        """
        ...
