"""Made-up runs of a mean with its spread, shape by shape: what intervals are calibrated on.

An error against the population's mean has parts that are drawn apart, which costs far less than whole tables: the
table's own mean against the population's, Gaussian with the rows; what depth adds, from the rehearsals of expected
errors; noise, by its own law; and in two steps what clipping does, from a sample of the shape and the numbers of rows
outside each radius. `tests/mechanisms/test_interval_rehearsal.py` holds them against whole runs. Nobody's data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from tukeydp.forecast.mean import rehearsed_spread, table_errors
from tukeydp.forecast.rem import RemInputs, rem_errors
from tukeydp.forecast.shapes import Shape, made_up
from tukeydp.forecast.tables import MOST_CELLS, depth_draws, numbers
from tukeydp.mechanisms.clipped_sum import MOST_MISSING, NOTICED, RADII, rehearsed_radii
from tukeydp.mechanisms.mean_plans import CubeMean, MeanPlan, SubsetMean, TwoStepMean
from tukeydp.mechanisms.spread_step import SpreadPlan
from tukeydp.mechanisms.two_step import NARROWEST, TwoStepPlan
from tukeydp.results.noise_quantiles import median_of_noise
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.parameters import FloatArray, IntArray

# Runs of one shape: the share that an interval covers is then known to a third of a percent.
RUNS = 4000
# Columns of all tables whose spread is released again and again, and releases of each. More take longer.
_SPREAD_COLUMNS, _SPREAD_DRAWS = 24, 20
# Values that stand for a shape where it is clipped: tail shares of a thousandth are good to a tenth.
_SAMPLE = 2**17
# Half the width of made-up bounds for a spread, in standard deviations: any will do that is within the spread's range.
_HALF_WIDTH = 25.0


@dataclass(frozen=True, eq=False)
class Runs:
    """One row for each run, one column for each column, all in standard deviations of a column.

    Attributes
    ----------
    errors
        Release less the population's mean.
    spreads
        The spread that goes with it: released, or 1 where it is public.
    noise
        Scale of the noise, as known after the release.
    """

    errors: FloatArray
    spreads: FloatArray
    noise: FloatArray


@dataclass(frozen=True)
class RemMean:
    """A mean without bounds, by REM on the means of blocks, if it is released."""

    inputs: RemInputs


@dataclass(frozen=True)
class Spending:
    """A mean's plan and, where it is released by itself, the spread's, for the `measured` columns. All public."""

    n: int
    mean: MeanPlan | RemMean
    spread: SpreadPlan | None = None
    spread_epsilon: Fraction = Fraction(0)
    measured: tuple[int, ...] = ()


def runs(spending: Spending, widths: tuple[float, ...], shape: Shape) -> Runs:
    """Runs on columns of that shape between bounds that are about so many *released* spreads wide.

    Skewed columns have a released spread below the true one: their bounds are fewer standard deviations wide.
    """
    plan, n, d = spending.mean, spending.n, len(widths)
    rng = np.random.default_rng([n, d, sum(shape.name.encode())])
    if isinstance(plan, TwoStepMean):
        return _two_step_runs(plan.plan, n, np.array(widths), shape, rng)
    own = rng.normal(size=(RUNS, d)) / math.sqrt(n)
    spreads = _spread_runs(spending, d, shape, rng)
    if isinstance(plan, SubsetMean):
        found = np.concatenate(table_errors(plan, n, np.array(widths), shape))
        return Runs(own + found[rng.integers(len(found), size=RUNS)], spreads, np.zeros((RUNS, d)))
    if isinstance(plan, RemMean):
        left = rem_errors(plan.inputs, shape)
        # A shape that would be refused needs no interval.
        added = np.concatenate(left)[rng.integers(sum(map(len, left)), size=RUNS)] if left else np.zeros((RUNS, d))
        return Runs(own + added, spreads, np.zeros((RUNS, d)))
    assert isinstance(plan, CubeMean)
    noise = shape.widths(np.array(widths) * np.median(spreads)) / (float(plan.settings["epsilon_mean"]) * n)
    return Runs(own + noise * _cube_noise(RUNS, d, rng), spreads, np.broadcast_to(noise, (RUNS, d)))


def _cube_noise(count: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Rows of cube noise at scale 1."""
    return np.asarray(rng.gamma(d + 1, size=(count, 1)) * rng.uniform(-1.0, 1.0, size=(count, d)))


def _spread_runs(spending: Spending, d: int, shape: Shape, rng: np.random.Generator) -> FloatArray:
    spreads = np.ones((RUNS, d))
    if spending.spread is not None:
        columns = list(spending.measured)
        found = released_spreads(spending.n, len(columns), spending.spread, spending.spread_epsilon, shape)
        spreads[:, columns] = found[rng.integers(len(found), size=RUNS)]
    return spreads


