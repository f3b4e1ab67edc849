"""Make a new run that goes on from the middle of another, with other options.

Knows nothing of what the steps are. The steps recorded before the chosen one are copied and answer
in the new run as they did in the old, effects among them, which so are never repeated.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from plait.errors import UserError
from plait.events import RunStarted
from plait.runtime.history import INTENDED, read_history
from plait.runtime.journal import ROOT, RunJournal
from plait.runtime.keeper import own_version
from plait.runtime.log import RunLog
from plait.runtime.store import RecordRow

COPIED_KINDS = ("step_recorded", "effect_intended", "prompt_part")
"""Events are not copied: the new run emits its own."""


async def fork(
    log: RunLog, run_id: str, new_run_id: str, from_path: str, options: Mapping[str, Any]
) -> RunJournal:
    """Begin run `new_run_id` with the steps of `run_id` before the first one at or under `from_path`.

    Args:
        log: where both runs are.
        run_id: the whole id of the run to copy from.
        new_run_id: a new id.
        from_path: a step or a branch, with or without the `run/` in front.
        options: options to change, over those of the run.

    Raises:
        UserError: no such run, no such path, or the new id is taken.
        LogError: the log cannot be read or written.
    """
    rows = await log.rows(run_id)
    source = read_history(rows)
    started = RunStarted(
        task=source.task,
        options={**source.options, **options},
        version=own_version(),
        forked_from=run_id,
    )
    return await log.adopt(new_run_id, started, before(rows, run_id, from_path))


def before(rows: Sequence[RecordRow], run_id: str, from_path: str) -> list[RecordRow]:
    """Choose the rows that a fork at `from_path` starts with.

    Raises:
        UserError: no step is at or under that path.
    """
    wanted = from_path.strip("/")
    if wanted != ROOT and not wanted.startswith(f"{ROOT}/"):
        wanted = f"{ROOT}/{wanted}"
    steps = [row for row in rows if row["kind"] in ("step_recorded", "effect_intended")]
    cut = next((row["sequence"] for row in steps if _is_under(row["path"], wanted)), None)
    if cut is None:
        raise _unknown_path(steps, run_id, from_path)
    begun = {
        row["path"].removesuffix(INTENDED)
        for row in steps
        if row["sequence"] < cut and row["kind"] == "effect_intended"
    }
    return [
        row
        for row in rows
        if row["kind"] in COPIED_KINDS
        # An effect begun before the cut is no doubt if its result came after it.
        and (row["sequence"] < cut or (row["path"] in begun and row["kind"] == "step_recorded"))
    ]


def _is_under(path: str, wanted: str) -> bool:
    path = path.removesuffix(INTENDED)
    return path == wanted or path.startswith(f"{wanted}/")


def _unknown_path(steps: Sequence[RecordRow], run_id: str, from_path: str) -> UserError:
    paths = list(dict.fromkeys(row["path"].removesuffix(INTENDED) for row in steps))
    if not paths:
        return UserError(f"run {run_id!r} has no recorded steps: there is nothing to fork from")
    near = difflib.get_close_matches(from_path, paths, n=3, cutoff=0.5) or paths[:3]
    return UserError(
        f"run {run_id!r} has no step at or under {from_path!r}; it has, for instance, {', '.join(near)}"
    )
