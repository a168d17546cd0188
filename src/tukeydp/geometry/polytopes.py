"""Bounded polytopes {z : A z <= b} with unit normals: vertices, facets and volume. Floats.

With the origin inside, facets are the corners of the convex hull of the dual points a / b, and vertices its facets. The
dual hull is triangulated, so that every vertex lies on just d facets (vertices where more meet appear several times):
the faces of dimension k are the sets of d - k facets that some vertex has, and

    volume of a face = 1/k * sum over its own facets of (height above it) * (volume of it)    (Lasserre 1983),

heights being measured from a point inside the face, so that all terms are positive and nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.errors import ParameterError
from tukeydp.geometry.planar_hulls import planar_hull

# Coordinates are in units of the middle half of the rows. A vertex farther out is given up: products of such numbers
# have no digits left. Larger: vertices and volumes come out that are wrong.
_FAR = 1e9
# The facets' areas times their normals must add up to zero, within this part of all areas. Far above rounding.
# Smaller: good triangulations are thrown away (speed only, others are tried). Larger: one with gaps may pass.
_OPEN = 1e-7
# Ratio of widths below which a polytope is first stretched to be as wide as it is long. Larger: speed only. Smaller:
# Qhull works on a sliver, and loses digits.
_NARROW = 1e-2
# Halfspaces are moved outwards by up to these parts of their slacks, one after the other until Qhull's triangulation
# closes. More than rounding, so that no more than d meet in a vertex; the volume is off by as much.
_JOGGLES = (1e-10, 1e-9, 1e-8)
# Multiples of the golden section, modulo 1, are well apart: no two halfspaces are moved by the same part.
_GOLDEN = 0.6180339887498949
# Vertices are one if they agree in so many steps a unit, the unit being their typical distance from the middle. More:
# equal vertices are listed several times. Fewer: short edges vanish.
_STEPS_A_UNIT = 1e10


@dataclass(frozen=True, eq=False)
class Polytope:
    """`facets` are the rows of (A, b) that touch it; vertex i, of those that may repeat, lies on facets[corners[i]]."""

    vertices: FloatArray
    facets: IntArray
    corners: IntArray
    volume: float

    def moved(self, stretch: FloatArray, centre: FloatArray) -> Polytope:
        """Its image under z -> centre + stretch z."""
        volume = self.volume * float(abs(np.linalg.det(stretch)))
        return Polytope(centre + self.vertices @ stretch.T, self.facets, self.corners, volume)

    def bounding(self) -> IntArray:
        """The facets with at least d different vertices: others only touch, as rounding has it."""
        d = self.vertices.shape[1]
        which = _same(self.vertices)
        pairs = np.unique(np.column_stack([self.corners.ravel(), np.repeat(which, d)]), axis=0)
        return self.facets[np.bincount(pairs[:, 0], minlength=len(self.facets)) >= d]


def unresolved(level: int) -> ParameterError:
    """What to raise for a level whose polytope is None."""
    rule = f"must be one whose set reaches at most {_FAR:g} times as far as the middle half of the rows"
    return ParameterError("level", rule, level)


def polytope(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> Polytope | None:
    """The bounded polytope around a point strictly inside it; None if it reaches farther than floats can resolve."""
    from scipy.spatial import QhullError

    try:
        with np.errstate(all="ignore"):
            found = _polytope(normals, offsets, inside)
    except (QhullError, np.linalg.LinAlgError):
        return None
    return found if np.abs(found.vertices).max() <= _FAR else None


def _polytope(normals: FloatArray, offsets: FloatArray, inside: FloatArray) -> Polytope:
    slacks = offsets - normals @ inside
    if normals.shape[1] == 1:
        return _interval(normals[:, 0], slacks, inside)
    # The dual points have its widths inverse. In coordinates w, z = inside + stretch w, it is as wide as it is long.
    widths, axes = np.linalg.svd(normals / slacks[:, np.newaxis], full_matrices=False)[1:]
    if widths[-1] > _NARROW * widths[0]:
        return _around_origin(normals, slacks).moved(np.eye(len(inside)), inside)
    stretch = axes.T * (widths[-1] / widths)
    rounder = normals @ stretch
    lengths = np.linalg.norm(rounder, axis=1)
    return _around_origin(rounder / lengths[:, np.newaxis], slacks / lengths).moved(stretch, inside)


def _around_origin(normals: FloatArray, slacks: FloatArray) -> Polytope:
    if normals.shape[1] == 2:
        return _polygon(normals, slacks)
    from scipy.spatial import ConvexHull, QhullError

    d = normals.shape[1]
    dual = normals / slacks[:, np.newaxis]
    try:
        hull = ConvexHull(dual, qhull_options="Qt" if d < 5 else "Qt Qx")
    except QhullError:
        hull = ConvexHull(dual, qhull_options="QJ")
    vertices, facets, corners = _from_dual(hull)
    volume = _simple_volume(normals[facets], slacks[facets], vertices, corners)
    for joggle in _JOGGLES:
        if volume is not None:
            break
        # Once more, each halfspace moved by a little more than rounding, so that no more than d meet in a vertex.
        apart = slacks * (1.0 + joggle * np.modf(np.arange(len(slacks)) * _GOLDEN)[0])
        moved, touched, simple = _from_dual(ConvexHull(normals / apart[:, np.newaxis], qhull_options="Qt"))
        volume = _simple_volume(normals[touched], apart[touched], moved, simple)
    if volume is None:
        volume = float(ConvexHull(distinct(vertices), qhull_options="QJ").volume)
    return Polytope(vertices, facets, corners, volume)


def vertex_cones(normals: FloatArray, slacks: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices of a polytope around the origin, its facets, and the d facets (in ascending order) at each vertex."""
    if normals.shape[1] == 2:
        with np.errstate(all="ignore"):
            found = _polygon(normals, slacks)
        return found.vertices, found.facets, np.sort(found.corners, axis=1)
    from scipy.spatial import ConvexHull, QhullError

    dual = normals / slacks[:, np.newaxis]
    try:
        return _from_dual(ConvexHull(dual, qhull_options="Qt"))
    except QhullError:
        return _from_dual(ConvexHull(dual, qhull_options="QJ"))


