"""The memory that grows while runs teach it, what is kept of it, and the copies that are used.

Knows nothing of how tasks are run.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from plait.bench.files import tell_beside, told_beside
from plait.bench.methods.method import Asked, Means, Method, on_record
from plait.errors import UserError
from plait.runtime.experience_store import ExperienceStore

KEPT = "kept"
"""How many records each memory had when it was kept, by its name; beside the file of what teaches."""


class Memories:
    """The memories of one file of runs that teach."""

    def __init__(self, file: Path, about: Mapping[str, Any], store: ExperienceStore) -> None:
        self._file = file
        nothing: dict[str, int] = {}
        self._about = {**about, KEPT: nothing}
        self._store = store

    @property
    def growing(self) -> str:
        """The memory that runs teach."""
        return str(self._beside()["memory"])

    async def keep(self, name: str) -> None:
        """Keep the memory as it is, once: later it is larger."""
        beside = self._beside()
        if name not in beside[KEPT]:
            kept = self._named(name)
            await self._store.copy(self.growing, kept)
            beside[KEPT][name] = len(await self._store.find(memory=kept))
            tell_beside(self._file, beside)

    async def kept(self, name: str) -> str:
        """Return the memory that was kept under a name.

        Raises:
            UserError: none was, or it is no longer what it was.
        """
        count = self._beside()[KEPT].get(name)
        if count is None:
            raise UserError(
                f"nothing is kept yet of kind {name}: first learn, with the same options and without --user"
            )
        if len(await self._store.find(memory=self._named(name))) != count:
            raise UserError(
                f"what was kept of kind {name} is not in the database any more: use the PLAIT_HOME of that"
                f" time, or move {str(self._file.parent)!r} away and begin anew"
            )
        return self._named(name)

    async def forget_copies(self, run_ids: Iterable[str]) -> None:
        """Forget the copies that finished runs worked with."""
        for run_id in run_ids:
            await self._store.forget(_copy_for(run_id))

    def _named(self, name: str) -> str:
        return f"{self.growing}-{name}"

    def _beside(self) -> dict[str, Any]:
        return told_beside(self._file, self._about)


def on_a_copy(method: Method[Any], memory: str) -> Method[Any]:
    """Return a method that solves each task with a copy of a memory of its own."""

    async def solve(task: Asked, run_id: str, means: Means) -> str:
        own = _copy_for(run_id)
        if not await asyncio.to_thread(on_record, means.log, run_id):
            await ExperienceStore(means.log).copy(memory, own)
        return await method.solve(
            task, run_id, replace(means, options=means.options.changed({"memory": own}))
        )

    return replace(method, solve=solve)


def _copy_for(run_id: str) -> str:
    return f"bench-use-{run_id}"
