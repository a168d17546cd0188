"""The Gaussian mechanism with the classical noise, as in the paper's comparisons."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tukeydp.baselines.clipping import noise_deviations, noised_mean
from tukeydp.baselines.curve import classical_multiplier
from tukeydp.baselines.expected import gaussian_forecast
from tukeydp.baselines.noise import Noise
from tukeydp.baselines.setting import setting
from tukeydp.results.release import Release
from tukeydp.trusted.release import Spends

MEAN_NOTE = (
    "What is estimated is the arithmetic mean of the rows after those outside the region were moved to its edge; "
    "outliers inside it count in full."
)


def gaussian(
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
    """Release the clipped mean of `x` with classical Gaussian noise: the paper's baseline.

    Rows are moved into the ball of `radius` R around `centre`, and every coordinate of their mean gets noise of
    standard deviation 2R sqrt(2 ln(1.25/delta)) / (epsilon n). **When to prefer it:** to compare with published
    figures; `analytic_gaussian` does the same with a fifth less noise. A noised mean beats depth on 0/1 and skewed
    columns, where the mean itself is wanted, and on many rows between tight bounds.

    Parameters
    ----------
    x
        Array-like of shape (n, d) or (n,), or a pandas, polars or Arrow table; one row per person. Never modified.
    epsilon
        At most 1: the classical noise is too small beyond it.
    delta
        Between 0 and 1, and much smaller than 1/n.
    bounds
        (lower, upper), scalars or one per column, or a dict of column name -> (lower, upper). Rows are clipped
        to the box, and half its diagonal, with every column divided by its own half-width, plays the part of R: the
        noise of a column is proportional to its width.
    centre, radius
        The ball, in place of bounds; the centre is 0 unless given.
    fill
        What a missing cell counts as: a public value for all columns, one for each, or a dict by name. **Choose it
        without the data.** Left out, a whole row with a missing cell counts at the centre of the region, which draws
        the result towards it; `td.mean` leaves missing cells out.
    accountant
        None, or a `td.Accountant` that pays for the run before the data are touched, or refuses it.
    randomness
        None for the operating system's, or `td.seeded(seed)` for tests: the release then is not private.

    Privacy
    -------
    (epsilon, delta)-DP under the swap of one row; the noise is discrete and exact (docs/proofs/baselines.md).

    Cost
    ----
    A few passes over the data; about 10 ms to find the noise for a new (epsilon, delta).

    Examples
    --------
    >>> import numpy as np, tukeydp as td
    >>> x = np.random.default_rng(1).normal(size=(2000, 2))
    >>> release = td.baselines.gaussian(x, epsilon=1, delta="1e-6", radius=5, randomness=td.seeded(7))
    >>> bool(np.abs(release.point - x.mean(axis=0)).max() < 0.2)
    True
    >>> print(release.guarantee)
    epsilon = 1, delta = 1e-06 (approximate differential privacy, one row swapped)
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
        deviation=classical_multiplier,
    )
    run = here.reserve("gaussian")
    deviation = classical_multiplier(here.guarantee)
    noise = Noise(here.guarantee, coordinates=here.table.d, bits=here.secret_bits(run), deviation=deviation)
    spread = noise_deviations(here.table.n, here.region, noise, Fraction(1))
    return here.release(
        "gaussian",
        run,
        noised_mean(here.table.cells, here.region, noise, Fraction(1)),
        notes=(MEAN_NOTE,),
        noise_sd=spread,
        rehearsal=gaussian_forecast(here.table.n, spread, here.region),
    )
