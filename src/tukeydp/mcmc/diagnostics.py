"""How far to trust a walk: effective sample size and split R-hat, for people who experiment.

Neither proves anything: a walk that has missed part of the polytope altogether can look perfect.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.errors import ParameterError


def effective_sample_size(chains: Any) -> float:
    """How many independent draws the chains (c, n) of one quantity are worth, in all.

    The sum of autocorrelations is cut where pairs of neighbours turn negative, and made to fall (Geyer 1992).

    >>> import numpy as np
    >>> independent = np.random.default_rng(1).normal(size=(4, 1000))
    >>> 3000 < effective_sample_size(independent) < 5000
    True
    """
    values = _chains(chains)
    c, n = values.shape
    within = values.var(axis=1, ddof=1).mean()
    if not within > 0.0:
        return float(c * n)
    total = _total_variance(values)
    lags = np.mean([_autocovariance(chain) for chain in values], axis=0)
    # As in Gelman et al. (2013), 11.5: what separates the chains counts as correlation at every lag.
    correlation = 1.0 - (within - lags * n / (n - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[: n - n % 2].reshape(-1, 2).sum(axis=1)
    first_negative = int(np.argmax(pairs < 0.0)) if (pairs < 0.0).any() else len(pairs)
    falling = np.minimum.accumulate(pairs[: max(first_negative, 1)])
    return float(c * n / max(2.0 * falling.sum() - 1.0, 1.0 / np.log10(max(c * n, 10))))


def split_r_hat(chains: Any) -> float:
    """Gelman and Rubin's ratio with every chain (c, n) cut in two: near 1 if all halves look alike.

    >>> import numpy as np
    >>> drifting = np.linspace(0, 1, 1000)[np.newaxis]
    >>> split_r_hat(drifting) > 1.5
    True
    """
    values = _chains(chains)
    half = values.shape[1] // 2
    halves = np.vstack([values[:, :half], values[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean()
    if not within > 0.0:
        return 1.0 if np.ptp(halves) == 0.0 else float("inf")
    return float(np.sqrt(_total_variance(halves) / within))


def _total_variance(values: FloatArray) -> float:
    c, n = values.shape
    within = values.var(axis=1, ddof=1).mean()
    between = values.mean(axis=1).var(ddof=1) if c > 1 else 0.0
    return float(within * (n - 1) / n + between)


def _autocovariance(chain: FloatArray) -> FloatArray:
    n = len(chain)
    spectrum = np.fft.rfft(chain - chain.mean(), 2 * n)
    return np.fft.irfft(spectrum * np.conj(spectrum), 2 * n)[:n] / n


def _chains(chains: Any) -> FloatArray:
    values = np.atleast_2d(np.asarray(chains, dtype=np.float64))
    if values.ndim != 2 or values.shape[1] < 4 or not np.isfinite(values).all():
        raise ParameterError("chains", "must be finite, of shape (chains, draws), with at least 4 draws", values.shape)
    return values
