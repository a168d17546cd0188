"""REM by definition, on grids of a few points: its tests, its draw, what both together come to."""

from __future__ import annotations

import math
from collections.abc import Sequence


def worst_case(depths: Sequence[int], t: int, eta: float, k: int) -> float:
    """sup D(f) over all integer functions f with |f - depth| <= k, one point after the other.

    D(f) = A / (A + B), A the weight of {f in t-1, t} and B that of {f > t}: each point does best by itself.
    """
    a = b = 0.0
    for value in depths:
        options = range(value - k, value + k + 1)
        to_a = [math.exp(eta * f) for f in options if f in (t - 1, t)]
        to_b = [math.exp(eta * f) for f in options if f > t]
        free = any(f < t - 1 for f in options)
        if to_a:
            a += max(to_a)
        elif not free:
            b += min(to_b)
    return a / (a + b) if a + b else 1.0


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
    weights = {z: math.exp(-test * abs(z)) for z in range(-2000, 2001)}
    return sum(w for z, w in weights.items() if z >= j) / sum(weights.values())


def outcome(depths: Sequence[int], t: int, eta: float, chance: float) -> list[float]:
    """Probability of each grid point, and of a refusal at the end."""
    weights = [math.exp(eta * value) if value >= t else 0.0 for value in depths]
    total = sum(weights)
    if not total:
        return [0.0] * len(depths) + [1.0]
    return [chance * w / total for w in weights] + [1.0 - chance]
