"""What accuracy to expect of a noised mean, from public inputs only."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.baselines.clipping import ClippingRegion
from tukeydp.randomness import Bits, Keystream, derived_key
from tukeydp.release import ASSUMED_WIDTH, ExpectedError

_NORMAL_95 = 1.959964  # 95 % of a standard normal lie within it
# Rehearsals: cells and rows of a made-up table, and runs, so many that all of them have about so many columns. Time
# against precision of the forecast (some 20 percent); no release depends on them.
_MOST_CELLS, _FEWEST_ROWS = 100_000, 1000
_RUNS, _FEWEST_RUNS, _MOST_COLUMNS = 40, 3, 600
_WIDE = (
    f"roughly bell-shaped columns about {ASSUMED_WIDTH} standard deviations wide from end to end of the region; "
    "errors in standard deviations"
)


def error_of_noise(n: int, deviations: FloatArray, spreads: FloatArray, assumption: str) -> ExpectedError:
    """The error of a mean whose noise is known and whose clipping does no harm."""
    ratios = deviations / spreads
    d = len(ratios)
    privacy = float(np.sqrt((ratios**2).mean()))
    # The mean length of a d-dimensional Gaussian vector; exact where all columns have one ratio.
    length = math.sqrt(2.0) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))
    return _errors(n, privacy, _NORMAL_95 * privacy, length * privacy, assumption)


def error_within(n: int, deviations: FloatArray, region: ClippingRegion) -> ExpectedError:
    """The same for columns as wide as the region."""
    return error_of_noise(n, deviations, _spreads(region), _WIDE)


def rehearsed(run: Callable[[FloatArray, Bits, int], FloatArray], n: int, region: ClippingRegion) -> ExpectedError:
    """Run the mechanism on made-up Gaussian tables. `run` takes cells, secret bits and the number of the rehearsal.

    Numerics
    --------
    Good to about 20 percent. Large tables are rehearsed with fewer rows, and their noise taken to shrink like 1/n: it
    shrinks at least so fast.
    """
    d = len(region.centre)
    rows = min(n, max(_FEWEST_ROWS, _MOST_CELLS // d))
    runs = max(_FEWEST_RUNS, min(_RUNS, _MOST_COLUMNS // d))
    centre, spreads = np.array([float(c) for c in region.centre]), _spreads(region)
    gauss = np.random.default_rng(0)
    errors = np.empty((runs, d))
    for i in range(runs):
        cells = centre + spreads * gauss.normal(size=(rows, d))
        point = run(cells, Keystream(derived_key("baseline rehearsal", i)).bits(0), i)
        errors[i] = (point - cells.mean(axis=0)) / spreads * (rows / n)
    return _errors(
        n,
        float(np.sqrt((errors**2).mean())),
        float(np.quantile(np.abs(errors), 0.95)),
        float(np.linalg.norm(errors, axis=1).mean()),
        _WIDE,
    )


def _spreads(region: ClippingRegion) -> FloatArray:
    return np.array([2.0 * float(s) / ASSUMED_WIDTH for s in region.sizes])


def _errors(n: int, privacy: float, privacy_95: float, distance: float, assumption: str) -> ExpectedError:
    sampling = 1.0 / math.sqrt(n)
    return ExpectedError(
        privacy=_rounded(privacy),
        privacy_95=_rounded(privacy_95),
        sampling=_rounded(sampling),
        total=_rounded(math.hypot(privacy, sampling)),
        distance=_rounded(distance),
        assumption=assumption,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.2g}")
