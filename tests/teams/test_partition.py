"""Partition and pruning, for every number of teams and every group size."""

import itertools
import math

import pytest

from plait.teams.partition import partition
from plait.teams.pruning import Candidate, draw, lowest, lowest_of_groups

MOST = 64


def test_every_solution_is_in_exactly_one_group_and_one_is_left_at_the_least_depth() -> None:
    for number, size in itertools.product(range(1, MOST + 1), range(2, MOST + 1)):
        left, depth = list(range(number)), 0
        while len(left) > 1:
            groups = partition(left, size)
            assert [item for group in groups for item in group] == left
            lengths = [len(group) for group in groups]
            assert len(groups) == math.ceil(len(left) / size)
            assert max(lengths) <= size
            assert max(lengths) - min(lengths) <= 1
            left, depth = [group[0] for group in groups], depth + 1
        assert len(left) == 1
        assert depth == least_depth(number, size)


def least_depth(number: int, size: int) -> int:
    """Return ceil(log_size(number)), without the rounding of logarithms."""
    depth = 0
    while size**depth < number:
        depth += 1
    return depth


def rated(*qualities: float | None) -> list[Candidate]:
    """Return candidates; of equals the later draws lower."""
    return [Candidate(quality=each, draw=1 - place / 100) for place, each in enumerate(qualities)]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.28, 0.5, 0.75, 0.99])
def test_the_floor_of_the_share_is_pruned_and_nothing_better_than_what_stays(share: float) -> None:
    for number in range(1, MOST + 1):
        qualities = [float((7 * place) % 5) for place in range(number)]
        out = lowest(rated(*qualities), share)
        # In whole hundredths, which floats do not get wrong.
        assert len(out) == min(round(share * 100) * number // 100, number - 1)
        stay = [place for place in range(number) if place not in out]
        assert stay
        for gone in out:
            assert all(
                qualities[gone] < qualities[kept] or (qualities[gone] == qualities[kept] and gone > kept)
                for kept in stay
            )


def test_of_equals_a_content_that_is_there_again_goes_first_and_then_the_lowest_draw() -> None:
    draws = [0.4, 0.1, 0.9, 0.3]
    equals = [Candidate(quality=1.0, draw=each, again=each == 0.9) for each in draws]
    assert lowest(equals, 0.25) == [2]
    assert lowest(equals, 0.5) == [1, 2]
    assert lowest([*equals, Candidate(quality=0.5, draw=1.0)], 0.2) == [4]
    assert lowest_of_groups([equals[:2], equals[2:]], 0.25) == [[], [0]]


def test_a_draw_follows_from_its_names_and_favours_nobody() -> None:
    drawn = [[draw(seed, "coding", f"team-{number}") for number in range(1, 9)] for seed in range(200)]
    assert drawn[7][3] == draw(7, "coding", "team-4")
    first = [each.index(min(each)) for each in drawn]
    assert all(10 <= first.count(number) <= 45 for number in range(8))


def test_what_could_not_be_rated_is_lower_than_all() -> None:
    assert lowest(rated(0.0, None, 5.0, -3.0), 0.25) == [1]


def test_one_solution_always_stays() -> None:
    assert lowest(rated(3.0), 0.99) == []
    assert lowest([], 0.5) == []


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.75, 0.99])
def test_groups_are_pruned_by_the_share_of_all_and_none_is_emptied(share: float) -> None:
    for number, size in itertools.product(range(1, MOST + 1), (2, 3, 4, 5)):
        groups = partition(rated(*(float((7 * place) % 5) for place in range(number))), size)
        out = lowest_of_groups(groups, share)
        most = number - len(groups)
        assert sum(map(len, out)) == min(round(share * 100) * number // 100, most)
        for group, gone in zip(groups, out, strict=True):
            assert gone == sorted(set(gone))
            assert len(gone) < len(group)
            assert len(gone) >= min(round(share * 100) * len(group) // 100, len(group) - 1)
            # Which of a group go is decided as in a single group.
            assert gone == lowest(group, len(gone) / len(group))


def test_groups_of_two_lose_the_lowest_of_all() -> None:
    assert lowest_of_groups([rated(*each) for each in ([5, 1], [2, 6], [7, 8], [9, 9])], 0.25) == [
        [1],
        [0],
        [],
        [],
    ]
    assert lowest_of_groups([rated(*each) for each in ([1, 2], [8, 9], [5, 6], [7, 7])], 0.5) == [
        [0],
        [0],
        [0],
        [1],
    ]
    assert lowest_of_groups([rated(5, None), rated(4, 4)], 0.25) == [[1], []]