def _from_dual(hull: Any) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices, facets, and the facets of each vertex: a dual facet <u, w> = -offset is the vertex u / -offset."""
    d = hull.simplices.shape[1]
    facets, which = np.unique(hull.simplices, return_inverse=True)
    corners = np.sort(which.reshape(-1, d), axis=1)
    with np.errstate(all="ignore"):
        vertices = hull.equations[:, :d] / -hull.equations[:, d:]
    return vertices, facets, corners


def _interval(signs: FloatArray, slacks: FloatArray, inside: FloatArray) -> Polytope:
    ends = slacks / signs  # signs are +1 and -1
    right = int(np.argmin(np.where(signs > 0, ends, np.inf)))
    left = int(np.argmax(np.where(signs < 0, ends, -np.inf)))
    vertices = np.array([[ends[left]], [ends[right]]])
    return Polytope(vertices + inside, np.array([left, right]), np.array([[0], [1]]), float(ends[right] - ends[left]))


def _polygon(normals: FloatArray, slacks: FloatArray) -> Polytope:
    corners = planar_hull(normals / slacks[:, np.newaxis])
    one, two = normals[corners], np.roll(normals[corners], -1, axis=0)
    s, t = slacks[corners], np.roll(slacks[corners], -1)
    cross = one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]
    vertices = np.column_stack([s * two[:, 1] - t * one[:, 1], t * one[:, 0] - s * two[:, 0]]) / cross[:, np.newaxis]
    x, y = vertices.T
    area = 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    pairs = np.column_stack([np.arange(len(corners)), np.roll(np.arange(len(corners)), -1)])
    return Polytope(vertices, corners, pairs, max(area, 0.0))


def _simple_volume(normals: FloatArray, slacks: FloatArray, vertices: FloatArray, corners: IntArray) -> float | None:
    """Volume from the vertices and, for each, the d facets it lies on (sorted); the origin is inside.

    None if some edge has not just two ends, or if the facets do not close (Minkowski: the sum of area * normal is
    zero). Where very many facets meet, Qhull's triangulation may have gaps.
    """
    from tukeydp.geometry.lasserre_volumes import outer_face_volumes

    d = normals.shape[1]
    faces, centres, volumes = corners, vertices, np.ones(len(vertices))
    for k in range(1, d):
        inner, outer, which, dropped = _one_dimension_up(faces, len(normals))
        if k == 1 and (np.bincount(which, minlength=len(outer)) != 2).any():
            return None
        middles, larger = np.empty((len(outer), d)), np.empty(len(outer))
        outer_face_volumes(
            normals,
            outer=outer,
            inner=inner,
            which=which,
            dropped=dropped,
            centres=centres,
            volumes=volumes,
            middles=middles,
            larger=larger,
        )
        faces, centres, volumes = outer, middles, larger
    if np.abs(volumes @ normals[faces[:, 0]]).max() > _OPEN * volumes.sum():
        return None
    return float(np.sum(slacks[faces[:, 0]] * volumes)) / d


def distinct(vertices: FloatArray) -> FloatArray:
    """Vertices where many facets meet come several times, equal up to rounding."""
    _, first = np.unique(_same(vertices), return_index=True)
    return vertices[np.sort(first)]


def _same(vertices: FloatArray) -> IntArray:
    """A number for each vertex, the same for those equal up to rounding."""
    apart = vertices - np.median(vertices, axis=0)
    size = max(float(np.median(np.abs(apart).max(axis=1))), float(np.abs(apart).max()) * 1e-100, 1e-300)
    # Nearly all are of this size; the few that may be much farther away are rounded relative to their distance.
    table = np.rint(np.arcsinh(apart / size) * _STEPS_A_UNIT)
    return np.unique(table, axis=0, return_inverse=True)[1].ravel()


def _one_dimension_up(faces: IntArray, facets: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Each face lies in the faces with one facet fewer: pairs (inner, which outer), the outer, what was dropped."""
    m, size = faces.shape
    kept = [np.delete(faces, j, axis=1) for j in range(size)]
    rows = np.concatenate(kept)
    bits = max(1, int(facets).bit_length())
    if bits * (size - 1) <= 62:
        keys = rows @ (1 << (bits * np.arange(size - 1, dtype=np.int64)))
        _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return np.tile(np.arange(m), size), rows[first], which.ravel(), faces.T.ravel()
