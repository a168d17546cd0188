"""What accuracy to expect of quantiles, from public inputs only: the recursion, on made-up columns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.forecast.shapes import RANKED, Shape, made_up
from tukeydp.mechanisms.cliff import ranks_of_ties, widest_for_ranks, width_sentence
from tukeydp.mechanisms.mean_ways import known_widths
from tukeydp.results.accuracy import (
    FAR,
    MEDIAN_OF_GAUSSIAN,
    ExpectedError,
    Range,
    Rehearsal,
    ShapeError,
    over_shapes,
    rounded,
)
from tukeydp.results.accuracy_words import of_100, span
from tukeydp.trusted.parameters import Bounds, FloatArray, IntArray
from tukeydp.trusted.ranks import Drawn, OneDraw, RoundNumbers, by_halves, round_numbers
from tukeydp.trusted.rows import BoundedColumns, Grid

# What accuracy to expect of quantiles: the forecast, and how it is said.

_RARE, _OFTEN = 0.005, 0.3  # shares of releases that are far off: worth a word, worth a warning
_APART = 1.5  # times as far off: worth a word of its own
_MOST_SHARES = 9  # said one by one; a forecast has all
_COARSE = 0.01  # standard deviations: a step that is no longer too fine for values that are equal
_GIVE_RESOLUTION = (
    "A released value may lie between two values that occur: give the true step of such columns (resolution)."
)


@dataclass(frozen=True)
class ShareOfError:
    """One quantile's error in standard deviations of its column: least and most over the shapes of measurements."""

    share: float
    typical: Range
    within_95: Range


@dataclass(frozen=True)
class QuantileError(ExpectedError):
    """What accuracy to expect of quantiles.

    Errors are distances from the table's own quantiles (those that `numpy.quantile` interpolates). `typical`,
    `within_95` and `far` are over all shares and columns, for the shapes of measurements; `shapes` has those with ties.

    Attributes
    ----------
    shares
        The same for each quantile: those near the ends are farther off.
    ties, ties_95
        Half, and 95 of 100, of the released values of columns with ties are at most so far off: the worst shape.
    ties_far
        Share of releases more than 3 standard deviations off, for the worst of these shapes.
    step
        Of the finest grid, in standard deviations.
    """

    shares: tuple[ShareOfError, ...] = ()
    ties: float = 0.0
    ties_95: float = 0.0
    ties_far: float = 0.0
    step: float = 0.0

    def sentences(self) -> list[str]:
        """In words, as other forecasts are said."""
        assert self.typical is not None
        assert self.within_95 is not None
        said = [
            f"Half of the released values are within {span(self.typical)} {self.units} of the table's own quantiles, "
            f"95 of 100 within {span(self.within_95)}, by the shape of the column."
        ]
        if self.columns is not None:
            pairs = "; ".join(f"{span(column.typical)} and {span(column.within_95)}" for column in self.columns)
            said.append(f"In the columns' own units, one after the other: {pairs}.")
        said += [*self._by_share(), *self._far_off(), *self._ties()]
        if not self.missing:
            said.append("Columns with missing cells do worse.")
        return [
            *said,
            f"By chance alone, half of all tables of so many rows have quantiles more than {self.sampling:g} standard "
            "deviations from the truth (bell-shaped columns).",
        ]

    def _by_share(self) -> list[str]:
        worst = max(self.shares, key=lambda one: one.typical[1])
        best = min(self.shares, key=lambda one: one.typical[1])
        if worst.typical[1] <= _APART * best.typical[1]:
            return []
        told = self.shares if len(self.shares) <= _MOST_SHARES else (best, worst)
        each = "; ".join(f"{one.share:g}: {span(one.typical)}" for one in told)
        return [f"Half within, quantile by quantile: {each}."]

    def _far_off(self) -> list[str]:
        if self.far <= _RARE:
            return []
        guess = "" if self.known or self.widths is None else f" between bounds {max(self.widths):g} of them wide"
        said = f"Up to {of_100(self.far)} releases have a value more than 3 standard deviations off{guess}."
        if self.far > _OFTEN:
            said += (
                " Such a release is mostly noise. More rows, fewer columns, fewer quantiles, narrower bounds or a "
                "larger epsilon help; each further run spends its own epsilon."
            )
        return [said]

    def _ties(self) -> list[str]:
        """Where many values are equal, if that is worse."""
        assert self.typical is not None
        assert self.within_95 is not None
        worse = self.ties > _APART * self.typical[1] or self.ties_95 > _APART * self.within_95[1]
        if not worse and self.ties_far <= max(_RARE, _APART * self.far):
            return []
        far = f", and up to {of_100(self.ties_far)} releases are far off" if self.ties_far > _RARE else ""
        said = (
            "Where many values are equal (scores, yes/no answers, counts with many zeros) half are within "
            f"{self.ties:g}, 95 of 100 within {self.ties_95:g}{far}."
        )
        return [said if self.step > _COARSE else f"{said} {_GIVE_RESOLUTION}"]


