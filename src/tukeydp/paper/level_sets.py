"""Level sets of depth as polytopes, their volumes and pictures: geometry, not a release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.blas import on_one_thread
from tukeydp.data.tables import Table, finite_rows, read_table
from tukeydp.data.unprotected import unprotected
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Exact, Notion, Random
from tukeydp.depth.of_points import EXACT, read_points
from tukeydp.extras import missing
from tukeydp.paper.depth_regions import Body, body_of
from tukeydp.paper.halfspaces import AlongDirections
from tukeydp.paper.polytopes import ChebyshevBall, chebyshev_ball
from tukeydp.results.escaping import in_plot
from tukeydp.results.release import Release
from tukeydp.trusted.parameters import FloatArray, ParameterError, checked_integer

# Level sets of depth as polytopes, and their volumes: geometry, not a release.
#
# Level l >= 1 is the set of points y with, for every direction v of the notion,
#     l-th smallest projection <= <v, y> <= l-th largest projection
# (closed halfspaces, order statistics, the floats as given). Vertices and volumes are floats; which points belong to a
# level is decided exactly.

# Slacks above this part of the numbers they come from are sure: far above rounding. Others are decided exactly, so a
# larger value is slower and no less right; one near 1e-16 would let rounding decide.
_SURE = 1e-9


@dataclass(frozen=True, eq=False)
class LevelSet:
    """The points of depth >= `level`. **Not private**: it depends on the data without any noise.

    Attributes
    ----------
    level
        The level asked for.
    vertices
        Array (m, d); no rows for an empty set, or one without vertices because the directions do not span.
    volume
        Zero for an empty or flat set, infinite for one that the directions leave unbounded.
    halfspaces
        (A, b): the set is {y : A y <= b} up to rounding, one row for each facet (more for flat sets). An empty set has
        the row 0 y <= -1.
    """

    level: int
    vertices: FloatArray
    volume: float
    halfspaces: tuple[FloatArray, FloatArray]
    _body: Body = field(repr=False)

    def contains(self, points: Any) -> NDArray[np.bool_]:
        """Whether each point, given as (m, d) or (d,), belongs to the set: exact, by its depth where it is close."""
        d = self.halfspaces[0].shape[1]
        where, _ = read_points(points, Table(np.zeros((1, d))))
        inside = np.zeros(len(where), dtype=np.bool_)
        doubtful = np.isfinite(where).all(axis=1)
        if self.volume > 0 and np.isfinite(self.volume):
            normals, offsets = self.halfspaces
            with np.errstate(all="ignore"):
                slack = offsets - where @ normals.T
                error = _SURE * (np.abs(offsets) + np.abs(where) @ np.abs(normals).T) + np.ptp(self.vertices) * _SURE
                outside = (slack < -error).any(axis=1)
                inside = (slack > error).all(axis=1) & doubtful
            doubtful &= ~outside & ~inside
        if doubtful.any():
            inside[doubtful] = self._body.decide(where[doubtful], self.level)
        return inside


@on_one_thread
def level_set(x: Any, level: int, depth: Notion = EXACT) -> LevelSet:
    """The set of points of depth >= level, as a polytope.

    Parameters
    ----------
    x
        Array-like (n, d) or (n,), or a table. A row with a missing or infinite cell lies in no halfspace.
    level
        At least 1. Above the highest depth of any point the set is empty.
    depth
        Which directions count, each with both of its halfspaces: all of them (`td.Exact()`) unless said otherwise.
        `Random` and `Spread` directions are drawn in data units.

    Privacy
    -------
    **Not private**: the output depends on the data without any noise. Do not publish it.

    Cost
    ----
    Finitely many directions take one linear program and one convex hull in dual space. Exact depth finds the facets by
    cutting planes: there is no limit, but facets, and steps of about n log n (d = 2) to find each, grow with n and
    fast with d. Data with very many facets (rows on a circle) are the slowest.

    Numerics
    --------
    A row more than 1e150 times the middle half of the rows away is refused. Short of that, a level whose set reaches
    farther than 1e9 times the middle half raises: floats do not resolve it. The other levels are not affected.

    Examples
    --------
    >>> import tukeydp as td
    >>> triangle = td.level_set([[0, 0], [4, 0], [0, 4], [1, 1]], 1)
    >>> round(triangle.volume, 9)
    8.0
    >>> td.level_set([[0, 0], [4, 0], [0, 4], [1, 1]], 2).vertices
    array([[1., 1.]])
    >>> triangle.contains([[2, 2], [2.1, 2]])
    array([ True, False])
    """
    return level_set_of(body_of(x, depth), checked_integer("level", level, least=1))


@on_one_thread
def level_volumes(x: Any, depth: Notion = EXACT) -> FloatArray:
    """Volumes of all level sets: v[0] = inf, v[l] that of {depth >= l}, up to the highest level that has a point.

    NaN for a level that `level_set` would refuse because it reaches farther than floats resolve.

    Parameters
    ----------
    x, depth
        As for `level_set`.

    Privacy
    -------
    **Not private**: the output depends on the data without any noise. Do not publish it.

    Cost
    ----
    For exact depth every hyperplane through d rows is looked at once, for all levels, if there are at most 22 million
    (6633 rows in the plane, 510 in space, 153 in four columns). Otherwise it is `level_set` for each level.

    Examples
    --------
    >>> import tukeydp as td
    >>> td.level_volumes([[0, 0], [4, 0], [0, 4], [1, 1]])
    array([inf,  8.,  0.])
    >>> td.level_volumes([1, 2, 4, 8, 16], td.AxisAligned())
    array([inf, 15.,  6.,  0.])
    """
    return body_of(x, depth, every_level=True).volumes()


def level_set_of(body: Body, level: int) -> LevelSet:
    """The level set of data that has been read already. Not private."""
    shape = body.shape(level)
    if shape is None:
        return LevelSet(level, np.empty((0, body.d)), 0.0, (np.zeros((1, body.d)), -np.ones(1)), body)
    return LevelSet(level, shape.vertices, shape.volume, (shape.normals, shape.offsets), body)


# The Tukey median: the middle of the deepest level set. **Not private.**

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


# Pictures of level sets: nested regions over the scatter. Not private: the data itself is on them.

_USUAL_LEVELS = 8  # drawn unless levels are named: more are hard to tell apart
_INCHES = 3.6  # height of a panel


def contours(
    x: Any,
    columns: Sequence[str | int] | None = None,
    depth: Notion = EXACT,
    levels: Sequence[int] | None = None,
) -> Any:
    """Draw the level sets of two columns over their scatter, or of every pair of columns in a grid.

    Parameters
    ----------
    x
        Array-like (n, d), or a table; d >= 2 columns, of which `columns` (names or positions) picks some.
    depth
        As for `td.level_set`, over each pair of columns by itself. `td.Directions` must have two entries each.
    levels
        Which levels to draw. None: about eight, evenly spaced up to the deepest, which is always marked.

    Returns
    -------
    A matplotlib `Figure`, bound to no window: `figure.savefig("contours.png")` works without a display.

    Privacy
    -------
    **Not private**: the figure shows the data. Do not publish it.
    """
    figure_class = _figure_class()
    table = read_table(x)
    chosen = _positions(columns, table.columns, table.d)
    names = table.columns or tuple(f"column {j}" for j in range(table.d))
    if levels is not None:
        levels = [checked_integer("levels", level, least=1) for level in levels]
        if not levels:
            raise ParameterError("levels", "must be integers >= 1", "none")
    side = len(chosen) - 1
    figure = figure_class(figsize=(1.4 * _INCHES * max(side, 1.4), _INCHES * max(side, 1.4)), layout="constrained")
    axes = figure.subplots(side, side, squeeze=False)
    for row in range(side):
        for column in range(side):
            axes[row, column].set_visible(column <= row)
    for a, b in combinations(range(len(chosen)), 2):
        panel = axes[b - 1, a]
        _draw(panel, finite_rows(table.cells[:, [chosen[a], chosen[b]]]), depth, levels)
        panel.set_xlabel(in_plot(names[chosen[a]]))
        panel.set_ylabel(in_plot(names[chosen[b]]))
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="x-small", frameon=False)
    return figure


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("contours", "matplotlib", "plots") from None
    return Figure


def _positions(columns: Sequence[str | int] | None, names: tuple[str, ...] | None, d: int) -> list[int]:
    known: dict[str | int, int] = {j: j for j in range(d)} | {name: j for j, name in enumerate(names or ())}
    wanted = list(range(d)) if columns is None else list(columns)
    missing = [c for c in wanted if c not in known]
    if missing:
        raise ParameterError("columns", "must be columns of x", missing[:5])
    positions = [known[c] for c in wanted]
    if len(positions) < 2 or len(set(positions)) < len(positions):
        raise ParameterError("columns", "must be at least two different columns", f"{len(positions)} columns")
    return positions


def _draw(panel: Any, rows: FloatArray, depth: Notion, levels: Sequence[int] | None) -> None:
    from matplotlib import colormaps

    panel.scatter(rows[:, 0], rows[:, 1], s=8, color="0.25", alpha=0.6, linewidths=0, zorder=2, label="rows")
    if not len(rows):
        return
    body = body_of(rows, depth)  # one for all levels: directions may be drawn afresh for each
    top = body.top()
    shown = sorted(set(_usual(top) if levels is None else [level for level in levels if level < top]))
    colours = colormaps["viridis"](np.linspace(0.95, 0.2, max(len(shown), 1)))
    for colour, level in zip(colours, shown, strict=False):
        _outline(panel, level_set_of(body, level), colour, f"depth ≥ {level}")
    _outline(panel, level_set_of(body, top), "crimson", f"deepest (≥ {top})", deepest=True)


def _usual(top: int) -> list[int]:
    return sorted({max(1, round(top * i / _USUAL_LEVELS)) for i in range(_USUAL_LEVELS)} - {top})


def _outline(panel: Any, region: LevelSet, colour: Any, label: str, deepest: bool = False) -> None:
    corners = region.vertices
    if not len(corners):
        return
    middle = corners.mean(axis=0)
    around = corners[np.argsort(np.arctan2(*(corners - middle).T[::-1]))]
    closed = np.vstack([around, around[:1]])
    if deepest:
        panel.fill(*closed.T, color=colour, alpha=0.5, linewidth=0, zorder=3)
        panel.plot(*middle, marker="+", markersize=10, color=colour, linestyle="none", zorder=4, label=label)
    panel.plot(*closed.T, color=colour, linewidth=1.2, zorder=3, label=None if deepest else label)
