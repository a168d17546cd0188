"""Algorithm 3 by definition: what a run with estimated sizes releases."""

from __future__ import annotations

import math
from collections.abc import Sequence


def release_law(
    sizes: Sequence[float], depths: Sequence[int], t: int, short: int, epsilon_test: float, epsilon_draw: float
) -> list[float]:
    """Probabilities of every point and of a refusal: levels are drawn by the estimated `sizes`, points uniformly.

    `short` is how much discrete Laplace noise must add for the test to pass; `depths` are exact.
    """
    m = short if short >= 1 else 1 - short
    tail = math.exp(-epsilon_test * m) / (1 + math.exp(-epsilon_test))
    chance = tail if short >= 1 else 1 - tail
    q = math.exp(epsilon_draw / 2)
    mass = {level: sizes[level] * (q**level - (q ** (level - 1) if level > t else 0)) for level in range(t, len(sizes))}
    total = sum(mass.values())
    law = [0.0] * len(depths)
    if not total:
        return [*law, 1.0]
    for level, weight in mass.items():
        inside = [depth >= level for depth in depths]
        if weight:
            law = [p + chance * weight / total / sum(inside) * here for p, here in zip(law, inside, strict=True)]
    return [*law, 1 - chance]
