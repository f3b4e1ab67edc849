"""Which tasks of a benchmark are run. Knows nothing of what a task is but the kind it is of."""

import random
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def sample(
    items: Sequence[Item],
    limit: int | None,
    seed: int,
    kind: Callable[[Item], Hashable],
    kinds: int | None = None,
) -> list[tuple[int, Item]]:
    """Return `limit` items with their places, spread over all kinds, in the order of their places.

    Each kind gives one before any gives a second. A larger limit with the same seed holds what a smaller one
    holds, so that a benchmark can grow.

    Args:
        items: All there are.
        limit: How many; None: all.
        seed: Decides which.
        kind: What items have in common that are alike, such as their template.
        kinds: Of how many kinds; None: all.
    """
    alike: dict[Hashable, list[int]] = {}
    for place, item in enumerate(items):
        alike.setdefault(kind(item), []).append(place)
    draw = random.Random(seed)
    groups = list(alike.values())
    for group in groups:
        draw.shuffle(group)
    draw.shuffle(groups)
    groups = groups[:kinds]
    longest = max(map(len, groups), default=0)
    order = [group[turn] for turn in range(longest) for group in groups if turn < len(group)]
    return [(place, items[place]) for place in sorted(order[:limit])]
