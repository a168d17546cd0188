"""The instance-optimal mean of Huang, Liang and Yi: find place and radius of the rows first, then clip there."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.baselines.clipping import ClippingBall, ClippingRegion, nearest_float, noised_mean, relative, within
from tukeydp.baselines.expected import rehearsed_forecast
from tukeydp.baselines.noise import Noise
from tukeydp.baselines.search import (
    MEDIAN_ROUNDS,
    SCALE_ROUNDS,
    Budget,
    clipped_rows,
    enclosing_radius,
    medians,
)
from tukeydp.baselines.setting import setting
from tukeydp.results.release import Release
from tukeydp.trusted.account import ApproxDP
from tukeydp.trusted.bits import Bits, Keystream, derived_key
from tukeydp.trusted.parameters import FloatArray
from tukeydp.trusted.release import Spends

# Shares of the budget, 1 together; `Noise` refuses more. Accuracy only.
PLACE, RADIUS, MEAN = Fraction(1, 4), Fraction(1, 8), Fraction(5, 8)

NOTE = (
    "What is estimated is the arithmetic mean of the rows after the outermost ones were moved to the edge of a ball "
    "that was itself found privately."
)
MISSING_NOTE = "A row with a missing or unreadable cell counts at the centre found; how many there are stays secret."


def huang_liang_yi(
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
    """Release the mean, clipped to a privately found ball (Huang, Liang and Yi 2021).

    The rows are turned by a public random rotation; a quarter of the budget finds a rough median of every coordinate,
    an eighth a radius that holds nearly all rows, and the rest releases the mean clipped to that ball. **When to
    prefer it:** thousands of rows, bounds far wider than the data, columns of similar spread that nobody knows
    beforehand, and the arithmetic mean is wanted. On a few hundred rows, or in a hundred
    columns, the search is mostly noise.

    Parameters
    ----------
    x, epsilon, delta, bounds, centre, radius, accountant, randomness
        As for `analytic_gaussian`. With bounds, columns are measured in their own half-widths.
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
    Sorting all cells, n d^2 steps for the rotation, and 35 d draws of noise at 35 microseconds each.

    Numerics
    --------
    Differs from the publication in constants (the shares, seven rounds on a geometric scale for the radius, at least
    three standard deviations of a noised count left outside) and in that the rotation is uniformly random.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(5000, 3)) + 70
    >>> release = td.baselines.huang_liang_yi(
    ...     x, epsilon=1, delta="1e-6", bounds=(-1000, 1000), randomness=td.seeded(7)
    ... )
    >>> bool(np.abs(release.point - x.mean(axis=0)).max() < 0.2)
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
    run = here.reserve("huang-liang-yi")
    turn = rotation(here.table.d, run.public("rotation"))
    point = _estimate(here.table.cells, here.region, turn, here.guarantee, here.secret_bits(run))
    return here.release(
        "huang-liang-yi",
        run,
        point,
        notes=(NOTE,),
        missing=MISSING_NOTE,
        rehearsal=rehearsed_forecast(_rehearse, here.table.n, here.region, here.guarantee),
    )


def rotation(d: int, key: bytes) -> FloatArray:
    """A uniformly random orthogonal matrix; public."""
    words = Keystream(key).words(0, 2 * d * d).reshape(2, d, d)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    gauss = np.sqrt(-2.0 * np.log(uniform[0])) * np.cos(2.0 * np.pi * uniform[1])
    q, r = np.linalg.qr(gauss)
    return np.asarray(q * np.sign(np.diagonal(r)))


def turned(w: FloatArray, turn: FloatArray) -> FloatArray:
    """Every row times the matrix, elementwise, so that a row's image is its own."""
    image = np.zeros_like(w)
    for j in range(w.shape[1]):
        image += w[:, j : j + 1] * turn[j]
    return image


@np.errstate(all="ignore")  # no cell may raise or warn
def _estimate(
    cells: FloatArray, region: ClippingRegion, turn: FloatArray, guarantee: ApproxDP, bits: Bits
) -> FloatArray:
    d = cells.shape[1]
    noise = Noise(guarantee, coordinates=MEDIAN_ROUNDS * d + SCALE_ROUNDS + d, bits=bits)
    rows = turned(region.clipped(relative(cells, region)), turn)
    place = medians(rows, region.radius, Budget(noise, PLACE))
    widest = 2.0 * region.radius
    radius = enclosing_radius(rows - place, widest, Budget(noise, RADIUS), clipped_rows(noise, d, MEAN))
    ball = ClippingBall(tuple(map(Fraction, place.tolist())), (Fraction(radius),) * d)
    mean = np.array([nearest_float(v) for v in noised_mean(rows, ball, noise, MEAN)])
    return within(region, turn @ mean)


def _rehearse(cells: FloatArray, region: ClippingRegion, guarantee: ApproxDP, bits: Bits, number: int) -> FloatArray:
    return _estimate(cells, region, rotation(cells.shape[1], derived_key("rotation", number)), guarantee, bits)
