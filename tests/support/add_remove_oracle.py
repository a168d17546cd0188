"""Mechanisms under add/remove by definition, on tables of different sizes. Imports nothing from the package.

A dataset is a sorted tuple of row numbers; its neighbours have one row more or less.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from support.mean_oracle import GridRow, Law, Table, block_row, grid_points, mixture, on_grid
from support.rem_oracle import Dataset, graded

Pair = tuple[Dataset, Dataset]


def up_to(kinds: int, most: int) -> Iterator[Dataset]:
    """All multisets of rows of so many kinds with 0 ... most rows."""
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(range(kinds), n)


def one_more(kinds: int, most: int) -> Iterator[Pair]:
    """Every dataset of fewer than `most` rows with each of those that have a row more."""
    for x in up_to(kinds, most - 1):
        for row in range(kinds):
            yield x, tuple(sorted((*x, row)))


def worst_ratio(laws: Mapping[Dataset, Sequence[Any]], kinds: int, most: int) -> Any:
    """Largest ratio of probabilities between neighbours, both ways."""
    return max(max(max(p / q, q / p) for p, q in zip(laws[x], laws[y], strict=True)) for x, y in one_more(kinds, most))


def worst_delta(laws: Mapping[Dataset, np.ndarray], kinds: int, most: int, epsilon: float) -> float:
    """The least delta for which these laws are (epsilon, delta)-DP, both ways."""
    factor = math.exp(epsilon)
    return max(
        float(np.maximum(p - factor * q, 0.0).sum())
        for x, y in one_more(kinds, most)
        for p, q in ((laws[x], laws[y]), (laws[y], laws[x]))
    )


def renyi(p: Sequence[float], q: Sequence[float], order: float) -> float:
    """Renyi divergence of an order above 1."""
    return math.log(sum(a**order * b ** (1.0 - order) for a, b in zip(p, q, strict=True))) / (order - 1.0)


def drawn_tables(x: Table, blocks: int, steps: Sequence[int]) -> list[tuple[GridRow, ...]]:
    """The block table of every draw of block numbers, each as likely as any other; no row: a missing block."""
    found = []
    for numbers in itertools.product(range(blocks), repeat=len(x)):
        members = [[row for row, number in zip(x, numbers, strict=True) if number == b] for b in range(blocks)]
        found.append(tuple(on_grid(block_row(rows), steps) if rows else None for rows in members))
    return found


def drawn_law(x: Table, blocks: int, steps: Sequence[int], directions: Sequence[Any], q: Fraction) -> Law:
    """Depth of the means of blocks that rows have drawn; weights q^depth."""
    return mixture(drawn_tables(x, blocks, steps), grid_points(steps), directions, q)


def harm(depth: Sequence[int], t: int, eta: float, removed: int, added: int) -> float:
    """Largest D+ or D- over all functions from depth - removed to depth + added, one point after the other.

    For an edge u = t (D+) or t + 1 (D-): points at u - 1 do harm, points at u or above are what is left.
    """
    worst = 0.0
    for edge in (t, t + 1):
        a = b = 0.0
        for value in depth:
            reachable = range(value - removed, value + added + 1)
            if edge - 1 in reachable:
                a += math.exp(eta * (edge - 1))
            elif reachable[0] >= edge:
                b += math.exp(eta * reachable[0])
        worst = max(worst, a / (a + b) if a + b else 1.0)
    return worst


def brute_harm(depth: Sequence[int], t: int, eta: float, removed: int, added: int) -> float:
    """The same by trying every function."""
    worst = 0.0
    for f in itertools.product(*(range(v - removed, v + added + 1) for v in depth)):
        for edge in (t, t + 1):
            inner = sum(math.exp(eta * v) for v in f if v >= edge)
            outer = sum(math.exp(eta * v) for v in f if v >= edge - 1)
            worst = max(worst, 1.0 - inner / outer if outer else 1.0)
    return worst


def worst_cases(depth: Sequence[int], t: int, eta: float, count: int) -> list[float]:
    """D_0 ... D_(count-1): k rows, each added or removed."""
    return [max(harm(depth, t, eta, a, k - a) for a in range(k + 1)) for k in range(count)]


def one_sided_chance(depth: Sequence[int], t: int, eta: float, test: float, delta: float, count: int) -> float:
    """Pass probability of the graded test under add/remove; 0 where no point is deep enough."""
    if max(depth) < t:
        return 0.0
    return graded(worst_cases(depth, t, eta, count), test, eta + test, delta)


def all_laws(kinds: int, most: int, law: Callable[[Dataset], Any]) -> dict[Dataset, Any]:
    return {x: law(x) for x in up_to(kinds, most)}
