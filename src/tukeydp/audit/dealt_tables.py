"""The package's block tables for every dealing of the rows and every secret coin, with their probabilities.

The package runs as always, but its keystreams are scripted, and in the place of the sampler stands a recorder.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from tukeydp.audit.forced_samplers import forced
from tukeydp.audit.oracles.laws import Point, depth
from tukeydp.audit.oracles.means import Table
from tukeydp.trusted import points
from tukeydp.trusted import release as trusted
from tukeydp.trusted.block_steps import OCTAVES
from tukeydp.trusted.boxes import Box
from tukeydp.trusted.parameters import FloatArray

Coin = tuple[int, Fraction]  # a word, and the probability of those that it stands for
HEADS_OR_TAILS: tuple[Coin, ...] = ((0, Fraction(1, 2)), (1 << 63, Fraction(1, 2)))


def sixteenths(*cuts: int) -> tuple[Coin, ...]:
    """Words that stand for all of equal meaning, if what is below one of these sixteenths means one thing."""
    ends = (0, *cuts, 16)
    return tuple(((high - 1) << 60, Fraction(high - low, 16)) for low, high in itertools.pairwise(ends))


SIXTEENTHS = sixteenths(8, 9)  # missing differences of halves are cut at 8 of 16, zero ones at 9


@dataclass(frozen=True)
class Recorded:
    """What the sampler would have drawn from; rows are sorted."""

    rows: tuple[Point, ...]
    directions: tuple[Point, ...]
    within: Box
    epsilon: Fraction

    @property
    def from_the_lower_bound(self) -> tuple[Point, ...]:
        """Rows as the oracle counts them."""
        low = self.within.low
        return tuple(tuple(c - a for c, a in zip(row, low, strict=True)) for row in self.rows)


# Uniform numbers that the shifts of block means are made of, place after place: any will do, as long as they stay.
SHIFTED_AT = (0.9, 0.15, 0.7)


class Script:
    """Orders, drawn numbers and coins to come. Coins of cells that are there are random: they must not matter."""

    def __init__(self, orders: Sequence[Sequence[int]], numbers: Sequence[Sequence[int]] = ()) -> None:
        self.orders, self.numbers = orders, numbers
        self.coins: dict[int, int] = {}
        self._any = np.random.default_rng(0)

    def stream(self, name: tuple[Any, ...]) -> _Scripted:
        return _Scripted(self, name)

    def words(self, name: tuple[Any, ...], count: int) -> Any:
        if name[0] == "coins":
            words = self._any.integers(0, 2**63, size=count, dtype=np.uint64) << np.uint64(1)
            for place, word in self.coins.items():
                words[place] = word
            return words
        if name[0] == "shifts":
            return np.array([int(SHIFTED_AT[i % len(SHIFTED_AT)] * 2**64) for i in range(count)], dtype=np.uint64)
        if name[0] == "blocks":
            return np.array(self.numbers[name[1][1]], dtype=np.uint64)
        order = self.orders[name[1] if isinstance(name[1], int) else 0]
        words = np.empty(count, dtype=np.uint64)
        words[list(order)] = np.arange(1, count + 1, dtype=np.uint64)  # the smallest at the place that comes first
        return words


class _Scripted:
    """In the place of a keystream; a key is its own name."""

    def __init__(self, script: Script, name: tuple[Any, ...]) -> None:
        self._script, self._name = script, name

    def words(self, lane: int, count: int) -> Any:
        return self._script.words(self._name, count)


@contextmanager
def recording() -> Iterator[list[Recorded]]:
    """What samplers would have drawn from, in their order. The lowest corner is drawn instead."""
    seen: list[Recorded] = []

    class Recorder:
        def __init__(self, prepared: Any, *, within: Box, epsilon: Fraction) -> None:
            rows, vectors = prepared.levels.table.tolist(), prepared.directions.tolist()
            seen.append(Recorded(tuple(sorted(map(tuple, rows))), tuple(map(tuple, vectors)), within, epsilon))
            self._any = list(within.low)

        def draw(self, key: object) -> list[int]:
            """Nothing is drawn here."""
            return self._any

    with forced((points, "point_sampler", Recorder)):
        yield seen


@contextmanager
def named_keys(*modules: ModuleType) -> Iterator[None]:
    """In the place of keys their names, which a script is read by."""
    known = [module for module in (*modules, trusted) if "derived_key" in vars(module)]
    with forced(*((module, "derived_key", lambda *name: name) for module in known)):
        yield


def recorded(
    module: ModuleType, fills: str, make: Callable[[], object], script: Script, coins: Sequence[Coin]
) -> list[tuple[Recorded, Fraction]]:
    """What `make` draws from under these orders, for all coins; `fills` names the function that uses them."""
    holes: list[int] = []
    fill = vars(module)[fills]

    def spied(table: FloatArray, stream: Any, *settings: int) -> FloatArray:
        # A zero difference of halves, at the lower end of its range, has a coin too.
        holes[:] = np.flatnonzero(np.isnan(table) | (table <= -OCTAVES)).tolist()
        return np.asarray(fill(table, stream, *settings))

    found = []
    with (
        named_keys(module),
        forced(
            (module, "Keystream", script.stream),
            (module, fills, spied),
        ),
        recording() as seen,
    ):
        make()
        for chosen in itertools.product(coins, repeat=len(holes)):
            script.coins = dict(zip(list(holes), (word for word, _ in chosen), strict=True))
            seen.clear()
            make()
            found.append((seen[0], math.prod((p for _, p in chosen), start=Fraction(1))))
    return found


def weighed(
    module: ModuleType, fills: str, make: Callable[[], object], n: int, dealings: int, coins: Sequence[Coin]
) -> dict[Recorded, Fraction]:
    """The same for all orders of n rows in each dealing, each order as likely as any other."""
    found: defaultdict[Recorded, Fraction] = defaultdict(Fraction)
    every = list(itertools.product(itertools.permutations(range(n)), repeat=dealings))
    for orders in every:
        for what, p in recorded(module, fills, make, Script(orders), coins):
            found[what] += p / len(every)
    return dict(found)


def weighed_draws(
    module: ModuleType,
    fills: str,
    make: Callable[[], object],
    n: int,
    blocks: int,
    dealings: int,
    coins: Sequence[Coin],
) -> dict[Recorded, Fraction]:
    """The same where each of n rows draws its block by itself: all draws of numbers, in one order of the rows."""
    found: defaultdict[Recorded, Fraction] = defaultdict(Fraction)
    backwards = [tuple(range(n))[::-1]] * dealings
    every = list(itertools.product(itertools.product(range(blocks), repeat=n), repeat=dealings))
    for numbers in every:
        for what, p in recorded(module, fills, make, Script(backwards, numbers), coins):
            found[what] += p / len(every)
    return dict(found)


def law(weighed_tables: dict[Recorded, Fraction]) -> list[float]:
    """The exponential mechanism on one of these tables: what the package then releases each grid point with."""
    total: list[float] = []
    for what, p in weighed_tables.items():
        chances = draw_law(what)
        total = [a + float(p) * b for a, b in zip(total or [0.0] * len(chances), chances, strict=True)]
    return total


@cache
def draw_law(what: Recorded) -> list[float]:
    """The exponential mechanism on one table, by definition."""
    box = what.within
    points = itertools.product(*(range(a, b + 1) for a, b in zip(box.low, box.high, strict=True)))
    half = float(what.epsilon) / 2
    weights = [math.exp(half * depth(what.rows, y, what.directions)) for y in points]
    total = sum(weights)
    return [w / total for w in weights]


def by_rows(found: dict[Recorded, Fraction]) -> dict[tuple[Point, ...], Fraction]:
    """Only what the oracle counts too: rows from the lower bound, whatever is drawn from them."""
    rows: defaultdict[tuple[Point, ...], Fraction] = defaultdict(Fraction)
    for what, p in found.items():
        rows[what.from_the_lower_bound] += p
    return dict(rows)


def floats(x: Table) -> FloatArray:
    return np.array([[np.nan if cell is None else float(cell) for cell in row] for row in x])
