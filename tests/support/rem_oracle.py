"""REM by definition, on grids of a few points. Imports nothing from the package."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

Dataset = tuple[int, ...]  # indices of grid points, ascending: order and names of rows do not matter


def datasets(points: int, n: int) -> Iterator[Dataset]:
    return itertools.combinations_with_replacement(range(points), n)


def swaps(x: Dataset, points: int) -> Iterator[Dataset]:
    """All datasets that differ from x in one row."""
    for i in range(len(x)):
        for p in range(points):
            if p != x[i]:
                yield tuple(sorted((*x[:i], p, *x[i + 1 :])))


def depths(x: Dataset, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Depth of every grid point."""
    here, rows = points @ directions.T, points[list(x)] @ directions.T
    above = (rows[np.newaxis] >= here[:, np.newaxis]).sum(axis=1)
    below = (rows[np.newaxis] <= here[:, np.newaxis]).sum(axis=1)
    return np.minimum(above, below).min(axis=1)


def worst_case(depth: np.ndarray, t: int, eta: float, k: int) -> float:
    """sup D(f) over all integer functions f with |f - depth| <= k, one point after the other.

    D(f) = A / (A + B), A the weight of {f in t-1, t} and B that of {f > t}: each point does best by itself.
    """
    a = b = 0.0
    for value in depth.tolist():
        options = range(value - k, value + k + 1)
        to_a = [math.exp(eta * f) for f in options if f in (t - 1, t)]
        to_b = [math.exp(eta * f) for f in options if f > t]
        free = any(f < t - 1 for f in options)
        if to_a:
            a += max(to_a)
        elif not free:
            b += min(to_b)
    return a / (a + b) if a + b else 1.0


def brute_worst_case(depth: Sequence[int], t: int, eta: float, k: int) -> float:
    """The same by trying every function."""
    worst = 0.0
    for f in itertools.product(*(range(v - k, v + k + 1) for v in depth)):
        weights = [math.exp(eta * v) for v in f]
        outer = sum(w for w, v in zip(weights, f, strict=True) if v >= t - 1)
        inner = sum(w for w, v in zip(weights, f, strict=True) if v >= t + 1)
        worst = max(worst, 1.0 - inner / outer if outer else 1.0)
    return worst


def graded(worst: Sequence[float], test: float, epsilon: float, delta: float) -> float:
    """Pass probability from D_0 ... D_(K-1)."""
    terms = [k + math.log(delta / d) / test for k, d in enumerate(worst) if d > 0]
    s = min([*terms, len(worst) + math.log(delta) / test])
    turn = epsilon / (epsilon + test)
    at = math.log(turn) / test
    return math.exp(test * s) if s <= at else 1 - (1 - turn) * math.exp(-epsilon * (s - at))


def laplace(worst: Sequence[float], test: float, delta: float) -> float:
    """Pass probability of the plain test with discrete Laplace noise."""
    h = max([k for k, d in enumerate(worst) if d <= delta], default=-1)
    cut = 0
    while tail(test, cut + 1) > delta:
        cut += 1
    return tail(test, cut - h)


def tail(test: float, j: int) -> float:
    """Pr[Z >= j], summed up from the definition."""
    q = math.exp(-test)
    weights = {z: q ** abs(z) for z in range(-2000, 2001)}
    return sum(w for z, w in weights.items() if z >= j) / sum(weights.values())


def outcome(depth: np.ndarray, t: int, eta: float, chance: float) -> np.ndarray:
    """Probability of each grid point, and of a refusal at the end."""
    weights = np.where(depth >= t, np.exp(eta * depth), 0.0)
    if not weights.any():
        return np.append(np.zeros(len(depth)), 1.0)
    return np.append(chance * weights / weights.sum(), 1.0 - chance)


def worst_delta(points: int, n: int, epsilon: float, law: Callable[[Dataset], np.ndarray]) -> float:
    """The least delta for which the mechanism is (epsilon, delta)-DP, over all pairs of neighbours, both ways."""
    laws = {x: law(x) for x in datasets(points, n)}
    return max(
        float(np.maximum(laws[x] - math.exp(epsilon) * laws[y], 0.0).sum()) for x in laws for y in swaps(x, points)
    )
