"""PLAN: noise shaped like the data, by private medians and private spreads of the columns."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.baselines.clipping import (
    ClippingBall,
    ClippingBox,
    ClippingRegion,
    nearest_float,
    noised_mean,
    relative,
    within,
)
from tukeydp.baselines.expected import rehearsed_forecast
from tukeydp.baselines.huang_liang_yi import MISSING_NOTE, NOTE
from tukeydp.baselines.noise import Noise
from tukeydp.baselines.search import (
    MEDIAN_ROUNDS,
    SCALE_ROUNDS,
    Budget,
    clipped_rows,
    enclosing_radius,
    medians,
    spreads,
)
from tukeydp.baselines.setting import setting
from tukeydp.results.release import Release
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Bits
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Spends

# Shares of the budget, 1 together; `Noise` refuses more. Accuracy only.
PLACE, SPREAD, RADIUS, MEAN = Fraction(1, 4), Fraction(1, 8), Fraction(1, 8), Fraction(1, 2)


def plan(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any = None,
    centre: Any = None,
    radius: Any = None,
    fill: Any = None,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release:
    """Release the mean with noise that fits each column's spread (Aumueller, Lebeda, Nelson and Pagh 2023).

    Columns are measured in half-widths of their bounds. Private medians and private spreads come first. Columns are
    divided by the square root of their spread plus the average one: the root of the spread alone would minimise the
    total squared error were it known, and the average keeps one that was found too small from doing harm. They are
    clipped at a privately found length; the mean is noised and scaled back. **When to prefer it:** thousands of rows,
    the arithmetic mean is wanted, and the columns' spreads, relative to their bounds, differ much and are unknown. With
    equal spreads `huang_liang_yi` saves a step, and on a few hundred rows, or in a hundred columns, the searches are
    mostly noise.

    **Units.** The publication minimises the total squared error in the units the columns come in: give one column in
    grams instead of tonnes and nearly all the accuracy goes to it. Here a column's unit does not matter, if its bounds
    come in the same unit: scaling both changes nothing but the unit of the result. The same bounds for all columns, or
    a ball, are one unit for all, as in the publication: a column that is narrow beside the others then has the larger
    error in its own standard deviations.

    Parameters
    ----------
    x, epsilon, delta, centre, radius, accountant, randomness
        As for `analytic_gaussian`. A ball is used as the box around it: one unit for all columns.
    bounds
        (lower, upper), one per column where the columns have unlike units, or a dict of column name -> (lower, upper).
    fill
        As for `gaussian`; without it, a row with a missing cell counts at the centre that was found, a rough median,
        which draws the mean of skewed columns towards it.

    Privacy
    -------
    (epsilon, delta)-DP under the swap of one row. Every step, the searches included, adds Gaussian noise, so that all
    of them together cost exactly what one Gaussian release would (docs/proofs/baselines.md). Noise is discrete and
    exact.

    Cost
    ----
    Sorting all cells twice, and 40 d draws of noise at 35 microseconds each.

    Numerics
    --------
    Differs from the publication in the units (above), the shares of the budget and the spread: the median distance from
    the private median takes the place of their variance from pairs of rows.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(5000, 3)) * [1, 10, 100]
    >>> release = td.baselines.plan(x, epsilon=1, delta="1e-6", bounds=(-1000, 1000), randomness=td.seeded(7))
    >>> bool((np.abs(release.point - x.mean(axis=0)) < [0.5, 2, 10]).all())
    True
    """
    here = setting(
        x,
        epsilon=epsilon,
        delta=delta,
        bounds=bounds,
        centre=centre,
        radius=radius,
        fill=fill,
        accountant=accountant,
        randomness=randomness,
    )
    run = here.reserve("plan")
    region = ClippingBox(here.region.centre, here.region.sizes)
    return here.release(
        "plan",
        run,
        _estimate(here.table.cells, region, here.guarantee, here.secret_bits(run)),
        notes=(NOTE,),
        missing=MISSING_NOTE,
        rehearsal=rehearsed_forecast(_rehearse, here.table.n, region, here.guarantee),
    )


@np.errstate(all="ignore")  # no cell may raise or warn
def _estimate(cells: FloatArray, region: ClippingRegion, guarantee: ApproxDP, bits: Bits) -> FloatArray:
    d = cells.shape[1]
    coordinates = (MEDIAN_ROUNDS + SCALE_ROUNDS + 1) * d + SCALE_ROUNDS
    noise = Noise(guarantee, coordinates=coordinates, bits=bits)
    rows = region.clipped(relative(cells, region))
    place = medians(rows, 1.0, Budget(noise, PLACE))
    spread = spreads(rows, place, 2.0, Budget(noise, SPREAD))
    # In half-widths of the bounds, not in data units: a column's unit has no say in how the noise is shared out. The
    # average spread is added to each, as its authors do: a column of mostly equal values, whose spread was found to be
    # nothing, would be blown up otherwise, and its other values drive the common radius and everybody's noise.
    shared = spread + spread.mean()
    scale = np.sqrt(shared / shared.max())
    widest = 2.0 * float(np.sqrt((1.0 / scale**2).sum()))
    radius = enclosing_radius((rows - place) / scale, widest, Budget(noise, RADIUS), clipped_rows(noise, d, MEAN))
    ball = ClippingBall(tuple(map(Fraction, place.tolist())), tuple(Fraction(radius * s) for s in scale.tolist()))
    mean = np.array([nearest_float(v) for v in noised_mean(rows, ball, noise, MEAN)])
    return within(region, mean)


def _rehearse(cells: FloatArray, region: ClippingRegion, guarantee: ApproxDP, bits: Bits, _: int) -> FloatArray:
    return _estimate(cells, region, guarantee, bits)
