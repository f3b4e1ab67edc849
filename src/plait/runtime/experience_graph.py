"""The nearest vectors, as Postgres finds them: along a graph (HNSW), or one by one where that is faster.

Knows nothing of how records are kept. A graph is over all vectors of one length, of whatever memory, and
is walked until enough are found that fit. So where few of them do, more steps are needed than there are
vectors to compare; and where a walk ends before it found enough, all that fit are compared. What a walk
finds is put in order by all bits of its vectors.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from plait.runtime import experience_rows as rows
from plait.runtime.experience_codec import storable
from plait.runtime.experience_shelf import ShelfLabel, Sought
from plait.runtime.experience_vectors import MOST_GRAPH_NUMBERS, written

if TYPE_CHECKING:
    from sqlalchemy import Connection

CANDIDATES = 20
"""How many a walk looks for at least, of which the nearest are returned."""
BREADTH = 80
"""How many a walk keeps in view (`hnsw.ef_search`). Of a million vectors like those of texts 60 find all of
the nearest five, and 40 find 0.99 of them."""
MOST_BREADTH = 1_000
"""The extension's own limit."""
LEAST_ROWS = 2_000
"""Fewer are always compared one by one."""
STEP_COST = 20
"""How many vectors are compared in the time of one step of a walk, measured."""

_PLACE = "memory = %(memory)s AND kind = %(kind)s AND domain = %(domain)s"
_TOOLS = " AND tools <@ CAST(%(tools)s AS text[])"
_FAR = "embedding <=> CAST(%(vector)s AS vector)"


def least_rows_for_walk(all_rows: float) -> int:
    """Return how many rows must fit, of so many in a graph, for a walk to be faster than comparing them.

    A walk that looks for `CANDIDATES` passes by all others on its way: `CANDIDATES` times the share of what
    does not fit. It costs `STEP_COST` comparisons a step.
    """
    return max(LEAST_ROWS, math.ceil(math.sqrt(STEP_COST * CANDIDATES * max(all_rows, 0.0))))


class Graph:
    """Searches in a database that compares vectors itself; for one thread."""

    def __init__(self) -> None:
        self._large: set[ShelfLabel] = set()
        """Where a walk was worth it, last time it was looked."""

    def nearest(self, connection: "Connection", sought: Sought) -> list[tuple[str, float]]:
        """Return the ids of the records nearest to a vector, nearest first, and their cosines.

        Of equally near ones the newest comes first.

        Raises:
            UserError: the vectors of the shelf have another length.
        """
        if sought.most <= 0:
            return []
        label, numbers, values = sought.label, len(sought.vector), _values(sought)
        if self._is_large(connection, label, numbers):
            found = _walk(connection, values, numbers)
            if len(found) >= sought.most:
                return found
            self._large.discard(label)
            _count(connection, label, numbers, 1)
        return _compare(connection, values)

    def _is_large(self, connection: "Connection", label: ShelfLabel, numbers: int) -> bool:
        if label not in self._large and numbers <= MOST_GRAPH_NUMBERS:
            all_rows = connection.exec_driver_sql(
                "SELECT reltuples FROM pg_class WHERE oid = to_regclass('experience_vectors')"
            ).scalar_one()
            least = least_rows_for_walk(all_rows)
            if _count(connection, label, numbers, least) >= least:
                self._large.add(label)
        return label in self._large


def _values(sought: Sought) -> dict[str, Any]:
    tools = None if sought.tools is None else [storable(tool) for tool in sought.tools]
    return {**asdict(sought.label), "vector": written(sought.vector), "most": sought.most, "tools": tools}


def _count(connection: "Connection", label: ShelfLabel, numbers: int, up_to: int) -> int:
    """Count the vectors of a shelf up to a number; they must have as many numbers as the one asked for."""
    fitting = f"SELECT numbers FROM experience_vectors WHERE {_PLACE} LIMIT {up_to}"
    query = f"SELECT count(*), min(numbers) FROM ({fitting}) AS fitting"
    count, there = connection.exec_driver_sql(query, asdict(label)).one()
    if there is not None and there != numbers:
        raise rows.other_length(label.memory, there, numbers)
    return count


def _compare(connection: "Connection", values: dict[str, Any]) -> list[tuple[str, float]]:
    """Compare all vectors that fit."""
    query = (
        f"SELECT id, {_FAR} FROM experience_vectors WHERE {_fitting(values)}"
        f" ORDER BY {_FAR}, created DESC, id LIMIT %(most)s"
    )
    return _cosines(connection.exec_driver_sql(query, values).all())


def _walk(connection: "Connection", values: dict[str, Any], numbers: int) -> list[tuple[str, float]]:
    """Walk along the graph, and compare what is found there."""
    breadth = min(max(BREADTH, values["most"]), MOST_BREADTH)
    # Until the transaction ends. Sorting, which the planner would prefer where statistics are old, is not
    # forbidden but dear: others that share the transaction still may where there is no other way.
    connection.exec_driver_sql(
        f"SELECT set_config('hnsw.ef_search', '{breadth}', true),"
        " set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('enable_sort', 'off', true)"
    )
    return _cosines(connection.exec_driver_sql(_walk_query(values, numbers), values).all())


def _walk_query(values: dict[str, Any], numbers: int) -> str:
    candidates, half = max(CANDIDATES, values["most"]), f"halfvec({numbers})"
    return (
        f"WITH near AS MATERIALIZED (SELECT id, created, {_FAR} AS far FROM experience_vectors"
        f" WHERE numbers = {numbers} AND {_fitting(values)}"
        f" ORDER BY embedding::{half} <=> CAST(%(vector)s AS {half}) LIMIT {candidates})"
        " SELECT id, far FROM near ORDER BY far, created DESC, id LIMIT %(most)s"
    )


def _fitting(values: dict[str, Any]) -> str:
    return _PLACE if values["tools"] is None else _PLACE + _TOOLS


def _cosines(found: Sequence[Any]) -> list[tuple[str, float]]:
    return [(id, min(1.0, max(-1.0, 1.0 - far))) for id, far in found]
