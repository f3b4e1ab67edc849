"""The folder of a run: where its tools work and its results lie, and how that of a fork comes to its state.

Knows nothing of options besides where the folder is.
"""

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from plait.errors import UserError
from plait.events import Record, RunStarted, StepRecorded
from plait.journal import JSON, Journal, JSONObject
from plait.paths import runs_folder
from plait.runtime.options import Options
from plait.tools.sources import Toolset
from plait.tools.tool import Tool

BEGUN = "-begun"
"""What the name of a step ends with that says the folder was empty."""
CLOCK_TICK_SECONDS = 0.02
"""By so much a file may seem older than it is: file systems take the time of the last tick."""
SERVER_MESSAGES = "mcp-"
"""What the names of files begin with that are no work of the run."""


def run_folder(run_id: str, options: Options) -> Path:
    """Make and return the folder that a run's tools work in.

    Raises:
        UserError: it cannot be made.
    """
    folder = Path(options.out) if options.out else own_folder(run_id)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"the folder {str(folder)!r} cannot be made: {error.strerror}") from error
    return folder


def own_folder(run_id: str) -> Path:
    """Return the folder of a run that the user named none for."""
    return runs_folder() / run_id


def standing(folder: Path, records: Sequence[Record]) -> Mapping[Path, int]:
    """Return the files that lie in a folder when a run begins there, and when each changed last.

    Nothing of a run that goes on: by then some of them are its own.
    """
    goes_on = any(record.epoch > 1 for record in records)
    return {} if goes_on else {path: status.st_ctime_ns for path, status in _files(folder)}


def artifacts(folder: Path, records: Sequence[Record], before: Mapping[Path, int], *, own: bool) -> list[str]:
    """Return the files a run made or changed in its folder and all below, without the messages of servers.

    In a folder of the run's own that is all there is; in one of the user's, what changed since it began,
    and is not as it was `before`.
    """
    begun = next((record.at for record in records if isinstance(record.event, RunStarted)), 0.0)
    since = 0.0 if own else begun - CLOCK_TICK_SECONDS
    return sorted(
        str(path)
        for path, status in _files(folder)
        if status.st_ctime >= since
        and before.get(path) != status.st_ctime_ns
        and not (path.parent == folder and path.name.startswith(SERVER_MESSAGES))
    )


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place) / name
            with suppress(OSError):  # It is gone already, or a link to nowhere.
                status = path.stat()
                if stat.S_ISREG(status.st_mode):
                    yield path, status


@dataclass(frozen=True, kw_only=True)
class Refill:
    """How the folder of a fork comes to the state at the fork: copied effects are applied to a fresh one."""

    step: str
    """Name of the step that says it is done."""
    effects: Sequence[StepRecorded]
    """Copied effects, in their order."""
    begun: bool = False
    """Whether an earlier process of the fork found the folder empty, and stopped before it was ready."""

    async def make_room(self, journal: Journal, folder: Path, *, own: bool, aside: Path) -> None:
        """Make the folder of a fork as new; one that the user named must be so already.

        What an earlier process left half-way in the user's folder is moved to the folder `aside`: something
        of the user's own may have come to lie there since.

        Raises:
            UserError: the user's folder holds something, or cannot be changed.
        """
        try:
            self._empty(folder, own=own, aside=aside)
        except OSError as error:
            raise UserError(f"the folder {str(folder)!r} cannot be emptied: {error.strerror}") from error
        await journal.call(f"{self.step}{BEGUN}", _nothing, {})

    def _empty(self, folder: Path, *, own: bool, aside: Path) -> None:
        if own:
            shutil.rmtree(folder)
            folder.mkdir()
        elif self.begun:
            _move_aside(folder, aside)
        elif any(folder.iterdir()):
            raise UserError(f"a fork begins in an empty folder, and --out {str(folder)!r} is not empty")

    async def apply(self, journal: Journal, toolset: Toolset) -> None:
        """Apply the effects of tools that keep their state in the folder, and of no others.

        Raises:
            UserError: one of them cannot be applied again.
        """
        live = {tool.name: tool for tool in toolset.tools if tool.name in toolset.in_folder}

        async def refill(_: JSONObject) -> JSON:
            steps = [step for step in self.effects if step.args["tool"] in live]
            for step in steps:
                await _again(live[step.args["tool"]], step)
            return {"applied": len(steps)}

        await journal.call(self.step, refill, {})


def refill_of(run_id: str, records: Sequence[Record]) -> Refill | None:
    """Return what the folder of a run still needs; None if it is no fork, or its folder is ready."""
    step = f"folder-{run_id}"
    if not any(isinstance(r.event, RunStarted) and r.event.forked_from for r in records):
        return None
    paths = {record.path for record in records}
    if f"run/{step}" in paths:
        return None
    steps = [record.event for record in records if isinstance(record.event, StepRecorded)]
    effects = [each for each in steps if each.step == "effect"]
    return Refill(
        step=step,
        effects=[each for each in effects if not _of(each.result, "refused")],
        begun=f"run/{step}{BEGUN}" in paths,
    )


def _move_aside(folder: Path, aside: Path) -> None:
    found = list(folder.iterdir())
    if found:
        aside.mkdir(parents=True, exist_ok=True)
        place = tempfile.mkdtemp(dir=aside, prefix="aside-")
        for path in found:
            shutil.move(path, place)


async def _nothing(_: JSONObject) -> JSON:
    return None


async def _again(tool: Tool, step: StepRecorded) -> None:
    try:
        async with asyncio.timeout(tool.timeout_seconds):
            await tool.run(step.args["arguments"])
    except Exception as error:
        if not _of(step.result, "ok", otherwise=True):
            return  # As it failed the first time; what it did before it failed is done again.
        # It was done once, so it failing now means that the tool has changed.
        said = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{tool.name} cannot be applied again for the fork: {said}") from error


def _of(result: Any, name: str, *, otherwise: bool = False) -> bool:
    """Return what a call's result says of something; one that was only assumed says nothing."""
    if not isinstance(result, Mapping):
        return otherwise
    return bool(cast("Mapping[str, Any]", result).get(name, otherwise))
