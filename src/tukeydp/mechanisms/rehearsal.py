"""What accuracy to expect, from public inputs only: the mechanism itself, rehearsed on made-up tables.

The rehearsal runs the very mechanism (same directions, same box, same epsilon) on Gaussian tables that have
nothing to do with the data, so it knows everything that matters: the depth's finite directions, few rows, a wide
box. Its one assumption is the spread of the columns, which nobody knows beforehand.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tukeydp.arrays import IntArray
from tukeydp.depth.directions import LONGEST, unit_vectors
from tukeydp.depth.levels import level_sets
from tukeydp.exact.boxes import Box
from tukeydp.randomness import derived_key
from tukeydp.release import ASSUMED_WIDTH, ExpectedError
from tukeydp.sampling.sampler import Sampler

_MOST_ROWS = 1000
_MOST_COLUMNS, _DIRECTIONS_BEYOND = 8, 64
_LIKE_EXACT = 60
_TABLES, _DRAWS = 8, 25


def expected_error(
    *, n: int, epsilon: Fraction, directions: IntArray, cells: tuple[int, ...], lowest: int = 0
) -> ExpectedError:
    """Rehearse the draw with these public inputs on a few Gaussian tables; `lowest` is the least depth released.

    Numerics
    --------
    The figures are averages of 200 rehearsed releases on 8 tables: good to about 10 percent. Above 1000 rows the
    tables have 1000 rows and an epsilon raised in proportion, which leaves the noise as it is; the rest, how far
    a depth-based centre strays from the mean by itself, shrinks like 1/sqrt(n). Above 8 columns only some of the
    directions are rehearsed, for speed: the true error is then somewhat smaller.
    """
    rows = min(n, _MOST_ROWS)
    d = len(cells)
    if not len(directions):
        # Exact depth: many directions come close to it, and are much faster to rehearse with.
        units = unit_vectors(_LIKE_EXACT * d, d, derived_key("rehearsal", d))
        directions = np.rint(units * LONGEST).astype(np.int64)
    rehearsed = directions if d <= _MOST_COLUMNS else directions[: d + _DIRECTIONS_BEYOND]
    errors = _rehearse(rows, epsilon * n / rows, rehearsed, cells, lowest * rows // n)
    # Fresh noise plus the centre's own deviation, which is what the draws of one table have in common.
    strays = errors.mean(axis=1, keepdims=True)
    errors = errors - strays * (1.0 - math.sqrt(rows / n))
    flat = errors.reshape(-1, d)
    privacy = float(np.sqrt((flat**2).mean()))
    sampling = 1.0 / math.sqrt(n)
    return ExpectedError(
        privacy=_rounded(privacy),
        privacy_95=_rounded(float(np.quantile(np.abs(flat), 0.95))),
        sampling=_rounded(sampling),
        total=_rounded(math.hypot(privacy, sampling)),
        distance=_rounded(float(np.linalg.norm(flat, axis=1).mean())),
        assumption=(
            "roughly bell-shaped columns; errors in standard deviations"
            if lowest
            else f"roughly bell-shaped columns about {ASSUMED_WIDTH} standard deviations wide from bound to bound; "
            "errors in standard deviations"
        ),
    )


def _rehearse(n: int, epsilon: Fraction, directions: IntArray, cells: tuple[int, ...], lowest: int) -> Any:
    """Differences between release and table mean, in standard deviations: (tables, draws, d)."""
    width = np.array(cells, dtype=np.float64)
    # On a grid of a few points a twentieth of the width is less than a step: take a quarter there.
    deviation = np.maximum(width / ASSUMED_WIDTH, np.minimum(width / 4, 2.0))
    low = [-(c // 2) for c in cells]
    box = Box(tuple(low), tuple(c + a for c, a in zip(cells, low, strict=True)))
    gauss = np.random.default_rng(0)
    errors = np.empty((_TABLES, _DRAWS, len(cells)))
    for i in range(_TABLES):
        table = np.clip(np.rint(gauss.normal(size=(n, len(cells))) * deviation), box.low, box.high)
        levels = level_sets(table.astype(np.int64), directions)
        # A threshold may be deeper than any point of a made-up table: then its deepest rows stand in.
        deep = min(lowest, int(levels.depths(table.astype(np.int64)).max())) if lowest else 0
        sampler = Sampler(levels, within=box, epsilon=epsilon, lowest=deep)
        for j in range(_DRAWS):
            errors[i, j] = sampler.draw(derived_key("rehearsal", i, j))
        errors[i] = (errors[i] - table.mean(axis=0)) / deviation
    return errors


def _rounded(value: float) -> float:
    """Two digits: more would pretend to a precision the rehearsal does not have."""
    return float(f"{value:.2g}")
