"""Who waits for whom: the teams that come to one point of their chains, and those that will not.

Who was there is on record, so that a run that is taken up again has the same meeting, and a team that
was dropped from it stays dropped. Not so where a team is missing for lack of budget or of a model: then
nothing is settled without it, and a run that is taken up goes on with all. Knows nothing of what the
teams bring or of what becomes of it.
"""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from plait.journal import JSON, Journal, JSONObject

LossKind: TypeAlias = Literal["reply", "refused", "stall", "model", "budget"]
"""What a team does not go on for: no usable reply, a request that its model refuses, no end in time, no
model or no budget."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """Why a team does not go on, and at which phase."""

    phase: str
    reason: str
    kind: LossKind
    passes: bool = False
    """The team goes on when the run is taken up again; such a loss is never recorded."""


class Unsettled(Exception):
    """A team is missing that a run which is taken up again may have."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss.reason)
        self.loss = loss


@dataclass(frozen=True, kw_only=True)
class Attendance:
    """Who came, in the order of the teams, and who never will."""

    present: Sequence[str]
    lost: Mapping[str, Loss] = field(default_factory=dict[str, Loss])

    def as_json(self) -> dict[str, Any]:
        """Return the attendance as it is recorded."""
        return {
            "present": list(self.present),
            "lost": {team: dataclasses.asdict(loss) for team, loss in self.lost.items()},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Attendance":
        """Return the attendance that `as_json` gave."""
        return cls(
            present=value["present"], lost={team: Loss(**loss) for team, loss in value["lost"].items()}
        )


class Gathering:
    """One point at which teams wait for one another."""

    def __init__(self, teams: Sequence[str]) -> None:
        self.teams = tuple(teams)
        self._present: set[str] = set()
        self._excused: set[str] = set()
        self._lost: dict[str, Loss] = {}
        self._complete = asyncio.Event()
        self.opened = asyncio.Event()
        """It is known whether an attendance is on record."""
        self.on_record: Mapping[str, Loss] = {}
        """Teams that were dropped before this point, as far as that is on record."""

    def arrive(self, team: str) -> None:
        """Say that a team has come."""
        self._present.add(team)
        self._check()

    def excuse(self, team: str) -> None:
        """Say that a team need not come, without being lost."""
        self._excused.add(team)
        self._check()

    def leave(self, team: str, loss: Loss) -> None:
        """Say that a team will never come; nothing, if it is not awaited or has come already."""
        if team in self.teams and team not in self._present:
            self._lost[team] = loss
            self._check()

    async def attendance(
        self, journal: Journal, name: str, deserted: Callable[[], Awaitable[object]]
    ) -> Attendance:
        """Wait until each team has come or is lost, and return who came.

        Args:
            journal: Where the attendance is recorded.
            name: The step's name.
            deserted: Awaited where nobody came, before that is recorded for good; raises if it must not be.

        Raises:
            Unsettled: a team is missing for lack of budget or of a model; nothing is recorded.
        """

        async def wait(_: JSONObject) -> JSON:
            self.opened.set()
            await self._all_known()
            if not self._present:
                await deserted()
            return self._now().as_json()

        value = await journal.call(name, wait, {"teams": list(self.teams)})
        recorded = Attendance.from_json(cast("Mapping[str, Any]", value))
        self.on_record = recorded.lost
        self.opened.set()
        await self._all_known()
        # With prompts edited since, a team that was there may be lost now.
        present = [team for team in recorded.present if team in self._present]
        return Attendance(present=present, lost=recorded.lost)

    async def _all_known(self) -> None:
        await self._complete.wait()
        for team in self.teams:
            if team in self._lost and self._lost[team].passes:
                raise Unsettled(self._lost[team])

    def _now(self) -> Attendance:
        return Attendance(
            present=[team for team in self.teams if team in self._present],
            lost={team: self._lost[team] for team in self.teams if team in self._lost},
        )

    def _check(self) -> None:
        if len(self._present) + len(self._excused) + len(self._lost) == len(self.teams):
            self._complete.set()