@lru_cache(maxsize=64)
def released_spreads(n: int, d: int, plan: SpreadPlan, epsilon: Fraction, shape: Shape) -> FloatArray:
    """Spreads as they are released, in true ones; the same whatever the units and, within its range, the bounds."""
    rows = min(n, max(1, MOST_CELLS // d))
    found = []
    for i, shift in _shifted(d):
        half = _HALF_WIDTH * shift
        relative = np.clip(made_up(shape, rows, d, i) / half, -1.0, 1.0)
        draw = rehearsed_spread(relative, epsilon, plan, *_keys(i))
        found += [2.0 * half * 2.0 ** draw(derived_key("interval", "draw", i, j)) for j in range(_SPREAD_DRAWS)]
    return np.array(found)


def _shifted(d: int) -> list[tuple[int, float]]:
    """Numbers of made-up tables, and a factor of at most an eighth of an octave for the bounds of each.

    Spreads are released on a grid of eighths of octaves of the bounds: so all places between its points come up.
    """
    tables = numbers(d, _SPREAD_COLUMNS)
    return [(i, 2.0 ** ((i + 0.5) / (8 * len(tables)) - 1.0 / 8.0)) for i in tables]


def _keys(number: int) -> list[bytes]:
    return [derived_key("interval", part, number) for part in ("public", "secret")]


def _two_step_runs(steps: TwoStepPlan, n: int, widths: FloatArray, shape: Shape, rng: np.random.Generator) -> Runs:
    """The first step from made-up tables, the second by the laws of its parts."""
    d = len(widths)
    # Depth hardly depends on the widths: few different ones, so that the first step can be kept.
    rough = shape.widths(2.0 ** np.ceil(np.log2(widths) - 1e-9))
    found = np.array(_first_steps(steps, n, tuple(rough.tolist()), shape))
    centre, spread = np.moveaxis(found[rng.integers(len(found), size=RUNS)], 1, 0)
    widths = shape.widths(widths * np.median(spread))
    used = np.maximum(spread, NARROWEST / 2.0 * widths)
    law = Clipped.of(shape)
    ends = [
        (np.maximum(-widths / 2, centre - radius * used), np.minimum(widths / 2, centre + radius * used))
        for radius in RADII
    ]
    inside = np.stack([law.share_between(low, high) for low, high in ends], axis=2)
    chosen = rehearsed_radii(_rows_beyond(inside, n, rng), float(steps.epsilons[2]), rng)
    low, high = (np.take_along_axis(np.stack([pair[i] for pair in ends]), chosen[np.newaxis], 0)[0] for i in range(2))
    mean, deviation = law.moments(low, high)
    noise = (high - low) / (float(steps.epsilons[4]) * n)
    clipped = mean + deviation / math.sqrt(n) * rng.normal(size=(RUNS, d)) + noise * _cube_noise(RUNS, d, rng)
    # Shares of missing cells that noise alone makes believe.
    scale = 1.0 / (float(steps.epsilons[3]) * n)
    shares = np.clip(scale * (_cube_noise(RUNS, d, rng) - NOTICED * median_of_noise(d)), 0.0, float(MOST_MISSING))
    return Runs(centre + (clipped - centre) / (1.0 - shares), spread, noise / (1.0 - shares))


@lru_cache(maxsize=64)
def _first_steps(steps: TwoStepPlan, n: int, widths: tuple[float, ...], shape: Shape) -> list[FloatArray]:
    """Released centres and spreads, in standard deviations, each of shape (2, d)."""
    d = len(widths)
    rows = min(n, max(1, MOST_CELLS // d))
    once = replace(steps.centre, partitions=1)  # more dealings make it hardly better, and take longer
    found = []
    for i, shift in _shifted(d):
        sizes = 2.0 / (shift * np.array(widths))
        relative = np.clip(made_up(shape, rows, d, i) * sizes, -1.0, 1.0)
        centres = depth_draws(relative, steps.epsilons[0], once, *_keys(i))
        octaves = None
        if steps.spread is not None:
            octaves = rehearsed_spread(relative, steps.epsilons[1], steps.spread, *_keys(i))
        for j in range(_SPREAD_DRAWS):
            key = derived_key("interval", "draw", i, j)
            spread = np.ones(d) if octaves is None else 2.0 * 2.0 ** octaves(key) / sizes
            found.append(np.stack([centres(key) / sizes, spread]))
    return found


def _rows_beyond(inside: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Numbers of rows beyond each radius, given the shares within each: of shape (runs, d, radii)."""
    shares = np.maximum(0.0, np.diff(inside, axis=2, prepend=0.0, append=1.0))
    counts = rng.multinomial(n, shares / shares.sum(axis=2, keepdims=True))
    return np.asarray(n - np.cumsum(counts, axis=2)[:, :, :-1])


@dataclass(frozen=True, eq=False)
class Clipped:
    """What clipping does to a shape: shares and moments by its sorted values and their sums."""

    values: FloatArray
    sums: FloatArray
    squares: FloatArray

    @staticmethod
    @lru_cache(maxsize=16)
    def of(shape: Shape) -> Clipped:
        values = np.sort(made_up(shape, _SAMPLE, 1, 0)[:, 0])
        values -= values.mean()  # so that what clipping takes off is not blurred by the sample's own error
        return Clipped(values, *(np.concatenate([[0.0], np.cumsum(values**power)]) for power in (1, 2)))

    def share_between(self, low: FloatArray, high: FloatArray) -> FloatArray:
        found = np.searchsorted(self.values, high, "right") - np.searchsorted(self.values, low, "left")
        return np.asarray(found / len(self.values))

    def moments(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the clipped values."""
        first, last = np.searchsorted(self.values, low, "left"), np.searchsorted(self.values, high, "right")
        count = len(self.values)
        below, above = first, count - last
        mean = (self.sums[last] - self.sums[first] + low * below + high * above) / count
        square = (self.squares[last] - self.squares[first] + low**2 * below + high**2 * above) / count
        return mean, np.sqrt(np.maximum(0.0, square - mean**2))
