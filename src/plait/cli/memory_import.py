"""`plait memory import`: take what others learned; nothing of it is used before it is approved.

Knows nothing of what is in a record.
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from plait.cli.memory_store import DEFAULT_MEMORY, Name, checked_name, with_store
from plait.cli.words import count_text
from plait.errors import UserError
from plait.experience.record import MEMORY_NAME, OWN, Experience
from plait.experience.sharing.reading import ImportOrigin, ReadFile, read_file
from plait.runtime.experience_codec import identity
from plait.runtime.experience_store import MOST_OF_A_KIND, ExperienceStore

STANDARD_INPUT = "-"
MOST_TOLD = 20
"""Lines about single lines of a file."""


@dataclass(kw_only=True)
class Brought:
    """What became of the records of a file."""

    new: int = 0
    same: int = 0
    """Were there already."""
    left: int = 0
    """Would take the place of a record from elsewhere, or of one that is in use."""


def importing(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What was exported; `-` is standard input.")],
    memory: Name = DEFAULT_MEMORY,
    source: Annotated[
        str, typer.Option("--source", metavar="NAME", help="What to call it; by default the file's name.")
    ] = "",
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Import what is sound though other lines are not.")
    ] = False,
) -> None:
    """Take records from a file; they wait until you approve them."""
    name = _source(source or ("" if file == STANDARD_INPUT else Path(file).name))
    read = _read(file, ImportOrigin(source=name, memory=checked_name(memory), created=time.time()))
    for problem in read.problems[:MOST_TOLD]:
        print(f"{file}, {problem}", file=sys.stderr)
    if len(read.problems) > MOST_TOLD:
        print(f"{file}: {len(read.problems) - MOST_TOLD} more bad lines", file=sys.stderr)
    if read.problems and not skip_bad:
        what = count_text(len(read.problems), "line")
        raise UserError(f"nothing was imported, as {what} of {file!r} cannot be: --skip-bad leaves such out")
    brought = with_store(lambda store: bring_in(store, memory, read.records))
    print(f"Imported {count_text(brought.new, 'record')} from {name}; {brought.same} were there already.")
    if brought.left:
        print(f"Left as they are: {count_text(brought.left, 'record')} of yours or of another source.")
    if brought.new:
        print(f"None is used before you approve it: plait memory approve --source {name}")


async def bring_in(store: ExperienceStore, memory: str, records: Sequence[Experience]) -> Brought:
    """Add imported records to a memory; none takes the place of a record that is from elsewhere or in use.

    Raises:
        UserError: the memory has no room for them beside what it holds.
    """
    here = {identity(record): record for record in await store.find(memory=memory)}
    new = [record for record in records if identity(record) not in here]
    held = Counter(record.kind for record in here.values())
    for kind, count in Counter(record.kind for record in new).items():
        if held[kind] + count > MOST_OF_A_KIND:
            raise UserError(
                f"the memory {memory!r} holds {held[kind]:,} of at most {MOST_OF_A_KIND:,} records of kind"
                f" {kind}: these {count:,} would drive others out; import them into another --memory"
            )
    brought = Brought()
    for record in records:
        old = here.get(identity(record))
        if old is None:
            brought.new += 1
        elif old.content == record.content and old.goal == record.goal and old.source == record.source:
            brought.same += 1
            continue
        elif old.source != record.source or old.status != "quarantined":
            brought.left += 1
            continue
        else:
            brought.new += 1
        await store.add(record)
    return brought


def _source(name: str) -> str:
    """Return the name of a source.

    Raises:
        UserError: none can be called so; what is `own` was learned here, and is trusted for that.
    """
    # Letters of other scripts could spell `own` too.
    if name.isascii() and MEMORY_NAME.fullmatch(name) and name.casefold() != OWN:
        return name
    raise UserError(
        f"a source cannot be called {name!r}: give another name with --source (letters, digits, '.', '_' and"
        " '-', at most 64)"
    )


def _read(file: str, origin: ImportOrigin) -> ReadFile:
    try:
        with nullcontext(sys.stdin.buffer) if file == STANDARD_INPUT else open(file, "rb") as stream:
            return read_file(stream, origin)
    except UserError as error:
        raise UserError(f"{file!r} cannot be imported: {error.message}") from error
    except OSError as error:
        raise UserError(f"{file!r} cannot be read: {error.strerror or error}") from error
