"""Samples of tasks: spread over kinds, grown without losing any."""

from itertools import pairwise

from plait.bench.sample import sample

ITEMS = [f"{kind}{number}" for kind in "abc" for number in range(4)] + ["d0"]


def kind(item: str) -> str:
    return item[0]


def test_all_are_taken_where_no_limit_holds() -> None:
    everything = list(enumerate(ITEMS))
    assert sample(ITEMS, None, 0, kind) == everything
    assert sample(ITEMS, 13, 0, kind) == everything
    assert sample(ITEMS, 99, 0, kind) == everything
    assert sample([], 3, 0, kind) == []


def test_each_kind_gives_one_before_any_gives_a_second() -> None:
    for seed in range(5):
        assert sorted(map(kind, (item for _, item in sample(ITEMS, 4, seed, kind)))) == list("abcd")
        kinds = [kind(item) for _, item in sample(ITEMS, 7, seed, kind)]
        assert sorted(kinds.count(each) for each in "abcd") == [1, 2, 2, 2]


def test_a_larger_sample_holds_a_smaller_one_and_another_seed_another() -> None:
    samples = [sample(ITEMS, limit, 3, kind) for limit in range(len(ITEMS) + 1)]
    for smaller, larger in pairwise(samples):
        assert set(smaller) < set(larger)
    assert all(ITEMS[place] == item for place, item in samples[5])
    assert [place for place, _ in samples[5]] == sorted(place for place, _ in samples[5])
    assert len({tuple(sample(ITEMS, 5, seed, kind)) for seed in range(8)}) > 1


def test_of_fewer_kinds_there_are_more_of_each() -> None:
    for seed in range(5):
        found = sample(ITEMS, 6, seed, kind, kinds=2)
        counts = [[kind(item) for _, item in found].count(each) for each in "abcd"]
        assert sorted(counts)[:2] == [0, 0]
        assert sum(counts) == min(6, sum(1 for item in ITEMS if counts["abcd".index(kind(item))]))
        assert set(sample(ITEMS, 3, seed, kind, kinds=2)) < set(found)
    assert sample(ITEMS, None, 0, kind, kinds=9) == list(enumerate(ITEMS))
    assert len({kind(item) for _, item in sample(ITEMS, None, 1, kind, kinds=3)}) == 3
