"""The quality of a program: completeness, executability, consistency and their mean (Croto, section 5).

Both readings are worked out and reported; the kit says which one decides. What cannot be told (nothing may
be run here, no embedder) is left out of the mean, and the run's notes say so.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, cast

from plait.agents.together import together
from plait.domains.kit import Kit
from plait.domains.names import Reading
from plait.domains.quoting import told
from plait.domains.software import completeness, execution
from plait.domains.software.consistency import consistency
from plait.domains.software.execution import TrialRun, try_out
from plait.domains.software.program import main_file
from plait.errors import ModelError, UserError
from plait.events import Noted
from plait.journal import JSON, Journal, JSONObject
from plait.teams.solution import Rating, Solution
from plait.tools.sandbox.ran import Runner, SandboxError

MOST_FINDINGS = 8
PROGRAMS_AT_ONCE = 8
"""More would slow each other so far that a program that fails seems only to take its time."""
WHY_NOT = "why_not"

_READINGS: Sequence[Reading] = ("official", "strict")


@dataclass(frozen=True, kw_only=True)
class _Known:
    """What could be found out by a recorded step, or why it could not."""

    value: Any
    why_not: str = ""


def falls_short(rating: Rating) -> str:
    """Return in a line why a program with this rating is not what was asked for; empty where it may be.

    A program that does not run is none, whatever else it has. The strict reading tells, also where the
    official one decides over teams: that lets a program pass that cannot even be parsed.
    """
    if rating.dimensions.get("strict_executability") != 0:
        return ""
    return ": ".join(["the program does not run", *map(told, rating.findings[:1])])


class SoftwareQuality:
    """Rates programs; remembers what it found out, so that the same one is not run or compared again."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit
        self._found: dict[tuple[str, ...], JSON] = {}
        self._finding: dict[tuple[str, ...], asyncio.Lock] = {}
        self._places = asyncio.Semaphore(PROGRAMS_AT_ONCE)
        self._place: Runner | SandboxError | None = None
        self._choosing = asyncio.Lock()

    async def rate(self, journal: Journal, task: str, solution: Solution) -> Rating:
        """Rate one program; see `teams.solution.Quality`.

        Dimensions: `completeness`, `executability`, `consistency` and `quality`, each as `official_` and as
        `strict_`; without those that cannot be told.
        """
        files = solution.files
        ran, near = await together([self._ran(journal, solution), self._near(journal, task, solution)])
        trial = TrialRun.from_json(ran.value) if ran.value else None
        why_not_run = ran.why_not or _unknown(execution.lacking(files, task, trial))
        for why in filter(None, (why_not_run, near.why_not)):
            journal.emit(Noted(text=why))
        faults = execution.unreadable(files) if why_not_run else execution.faults(files, trial)
        written = completeness.strict(files)
        nearness: Mapping[Reading, float] = near.value or {}
        measured: dict[Reading, dict[str, float | None]] = {
            "official": {
                "completeness": completeness.official(files),
                "executability": None if why_not_run else execution.official(files, trial),
                "consistency": nearness.get("official"),
            },
            "strict": {
                "completeness": written.share,
                "executability": None if why_not_run else float(not faults),
                "consistency": nearness.get("strict"),
            },
        }
        dimensions = _dimensions(measured)
        return Rating(
            quality=dimensions[f"{self._kit.reading}_quality"],
            dimensions=dimensions,
            findings=[*faults, *written.findings][:MOST_FINDINGS],
        )

    async def _ran(self, journal: Journal, solution: Solution) -> _Known:
        """Run the program in one recorded step; the value is None where there is nothing to start."""
        make, main = self._kit.runner, main_file(solution.files)
        if make is None:
            return _Known(value=None, why_not="The program was not run, so its executability is not known.")
        if main is None:
            return _Known(value=None)

        async def run() -> JSON:
            runner = await self._runner(make)
            async with self._places:
                return (await try_out(runner, solution.files, main)).as_json()

        async def run_once(_: JSONObject) -> JSON:
            return await self._once(("run", solution.digest), run)

        return await _recorded(journal, "run", run_once, {"digest": solution.digest, "main": main})

    async def _runner(self, make: Callable[[], Runner]) -> Runner:
        """Return where programs are run; that there is no such place holds for the whole run.

        Raises:
            SandboxError: there is none.
        """
        async with self._choosing:
            if self._place is None:
                try:
                    # Whether programs can be run safely is tried out, and that takes its time.
                    self._place = await asyncio.to_thread(make)
                except SandboxError as error:
                    self._place = error
        if isinstance(self._place, SandboxError):
            raise self._place
        return self._place

    async def _near(self, journal: Journal, task: str, solution: Solution) -> _Known:
        """Compare task and code in one recorded step; the value is None where they cannot be compared."""
        embedder = self._kit.embedder
        if embedder is None:
            return _Known(value=None)

        asked = sha256(task.encode()).hexdigest()[:16]

        async def compare() -> JSON:
            return {**await consistency(embedder, task, solution.files)}

        async def compare_once(_: JSONObject) -> JSON:
            return await self._once(("consistency", solution.digest, asked), compare)

        args = {"digest": solution.digest, "task": asked, "readings": list(_READINGS)}
        return await _recorded(journal, "consistency", compare_once, args)

    async def _once(self, key: tuple[str, ...], find_out: Callable[[], Awaitable[JSON]]) -> JSON:
        """Find something out, unless it is known; who asks meanwhile waits for it."""
        async with self._finding.setdefault(key, asyncio.Lock()):
            if key not in self._found:
                self._found[key] = await find_out()
        return self._found[key]


async def _recorded(
    journal: Journal, name: str, find_out: Callable[[JSONObject], Awaitable[JSON]], args: JSONObject
) -> _Known:
    """Find something out in a recorded step; that it cannot be is recorded too, so that a replay agrees."""

    async def step(given: JSONObject) -> JSON:
        try:
            return {"value": await find_out(given)}
        except (SandboxError, UserError, ModelError) as error:
            return {WHY_NOT: f"The program's {name} cannot be told: {error.message}"}

    result = cast("Mapping[str, Any]", await journal.call(name, step, args))
    return _Known(value=result.get("value"), why_not=result.get(WHY_NOT, ""))


def _unknown(why: str) -> str:
    return f"The program's run cannot be told: {why}" if why else ""


def _dimensions(measured: Mapping[Reading, Mapping[str, float | None]]) -> dict[str, float]:
    """Return what is known, by its name, and the mean of each reading."""
    dimensions: dict[str, float] = {}
    for reading in _READINGS:
        known = {name: value for name, value in measured[reading].items() if value is not None}
        dimensions |= {f"{reading}_{name}": value for name, value in known.items()}
        dimensions[f"{reading}_quality"] = sum(known.values()) / len(known)
    return dimensions
