"""Partition: solutions into groups of about u, as even as possible (Croto, section 4.1.2).

Knows nothing of what the solutions are.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def partition(items: Sequence[Item], size: int) -> list[list[Item]]:
    """Split `items` into ceil(n / size) groups in order; sizes differ by at most one, larger ones first."""
    count = math.ceil(len(items) / size)
    groups: list[list[Item]] = []
    start = 0
    for number in range(count):
        end = start + len(items) // count + (number < len(items) % count)
        groups.append(list(items[start:end]))
        start = end
    return groups
