"""The Tukey median: the middle of the deepest level set. **Not private.**"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.blas import on_one_thread
from tukeydp.data.tables import read_table
from tukeydp.data.unprotected import unprotected
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Exact, Notion, Random
from tukeydp.geometry.chebyshev_balls import ChebyshevBall, chebyshev_ball
from tukeydp.geometry.depth_regions import body_of
from tukeydp.geometry.halfspaces import AlongDirections
from tukeydp.release import Release

_MOST_TUPLES = 200_000  # hyperplanes through d rows that are looked at without being asked to
_DIRECTIONS = 300  # besides the axes, where exact depth would take too long; fewer find a coarser middle
# Of a set's size: axes shorter than this are rounding, and so is a ball with a radius of minus this. Larger values
# flatten thin sets and take empty levels for deep ones; smaller ones lose levels that are single points.
_FLAT = 1e-9


@on_one_thread
def tukey_median(x: Any, *, depth: Notion | None = None) -> Release:
    """The middle of the deepest level set, over the rows without a missing or infinite cell. **Not private.**

    What `boxem` comes close to with many rows or a large epsilon: robust, and a single centre for all columns.

    Parameters
    ----------
    x
        Array-like (n, d) or (n,), or a table.
    depth
        `td.Exact()` unless n and d are too large for it, then 300 fixed directions and the axes. A notion given by name
        is used as given.

    Cost
    ----
    Exact depth looks at every hyperplane through d rows, a few times. With directions, a dozen linear programs; the
    middle then is the centre of the largest ball inside the deepest level set, and with exact depth its centroid.

    Examples
    --------
    >>> import tukeydp as td
    >>> td.baselines.tukey_median([[0, 0], [4, 0], [0, 4], [1, 1]]).point
    array([1., 1.])
    """
    table = read_table(x)
    if depth is None:
        exact = table.d == 1 or (table.d <= 4 and math.comb(table.n, table.d) <= _MOST_TUPLES)
        depth = Exact() if exact else Random(_DIRECTIONS, seed=0)
    notion = chosen_notion(depth, table.n, table.d)
    directions = notion.in_data_units(table.d, bytes(32))
    return unprotected(
        "tukey-median",
        table,
        _deepest_exactly if directions is None else partial(_deepest_along, directions),
        notion=repr(notion),
    )


def centroid(vertices: FloatArray) -> FloatArray:
    """The centre of mass of the convex hull, also of a flat one."""
    middle = vertices.mean(axis=0)
    size = np.abs(vertices - middle).max()
    if size == 0:
        return middle
    _, lengths, axes = np.linalg.svd((vertices - middle) / size, full_matrices=False)
    axes = axes[lengths > _FLAT * max(1.0, lengths[0])]
    z = (vertices - middle) / size @ axes.T
    if len(axes) == 1:
        inner = np.array([(z.min() + z.max()) / 2])
    else:
        from scipy.spatial import Delaunay

        z = np.vstack([z, np.zeros(len(axes))])  # Qhull wants one point more than a simplex has
        corners = z[Delaunay(z, qhull_options="QJ").simplices]
        volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
        inner = (volumes[:, np.newaxis] * corners.mean(axis=1)).sum(axis=0) / volumes.sum()
    return np.asarray(middle + size * (inner @ axes))


def _deepest_exactly(rows: FloatArray) -> FloatArray:
    body = body_of(rows, Exact())
    shape = body.shape(body.top())
    assert shape is not None
    return centroid(shape.vertices)


def _deepest_along(directions: list[list[Fraction]], rows: FloatArray) -> FloatArray:
    cuts = AlongDirections(rows, directions)

    def ball(level: int) -> ChebyshevBall:
        cut = cuts.facets(level)
        return chebyshev_ball(cut.normals, cut.offsets)

    low, high = 1, cuts.most  # at level 1 there are the rows themselves
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ball(middle).radius >= -_FLAT else (low, middle - 1)
    return cuts.frame.units(ball(low).centre)
