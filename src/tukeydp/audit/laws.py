"""What secret draws are drawn from, and how far the law on one table is from that on a neighbour of it.

`loss` bounds ln Pr[output | x] / Pr[output | x'] over every output and in both directions, in rationals. Where all
outputs can be listed, `exact` is the largest such ratio itself, in floats: never above the loss. Both are worked out
here by definition, from the numbers that a draw was given.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tukeydp.arrays import FloatArray, IntArray

# Grid points times directions up to which all points are listed: some tenths of a second.
_LISTED = 3_000_000
_ROUNDING = 1e-9  # of logarithms in floats


class Loss(NamedTuple):
    """What a draw may tell two tables apart by.

    Attributes
    ----------
    pure
        Largest log ratio; 0 where there is none, as for Gaussian noise.
    rho
        The same as concentrated differential privacy, where the draw has any.
    squares
        Of Gaussian noise: the squared distance of the two centres, in standard deviations.
    """

    pure: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    squares: Fraction = Fraction(0)

    def __add__(self, other: Loss) -> Loss:  # type: ignore[override]
        return Loss(*(a + b for a, b in zip(self, other, strict=True)))

    def or_more(self, other: Loss) -> Loss:
        return Loss(*(max(a, b) for a, b in zip(self, other, strict=True)))


def of_range(spanned: Fraction) -> Loss:
    """Of an exponential mechanism whose log weights differ by numbers that span so much (composition.md, section 1)."""
    return Loss(spanned, spanned**2 / 8)


def of_scores(weight: Fraction, moved: IntArray) -> Loss:
    """Of scores that moved so far: either way by the most, since the largest score of another pair may do so."""
    return of_range(2 * weight * int(np.abs(moved).max(initial=0)))


def of_noise(distance: Fraction) -> Loss:
    """Of noise whose centres are so many scales apart."""
    return Loss(distance, distance**2 / 2)


@dataclass(eq=False)
class NoiseLaw:
    """Integers around `centres`, of law e^(-max |z| / scale), or e^(-z^2 / (2 scale^2)) where it is Gaussian.

    Centres become known when the noise is added to something.
    """

    scale: Fraction
    gaussian: bool
    centres: list[Any]

    def loss(self, other: NoiseLaw) -> Loss:
        away = [abs(Fraction(a) - Fraction(b)) for a, b in zip(self.centres, other.centres, strict=True)]
        if not self.gaussian:
            return of_noise(max(away) / self.scale)
        squares = sum((a**2 for a in away), Fraction(0)) / self.scale**2
        return Loss(rho=squares / 2, squares=squares)

    def exact(self, other: NoiseLaw) -> float | None:
        return None


class Cells(NamedTuple):
    """Outputs in cells of equal score: how many, and both scores."""

    sizes: FloatArray
    ours: IntArray
    theirs: IntArray


@dataclass(frozen=True, eq=False)
class DepthLaw:
    """Grid points from `low` to `high` of depth at least `lowest`, by e^(weight depth).

    `directions` are those that count; None where all do, and `depth` then says how deep a point is.
    """

    rows: IntArray
    directions: IntArray | None
    low: tuple[int, ...]
    high: tuple[int, ...]
    weight: Fraction
    lowest: int
    depth: Callable[[Sequence[int]], int] = field(repr=False)

    def loss(self, other: DepthLaw) -> Loss:
        """A row that goes lowers depths by at most 1, one that comes raises them by at most 1."""
        return of_range(self.weight * sum(self.changed(other)))

    def changed(self, other: DepthLaw) -> tuple[int, int]:
        """How many rows go, and how many come."""
        ours, theirs = (Counter(map(tuple, law.rows.tolist())) for law in (self, other))
        return (ours - theirs).total(), (theirs - ours).total()

    def exact(self, other: DepthLaw) -> float | None:
        """Not above a level: there the two laws may have different points."""
        cells = None if self.lowest else self.cells(other)
        return None if cells is None else _largest_ratio(cells, float(self.weight))

    def cells(self, other: DepthLaw) -> Cells | None:
        """All points that may have a depth of `lowest`, by both depths; None if they are too many."""
        listed = self._points(other)
        if listed is None:
            return None
        points, sizes = listed
        return Cells(sizes, self._depths(points), other._depths(points))

    def _points(self, other: DepthLaw) -> tuple[IntArray, FloatArray] | None:
        rows = np.concatenate([self.rows, other.rows])
        low, high = list(self.low), list(self.high)
        if self.lowest and not len(rows):
            return np.empty((0, self.d), dtype=np.int64), np.empty(0)
        if self.lowest and self._holds_axes:
            low = [max(a, int(b)) for a, b in zip(low, rows.min(axis=0), strict=True)]
            high = [min(a, int(b)) for a, b in zip(high, rows.max(axis=0), strict=True)]
        if len(low) == 1:
            return _on_a_line(rows[:, 0], low[0], high[0])
        count = math.prod(b - a + 1 for a, b in zip(low, high, strict=True))
        if count * (1 + len(rows) if self.directions is None else len(self.directions)) > _LISTED:
            return None
        ranges = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
        points = np.stack(np.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, len(low))
        return points, np.ones(len(points))

    @property
    def _holds_axes(self) -> bool:
        """Then a point beyond all rows has depth 0."""
        if self.directions is None:
            return True
        return all((np.abs(self.directions[:, j]) == np.abs(self.directions).sum(axis=1)).any() for j in range(self.d))

    @property
    def d(self) -> int:
        return len(self.low)

    def _depths(self, points: IntArray) -> IntArray:
        if self.directions is None:
            return np.array([self.depth(y) for y in points.tolist()], dtype=np.int64)
        found = np.full(len(points), len(self.rows), dtype=np.int64)
        for v in self.directions:
            at, of_rows = points @ v, np.sort(self.rows @ v)
            up_to = np.searchsorted(of_rows, at, side="right")
            from_there = len(of_rows) - np.searchsorted(of_rows, at, side="left")
            found = np.minimum(found, np.minimum(up_to, from_there))
        return found


@dataclass(frozen=True, eq=False)
class RankLaw:
    """Integers from `low` to `high` by e^(-weight distance), the distance of the wanted rank `share` of all values."""

    values: IntArray
    low: int
    high: int
    share: Fraction
    weight: Fraction

    def loss(self, other: RankLaw) -> Loss:
        cells, unit = self._cells(other), self.weight / self.share.denominator
        return of_scores(unit, cells.ours - cells.theirs)

    def exact(self, other: RankLaw) -> float:
        return _largest_ratio(self._cells(other), -float(self.weight / self.share.denominator))

    def _cells(self, other: RankLaw) -> Cells:
        points, sizes = _on_a_line(np.concatenate([self.values, other.values]), self.low, self.high)
        return Cells(sizes, self._distances(points[:, 0]), other._distances(points[:, 0]))

    def _distances(self, points: IntArray) -> IntArray:
        """In units of one over the share's denominator."""
        t, values = self.share.denominator, np.sort(self.values)
        wanted = self.share.numerator * len(values)
        up_to, below = (t * np.searchsorted(values, points, side=side) for side in ("right", "left"))
        return np.maximum(0, np.maximum(wanted - up_to, below - wanted))


