"""Statistics: held against figures worked out by hand or published, and at their edges."""

import math

import pytest

from plait.bench.statistics import mcnemar, mean, median, share, sign_flips


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        (0, 0, 0, 1),
        (0, 10, 0, 0.2775),
        (10, 10, 0.7225, 1),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_a_share_has_its_wilson_interval(count: int, of: int, low: float, high: float) -> None:
    told = share(count, of)
    assert (told.low, told.high) == pytest.approx((low, high), abs=1e-4)
    assert told.low <= told.value <= told.high


def test_the_ends_of_a_share_are_exact() -> None:
    assert share(0, 7).low == 0
    assert share(7, 7).high == 1


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(0, 0, 1), (1, 0, 1), (0, 5, 0.0625), (6, 0, 0.03125), (3, 3, 1), (2, 8, 0.109375)],
)
def test_mcnemar_is_the_two_sided_sign_test(better: int, worse: int, p: float) -> None:
    assert mcnemar(better, worse) == pytest.approx(p)
    assert mcnemar(worse, better) == mcnemar(better, worse)


def test_flipping_signs_is_exact_for_few_pairs() -> None:
    assert sign_flips([]) == 1
    assert sign_flips([0, 0]) == 1
    assert sign_flips([1.0, 1.0, 1.0]) == pytest.approx(2 / 8)
    assert sign_flips([-3.0, -1.0, -2.0, 0.0]) == pytest.approx(2 / 8)
    assert sign_flips([1.0, -1.0]) == 1


def test_flipping_signs_of_many_pairs_is_drawn_and_the_same_each_time() -> None:
    clear = [1.0 + number % 3 for number in range(40)]
    assert sign_flips(clear) == sign_flips(clear) < 0.001
    unclear = [(-1.0) ** number for number in range(40)]
    assert sign_flips(unclear) > 0.9


def test_a_bootstrap_holds_the_figure_and_is_the_same_each_time() -> None:
    values = [1.0, 2.0, 3.0, 10.0, 1.0, 1.0]
    told = mean(values)
    assert told == mean(values)
    assert told.value == 3
    assert 1 <= told.low < 3 < told.high <= 10
    assert median(values).value == 1.5
    assert (mean([5.0] * 6).low, mean([5.0] * 6).high) == (5, 5)


def test_of_a_few_values_nothing_is_said_but_the_figure() -> None:
    told = median([1.0, 3.0])
    assert (told.value, told.low, told.high) == (2, -math.inf, math.inf)
    assert mean([]).value == 0
