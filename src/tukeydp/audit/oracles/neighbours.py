"""All small datasets and all swaps of one row. A dataset is a multiset: its rows are given by number, ascending."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

Dataset = tuple[int, ...]
Number = TypeVar("Number", float, Fraction)


def datasets(kinds: int, n: int) -> list[Dataset]:
    """Every multiset of n rows of so many kinds."""
    return list(itertools.combinations_with_replacement(range(kinds), n))


def swap_groups(kinds: int, n: int) -> Iterator[list[Dataset]]:
    """The datasets that share n - 1 rows: any two of a group are neighbours, and all neighbours are in one."""
    for rest in itertools.combinations_with_replacement(range(kinds), n - 1):
        yield [tuple(sorted((*rest, row))) for row in range(kinds)]


def count_of_pairs(kinds: int, n: int) -> int:
    """Neighbours in each order."""
    return len(datasets(kinds, n - 1)) * kinds * (kinds - 1)


def worst_ratio(law: Callable[[Dataset], Sequence[Number]], kinds: int, n: int) -> Number:
    """Largest ratio of an outcome's probabilities between neighbours, over all datasets; all must be positive."""
    worst: Number | None = None
    for group in swap_groups(kinds, n):
        for chances in zip(*(law(x) for x in group), strict=True):
            ratio = max(chances) / min(chances)
            worst = ratio if worst is None else max(worst, ratio)
    if worst is None:
        raise ValueError("no datasets")
    return worst


def worst_excess(law: Callable[[Dataset], Sequence[float]], kinds: int, n: int, growth: float) -> float:
    """The least delta for which P(E) <= growth Q(E) + delta for all neighbours, in each order, and all events E."""
    import numpy as np

    worst = 0.0
    for group in swap_groups(kinds, n):
        laws = np.array([law(x) for x in group])
        above = laws[:, np.newaxis] - growth * laws[np.newaxis]
        worst = max(worst, float(np.maximum(above, 0.0).sum(axis=2).max()))
    return worst
