"""What is nearest to a vector among the records of one shelf, by whatever way a database has.

Knows nothing of threads. Postgres with pgvector is asked for it; otherwise the vectors are kept in memory
and compared there. Which of both is looked up at every search, as an administrator may change it.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from plait.errors import LogError, UserError
from plait.experience.record import Experience
from plait.runtime import experience_rows as rows
from plait.runtime import experience_vectors
from plait.runtime.experience_codec import Row, to_experience
from plait.runtime.experience_graph import Graph
from plait.runtime.experience_shelf import EMPTY, Shelf, ShelfLabel, Sought, renewed

if TYPE_CHECKING:
    from sqlalchemy import Connection


class Search:
    """Finds records by their vectors; for one thread, within open transactions."""

    def __init__(self) -> None:
        self._shelves: dict[ShelfLabel, Shelf] = {}
        self._graph = Graph()

    def nearest(self, connection: "Connection", sought: Sought) -> list[tuple[Experience, float]]:
        """Return the active records that are sought, nearest first.

        Where some are damaged, what comes next takes their place.

        Raises:
            UserError: the vector has another length than those of the memory; or numpy is needed and missing.
        """
        find = self._in_database if experience_vectors.ready(connection) else self._on_shelf
        most, asked = sought.most, sought.most
        while True:
            cosines = dict(find(connection, replace(sought, most=asked)))
            found, _ = readable(rows.select_by_id(connection, list(cosines)))
            found = [record for record in found if record.status == "active"]
            if len(found) >= most or len(cosines) < asked:
                by_id = {record.id: record for record in found}
                return [(by_id[id], cosine) for id, cosine in cosines.items() if id in by_id][:most]
            asked *= 2

    def _in_database(self, connection: "Connection", sought: Sought) -> list[tuple[str, float]]:
        self._shelves.clear()
        return self._graph.nearest(connection, sought)

    def _on_shelf(self, connection: "Connection", sought: Sought) -> list[tuple[str, float]]:
        if find_spec("numpy") is None:
            raise UserError(
                "comparing experience needs numpy, which is not installed: pip install 'plait[local]'"
            )
        label, given = sought.label, len(sought.vector)
        shelf = renewed(connection, label, self._shelves.get(label, EMPTY))
        self._shelves[label] = shelf
        if shelf.numbers not in (0, given):
            raise rows.other_length(label.memory, shelf.numbers, given)
        return shelf.nearest(sought)


def readable(found: Sequence[Row]) -> tuple[list[Experience], list[LogError]]:
    """Return the records that can be read, and what is wrong with the others."""
    records: list[Experience] = []
    errors: list[LogError] = []
    for row in found:
        try:
            records.append(to_experience(row))
        except LogError as error:
            errors.append(error)
    return records, errors
