"""The vectors of active records, kept in memory between searches and in step with their table.

Knows nothing of threads: a shelf never changes, and its successor is made within an open transaction. Every
change of a memory has a mark, and every row the mark of its last change, so that a search first looks at
one mark, and after a change by whatever process reads the vectors that are new and no others.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from plait.experience.record import ExperienceKind
from plait.runtime import experience_rows as rows
from plait.runtime.experience_codec import Row, read_tools
from plait.runtime.tables import tables
from plait.runtime.vectors import NUMBER_BYTES, READ_SLACK, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection


@dataclass(frozen=True, kw_only=True)
class ShelfLabel:
    """What one shelf holds: records are compared with others of their memory, kind and domain only."""

    memory: str
    kind: ExperienceKind
    domain: str


@dataclass(frozen=True, kw_only=True)
class Sought:
    """What a search is for."""

    label: ShelfLabel
    vector: Sequence[float]
    """Of any length but nought."""
    most: int
    """How many to find."""
    tools: Collection[str] | None
    """Only records that call no other tools than these; None for all."""


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The active records under a label that have a vector, as after one change of their memory."""

    change: int | None = None
    """Mark of that change; None before there was any."""
    ids: Sequence[str] = ()
    marks: Sequence[int] = ()
    created: Sequence[float] = ()
    tools: Sequence[str] = ()
    """As the rows hold them."""
    vectors: Vectors | None = None
    """In the order of `ids`; None where there are none."""

    @property
    def numbers(self) -> int:
        """How long its vectors are; 0 where there are none."""
        return 0 if self.vectors is None else self.vectors.rows.shape[1]

    def nearest(self, sought: Sought) -> list[tuple[str, float]]:
        """Return the ids of the records nearest to a vector, nearest first, and their cosines.

        Of equally near ones the newest comes first.
        """
        if self.vectors is None:
            return []
        found = self.vectors.nearest(
            sought.vector, sought.most, allowed=self._allowed(sought.tools), order=self._order
        )
        return [(self.ids[place], cosine) for place, cosine in found]

    def _allowed(self, tools: Collection[str] | None) -> "NDArray[np.bool_]":
        import numpy as np

        distinct, which = self._tool_sets
        there = None if tools is None else frozenset(tools)
        fits = [used is not None and (there is None or used <= there) for used in distinct]
        return np.array(fits, dtype=np.bool_)[which]

    @cached_property
    def _order(self) -> "NDArray[np.float64]":
        import numpy as np

        return -np.array(self.created, dtype=np.float64)

    @cached_property
    def _tool_sets(self) -> "tuple[list[frozenset[str] | None], NDArray[np.intp]]":
        """Return the sets of tools that records call, each once, and which of them is whose."""
        import numpy as np

        places = {text: place for place, text in enumerate(dict.fromkeys(self.tools))}
        which = np.fromiter((places[text] for text in self.tools), dtype=np.intp, count=len(self.tools))
        sets = [None if (names := read_tools(text)) is None else frozenset(names) for text in places]
        return sets, which


EMPTY = Shelf()


def renewed(connection: "Connection", label: ShelfLabel, shelf: Shelf) -> Shelf:
    """Return the shelf as the table has it now; the same one where nothing changed."""
    # Read first: what changes after that is noticed by the next search, even if this one sees it already.
    change = rows.last_change(connection, label.memory)
    if change == shelf.change:
        return shelf
    marks = _marks(connection, label)
    stays = [
        number
        for number, (id, mark) in enumerate(zip(shelf.ids, shelf.marks, strict=True))
        if marks.get(id) == mark
    ]
    new = marks.keys() - {shelf.ids[number] for number in stays}
    return _joined(change, shelf, stays, _read(connection, sorted(new)))


def _joined(change: int | None, shelf: Shelf, stays: Sequence[int], fresh: Sequence[Row]) -> Shelf:
    """Return what stays of a shelf, and rows after it."""
    import numpy as np

    kept = shelf.vectors.rows[list(stays)] if shelf.vectors is not None and stays else None
    fresh, read = _sound(fresh, 0 if kept is None else kept.shape[1])
    parts = [part for part in (kept, read) if part is not None]
    return Shelf(
        change=change,
        ids=[*(shelf.ids[number] for number in stays), *(row["id"] for row in fresh)],
        marks=[*(shelf.marks[number] for number in stays), *(row["changed"] for row in fresh)],
        created=[*(shelf.created[number] for number in stays), *(row["created"] for row in fresh)],
        tools=[*(shelf.tools[number] for number in stays), *(row["tools"] for row in fresh)],
        vectors=Vectors.of(np.concatenate(parts) if len(parts) > 1 else parts[0]) if parts else None,
    )


def _sound(fresh: Sequence[Row], numbers: int) -> "tuple[list[Row], NDArray[np.float32] | None]":
    """Return the rows that are not damaged, and their vectors."""
    import numpy as np

    fresh = [
        row for row in fresh if isinstance(row["vector"], bytes) and isinstance(row["created"], float | int)
    ]
    lengths = Counter(len(row["vector"]) for row in fresh if len(row["vector"]) % NUMBER_BYTES == 0)
    length = numbers * NUMBER_BYTES or max(lengths, key=lengths.__getitem__, default=0)
    fresh = [row for row in fresh if length and len(row["vector"]) == length]
    if not fresh:
        return [], None
    read = np.frombuffer(b"".join(row["vector"] for row in fresh), dtype="<f4").reshape(len(fresh), -1)
    squares = np.einsum("ij,ij->i", read, read)
    sound = np.abs(squares - 1.0) < READ_SLACK  # False for what is no number.
    if not sound.all():
        fresh, read = [row for row, good in zip(fresh, sound, strict=True) if good], read[sound]
    return fresh, read.astype(np.float32, copy=False) if fresh else None


def _marks(connection: "Connection", label: ShelfLabel) -> dict[str, int]:
    from sqlalchemy import select

    c = tables().experiences.c
    return {
        row.id: row.changed for row in connection.execute(select(c.id, c.changed).where(*_on_shelf(label)))
    }


def _read(connection: "Connection", ids: Sequence[str]) -> list[Row]:
    from sqlalchemy import select

    c = tables().experiences.c
    query = select(c.id, c.changed, c.created, c.tools, rows.raw_vector())
    found: list[Row] = []
    for start in range(0, len(ids), rows.IDS_AT_ONCE):
        some = query.where(c.id.in_(ids[start : start + rows.IDS_AT_ONCE]))
        found += [cast("Row", row) for row in connection.execute(some).mappings()]
    return found


def _on_shelf(label: ShelfLabel) -> "Sequence[ColumnElement[bool]]":
    from sqlalchemy import literal_column

    c = tables().experiences.c
    # Written out, as a database takes an index of some rows only where it sees that these are asked for.
    active = c.status == literal_column("'active'")
    same = (c.memory == label.memory, c.kind == label.kind, c.domain == label.domain)
    return (*same, active, c.vector.is_not(None))