# What accuracy to expect of quantiles, from public inputs only: the recursion, on made-up columns.
#
# Same grid, same weights of its points, same levels, on columns that have nothing to do with the data. A rank's law is
# drawn from in floats, which the release never is. Columns with ties are among the made-up ones: their values are
# decimals with one digit more than they need to be told apart.

# Made-up columns of one shape, and releases from each: medians of so many are good to 10 percent.
_COLUMNS, _DRAWS = 20, 10
_FEWEST = 4  # made-up columns of one kind of bounds and grid
# Different widths of bounds and grids that are rehearsed at most; others count as the nearest of them.
_KINDS = 5
# Rows of a made-up column at most; more take longer.
_MOST_ROWS = 2000
# What a rank may count where fewer rows stand for more: above, a column's own gaps would show, which more rows close.
_MOST_WEIGHT = 0.25
_DIGIT = 4.0  # how many of its units a decimal tells values apart by, at least
_CUT = 1.0 / 8.0  # of a level, for sharing out equal values: as in the mechanism
# A column of few grid points has at least this deviation, in steps, or a quarter of its width.
_STEPS = 2.0


def quantile_rehearsal(
    n: int, grid: Grid, bounds: Bounds, shares: tuple[Fraction, ...], epsilon: Fraction, sd: Any = None
) -> Rehearsal:
    """The forecast that goes with released quantiles.

    `epsilon` is what a level of a column has, `sd` what is known of the columns without the data.
    """
    columns = BoundedColumns(*bounds)
    widths = known_widths(columns, sd)
    widest = rounded(widest_for_ranks(n, shares, epsilon))
    # Each column is by itself: the widest bounds count, not those of all together.
    caveat = width_sentence(widest, n, np.full(columns.d, widths.max()), sd is not None)
    given = None if sd is None else tuple((columns.widths / widths).tolist())
    inputs = (n, grid, columns, shares, epsilon, given)
    return Rehearsal(_quantile_error, inputs, widest, f"{caveat} {tie_sentence(n, grid, shares, epsilon)}")


def tie_sentence(n: int, grid: Grid, shares: tuple[Fraction, ...], epsilon: Fraction) -> str:
    """When equal values are found, by the most uneven grid: the cliff of columns with ties, in ranks."""
    ranks = ranks_of_ties(max(round_numbers(grid, j).log_odds for j in range(grid.d)), shares, epsilon)
    lost = "a random point between them and the next value, or a bound"
    if ranks > n / 2:
        return f"Equal values are not found with {n} row{'s' if n > 1 else ''}: a quantile among them is {lost}."
    return (
        f"Equal values are found, as far as they are round numbers, where the rank asked for lies more than about "
        f"{rounded(ranks):g} ranks inside theirs, of {n}, or more where the next value is far; otherwise a quantile "
        f"may be {lost}."
    )


def _quantile_error(
    n: int,
    grid: Grid,
    columns: BoundedColumns,
    shares: tuple[Fraction, ...],
    epsilon: Fraction,
    given: tuple[float, ...] | None,
    *,
    sd: Any,
    missing: float,
) -> QuantileError:
    sd = given if sd is None else sd
    steps = np.array([float(s) for s in grid.step])
    deviations = columns.widths / known_widths(columns, sd)
    if sd is None:
        deviations = np.maximum(deviations, np.minimum(columns.widths / 4.0, _STEPS * steps))
    kinds = _kinds(deviations / steps, grid)
    errors = {shape: _errors(shape, kinds, n, shares, epsilon, missing) for shape in RANKED}
    told = tuple(_shape_error(shape, found, kinds) for shape, found in errors.items())
    ties = [error for error in told if error.few_values]
    values = max(1, math.floor(n * (1.0 - missing)))
    facts = over_shapes(
        told,
        estimand="quantiles",
        sampling=sampling_of_quantiles(values, shares),
        missing=missing,
        widths=tuple((columns.widths / deviations).tolist()),
        known=sd is not None,
        widest=rounded(widest_for_ranks(values, shares, epsilon)),
        scales=None if sd is None else deviations,
    )
    measured = [np.concatenate(found) for shape, found in errors.items() if not shape.few_values]
    return QuantileError(
        **{name: getattr(facts, name) for name in facts.__dataclass_fields__},
        shares=tuple(_share_error(float(q), [e[:, i] for e in measured]) for i, q in enumerate(shares)),
        ties=max(error.typical or 0.0 for error in ties),
        ties_95=max(error.within_95 or 0.0 for error in ties),
        ties_far=max(error.far for error in ties),
        step=rounded(float((steps / deviations).min())),
    )


