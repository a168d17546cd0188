"""Centres without any privacy, to compare with. Not for publication: they are plain facts about the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.data.tables import Table, read_table
from tukeydp.depth.notions import AxisAligned, Directions, Exact, Notion, Random
from tukeydp.depth.of_points import finite_rows
from tukeydp.errors import ParameterError
from tukeydp.release import Release

NOT_PRIVATE = "Not private: computed from the rows without any noise, for comparison only."
_MOST_TUPLES = 200_000  # hyperplanes through d rows that are looked at without being asked to
_DIRECTIONS = 300
_FLAT = 1e-9


def empirical_mean(x: Any) -> Release:
    """The mean of the rows without a missing cell. **Not private.**

    The best centre of Gaussian data, and what the private means are compared with; one outlier can move it anywhere.

    Examples
    --------
    >>> import tukeydp as td
    >>> release = td.baselines.empirical_mean([[0, 1], [4, 3], [None, 2]])
    >>> release.point, release.private, release.guarantee
    (array([2., 2.]), False, None)
    """
    return _reference("empirical-mean", read_table(x), lambda rows: rows.mean(axis=0))


def coordinate_median(x: Any) -> Release:
    """The median of each column by itself, over the rows without a missing cell. **Not private.**

    Robust and cheap; blind to how columns belong together. What `boxem` with `td.AxisAligned()` comes close to.

    Examples
    --------
    >>> import tukeydp as td
    >>> td.baselines.coordinate_median([[0, 1], [4, 3], [1, 100]]).point
    array([1., 3.])
    """
    return _reference("coordinate-median", read_table(x), lambda rows: np.median(rows, axis=0))


def tukey_median(x: Any, *, depth: Notion | Exact | None = None) -> Release:
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
    if not isinstance(depth, AxisAligned | Directions | Random | Exact):
        rule = "must be td.Exact(), td.AxisAligned(), td.Random(...) or td.Directions(...)"
        raise ParameterError("depth", rule, repr(depth)[:60])
    notion = depth
    return _reference(
        "tukey-median",
        table,
        lambda rows: _deepest_exactly(rows) if isinstance(notion, Exact) else _deepest_along(rows, notion),
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
    from tukeydp.geometry.depth_regions import body_of

    body = body_of(rows, Exact())
    shape = body.shape(body.top())
    assert shape is not None
    return centroid(shape.vertices)


def _deepest_along(rows: FloatArray, depth: Notion) -> FloatArray:
    from tukeydp.geometry.halfspaces import AlongDirections
    from tukeydp.geometry.polytopes import Ball, inner_ball

    cuts = AlongDirections(rows, depth.in_data_units(rows.shape[1], bytes(32)))

    def ball(level: int) -> Ball:
        cut = cuts.facets(level)
        return inner_ball(cut.normals, cut.offsets)

    low, high = 1, cuts.most  # at level 1 there are the rows themselves
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ball(middle).radius >= -_FLAT else (low, middle - 1)
    return cuts.frame.units(ball(low).centre)


def _reference(
    mechanism: str, table: Table, centre: Callable[[FloatArray], FloatArray], notion: str | None = None
) -> Release:
    rows = finite_rows(table.cells)
    return Release(
        point=np.asarray(centre(rows), dtype=np.float64) if len(rows) else np.full(table.d, np.nan),
        guarantee=None,
        mechanism=mechanism,
        seeded=False,
        n=table.n,
        d=table.d,
        columns=table.columns,
        notion=notion,
        notes=(NOT_PRIVATE,),
    )
