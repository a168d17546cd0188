"""A dataset and a notion of depth as a nest of polytopes: which levels have points, their shapes and volumes.

Not private: all of this is the data. Vertices and volumes are floats; which points belong to a level is decided
exactly. That a thin level set (Chebyshev radius below 1e-10 of the data's spread, given volume 0) has a point is shown
by a rational point of that exact depth; if none of the points tried has it, the level counts as empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.data.tables import finite_rows, read_table
from tukeydp.depth.choice import chosen_notion
from tukeydp.depth.notions import Notion
from tukeydp.depth.of_points import depth_along, is_deep
from tukeydp.exact.matrices import reduced_echelon
from tukeydp.geometry.affine_hulls import Hull, affine_hull
from tukeydp.geometry.chebyshev_balls import FLAT, chebyshev_ball
from tukeydp.geometry.cutting_planes import ByCuttingPlanes
from tukeydp.geometry.degenerate_level_sets import degenerate_level_set
from tukeydp.geometry.distinct_rows import MergedRows
from tukeydp.geometry.frames import Frame, frame
from tukeydp.geometry.halfspaces import AlongDirections, Halfspaces, LevelHalfspaces
from tukeydp.geometry.hyperplanes_through_rows import ThroughRows
from tukeydp.geometry.polytopes import distinct, polytope, unresolved
from tukeydp.randomness import SystemRandomness

# Slack, in units of the columns' spread, that a common centre must have in a level set. Larger: speed only. Much
# smaller: the dual points lose digits.
_WELL_INSIDE = 1e-3
_FEW_TUPLES = 22_000_000  # hyperplanes through d rows that are looked at one by one; time and memory only
_FEW_HALFSPACES = 400  # up to which clipping facet by facet beats a hull; speed only


@dataclass(frozen=True, eq=False)
class LevelPolytope:
    """One level set that is not empty, in data units: {y : normals y <= offsets}."""

    vertices: FloatArray
    volume: float
    normals: FloatArray
    offsets: FloatArray


@dataclass(frozen=True, eq=False)
class Body:
    """A dataset with its notion: halfspaces in the columns that matter, and the way back to all columns.

    `hull` is set if exact depth confines the sets to a flat, `unbounded` if the directions leave one free. Without
    `halfspaces` all rows are one point (`hull` without columns) or there are no rows.
    """

    rows: FloatArray
    halfspaces: LevelHalfspaces | None
    hull: Hull | None
    unbounded: bool
    decide: Callable[[FloatArray, int], NDArray[np.bool_]]

    @property
    def d(self) -> int:
        return self.rows.shape[1]

    def volumes(self) -> FloatArray:
        if self.halfspaces is None:
            return np.append(np.inf, np.zeros(len(self.rows)))
        solid = _highest_solid(self.halfspaces)
        inner = _volumes(self.halfspaces, solid) if self.hull is None and not self.unbounded else np.zeros(solid)
        if self.unbounded:
            inner[:] = np.inf
        return np.concatenate([[np.inf], inner, np.zeros(_highest(self.halfspaces, solid) - solid)])

    def top(self) -> int:
        """The highest level that has a point."""
        return len(self.rows) if self.halfspaces is None else _highest(self.halfspaces, _highest_solid(self.halfspaces))

    def shape(self, level: int) -> LevelPolytope | None:
        """The level set, or None if it is empty."""
        if level > len(self.rows):
            return None
        if self.halfspaces is None:
            return LevelPolytope(self.rows[:1].copy(), 0.0, *_pinned(self.rows[0], np.eye(self.d)))
        if level > self.halfspaces.most:
            return None
        centre = _inside(self.halfspaces, level)
        if centre is None:
            flat = degenerate_level_set(self.halfspaces, level)
            return None if flat is None else self._in_units(flat.vertices, 0.0, flat.halfspaces)
        bounds = self.halfspaces.facets(level)
        solid = polytope(bounds.normals, bounds.offsets, centre)
        if solid is None:
            raise unresolved(level)
        bounding = solid.bounding()
        facets = Halfspaces(bounds.normals[bounding], bounds.offsets[bounding], bounds.names[bounding])
        return self._in_units(distinct(solid.vertices), solid.volume, facets)

    def _in_units(self, z: FloatArray, volume: float, bounds: Halfspaces) -> LevelPolytope:
        assert self.halfspaces is not None
        place = self.halfspaces.frame
        with np.errstate(over="ignore", invalid="ignore"):
            normals, offsets = _in_data_units(bounds, place)
            seen = LevelPolytope(place.units(z), volume * float(np.prod(place.scale)), normals, offsets)
            return seen if self.hull is None else self._in_all_columns(seen, self.hull)

    def _in_all_columns(self, seen: LevelPolytope, hull: Hull) -> LevelPolytope:
        if self.unbounded:
            volume = np.inf if seen.volume > 0 else 0.0
            return LevelPolytope(np.empty((0, self.d)), volume, seen.normals @ _floats(hull.slopes), seen.offsets)
        wide = np.zeros((len(seen.normals), self.d))
        wide[:, hull.columns] = seen.normals
        vertices = hull.lifted(seen.vertices)
        across, ends = _pinned(vertices[0], _across(hull))
        return LevelPolytope(vertices, 0.0, np.vstack([wide, across]), np.append(seen.offsets, ends))


def body_of(x: Any, depth: Notion, every_level: bool = False) -> Body:
    """Read the data. `every_level` says that all levels will be wanted, which then share what they can."""
    cells = read_table(x).cells
    rows = finite_rows(cells) + 0.0
    n, d = cells.shape
    directions = chosen_notion(depth, n, d).in_data_units(d, SystemRandomness().key())
    if directions is None:
        return _exact_body(rows, every_level)

    def decide(points: FloatArray, level: int) -> NDArray[np.bool_]:
        return depth_along(points, rows, directions) >= level

    if not len(rows):
        return Body(rows, None, None, False, decide)
    echelon = [list(v) for v in directions]
    pivots = reduced_echelon(echelon, d)
    if len(pivots) == d:
        return Body(rows, AlongDirections(rows, directions), None, False, decide)
    # Directions span a subspace: with v = sum of v[pivot] * echelon row, the sums <echelon row, y> are all that counts.
    spanned = echelon[: len(pivots)]
    seen = _floats([[_product(e, row) for e in spanned] for row in rows.tolist()])
    cuts = AlongDirections(seen, [[v[p] for p in pivots] for v in directions])
    return Body(rows, cuts, Hull(pivots, [], spanned), True, decide)


def _exact_body(rows: FloatArray, every_level: bool) -> Body:
    def decide(points: FloatArray, level: int) -> NDArray[np.bool_]:
        return is_deep(points, rows, level)

    if not len(rows):
        return Body(rows, None, None, False, decide)
    hull = affine_hull(rows, frame(rows).z)
    if not hull.columns:
        return Body(rows, None, hull, False, decide)
    kept = np.ascontiguousarray(rows[:, hull.columns])
    cuts: LevelHalfspaces = (
        AlongDirections(kept, [[Fraction(1)]]) if len(hull.columns) == 1 else _exact_cuts(kept, every_level)
    )
    return Body(rows, cuts, hull if len(hull.columns) < rows.shape[1] else None, False, decide)


def _exact_cuts(rows: FloatArray, every_level: bool) -> LevelHalfspaces:
    merged = MergedRows(rows)
    few = math.comb(len(merged.z), merged.d) <= _FEW_TUPLES
    return ThroughRows(merged) if every_level and few else ByCuttingPlanes(merged)


def _product(v: list[Fraction], row: list[float]) -> Fraction:
    return sum((a * Fraction(b) for a, b in zip(v, row, strict=True)), start=Fraction(0))


def _floats(rows: list[list[Fraction]]) -> FloatArray:
    return np.array([[float(c) for c in row] for row in rows])


def _in_data_units(bounds: Halfspaces, place: Frame) -> tuple[FloatArray, FloatArray]:
    """The halfspaces over y = centre + scale * z, again with unit normals."""
    normals = bounds.normals / (place.scale / place.scale.max())
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / lengths[:, np.newaxis]
    return normals, bounds.offsets * (place.scale.max() / lengths) + normals @ place.centre


def _across(hull: Hull) -> FloatArray:
    """Normals of the hyperplanes that meet in the affine hull."""
    slopes = _floats(hull.slopes)
    others = [c for c in range(slopes.shape[1]) if c not in hull.columns]
    normals = np.zeros((len(others), slopes.shape[1]))
    for r, c in enumerate(others):
        normals[r, c] = 1.0
        normals[r, hull.columns] = -slopes[:, c]
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def _pinned(point: FloatArray, normals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both halfspaces of each normal, through the point."""
    return np.vstack([normals, -normals]), np.append(normals @ point, -(normals @ point))


