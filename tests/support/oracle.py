"""An independent account of the mechanism, by definition and in rationals. Imports nothing from the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Row = tuple[int, ...] | None  # None: a row with a missing cell
Point = tuple[int, ...]


def depth(rows: Sequence[Row], y: Point, directions: Iterable[Point]) -> int:
    """Fewest rows in a closed halfspace with y on its edge, over the given directions and their opposites."""
    counts = []
    for v in directions:
        at = sum(a * b for a, b in zip(v, y, strict=True))
        projections = [sum(a * b for a, b in zip(v, row, strict=True)) for row in rows if row is not None]
        counts += [sum(p >= at for p in projections), sum(p <= at for p in projections)]
    return min(counts)


def law(depths: Sequence[int], q: Fraction) -> list[Fraction]:
    """The exponential mechanism: probability proportional to q^depth, q = e^(epsilon/2)."""
    weights = [q**t for t in depths]
    total = sum(weights)
    return [w / total for w in weights]


def misprinted_law(depths: Sequence[int], q: Fraction) -> list[Fraction]:
    """With the factor (1 - 1/q) at every level, the lowest included, as in the authors' code (docs/errata.md, 1)."""
    weights = [sum((q**level * (1 - 1 / q) for level in range(t + 1)), start=Fraction(0)) for t in depths]
    total = sum(weights)
    return [w / total for w in weights]


def interpolated_depth(values: Sequence[float], y: float) -> int:
    """Depth read off interpolated quantiles, as in the authors' code (docs/errata.md, 5): not 1-sensitive."""
    import numpy as np

    n = len(values)
    level = 0
    while level < n // 2:
        low, high = np.quantile(values, [(level + 1) / n, 1 - (level + 1) / n])
        if not low <= y <= high:
            break
        level += 1
    return level
