"""BoxEM as the paper prints it: all volumes, a race between the levels, rejection inside a box. Floats throughout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tukeydp.data.tables import read_table
from tukeydp.depth.notions import Exact, Notion
from tukeydp.paper.depth_regions import Body, body_of
from tukeydp.results.release import SYMMETRY_CAVEAT, Release
from tukeydp.trusted.bits import source
from tukeydp.trusted.parameters import FloatArray, ParameterError, positive_rational
from tukeydp.trusted.rows import checked_bounds

NOTE = (
    "Floating-point volumes and floating-point samples: the law is that of boxem on real numbers only up to rounding, "
    "which known attacks can exploit (Mironov 2012). For comparison with td.boxem, which is exact."
)
_BATCH = 8  # points of the box that are drawn at a time; speed only, but seeded draws depend on it


def paper_recipe(x: Any, *, epsilon: Any, bounds: Any, depth: Notion | None = None, randomness: Any = None) -> Release:
    """Draw from the exponential mechanism over depth by the recipe of the paper. A reference: it has **no guarantee**.

    The volume of every level set is computed, a level is drawn by racing, and a uniform point of the level set by
    rejection from its bounding box. The lowest level, the whole box, weighs 1 and not 1 - e^(-epsilon/2)
    (docs/errata.md, 1), and a point outside the box starts the draw afresh. The law is that of `td.boxem` on an
    infinitely fine grid. **When to prefer it:** to check `td.boxem` against an independent route; never for a real
    release.

    Parameters
    ----------
    x, epsilon, bounds, randomness
        As for `td.boxem`.
    depth
        As for `td.level_set`: exact depth unless given.

    Cost
    ----
    That of `td.level_volumes`: seconds to hours, and practical in up to four or five columns only.

    Examples
    --------
    >>> import tukeydp as td
    >>> x = [[0, 0], [4, 0], [0, 4], [1, 1], [2, 1]]
    >>> release = td.baselines.paper_recipe(x, epsilon=4, bounds=(-5, 5), randomness=td.seeded(7))
    >>> release.point.shape, release.private
    ((2,), False)
    """
    rate = float(positive_rational("epsilon", epsilon)) / 2
    bits = source(randomness)
    table = read_table(x)
    box = checked_bounds(table.d, bounds, table.columns)
    ends = list(zip(*box, strict=True))
    middle = np.array([float((a + b) / 2) for a, b in ends])
    half = np.array([float((b - a) / 2) for a, b in ends])
    body = body_of(np.clip(table.cells, middle - half, middle + half), Exact() if depth is None else depth)
    if body.unbounded:
        raise ParameterError("depth", "must have directions that span all columns", repr(depth)[:60])
    rng = np.random.default_rng(list(bits.key()))
    return Release(
        point=_draw(body, middle, half, log_weights(body.volumes(), half, rate), rng),
        guarantee=None,
        mechanism="paper-recipe",
        seeded=not bits.private,
        notion=repr(Exact() if depth is None else depth),
        notes=(SYMMETRY_CAVEAT, NOTE),
        **table.public,
        bounds=box,
    )


def log_weights(volumes: FloatArray, half: FloatArray, rate: float) -> FloatArray:
    """ln p_l up to a constant: Vol(level l) e^(rate l) (1 - e^-rate), and just Vol(box) at level 0."""
    with np.errstate(divide="ignore"):
        weights = np.log(np.where(np.isinf(volumes), 1.0, volumes)) + rate * np.arange(len(volumes))
    weights[1:] += math.log(-math.expm1(-rate))
    weights[0] = float(np.log(2.0 * half).sum())
    return np.asarray(weights)


def _draw(
    body: Body, middle: FloatArray, half: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    while True:
        level = _race(weights, rng)
        y = middle + half * rng.uniform(-1.0, 1.0, len(half)) if level == 0 else _uniform(body, level, rng)
        if (np.abs(y - middle) <= half).all():
            return y


def _race(weights: FloatArray, rng: np.random.Generator) -> int:
    """The level whose exponential clock of rate e^weight rings first (Mironov's racing)."""
    return int(np.argmin(np.log(rng.exponential(size=len(weights))) - weights))


def _uniform(body: Body, level: int, rng: np.random.Generator) -> FloatArray:
    shape = body.shape(level)
    assert shape is not None
    low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
    while True:
        points = rng.uniform(low, high, size=(_BATCH, len(low)))
        inside = body.decide(points, level)
        if inside.any():
            return np.asarray(points[np.argmax(inside)])
