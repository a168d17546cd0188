"""The Gaussian mechanism with the least noise that (epsilon, delta) allows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tukeydp.baselines.clipping import noise_deviations, noised_mean
from tukeydp.baselines.expected import gaussian_forecast
from tukeydp.baselines.gaussian import MEAN_NOTE
from tukeydp.baselines.noise import Noise
from tukeydp.baselines.setting import setting
from tukeydp.results.release import Release
from tukeydp.trusted.release import Spends


def analytic_gaussian(
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
    """Release the clipped mean of `x` with the least Gaussian noise (Balle and Wang 2018).

    **When to prefer it:** where the arithmetic mean itself is wanted (0/1 columns, skewed columns, totals), and on many
    rows between bounds that are not much wider than the data: then its error is below that of any median. Wide bounds
    and outliers hurt it; `boxem` minds neither.

    Parameters
    ----------
    x, delta, bounds, centre, radius, fill, accountant, randomness
        As for `gaussian`: without `fill`, a row with a missing cell counts at the centre of the region.
    epsilon
        Any positive number.

    Privacy
    -------
    (epsilon, delta)-DP under the swap of one row; the noise is discrete and exact (docs/proofs/baselines.md).

    Cost
    ----
    A few passes over the data; about 10 ms to find the noise for a new (epsilon, delta).

    Numerics
    --------
    The deviation is within 10^-6 of the smallest possible one; above epsilon = 200 a closed form is used, for delta
    up to 10^-6 within 3 percent of it.

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> smokers = np.random.default_rng(1).random(size=3000) < 0.2
    >>> release = td.baselines.analytic_gaussian(
    ...     smokers, epsilon=1, delta="1e-6", bounds=(0, 1), randomness=td.seeded(7)
    ... )
    >>> bool(abs(release.point[0] - smokers.mean()) < 0.01)
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
    run = here.reserve("analytic-gaussian")
    noise = Noise(here.guarantee, coordinates=here.table.d, bits=here.secret_bits(run))
    spread = noise_deviations(here.table.n, here.region, noise, Fraction(1))
    return here.release(
        "analytic-gaussian",
        run,
        noised_mean(here.table.cells, here.region, noise, Fraction(1)),
        notes=(MEAN_NOTE,),
        noise_sd=spread,
        rehearsal=gaussian_forecast(here.table.n, spread, here.region),
    )