@dataclass(frozen=True)
class _Kind:
    """A column's standard deviation in steps of its grid, the grid, and how many columns are like it."""

    deviation: float
    grid: Grid
    columns: float

    @property
    def cells(self) -> int:
        return self.grid.cells[0]

    @property
    def width(self) -> float:
        return self.cells / self.deviation

    def recorded(self, values: FloatArray) -> FloatArray:
        """Values in steps as somebody writes them down: in decimals, one digit more than tells them apart."""
        apart = np.diff(np.unique(values))
        if not len(apart):
            return values
        lower, step = float(self.grid.lower[0]), float(self.grid.step[0])
        unit = 10.0 ** math.floor(math.log10(float(apart.max()) * step / _DIGIT))
        return np.asarray((unit * np.rint((lower + values * step) / unit) - lower) / step)


def _kinds(deviations: FloatArray, grid: Grid) -> list[_Kind]:
    """Columns that differ; of many, some from the narrowest to the widest bounds."""
    columns = zip(deviations.tolist(), grid.lower, grid.step, grid.cells, strict=True)
    pairs = [(deviation, Grid((lower,), (step,), (cells,))) for deviation, lower, step, cells in columns]
    different = sorted(dict.fromkeys(pairs), key=lambda pair: pair[1].cells[0] / pair[0])
    if len(different) <= _KINDS:
        return [_Kind(deviation, one, pairs.count((deviation, one))) for deviation, one in different]
    chosen = [different[i] for i in np.linspace(0, len(different) - 1, _KINDS).round().astype(int).tolist()]
    return [_Kind(deviation, one, len(pairs) / _KINDS) for deviation, one in chosen]


def _errors(
    shape: Shape, kinds: list[_Kind], n: int, shares: tuple[Fraction, ...], epsilon: Fraction, missing: float
) -> list[FloatArray]:
    """Releases less the columns' own quantiles, in standard deviations: for each kind a row for each release."""
    d = sum(kind.columns for kind in kinds)
    found = []
    for kind in kinds:
        numbers = range(max(_FEWEST, math.ceil(_COLUMNS * kind.columns / d)))  # as many as its part of the columns
        found.append(np.concatenate([_of_column(shape, kind, n, shares, epsilon, missing, i) for i in numbers]))
    return found


def _of_column(
    shape: Shape, kind: _Kind, n: int, shares: tuple[Fraction, ...], epsilon: Fraction, missing: float, number: int
) -> FloatArray:
    """Releases from one made-up column.

    Fewer rows stand for more by a weight of a rank raised in proportion. Beyond a limit the weight stays, and errors
    shrink instead: the law of a rank is as narrow as its weight and the rows together, where a column has no ties.
    """
    rows = min(n, _MOST_ROWS)
    raised = epsilon * n / rows
    if not shape.few_values:
        raised = min(raised, max(epsilon, Fraction(2 * _MOST_WEIGHT)))
    deviation = kind.cells / float(shape.widths(np.array([kind.width]))[0])
    cells = made_up(shape, rows, 1, number, missing)[:, 0]
    rng = np.random.default_rng([number, rows, kind.cells % 2**32])
    middle = kind.cells / 2.0 + deviation * rng.uniform(-1.0, 1.0)  # not just where the roundest numbers are
    values = cells[~np.isnan(cells)] * deviation + middle
    snapped = np.rint(kind.recorded(values) if shape.few_values else values)
    column = MadeUp(np.sort(np.clip(snapped, 0, kind.cells).astype(np.int64)), round_numbers(kind.grid, 0))
    own = np.quantile(snapped if shape.few_values else values, [float(q) for q in shares]) if len(values) else 0.0
    found = [column.release(kind.cells, shares, raised, rng) for _ in range(_DRAWS)]
    shrunk = float(raised * rows / (epsilon * n))
    return np.asarray((np.array(found, dtype=float) - own) / deviation * shrunk)


