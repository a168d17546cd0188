"""CoinPress for a known covariance: a ball that shrinks around the mean, step by step."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.baselines.clipping import (
    STEPS,
    ClippingBall,
    ClippingBox,
    ClippingRegion,
    checked_size,
    nearest_float,
    noised_mean,
)
from tukeydp.baselines.expected import gaussian_forecast
from tukeydp.baselines.noise import Noise
from tukeydp.baselines.setting import setting
from tukeydp.results.release import Release
from tukeydp.trusted.parameters import checked_integer
from tukeydp.trusted.release import Spends
from tukeydp.trusted.rows import per_column

# All of these are public numbers: they decide accuracy and time, never privacy.
_MOST_STEPS = 100  # balls; the grid that the noise lives on is fine enough for so many
# Numbers of steps that are tried, and how many in a row may bring no gain: balls of radius 10^10 around 1000 rows take
# some 25 steps. With smaller ones the best number may be missed, and wide regions end with far more noise.
_STEPS_TRIED, _PATIENCE = 40, 8
_FARTHEST = 1e150  # radius in deviations: steps that spread instead of shrinking must not overflow
_LOG_TAIL = math.log(1 / 0.01)  # each ball misses a Gaussian row with probability 0.01 at most, as in the authors' code

NOTE = (
    "CoinPress takes the columns to be Gaussian, uncorrelated and of the standard deviation it was told. The guarantee "
    "does not rest on this; the accuracy does."
)
MISSING_NOTE = "A row with a missing or unreadable cell counts at the current centre; how many there are stays secret."


def coinpress(
    x: Any,
    *,
    epsilon: Any,
    delta: Any,
    bounds: Any = None,
    centre: Any = None,
    radius: Any = None,
    fill: Any = None,
    deviation: Any = 1,
    steps: int | None = None,
    accountant: Spends | None = None,
    randomness: Any = None,
) -> Release:
    """Release the mean by clipped means in ever smaller balls (Biswas, Dong, Kamath and Ullman 2020).

    Each step clips to a ball that should hold the rows, releases the noised mean, and from the noise computes how small
    the next ball may be. **When to prefer it:** many rows of nearly Gaussian, uncorrelated columns whose standard
    deviation is known but whose place is not: the error depends only weakly on how wide the region is.

    Parameters
    ----------
    x, epsilon, delta, accountant, randomness
        As for `analytic_gaussian`.
    bounds
        (lower, upper), scalars or one per column, or a dict of column name -> (lower, upper), that hold the
        *mean*. The first ball goes around this box.
    centre, radius
        The first ball, in place of bounds, in data units; the centre is 0 unless given. With columns of different
        `deviation` the ball becomes an ellipsoid that reaches at least so far along every column.
    fill
        As for `gaussian`; without it, a row with a missing cell counts at the centre of each ball, which holds every
        step back: with a share q of such rows, q^steps of the way from the first centre to the mean remains.
    deviation
        Known standard deviation, a scalar, one per column, or a dict of column name -> value.
    steps
        How many balls; unless given, the number that ends with the least noise, a matter of public numbers only. One
        step gets the whole budget; otherwise the last gets 3/4 of it and the others share the rest.

    Privacy
    -------
    (epsilon, delta)-DP under the swap of one row. Every step is Gaussian, so that all of them together cost exactly
    what one Gaussian release would (docs/proofs/baselines.md). Noise is discrete and exact.

    Cost
    ----
    A few passes over the data for each step.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(5000, 3)) + 70
    >>> release = td.baselines.coinpress(x, epsilon=1, delta="1e-6", radius=1000, randomness=td.seeded(7))
    >>> bool(np.abs(release.point - x.mean(axis=0)).max() < 0.1)
    True
    """
    count = None if steps is None else checked_integer("steps", steps, least=1, most=_MOST_STEPS)
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
    n, d = here.table.n, here.table.d
    units = per_column("deviation", deviation, d, here.table.columns)
    for unit in units:
        checked_size("deviation", unit)
    run = here.reserve("coinpress", deviation=units)
    first = _first_radius(here.region, units)
    noise = Noise(here.guarantee, coordinates=_MOST_STEPS * d, bits=here.secret_bits(run))
    if count is None:
        count = _best_count(n, d, first, noise)
    budget = shares(count)
    place = here.region.centre
    for share, (clipped_at, _) in zip(budget, _schedule(n, d, first, budget, noise), strict=True):
        ball = ClippingBall(
            tuple(Fraction(nearest_float(c)) for c in place), tuple(Fraction(clipped_at) * u for u in units)
        )
        place = tuple(noised_mean(here.table.cells, ball, noise, share))
    last = _schedule(n, d, first, budget, noise)[-1][1]
    deviations = last * np.array([float(u) for u in units])
    return here.release(
        "coinpress",
        run,
        place,
        notes=(NOTE,),
        missing=MISSING_NOTE,
        noise_sd=deviations,
        rehearsal=gaussian_forecast(n, deviations, here.region, tuple(units)),
    )


def shares(steps: int) -> tuple[Fraction, ...]:
    """How the budget is split: the last step gets 3/4, those before it share 1/4.

    >>> [str(share) for share in shares(3)]
    ['1/8', '1/8', '3/4']
    """
    if steps == 1:
        return (Fraction(1),)
    return (Fraction(1, 4 * (steps - 1)),) * (steps - 1) + (Fraction(3, 4),)


def _best_count(n: int, d: int, radius: float, noise: Noise) -> int:
    """How many steps end with the least noise, a matter of public numbers only."""
    best, least = 1, math.inf
    for count in range(1, _STEPS_TRIED + 1):
        last = _schedule(n, d, radius, shares(count), noise)[-1][1]
        if last < least:
            best, least = count, last
        elif count - best >= _PATIENCE:
            break
    return best


def _schedule(n: int, d: int, radius: float, budget: tuple[Fraction, ...], noise: Noise) -> list[tuple[float, float]]:
    """Radius of each ball and standard deviation of its noise, in known deviations; no data needed."""
    gamma = math.sqrt(d + 2 * math.sqrt(d * _LOG_TAIL) + 2 * _LOG_TAIL)
    schedule = []
    for share in budget:
        # The root of radius^2 + 6 radius + gamma^2, as in the authors' code. The smaller of it and radius + gamma is
        # taken there, but gamma > 3, so that the root always is the smaller one.
        clipped_at = min(math.hypot(radius + 3, math.sqrt(gamma * gamma - 9)), _FARTHEST)
        deviation = noise.standard_deviation((2 * STEPS) ** 2, share) / STEPS * clipped_at / n
        schedule.append((clipped_at, deviation))
        radius = gamma * math.hypot(1 / math.sqrt(n), deviation)
    return schedule


def _first_radius(region: ClippingRegion, units: list[Fraction]) -> float:
    """A ball around the region, in known deviations."""
    ratios = [float(size / unit) for size, unit in zip(region.sizes, units, strict=True)]
    return math.hypot(*ratios) if isinstance(region, ClippingBox) else max(ratios)
