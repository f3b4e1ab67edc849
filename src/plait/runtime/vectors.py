"""Vectors in memory, searched exactly for those of the highest cosine.

Knows nothing of databases, nor of what the vectors stand for. Reading all numbers takes most of the time,
so where there are many vectors their shadows in a few directions tell first which ones cannot be among the
best. That bound is strict: what is found is what a comparison with every vector finds.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plait.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHADOWS_FROM_ROWS = 20_000
"""Fewer are read as fast as their shadows."""
DIRECTIONS = 64
LEAST_SHADOW = 0.5
"""Shadows are kept where they hold this part of the vectors' squared length; others rule out nothing."""
MOST_CANDIDATES = 0.05
"""Where more of all vectors than this could be among the best, all are read."""
SEEDS = 64
SAMPLE_ROWS = 5_000
NUMBER_BYTES = 4
UNIT_SLACK = 1e-6
"""How far from 1 the length of a vector may be that is not brought to unit length again."""

READ_SLACK = 1e-3
"""How far from 1 the length of a vector may be that is sound."""


@dataclass(frozen=True, kw_only=True)
class Shadows:
    """What vectors look like in the few directions in which they differ most."""

    directions: "NDArray[np.float32]"
    inside: "NDArray[np.float32]"
    """Of every vector, its part in these directions."""
    outside: "NDArray[np.float32]"
    """Of every vector, the length of the rest; never less than it is."""

    def highest(self, query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Say for every vector what its cosine with `query` is at most."""
        inside = query @ self.directions
        bounds = dots(self.inside, inside)
        bounds += self.outside * _rest(inside @ inside)
        return bounds


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """Vectors of unit length, one a row."""

    rows: "NDArray[np.float32]"
    shadows: Shadows | None

    @classmethod
    def of(cls, rows: "NDArray[np.float32]") -> "Vectors":
        """Take vectors of unit length, one a row."""
        return cls(rows=rows, shadows=_shadows(rows) if len(rows) >= SHADOWS_FROM_ROWS else None)

    def nearest(
        self,
        query: Sequence[float],
        most: int,
        *,
        allowed: "NDArray[np.bool_]",
        order: "NDArray[np.float64]",
    ) -> list[tuple[int, float]]:
        """Return the rows that have the highest cosine with `query`, highest first, and their cosines.

        Args:
            query: As long as a row, of any length but nought.
            most: How many to return.
            allowed: For every row, whether it may be returned.
            order: For every row a number; of equal cosines the row with the lowest comes first.
        """
        import numpy as np

        exact_query = np.asarray(query, dtype=np.float64)
        exact_query /= np.linalg.norm(exact_query)
        numbers = exact_query.astype(np.float32)
        most = min(most, int(np.count_nonzero(allowed)))
        if most <= 0:
            return []
        # Both the lowest score that is good enough and every other one are rounded: sums of `n` products.
        slack = 2 * rounding(self.rows)
        chosen = self._candidates(numbers, most, allowed, slack)
        if chosen is None:
            chosen = np.flatnonzero(allowed)
            scores = dots(self.rows, numbers)[chosen]
        else:
            scores = dots(self.rows[chosen], numbers)
        chosen = chosen[scores >= _highest(scores, most) - slack]
        # Once more, so that equal vectors have equal cosines wherever they stand.
        exact = np.clip(np.sum(self.rows[chosen] * exact_query, axis=1), -1.0, 1.0)
        best = np.lexsort((order[chosen], -exact))[:most]
        return [(int(chosen[place]), float(exact[place])) for place in best]

    def _candidates(
        self, query: "NDArray[np.float32]", most: int, allowed: "NDArray[np.bool_]", slack: float
    ) -> "NDArray[np.intp] | None":
        """Return the rows that can be among the best; None where these are too many to be worth it."""
        import numpy as np

        if self.shadows is None:
            return None
        bounds = self.shadows.highest(query)
        bounds[~allowed] = -np.inf
        seeds = min(max(SEEDS, most), len(bounds))
        promising = np.argpartition(bounds, -seeds)[-seeds:]
        promising = promising[allowed[promising]]
        least = _highest(dots(self.rows[promising], query), most)
        candidates = np.flatnonzero(bounds >= least - 2 * slack)
        return candidates if len(candidates) <= MOST_CANDIDATES * len(bounds) else None


def dots(rows: "NDArray[np.float32]", vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Multiply every row by a vector.

    In this thread: memory is what limits the speed, and the threads of a matrix product wait for each other
    for many times as long where the processors are busy.
    """
    import numpy as np

    return np.vecdot(rows, vector)


def rounding(rows: "NDArray[np.float32]") -> float:
    """Say how far a cosine of float32 numbers is from the true one at most."""
    import numpy as np

    return float(rows.shape[1] * np.finfo(np.float32).eps)


def _highest(scores: "NDArray[np.float32]", most: int) -> float:
    """Return the score that comes at place `most`, counted from the highest."""
    import numpy as np

    return float(np.partition(scores, -most)[-most])


def _shadows(rows: "NDArray[np.float32]") -> Shadows | None:
    import numpy as np

    sample = rows[:: max(1, len(rows) // SAMPLE_ROWS)]
    products = sample.T @ sample
    # Drawn towards the directions of the highest eigenvalues; exact ones take seconds, and serve no better.
    drawn = products @ (products @ sample[:DIRECTIONS].T)
    directions = np.ascontiguousarray(np.linalg.qr(drawn)[0])
    inside = rows @ directions
    squares = np.einsum("ij,ij->i", inside, inside)
    if float(squares.mean()) < LEAST_SHADOW:
        return None
    return Shadows(directions=directions, inside=inside, outside=_rest(squares))


def _rest(squares: Any) -> Any:
    """Return the length of what is left of vectors of unit length, with room for rounding."""
    import numpy as np

    return np.sqrt(np.maximum(0.0, 1.0 - squares) + 1e-5, dtype=np.float32)


def pack(vector: Sequence[float]) -> bytes:
    """Write a vector as float32 numbers, after bringing it to unit length.

    Raises:
        UserError: it has no direction, as one of its numbers is none or all are nought.
    """
    length = check_direction(vector)
    if abs(length - 1.0) < UNIT_SLACK:
        length = 1.0  # What was read is written as it was.
    return struct.pack(f"<{len(vector)}f", *(number / length for number in vector))


def unpack(data: bytes) -> tuple[float, ...]:
    """Read a vector that `pack` wrote.

    Raises:
        ValueError: it did not.
    """
    if len(data) % NUMBER_BYTES:
        raise ValueError(f"{len(data)} bytes are no float32 numbers")
    return struct.unpack(f"<{len(data) // NUMBER_BYTES}f", data)


def is_unit(vector: Sequence[float]) -> bool:
    """Whether a vector that was read is one that can be compared: of unit length, as all are written."""
    return abs(math.hypot(*vector) - 1.0) < READ_SLACK  # False for what is no number.


def check_direction(vector: Sequence[float]) -> float:
    """Return the length of a vector that points somewhere.

    Raises:
        UserError: one of its numbers is none, or all are nought.
    """
    length = math.hypot(*vector)
    if not 0.0 < length < math.inf:
        wrong = [number for number in vector if not math.isfinite(number)]
        reason = f"it holds {wrong[0]!r}" if wrong else f"its length is {length!r}"
        raise UserError(f"a vector of {len(vector)} numbers cannot be compared, as {reason}: embed it anew")
    return length
