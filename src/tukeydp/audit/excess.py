"""Hockey-stick divergences: the delta that two laws need at an epsilon (`laws.py` has those that need none)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.audit.laws import CoinLaw, DepthLaw, ListedLaw


def of_a_test(
    coins: tuple[CoinLaw, CoinLaw], draws: tuple[DepthLaw, DepthLaw], epsilon: float
) -> tuple[float, float] | None:
    """Of a coin and the draw after it, either way; None if there are too many outputs to list."""
    cells = draws[0].cells(draws[1])
    if cells is None:
        return None
    found = []
    for depths, law in zip((cells.ours, cells.theirs), draws, strict=True):
        with np.errstate(divide="ignore"):
            logs = np.where(depths >= law.lowest, float(law.weight) * depths, -np.inf) + np.log(cells.sizes)
        most = logs.max(initial=-np.inf)
        drawn = np.exp(logs - most) if np.isfinite(most) else np.zeros(len(logs))
        found.append(drawn / max(drawn.sum(), 1e-300))
    return after_a_coin(coins, (found[0], found[1]), epsilon)


def of_a_group(delta: Fraction, epsilon: Fraction, steps: int) -> float:
    """Of so many steps from table to table, each (epsilon, delta)-DP."""
    return float(delta) * sum(math.exp(i * float(epsilon)) for i in range(steps))


def after_a_coin(
    coins: tuple[CoinLaw, CoinLaw], drawn: tuple[FloatArray, FloatArray], epsilon: float
) -> tuple[float, float]:
    """The same where the probabilities of all outputs after the coin are given."""
    laws = [coin.high * chances for coin, chances in zip(coins, drawn, strict=True)]
    return _both_ways(laws, [1.0 - coin.low for coin in coins], epsilon)


def of_listed(ours: ListedLaw, theirs: ListedLaw, epsilon: float) -> tuple[float, float]:
    return _both_ways([ours.chances, theirs.chances], [0.0, 0.0], epsilon)


def of_gaussian(squares: Fraction, epsilon: float) -> float:
    """delta of Gaussian noise between centres sqrt(squares) standard deviations apart (Balle and Wang 2018)."""
    from scipy.special import log_ndtr, ndtr

    if not squares:
        return 0.0
    m = 1.0 / math.sqrt(squares)
    second = math.exp(min(700.0, epsilon + float(log_ndtr(-1.0 / (2.0 * m) - epsilon * m))))
    return float(ndtr(1.0 / (2.0 * m) - epsilon * m)) - second


def _both_ways(laws: Sequence[FloatArray], refused: Sequence[float], epsilon: float) -> tuple[float, float]:
    growth = math.exp(min(epsilon, 700.0))

    def one(i: int) -> float:
        above = np.maximum(0.0, laws[i] - growth * laws[1 - i]).sum()
        return float(above) + max(0.0, refused[i] - growth * refused[1 - i])

    return one(0), one(1)
