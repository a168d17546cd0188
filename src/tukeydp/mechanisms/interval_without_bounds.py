"""Intervals for means without bounds: post-processing of REM's point and released spreads (docs/proofs/mean.md, 10).

The half-width is so many standard errors of the sample. How many is calibrated: the smallest factor that covers the
stated share of made-up runs of the whole procedure, for every shape. An error against the population's mean has parts
that are drawn apart, which costs far less than whole tables: the table's own mean against the population's, Gaussian
with the rows, and what REM adds, from the rehearsals of expected errors. No procedure covers all columns, so the shapes
are named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tukeydp.forecast.mean import rehearsed_spread
from tukeydp.forecast.rem import RemInputs, rem_errors
from tukeydp.forecast.shapes import SHAPES, Shape, made_up
from tukeydp.forecast.tables import MOST_CELLS, numbers
from tukeydp.mechanisms.spread_step import spread_plan
from tukeydp.results.interval import Interval, nominal
from tukeydp.results.noise_quantiles import noise_and_sampling
from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.block_steps import SpreadPlan
from tukeydp.trusted.parameters import FloatArray, ParameterError, show

Flags = NDArray[np.bool_]  # one for each column

# The smallest spread that can be released is 1.483 of these (a median of 0.6745 stands for a standard deviation), the
# next one a twelfth more: a column of equal values, or of hardly any spread.
AT_THE_FLOOR = 1.55
# Octaves that a spread tells apart: grids are a millionth fine and 10^9 wide.
WIDE_OCTAVES = 50
# Shares of epsilon for the spread and parts of its blocks, the first that the rows suffice for. Less than 3/20 saves no
# noticeable noise and reads skewed columns lower, which widens every interval; with fewer than four parts it scatters.
_SPREADS = (
    (Fraction(3, 20), 4),
    (Fraction(1, 5), 4),
    (Fraction(1, 4), 4),
    (Fraction(3, 10), 4),
    (Fraction(3, 10), 3),
    (Fraction(3, 10), 2),
)
_MANY = 10**7  # rows, or tenths of an epsilon: where a search for enough of them ends
# Columns of few values are left out, and said to be, where they would ask for so many times the factor of measurements.
_WORTH = 1.5
# Runs to cover besides, as a share of those that may be missed: tables are few, and in a skewed table the mean and the
# spread err together, which the runs leave out. Without it log-normal columns were covered 92 times in 100.
_MARGIN = 0.3
# Runs of one shape: the share that an interval covers is then known to a third of a percent.
RUNS = 4000
# Columns of all tables whose spread is released again and again, and releases of each. More take longer.
_SPREAD_COLUMNS, _SPREAD_DRAWS = 24, 20
# Half the width of made-up bounds for a spread, in standard deviations: any will do that is within the spread's range.
_HALF_WIDTH = 25.0


@dataclass(frozen=True)
class Spending:
    """REM's plan and, unless spreads are public, theirs. All public."""

    n: int
    mean: RemInputs
    spread: SpreadPlan | None = None
    spread_epsilon: Fraction = Fraction(0)


@dataclass(frozen=True)
class IntervalPlan:
    """All that is fixed beforehand.

    Attributes
    ----------
    known
        Whether standard deviations are public.
    confidence, joint
        The level, for each column by itself or for all columns together.
    floor
        The smallest spread that is believed.
    """

    spending: Spending
    known: bool
    confidence: float
    joint: bool
    floor: float


def rem_interval(plan: IntervalPlan, point: tuple[float, ...], spread: tuple[float, ...]) -> Interval:
    """The interval that goes with a release: its point and spreads, released or public."""
    d, middle, spreads = len(point), np.array(point), np.array(spread)
    lost = (spreads <= plan.floor) & (not plan.known)
    gaussian = noise_and_sampling(d, _column_level(plan.confidence, plan.joint, d)).gaussian
    calibration = calibrated(plan.spending, d, plan.confidence, plan.joint)
    alone = np.where(lost, np.nan, gaussian * spreads / math.sqrt(plan.spending.n))
    half = calibration.factor * alone
    return Interval(
        ends=np.stack([middle - half, middle + half], axis=1),
        spread=spreads,
        sampling=alone,
        privacy=np.maximum(0.0, half - alone),
        note=interval_note(plan, calibration, lost),
    )


def _column_level(confidence: float, joint: bool, d: int) -> float:
    """The level of one column's quantiles."""
    return 1.0 - (1.0 - confidence) / d if joint else confidence


@dataclass(frozen=True)
class Calibrated:
    """The factor of the sampling error, the shapes it holds for, and those that were left out."""

    factor: float
    shapes: tuple[str, ...]
    left_out: tuple[str, ...]


@lru_cache(maxsize=256)
def calibrated(spending: Spending, d: int, confidence: float, joint: bool) -> Calibrated:
    """The smallest factor that covers the stated share of the runs of every shape."""
    factors = {shape: _factor(spending, d, shape, confidence, joint) for shape in SHAPES}
    measured = max(factor for shape, factor in factors.items() if not shape.few_values)
    held = [shape for shape, factor in factors.items() if factor <= _WORTH * measured]
    left_out = tuple(shape.name for shape in SHAPES if shape not in held)
    return Calibrated(max(factors[shape] for shape in held), tuple(shape.name for shape in held), left_out)