def _inside(halfspaces: LevelHalfspaces, level: int, verify: bool = True) -> FloatArray | None:
    """An inner point of the level set; None if it has none.

    The facets of a level set without inner points may enclose more than it. So the corners of a simplex around the
    point must be deep as well: then the level set has inner points, and facets enclose nothing else.
    """
    bounds = halfspaces.facets(level)
    d = bounds.normals.shape[1]
    if len(bounds.names) <= d:
        return None
    ball = chebyshev_ball(bounds.normals, bounds.offsets)
    if not ball.radius > FLAT:
        return None
    if verify and isinstance(halfspaces, ThroughRows):
        around = np.vstack([np.eye(d), np.full((1, d), -1.0 / np.sqrt(d))]) * (0.5 * ball.radius)
        if not all(halfspaces.depth_at_least(halfspaces.frame.exactly(ball.centre + step), level) for step in around):
            return None
    return ball.centre


def _highest_solid(halfspaces: LevelHalfspaces) -> int:
    """The highest level with an inner point. Unverified answers are never too low, and one check mostly confirms."""
    guess = _last(0, halfspaces.most, lambda level: _inside(halfspaces, level, verify=False) is not None)
    if guess == 0 or _inside(halfspaces, guess) is not None:
        return guess
    return _last(0, guess - 1, lambda level: _inside(halfspaces, level) is not None)


