"""Degenerate level sets, those without an inner point: single points, segments, polytopes of lower dimension.

Floats find where such a set would be. Whether it is there is decided in rational arithmetic, by the exact depth of a
rational point on the hyperplanes that pin it down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.exact.matrices import reduced_echelon
from tukeydp.geometry.chebyshev_balls import EMPTY, FLAT, chebyshev_ball
from tukeydp.geometry.halfspaces import Equation, Halfspaces, LevelHalfspaces
from tukeydp.geometry.polytopes import polytope, unresolved

# A halfspace whose edge is closer than this (in units of the columns' spread) to the centre holds with equality there,
# and one whose normal has less than this left within a subspace is parallel to it. Above EMPTY, so that the halfspaces
# that press a set flat are among them. Smaller: some are missed, and no candidate lies on all hyperplanes that matter.
# Larger: others are taken for them. Either way a level that has a point may count as empty; never the other way round.
_ACTIVE = 1e-7
# Candidates of each kind that are tried, and hyperplanes they are made from. Fewer save time, and may miss the point.
_MOST_ATTEMPTS = 40
_MOST_HYPERPLANES = 12
# Cosine from which on two hyperplanes are parallel; rounding makes 1 - 1e-16. Speed only: parallel ones are no help.
_PARALLEL = 1.0 - 1e-12


@dataclass(frozen=True, eq=False)
class DegenerateLevelSet:
    """A level set of lower dimension: its vertices, and the halfspaces that bound it."""

    vertices: FloatArray
    halfspaces: Halfspaces


def degenerate_level_set(source: LevelHalfspaces, level: int) -> DegenerateLevelSet | None:
    """The level set, known to have no inner point; None if it has no point at all."""
    from scipy.linalg import null_space

    bounds = source.all(level)
    if not len(bounds.names):
        return None
    d = bounds.normals.shape[1]
    centre, basis = np.zeros(d), np.eye(d)
    while basis.shape[1]:
        normals, offsets = _restricted(bounds, centre, basis)
        if not len(normals):
            break
        ball = chebyshev_ball(normals, offsets)
        if ball.radius < -EMPTY:
            return None
        centre = centre + basis @ ball.centre
        if ball.radius > FLAT or not len(ball.pressed):
            break
        basis = basis @ null_space(normals[ball.pressed], rcond=_ACTIVE)
    if not any(source.depth_at_least(y, level) for y in _candidates(source, bounds, level, centre, basis)):
        return None
    active = np.abs(bounds.offsets - bounds.normals @ centre) <= _ACTIVE * (1.0 + np.abs(bounds.offsets))
    if not basis.shape[1]:
        return DegenerateLevelSet(centre[np.newaxis], _some(bounds, np.flatnonzero(active)))
    normals, offsets = _restricted(bounds, centre, basis)
    inside = polytope(normals, offsets, np.zeros(basis.shape[1]))
    if inside is None:
        raise unresolved(level)
    crossing = np.flatnonzero(np.linalg.norm(bounds.normals @ basis, axis=1) > _ACTIVE)
    return DegenerateLevelSet(
        centre + inside.vertices @ basis.T, _some(bounds, np.append(np.flatnonzero(active), crossing[inside.facets]))
    )


def _some(bounds: Halfspaces, which: IntArray) -> Halfspaces:
    return Halfspaces(bounds.normals[which], bounds.offsets[which], bounds.names[which])


def _restricted(bounds: Halfspaces, centre: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The halfspaces within centre + span(basis), without those parallel to it."""
    normals = bounds.normals @ basis
    lengths = np.linalg.norm(normals, axis=1)
    crossing = lengths > _ACTIVE
    offsets = (bounds.offsets - bounds.normals @ centre)[crossing] / lengths[crossing]
    return normals[crossing] / lengths[crossing, np.newaxis], offsets


def _candidates(
    source: LevelHalfspaces, bounds: Halfspaces, level: int, centre: FloatArray, basis: FloatArray
) -> Iterator[Sequence[Fraction]]:
    """Rational points that would lie in the level set: rows inside it, and the centre moved onto its hyperplanes."""
    size = 1.0 + np.abs(centre).max()
    z = source.frame.z
    close = np.argsort(np.abs(z - centre).max(axis=1), kind="stable")[:_MOST_ATTEMPTS]
    # Data that are flat but for rounding have slivers for level sets: then rows are the only points at hand.
    within = (z[close] @ bounds.normals.T <= bounds.offsets + _ACTIVE * size).all(axis=1)
    for row in np.unique(source.frame.rows[close[within]], axis=0):
        yield [Fraction(c) for c in row.tolist()]
    start = source.frame.exactly(centre)
    yield start
    slack = np.abs(bounds.offsets - bounds.normals @ centre)
    active = np.argsort(slack, kind="stable")
    active = active[slack[active] <= _ACTIVE * size]
    codimension = bounds.normals.shape[1] - basis.shape[1]
    for chosen in islice(_independent(bounds.normals, active, codimension), _MOST_ATTEMPTS):
        moved = _onto(start, [source.equation(int(bounds.names[i]), level) for i in chosen])
        if moved is not None:
            yield moved


def _independent(normals: FloatArray, active: IntArray, size: int) -> Iterator[tuple[int, ...]]:
    """Independent rows: at first one of each direction, as many as are needed, then any."""
    distinct: list[int] = []
    for i in active.tolist():
        if all(abs(normals[i] @ normals[j]) < _PARALLEL for j in distinct):
            distinct.append(i)
        if len(distinct) == _MOST_HYPERPLANES:
            break
    for chosen in combinations(distinct, size):
        if size and np.linalg.svd(normals[list(chosen)], compute_uv=False)[-1] > _ACTIVE:
            yield chosen


def _onto(start: Sequence[Fraction], equations: Sequence[Equation]) -> list[Fraction] | None:
    """The point moved onto all hyperplanes, changing as few coordinates as there are equations."""
    d = len(start)
    rows = [
        list(normal) + [offset - sum((a * b for a, b in zip(normal, start, strict=True)), start=Fraction(0))]
        for normal, offset in equations
    ]
    pivots = reduced_echelon(rows, d)
    if len(pivots) < len(rows):
        return None
    moved = list(start)
    for row, pivot in zip(rows, pivots, strict=True):
        moved[pivot] += row[d]
    return moved