def _factor(spending: Spending, d: int, shape: Shape, confidence: float, joint: bool) -> float:
    made = runs(spending, d, shape)
    needed = np.abs(made.errors) / made.spreads / noise_and_sampling(d, _column_level(confidence, joint, d)).gaussian
    if joint:
        needed = needed.max(axis=1)
    return float(np.quantile(needed, 1.0 - (1.0 - _MARGIN) * (1.0 - confidence))) * math.sqrt(spending.n)


@dataclass(frozen=True, eq=False)
class Runs:
    """One row for each run, one column for each column, all in standard deviations of a column.

    `errors` are releases less the population's mean, `spreads` those that go with them: released, or 1 where public.
    """

    errors: FloatArray
    spreads: FloatArray


def runs(spending: Spending, d: int, shape: Shape) -> Runs:
    """Made-up runs on columns of that shape. Nobody's data."""
    rng = np.random.default_rng([spending.n, d, sum(shape.name.encode())])
    own = rng.normal(size=(RUNS, d)) / math.sqrt(spending.n)
    spreads = np.ones((RUNS, d))
    if spending.spread is not None:
        found = released_spreads(spending.n, d, spending.spread, spending.spread_epsilon, shape)
        spreads = found[rng.integers(len(found), size=RUNS)]
    left = rem_errors(spending.mean, shape)
    # A shape that would be refused needs no interval.
    added = np.concatenate(left)[rng.integers(sum(map(len, left)), size=RUNS)] if left else np.zeros((RUNS, d))
    return Runs(own + added, spreads)


@lru_cache(maxsize=64)
def released_spreads(n: int, d: int, plan: SpreadPlan, epsilon: Fraction, shape: Shape) -> FloatArray:
    """Spreads as they are released, in true ones; the same whatever the units and, within its range, the bounds.

    They are released on a grid of eighths of octaves of the bounds: made-up bounds differ by less than that, so that
    all places between its points come up.
    """
    rows = min(n, max(1, MOST_CELLS // d))
    tables, found = numbers(d, _SPREAD_COLUMNS), []
    for i in tables:
        half = _HALF_WIDTH * 2.0 ** ((i + 0.5) / (8 * len(tables)) - 1.0 / 8.0)
        relative = np.clip(made_up(shape, rows, d, i) / half, -1.0, 1.0)
        keys = [derived_key("interval", part, i) for part in ("public", "secret")]
        draw = rehearsed_spread(relative, epsilon, plan, *keys)
        found += [2.0 * half * 2.0 ** draw(derived_key("interval", "draw", i, j)) for j in range(_SPREAD_DRAWS)]
    return np.array(found)


def interval_note(plan: IntervalPlan, calibration: Calibrated, lost: Flags) -> str:
    """How sure the interval is, for which columns, and how that is known; from public and released numbers."""
    together = "for all columns together" if plan.joint else "for each column by itself"
    said = [
        f"A {nominal(plan.confidence)} for the population's mean, sampling and privacy together, {together}, for "
        "columns no more skewed or heavy-tailed than these, on which it was rehearsed: "
        f"{'; '.join(calibration.shapes)}. Its coverage is empirical: for other columns it may be too narrow."
    ]
    if calibration.left_out:
        said.append(f"It does not hold for columns like these: {'; '.join(calibration.left_out)}.")
    if plan.known:
        said.append("It takes the given standard deviations for true; if they are too small, so is the interval.")
    if lost.any():
        said.append(
            "No interval where the released spread is at its floor: the column has hardly any spread, or values that "
            "are nearly all equal. sd= would help."
        )
    said.append("Missing cells are taken to be few, and missing at random.")
    return " ".join(said)


def spread_for(n: int, d: int, epsilon: Fraction) -> tuple[Fraction, SpreadPlan]:
    """The share of epsilon for the spread, and its plan; raises if n rows are too few."""
    found = _spread(n, d, epsilon)
    if found is None:
        raise _too_few(n, d, epsilon)
    return found


def _spread(n: int, d: int, epsilon: Fraction) -> tuple[Fraction, SpreadPlan] | None:
    for share, parts in _SPREADS:
        plan = spread_plan(n, d, share * epsilon, parts, WIDE_OCTAVES)
        if plan is not None:
            return share, plan
    return None


def _too_few(n: int, d: int, epsilon: Fraction) -> ParameterError:
    """What would help, from public numbers."""
    rows = _least(lambda size: _spread(size, d, epsilon) is not None, n)
    times = _least(lambda tenths: _spread(n, d, epsilon * tenths / 10) is not None, 10)
    helps = ["bounds=", "sd= (standard deviations known without the data)"]
    helps += [] if rows is None else [f"at least {rows} rows"]
    helps += [] if times is None else [f"an epsilon of at least {show(epsilon * times / 10)}"]
    columns = f"{d} column{'s' if d > 1 else ''}"
    rule = (
        f"must be left out, or come with {' or '.join(helps)}: the spread of {columns} cannot be found from so few rows"
    )
    return ParameterError("confidence", rule, f"{n} rows, epsilon {show(epsilon)}")


def _least(enough: Callable[[int], bool], start: int) -> int | None:
    """The least number above `start` that is enough; None if none is."""
    high = start
    while not enough(high):
        high *= 2
        if high > _MANY:
            return None
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