def _highest(halfspaces: LevelHalfspaces, solid: int) -> int:
    """The highest level with a point."""
    most = halfspaces.most
    if solid >= most or degenerate_level_set(halfspaces, solid + 1) is None:
        return solid
    return _last(solid + 1, most, lambda level: degenerate_level_set(halfspaces, level) is not None)


def _last(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The last of low ... high at which a property holds, given that it holds at `low` and, once lost, stays lost."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _volumes(halfspaces: LevelHalfspaces, solid: int) -> FloatArray:
    """Volumes of levels 1 ... solid, in data units."""
    if not solid:
        return np.empty(0)
    centre = _inside(halfspaces, solid, verify=False)
    assert centre is not None
    with np.errstate(over="ignore"):
        unit = float(np.prod(halfspaces.frame.scale))
        levels = np.arange(1, solid + 1)
        if (
            isinstance(halfspaces, AlongDirections)
            and halfspaces.normals.shape[1] in (2, 3)
            and len(halfspaces.normals) <= _FEW_HALFSPACES
        ):
            return _by_clipping(halfspaces, levels, centre) * unit
        return np.array([_volume(halfspaces, int(level), centre) for level in levels]) * unit


def _volume(halfspaces: LevelHalfspaces, level: int, centre: FloatArray) -> float:
    bounds = halfspaces.facets(level)
    if (bounds.offsets - bounds.normals @ centre).min() < _WELL_INSIDE:
        centre = chebyshev_ball(bounds.normals, bounds.offsets).centre
    solid = polytope(bounds.normals, bounds.offsets, centre)
    return np.nan if solid is None else solid.volume


def _by_clipping(halfspaces: AlongDirections, levels: IntArray, centre: FloatArray) -> FloatArray:
    from tukeydp.geometry.facet_clipping import polyhedron_volumes
    from tukeydp.geometry.polygon_areas import polygon_areas

    slacks = np.ascontiguousarray(halfspaces.offsets(levels) - halfspaces.normals @ centre)
    sums = np.zeros(len(levels))
    (polygon_areas if halfspaces.normals.shape[1] == 2 else polyhedron_volumes)(halfspaces.normals, slacks, sums)
    return sums
