"""What accuracy to expect of a noised mean, from public inputs only."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.baselines.clipping import ClippingRegion
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.results.accuracy import (
    ASSUMED_WIDTH,
    FAR,
    ColumnError,
    ExpectedError,
    Rehearsal,
    noise_error,
    over_shapes,
    rounded,
    sampling_error,
    shape_error,
)
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Bits, Keystream, derived_key
from tukeydp.trusted.parameters import FloatArray, ParameterError, brief, show
from tukeydp.trusted.rows import per_column

# Rehearsals: cells and rows of a made-up table, and runs, so many that all of one shape have about so many columns.
# Time against precision of the forecast (some 15 percent); no release depends on them.
_MOST_CELLS, _FEWEST_ROWS = 100_000, 1000
_COLUMNS, _FEWEST_RUNS = 60, 3

Estimate = Callable[[FloatArray, ClippingRegion, ApproxDP, Bits, int], FloatArray]


def gaussian_forecast(
    n: int, deviations: FloatArray, region: ClippingRegion | None, sd: tuple[Fraction, ...] | None = None
) -> Rehearsal:
    """For Gaussian noise of known deviations that is all the error there is: its exact law.

    The columns' own deviations are `sd`, or assumed from how wide the region is.
    """
    return Rehearsal(_gaussian_error, (n, tuple(deviations.tolist()), region, sd), instant=True)


def rehearsed_forecast(estimate: Estimate, n: int, region: ClippingRegion, guarantee: ApproxDP) -> Rehearsal:
    """For mechanisms that find out about the data first: `estimate` run on made-up tables."""
    return Rehearsal(_rehearsed_error, (estimate, n, region, guarantee))


def _gaussian_error(
    n: int,
    deviations: tuple[float, ...],
    region: ClippingRegion | None,
    known: tuple[Fraction, ...] | None,
    *,
    sd: Any,
    missing: float,
) -> ExpectedError:
    noise = np.array(deviations)
    given = known if sd is None else sd
    spreads, facts = _assumed(n, len(noise), region, given, missing)
    ratios = noise / spreads
    typical, within_95 = (_quantile(ratios, share) for share in (0.5, 0.95))
    far = 1.0 - float(np.prod(_within(FAR / ratios)))
    in_units = [tuple(rounded(float(s) * _quantile(np.ones(1), share)) for share in (0.5, 0.95)) for s in noise]
    columns = tuple(ColumnError((a, a), (b, b)) for a, b in in_units)
    return over_shapes((noise_error(typical, within_95, far),), **facts, columns=columns)


def _within(limits: FloatArray) -> FloatArray:
    from scipy.special import ndtr

    return np.asarray(2.0 * ndtr(limits) - 1.0)


def _quantile(ratios: FloatArray, share: float) -> float:
    """Of the sizes of Gaussian variables of these deviations, all taken together."""
    from scipy.optimize import brentq

    largest = float(ratios.max())
    return float(brentq(lambda t: float(_within(t * largest / ratios).mean()) - share, 0.0, 40.0)) * largest


def _rehearsed_error(
    estimate: Estimate, n: int, region: ClippingRegion, guarantee: ApproxDP, *, sd: Any, missing: float
) -> ExpectedError:
    """Good to about 15 percent.

    Large tables are rehearsed with fewer rows, and their noise taken to shrink like 1/n: it shrinks at least so fast.
    """
    d = len(region.centre)
    rows = min(n, max(_FEWEST_ROWS, _MOST_CELLS // d))
    spreads, facts = _assumed(n, d, region, sd, missing)
    centre = np.array([float(c) for c in region.centre])
    shapes = []
    for shape in SHAPES:
        errors = []
        for i in range(max(_FEWEST_RUNS, math.ceil(_COLUMNS / d))):
            cells = centre + spreads * made_up(shape, rows, d, i)
            bits = Keystream(derived_key("rehearsal", "baseline", i)).bits(0)
            errors.append((estimate(cells, region, guarantee, bits, i) - cells.mean(axis=0)) / spreads * (rows / n))
        shapes.append(shape_error(shape, np.array(errors)))
    return over_shapes(tuple(shapes), **facts, scales=None if sd is None else spreads)


def _assumed(n: int, d: int, region: ClippingRegion | None, sd: Any, missing: float) -> tuple[FloatArray, Any]:
    """Standard deviations of the columns, given or assumed, and what to say about them."""
    if missing:
        rule = (
            "must be 0: where a row with a missing cell counts is stated, and how far that is from the mean not known"
        )
        raise ParameterError("missing", rule, brief(missing))
    widths = None if region is None else np.array([2.0 * float(s) for s in region.sizes])
    if sd is not None:
        values = per_column("sd", sd, d)
        for value in values:
            if value <= 0:
                raise ParameterError("sd", "must be > 0", show(value))
        spreads = np.array([float(v) for v in values])
    else:
        assert widths is not None
        spreads = widths / ASSUMED_WIDTH
    facts = {
        "estimand": "mean",
        "sampling": sampling_error(n),
        "missing": missing,
        "widths": None if widths is None else tuple((widths / spreads).tolist()),
        "known": sd is not None,
    }
    return spreads, facts
