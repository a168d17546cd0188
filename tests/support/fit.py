"""One goodness-of-fit test with a stated size, for every sampler."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

# Each statistical test raises a false alarm with at most about this probability; seeds are fixed all the same.
FALSE_ALARM = 1e-6


def g_test(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """p-value of the likelihood-ratio test; cells expected fewer than 10 times are pooled."""
    counts, probabilities = np.asarray(counts, float), np.asarray(probabilities, float)
    expected = probabilities * counts.sum()
    rare = expected < 10
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    if ((expected == 0) & (counts > 0)).any():
        return 0.0
    seen = counts > 0
    statistic = 2 * (counts[seen] * np.log(counts[seen] / expected[seen])).sum()
    return float(chi2.sf(statistic, max(1, (expected > 0).sum() - 1)))
