"""Compiled search of a normal cone for a direction whose halfspace has too few rows. Floats with a tolerance.

The normal cone of a vertex is spanned by the normals a_1 ... a_d of halfspaces <a_i, z> <= b_i. A direction in it is
v = sum of shares times normals; the halfspaces imply <v, z> <= sum of shares * b_i, and the level asks for no more than
that if

    rows with  sum of shares * height_i >= 0,   height_i(row) = <a_i, row> - b_i,

weigh at least `level`. In the shares a row is a halfspace, so the lightest cell of an arrangement within a simplex is
wanted (see `arrangements`). A row whose heights all have one sign does not cut the simplex; few others are left when
cones are narrow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.compiled_code import compiled
from tukeydp.geometry.arrangements import lightest_cell
from tukeydp.geometry.facet_descent import dot, ranked, settle

# Heights of rows are off by rounding, about 1e-15 of their size; a row no farther below than this part of its size
# counts as above. Smaller: rows on a hyperplane count as below it, and the search cuts again and again where nothing is
# left to cut. Larger: a level set is too large by as much.
TOLERANCE = 2e-13


class Rows(NamedTuple):
    """Rows (n, d), the same seen from the centre of the polytope, and how often each occurs."""

    z: Any
    points: Any
    weights: Any


class Bounds(NamedTuple):
    """Halfspaces normals z <= offsets; on[i] are rows on hyperplane i, -1 for none."""

    normals: Any
    offsets: Any
    on: Any


class Cones(NamedTuple):
    """For each cone the d halfspaces that span it, and the ray from the centre to its vertex."""

    spanned_by: Any
    rays: Any


class Findings(NamedTuple):
    """For each cone: whether a direction in it has too few rows, that direction, rows on the hyperplane to cut with.

    The hyperplane is the one that descent along the cone's ray leads to; its rows are -1 if there is none.
    """

    refuted: Any
    directions: Any
    members: Any


@compiled
def examine(rows: Rows, bounds: Bounds, cones: Cones, level: int, first: int, last: int, findings: Findings) -> None:
    """Fill in the findings of the cones first ... last - 1."""
    n, d = rows.z.shape
    heights = np.empty((n, d))
    shares = np.empty(d)
    v = np.empty(d)
    for t in range(first, last):
        members = findings.members[t]
        members[:] = -1
        corner = cones.spanned_by[t]
        measure(rows.z, bounds.normals[corner], bounds.offsets[corner], bounds.on[corner], heights)
        findings.refuted[t] = lightest(heights, rows.weights, level, shares) < level
        if not findings.refuted[t]:
            continue
        v[:] = 0.0
        for i in range(d):
            v += shares[i] * bounds.normals[corner[i]]
        findings.directions[t] = v
        if dot(v, cones.rays[t]) > 0.0:
            near, rank = _around(heights, rows.weights, level)
            count = settle(rows.points[near], rows.weights[near], rank, v, cones.rays[t], members)
            for i in range(d):
                members[i] = near[members[i]] if i < count else -1


@compiled
def _around(heights: Any, weights: Any, level: int) -> tuple[Any, int]:
    """Rows that may be level-th in directions of the cone or somewhat outside, and the level among them.

    Wherever the cone's normals are too weak a bound, the level-th row lies between 0 and the level-th of the rows'
    lowest heights. With a margin of twice that: a descent that goes farther may end on no bound, which is found out.
    """
    n, d = heights.shape
    low = np.full(n, np.inf)
    high = np.full(n, -np.inf)
    for i in range(d):
        low = np.minimum(low, heights[:, i])
        high = np.maximum(high, heights[:, i])
    bottom = low[ranked(low, weights, level)]
    rank = level
    rows = np.empty(n, dtype=np.int64)
    count = 0
    for j in range(n):
        if low[j] >= -2.0 * bottom:
            rank -= weights[j]
        elif high[j] >= 3.0 * bottom:
            rows[count] = j
            count += 1
    if not bottom < 0.0 or rank < 1 or count < d:
        return np.arange(n), level
    return rows[:count].copy(), rank


def _measured(z: Any, normals: Any, offsets: Any, members: Any, heights: Any) -> None:
    """`measure`, all rows together."""
    size = np.maximum(1.0, np.abs(z).max(axis=1))
    for i in range(len(offsets)):
        heights[:, i] = TOLERANCE * (size + abs(offsets[i])) - offsets[i]
        for c in range(z.shape[1]):
            heights[:, i] += normals[i, c] * z[:, c]
    for i in range(len(offsets)):
        heights[members[i][members[i] >= 0], i] = TOLERANCE


@compiled(plain=_measured)
def measure(z: Any, normals: Any, offsets: Any, members: Any, heights: Any) -> None:
    """Heights of all rows above the hyperplanes of a cone, a little too high rather than too low.

    members[i] are rows on hyperplane i, whatever rounding says (-1 for none).
    """
    n, d = z.shape
    for j in range(n):
        size = 1.0
        for c in range(d):
            size = max(size, abs(z[j, c]))
        for i in range(d):
            height = TOLERANCE * (size + abs(offsets[i])) - offsets[i]
            for c in range(d):
                height += normals[i, c] * z[j, c]
            heights[j, i] = height
    for i in range(d):
        for j in members[i]:
            if j >= 0:
                heights[j, i] = TOLERANCE


@compiled
def lightest(heights: Any, weights: Any, level: int, shares: Any) -> int:
    """A number below `level` that some direction of a cone has for its weight; if there is none, at least `level`.

    `shares` becomes the direction, as parts of the cone's normals that add up to one.
    """
    kept = np.empty(len(heights), dtype=np.int64)
    always, m = _cutting(heights, weights, kept)
    shares[:] = 1.0 / heights.shape[1]
    if always >= level or m == 0:
        return always
    return lightest_cell(heights[kept[:m]], weights[kept[:m]], always, level, shares)


def _all_cutting(heights: Any, weights: Any, kept: Any) -> tuple[int, int]:
    above = heights.min(axis=1) >= 0.0
    cut = np.flatnonzero(~above & (heights.max(axis=1) >= 0.0))
    kept[: len(cut)] = cut
    return int(weights[above].sum()), len(cut)


@compiled(plain=_all_cutting)
def _cutting(heights: Any, weights: Any, kept: Any) -> tuple[int, int]:
    """The weight of the rows that are above the whole simplex, and which rows cut it, as many as returned."""
    n, d = heights.shape
    always = 0
    m = 0
    for j in range(n):
        low = np.inf
        high = -np.inf
        for i in range(d):
            low = min(low, heights[j, i])
            high = max(high, heights[j, i])
        if low >= 0.0:
            always += weights[j]
        elif high >= 0.0:
            kept[m] = j
            m += 1
    return always, m
