"""`plait memory export`: give away what was learned, as a file for Plait or as a skill for other agents.

What looks personal leaves only when its owner says so. Knows nothing of what is in a record.
"""

import os
import re
import secrets as randomness
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from plait.cli.asking import can_ask
from plait.cli.memory_store import DEFAULT_MEMORY, Name, agreed, with_store
from plait.cli.words import count_text, one_line
from plait.errors import UserError
from plait.experience.record import Experience
from plait.experience.sharing.lines import header
from plait.experience.sharing.personal import secrets_of
from plait.experience.sharing.records import Doubt, Shared, shared
from plait.experience.sharing.skill import skill_files, skill_name
from plait.experience.sharing.words import spelled
from plait.experience.situation import kept_situation
from plait.runtime.experience_store import ExperienceStore
from plait.tools.secret_finding import is_secret_name

STANDARD_OUTPUT = "-"
MOST_GOALS = 20
"""Goals that are told as they leave."""


def exporting(
    target: Annotated[str, typer.Argument(metavar="FILE", help="Where to; `-` is standard output.")],
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Which records; all in use by default.")
    ] = None,
    memory: Name = DEFAULT_MEMORY,
    skill: Annotated[
        bool, typer.Option("--skill", help="Write one record as an Agent Skill; FILE is its new folder.")
    ] = False,
    yes_constants: Annotated[
        bool, typer.Option("--yes-constants", help="Let constants leave that look personal.")
    ] = False,
) -> None:
    """Write records into a file for others, with invented values in place of your own."""
    if skill and len(ids or ()) != 1:
        raise UserError("a skill is one record: plait memory export --skill FOLDER ID")
    name = skill_name(Path(target).resolve().name) if skill else ""
    records = with_store(lambda store: _chosen(store, memory, ids or ()))
    ready = [found for record in records if (found := _ready(record, yes_constants)) is not None]
    if not ready:
        raise UserError("nothing was exported: no record is left that may leave")
    if skill:
        _write_folder(Path(target), skill_files(ready[0].record, name))
    else:
        _write_file(target, "".join(f"{line}\n" for line in [header(), *sorted(one.line for one in ready)]))
    goals = sorted({one.record.goal for one in ready})
    for goal in goals[:MOST_GOALS]:
        _say(f"leaves: {one_line(goal)}")
    if len(goals) > MOST_GOALS:
        _say(f"leaves: {len(goals) - MOST_GOALS} more goals")
    where = "" if target == STANDARD_OUTPUT else f" to {target}"
    _say(f"Exported {count_text(len(ready), 'record')}{where}.")


async def _chosen(store: ExperienceStore, memory: str, ids: Sequence[str]) -> list[Experience]:
    """Return the records to export.

    Raises:
        UserError: one that was named is not there or not in use.
    """
    if not ids:
        found = await store.find(memory=memory, statuses=("active",))
        return [record for record in found if kept_situation(record.content) is None]
    records = {record.id: record for record in [await store.get(id) for id in ids]}
    for record in records.values():
        if record.status != "active":
            raise UserError(f"record {record.id!r} is {record.status}: what you do not use is not given away")
    return list(records.values())


def _ready(record: Experience, yes_constants: bool) -> Shared | None:
    """Return a record that may leave; None, and a line that says why, where it stays."""
    secrets = {value for name, value in os.environ.items() if is_secret_name(name)}
    try:
        found = shared(record, secrets)
    except UserError as error:
        _say(f"left out: {record.id}: {one_line(error.message)}")
        return None
    if not found.doubts or yes_constants:
        return found
    for doubt in found.doubts:
        _say(f"{record.id}: {doubt.where} is {_shown(doubt, secrets)}: {doubt.why}")
    if can_ask() and agreed(f"Let record {record.id} leave with that?", ""):
        return found
    hint = "" if can_ask() else "; let it leave with --yes-constants"
    _say(f"left out: {record.id}: it holds what looks personal{hint}")
    return None


def _shown(doubt: Doubt, secrets: Collection[str]) -> str:
    """Return a value as its owner is asked about it; a secret is not shown whole."""
    text = spelled(doubt.value)
    if found := secrets_of(text, secrets):  # In one go: what stands for one may look like another.
        text = re.sub("|".join(re.escape(secret) for secret in found), "***", text)
    return f'"{text}"'


def _write_file(target: str, text: str) -> None:
    """Write a file whole or not at all."""
    if target == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    file = Path(target)
    waiting = file.with_name(f".{file.name}.{randomness.token_hex(4)}")
    try:
        try:
            with open(waiting, "x", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(waiting, file)
        finally:
            waiting.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{target!r} cannot be written: {error.strerror or error}") from error


def _write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Make a folder whole or not at all; one that holds something is never touched."""
    waiting = folder.absolute().parent / f".{folder.name}.{randomness.token_hex(4)}"
    try:
        if folder.is_symlink() or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
            raise UserError(f"{str(folder)!r} is there already and not an empty folder: name another one")
        waiting.mkdir()
        try:
            for path, text in files.items():
                (waiting / path).parent.mkdir(parents=True, exist_ok=True)
                (waiting / path).write_text(text, encoding="utf-8")
            # The system refuses to put it over a folder that got something in the meantime.
            os.rename(waiting, folder)
        finally:
            shutil.rmtree(waiting, ignore_errors=True)
    except OSError as error:
        raise UserError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from error


def _say(line: str) -> None:
    print(line, file=sys.stderr)
