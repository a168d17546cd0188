"""One goodness-of-fit test and one confidence bound, each with a stated chance of a false alarm."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import beta, chi2

# Of one test. An audit makes about a hundred, so that all of them together raise one with a chance of at most 1e-4.
FALSE_ALARM = 1e-6
# In the unit of `surprise`: what stays below this is no alarm.
ALARM = -math.log10(FALSE_ALARM)


def surprise(counts: Sequence[float], probabilities: Sequence[float]) -> float:
    """-log10 of the p-value of the likelihood-ratio test; cells expected fewer than 10 times are pooled."""
    seen, law = np.asarray(counts, float), np.asarray(probabilities, float)
    expected = law / law.sum() * seen.sum()
    rare = expected < 10
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    if ((expected == 0) & (seen > 0)).any():
        return math.inf
    kept = seen > 0
    statistic = 2 * float((seen[kept] * np.log(seen[kept] / expected[kept])).sum())
    return max(0.0, -float(chi2.logsf(statistic, max(1, int((expected > 0).sum()) - 1))) / math.log(10))


def least_epsilon(
    counts: Sequence[int], others: Sequence[int], draws: int, delta: float = 0.0, false_alarm: float = FALSE_ALARM
) -> float:
    """A lower bound on epsilon from how often events came in `draws` runs on either of two neighbours.

    Clopper and Pearson's bounds, each wrong with a chance of false_alarm / (4 events); both orders are tried. That
    all of them hold has a chance of at least 1 - false_alarm.
    """
    share = false_alarm / (4 * max(1, len(counts)))
    best = 0.0
    for ours, theirs in (*zip(counts, others, strict=True), *zip(others, counts, strict=True)):
        low = float(beta.ppf(share, ours, draws - ours + 1)) if ours else 0.0
        high = float(beta.ppf(1 - share, theirs + 1, draws - theirs)) if theirs < draws else 1.0
        if low > delta:
            best = max(best, math.log((low - delta) / high))
    return best
