"""A search of vectors finds what a comparison with every one of them finds."""

import numpy as np
import pytest
from numpy.typing import NDArray

from plait.errors import UserError
from plait.runtime import vectors
from plait.runtime.vectors import Vectors, pack, unpack

NUMBERS = 96


def drawn(count: int, decline: float, generator: np.random.Generator) -> NDArray[np.float32]:
    weights = np.arange(1, NUMBERS + 1) ** -decline
    rows = (generator.standard_normal((count, NUMBERS)) * weights).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("decline", [0.0, 1.0])
@pytest.mark.parametrize("shadows_from", [1, 10_000])
def test_the_nearest_are_found_with_shadows_and_without(
    monkeypatch: pytest.MonkeyPatch, decline: float, shadows_from: int
) -> None:
    monkeypatch.setattr(vectors, "SHADOWS_FROM_ROWS", shadows_from)
    monkeypatch.setattr(vectors, "DIRECTIONS", 24)
    generator = np.random.default_rng(3)
    rows = drawn(3000, decline, generator)
    rows[7] = rows[2000]
    searched = Vectors.of(rows)
    assert (searched.shadows is not None) == (shadows_from == 1 and decline == 1.0)

    for most in (1, 5, 200, 5000):
        for query in [*drawn(5, decline, generator), rows[7], -rows[0]]:
            allowed = generator.random(len(rows)) < 0.7
            order = generator.permutation(len(rows)).astype(np.float64)
            cosines = rows.astype(np.float64) @ (query / np.linalg.norm(query.astype(np.float64)))
            expected = [row for row in np.lexsort((order, -cosines)) if allowed[row]][:most]
            found = searched.nearest([3 * float(one) for one in query], most, allowed=allowed, order=order)

            assert [cosine for _, cosine in found] == pytest.approx(cosines[expected].tolist(), abs=1e-6)
            assert all(allowed[row] for row, _ in found)
            assert len({row for row, _ in found}) == len(found)


def test_equal_vectors_are_told_apart_by_their_order_alone() -> None:
    rows = np.tile(drawn(1, 0.0, np.random.default_rng(3)), (50, 1))
    order = np.arange(50.0)[::-1].copy()
    found = Vectors.of(rows).nearest(rows[0].tolist(), 50, allowed=np.ones(50, dtype=np.bool_), order=order)

    assert [row for row, _ in found] == list(range(49, -1, -1))
    assert {cosine for _, cosine in found} == {found[0][1]}
    assert found[0][1] <= 1.0


def test_nothing_is_found_where_nothing_is_allowed() -> None:
    rows = drawn(3, 0.0, np.random.default_rng(3))
    nothing, order = np.zeros(3, dtype=np.bool_), np.zeros(3)

    assert Vectors.of(rows).nearest(rows[0].tolist(), 5, allowed=nothing, order=order) == []


def test_a_packed_vector_has_unit_length_and_stays_as_it_is() -> None:
    packed = pack([3.0, 4.0])

    assert unpack(packed) == pytest.approx((0.6, 0.8))
    assert pack(unpack(packed)) == packed
    with pytest.raises(ValueError, match="5 bytes"):
        unpack(packed[:5])


@pytest.mark.parametrize("vector", [[], [0.0], [float("nan")], [float("inf")], [-float("inf"), 1.0]])
def test_a_vector_without_a_direction_is_refused(vector: list[float]) -> None:
    with pytest.raises(UserError, match="cannot be compared"):
        pack(vector)