class MadeUp:
    """A made-up column on a grid: releases in floats, which have about the law of the mechanism."""

    def __init__(self, steps: IntArray, points: RoundNumbers) -> None:
        self._points = points
        self._values, first = np.unique(steps, return_index=True)
        self._below, self._up_to = first.astype(float), np.append(first[1:], len(steps)).astype(float)
        self._shares = points.shares_below(np.stack([self._values, self._values + 1]).astype(float).reshape(-1))

    def release(
        self, cells: int, shares: tuple[Fraction, ...], epsilon: Fraction, rng: np.random.Generator
    ) -> list[int]:
        """Steps of all quantiles."""
        running = by_halves(int(self._up_to[-1]) if len(self._values) else 0, cells, shares, epsilon)
        asked = next(running)
        while True:
            try:
                asked = running.send([self.draw(one, rng) for one in asked])
            except StopIteration as end:
                return list(end.value)

    def draw(self, one: OneDraw, rng: np.random.Generator) -> Drawn:
        """A value, or a gap between two different ones and a point of it; then which equal values lie below."""
        inside = slice(*np.searchsorted(self._up_to, [one.first, one.last - 1], side="right") + [0, 1])
        values = self._values[inside] if one.last > one.first else self._values[:0]
        m = len(values)
        below, up_to = (
            np.clip(ranks[inside][:m], one.first, one.last) - one.first for ranks in (self._below, self._up_to)
        )
        starts = np.empty(2 * m + 2, dtype=np.int64)
        starts[0], starts[1:-1:2], starts[2:-1:2], starts[-1] = one.low, values, values + 1, one.high + 1
        shares = np.empty(len(starts))
        shares[[0, -1]] = self._points.shares_below(starts[[0, -1]].astype(float))
        shares[1:-1:2], shares[2:-1:2] = self._shares.reshape(2, -1)[:, inside][:, :m]
        wanted = float(one.share) * (one.last - one.first)
        scores = np.empty(2 * m + 1)
        scores[0::2] = np.abs(wanted - np.append(0.0, up_to))
        scores[1::2] = np.maximum(0.0, np.maximum(wanted - up_to, below - wanted))
        weight = float(one.weight) * (1.0 - _CUT * one.cuts)
        number = _by_weight(np.diff(shares), scores, weight, rng)
        low, high = int(starts[number]), int(starts[number + 1]) - 1
        if number % 2 == 0:
            step = self._points.point(low, high, int(rng.random() * self._points.weight(low, high)))
            return Drawn(step, one.first + int(np.append(0, up_to)[number // 2]))
        ranks = np.arange(below[number // 2], up_to[number // 2] + 1.0)
        cut = _by_weight(np.ones(len(ranks)), np.abs(wanted - ranks), float(one.weight) * _CUT, rng)
        return Drawn(low, one.first + int(ranks[cut]))


def _by_weight(sizes: FloatArray, scores: FloatArray, weight: float, rng: np.random.Generator) -> int:
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(sizes, 0.0)) - weight * scores
    chances = np.cumsum(np.exp(logs - logs.max()))
    return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))


def _shape_error(shape: Shape, found: list[FloatArray], kinds: list[_Kind]) -> ShapeError:
    sizes = np.abs(np.concatenate([errors.ravel() for errors in found]))
    near = [float((np.abs(errors) <= FAR).all(axis=1).mean()) for errors in found]
    # Columns are drawn independently of each other.
    far = 1.0 - float(np.prod(np.power(near, [kind.columns for kind in kinds])))
    typical, within_95 = (rounded(float(np.quantile(sizes, q))) for q in (0.5, 0.95))
    return ShapeError(shape.name, shape.few_values, typical, within_95, None, rounded(far), None)


def _share_error(share: float, by_shape: list[FloatArray]) -> ShareOfError:
    ranges = []
    for q in (0.5, 0.95):
        sizes = [rounded(float(np.quantile(np.abs(errors), q))) for errors in by_shape]
        ranges.append((min(sizes), max(sizes)))
    return ShareOfError(share, *ranges)


def sampling_of_quantiles(n: int, shares: tuple[Fraction, ...]) -> float:
    """Typical difference between a table's quantiles and the truth, for Gaussian columns: a mean over the shares."""
    from scipy.special import ndtri

    q = np.array([float(share) for share in shares])
    density = np.exp(-(ndtri(q) ** 2) / 2.0) / math.sqrt(2.0 * math.pi)
    return rounded(MEDIAN_OF_GAUSSIAN * float(np.mean(np.sqrt(q * (1.0 - q)) / density)) / math.sqrt(n))