@dataclass(frozen=True, eq=False)
class RadiiLaw:
    """A radius for each column, by `weights` and e^(-weight x the most rows `beyond` it in any column)."""

    beyond: IntArray
    weight: Fraction
    weights: tuple[int, ...]

    def loss(self, other: RadiiLaw) -> Loss:
        cells = self._cells(other)
        return of_scores(self.weight, cells.ours - cells.theirs)

    def exact(self, other: RadiiLaw) -> float:
        return _largest_ratio(self._cells(other), -float(self.weight))

    def _cells(self, other: RadiiLaw) -> Cells:
        sizes = [math.prod(chosen) for chosen in itertools.product(self.weights, repeat=len(self.beyond))]
        ours, theirs = (
            np.array([max(rows) for rows in itertools.product(*law.beyond.tolist())]) for law in (self, other)
        )
        return Cells(np.array(sizes, dtype=np.float64), ours, theirs)


@dataclass(frozen=True, eq=False)
class CoinLaw:
    """A release, rather than a refusal, with a chance between `low` and `high`; `plan` is that of REM's test."""

    low: float
    high: float
    plan: Any = None

    def loss(self, other: CoinLaw) -> Loss:
        """Counted with the draw that follows, as a delta: `excess.py`."""
        return Loss()

    def exact(self, other: CoinLaw) -> None:
        return None


@dataclass(frozen=True, eq=False)
class ListedLaw:
    """Outputs by their probabilities."""

    chances: FloatArray

    def loss(self, other: ListedLaw) -> Loss:
        """Counted as a delta: `excess.py`."""
        return Loss()

    def exact(self, other: ListedLaw) -> None:
        return None


def _largest_ratio(cells: Cells, weight: float) -> float:
    """Of probabilities proportional to e^(weight score), either way."""
    logs = [np.asarray(weight * scores + np.log(cells.sizes)) for scores in (cells.ours, cells.theirs)]
    ours, theirs = (one - _log_sum(one) for one in logs)
    return float(np.abs(ours - theirs).max(initial=0.0))


def _log_sum(logs: FloatArray) -> float:
    most = float(logs.max(initial=-np.inf))
    return most + math.log(float(np.exp(logs - most).sum()))


def _on_a_line(values: IntArray, low: int, high: int) -> tuple[IntArray, FloatArray]:
    """Points that stand for all integers from low to high: each value, and one for each gap between two."""
    inside = np.unique(np.concatenate([[low, high], values[(values >= low) & (values <= high)]]).astype(np.int64))
    gaps = np.diff(inside) - 1
    between = inside[:-1][gaps > 0] + 1
    points = np.concatenate([inside, between])
    sizes = np.concatenate([np.ones(len(inside)), gaps[gaps > 0].astype(np.float64)])
    return points[:, np.newaxis], sizes
