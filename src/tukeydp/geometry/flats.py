"""Level sets without an inner point, and data without one: flats, segments, single points.

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
from tukeydp.geometry.halfspaces import Cut, Cuts, Equation
from tukeydp.geometry.polytopes import inner_ball, polytope, unresolved

# Radii in units of the columns' spread. Above FLAT a set has an inner point, below -EMPTY it has no point.
FLAT, EMPTY = 1e-10, 1e-8
_ACTIVE = 1e-7
_MOST_ATTEMPTS = 40


@dataclass(frozen=True, eq=False)
class Flat:
    """A level set of lower dimension: its vertices, and the halfspaces of `cut` that bound it."""

    vertices: FloatArray
    cut: Cut


def flat_level_set(cuts: Cuts, level: int) -> Flat | None:
    """The level set, known to have no inner point; None if it has no point at all."""
    cut = cuts.all(level)
    if not len(cut.names):
        return None
    d = cut.normals.shape[1]
    centre, basis = np.zeros(d), np.eye(d)
    while basis.shape[1]:
        normals, offsets = _restricted(cut, centre, basis)
        if not len(normals):
            break
        ball = inner_ball(normals, offsets)
        if ball.radius < -EMPTY:
            return None
        centre = centre + basis @ ball.centre
        if ball.radius > FLAT or not len(ball.pressed):
            break
        basis = basis @ _null_space(normals[ball.pressed])
    if not any(cuts.depth_at_least(y, level) for y in _candidates(cuts, cut, level, centre, basis)):
        return None
    active = np.abs(cut.offsets - cut.normals @ centre) <= _ACTIVE * (1.0 + np.abs(cut.offsets))
    if not basis.shape[1]:
        return Flat(centre[np.newaxis], _some(cut, np.flatnonzero(active)))
    normals, offsets = _restricted(cut, centre, basis)
    inside = polytope(normals, offsets, np.zeros(basis.shape[1]))
    if inside is None:
        raise unresolved(level)
    crossing = np.flatnonzero(np.linalg.norm(cut.normals @ basis, axis=1) > _ACTIVE)
    return Flat(
        centre + inside.vertices @ basis.T, _some(cut, np.append(np.flatnonzero(active), crossing[inside.facets]))
    )


def _some(cut: Cut, which: IntArray) -> Cut:
    return Cut(cut.normals[which], cut.offsets[which], cut.names[which])


def _restricted(cut: Cut, centre: FloatArray, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The halfspaces within centre + span(basis), without those parallel to it."""
    normals = cut.normals @ basis
    lengths = np.linalg.norm(normals, axis=1)
    crossing = lengths > _ACTIVE
    offsets = (cut.offsets - cut.normals @ centre)[crossing] / lengths[crossing]
    return normals[crossing] / lengths[crossing, np.newaxis], offsets


def _null_space(rows: FloatArray) -> FloatArray:
    _, sizes, right = np.linalg.svd(rows, full_matrices=True)
    rank = int((sizes > _ACTIVE).sum())
    return right[rank:].T


def _candidates(
    cuts: Cuts, cut: Cut, level: int, centre: FloatArray, basis: FloatArray
) -> Iterator[Sequence[Fraction]]:
    """Rational points that would lie in the level set: rows inside it, and the centre moved onto its hyperplanes."""
    size = 1.0 + np.abs(centre).max()
    z = cuts.frame.z
    close = np.argsort(np.abs(z - centre).max(axis=1), kind="stable")[:_MOST_ATTEMPTS]
    # Data that are flat but for rounding have slivers for level sets: then rows are the only points at hand.
    within = (z[close] @ cut.normals.T <= cut.offsets + _ACTIVE * size).all(axis=1)
    for row in np.unique(cuts.frame.rows[close[within]], axis=0):
        yield [Fraction(c) for c in row.tolist()]
    start = cuts.frame.exactly(centre)
    yield start
    slack = np.abs(cut.offsets - cut.normals @ centre)
    active = np.argsort(slack, kind="stable")
    active = active[slack[active] <= _ACTIVE * size]
    codimension = cut.normals.shape[1] - basis.shape[1]
    for chosen in islice(_independent(cut.normals, active, codimension), _MOST_ATTEMPTS):
        moved = _onto(start, [cuts.equation(int(cut.names[i]), level) for i in chosen])
        if moved is not None:
            yield moved


def _independent(normals: FloatArray, active: IntArray, size: int) -> Iterator[tuple[int, ...]]:
    """Independent rows: at first one of each direction, as many as are needed, then any."""
    distinct: list[int] = []
    for i in active.tolist():
        if all(abs(normals[i] @ normals[j]) < 1.0 - 1e-12 for j in distinct):
            distinct.append(i)
        if len(distinct) == 12:
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


@dataclass(frozen=True, eq=False)
class Hull:
    """The affine hull of the data: every column is base + slopes (columns - base there), exactly."""

    columns: list[int]
    base: list[Fraction]
    slopes: list[list[Fraction]]

    def lifted(self, vertices: FloatArray) -> FloatArray:
        slopes = np.array([[float(c) for c in row] for row in self.slopes])
        base = np.array([float(c) for c in self.base])
        lifted = base + (vertices - base[self.columns]) @ slopes
        lifted[:, self.columns] = vertices
        return lifted


def affine_hull(rows: FloatArray, z: FloatArray) -> Hull:
    """Which columns determine the others, and how. Floats tell most full-dimensional data at once."""
    n, d = rows.shape
    base = [Fraction(c) for c in rows[0].tolist()]
    if n > d:
        size = np.abs(z).max()
        if np.isfinite(size) and np.linalg.svd((z - z[0]) / max(size, 1.0), compute_uv=False)[-1] > 1e-6:
            return Hull(list(range(d)), base, [[Fraction(int(i == j)) for j in range(d)] for i in range(d)])
    basis: list[list[Fraction]] = []
    pivots: list[int] = []
    for row in np.unique(rows, axis=0).tolist():
        basis.append([Fraction(a) - b for a, b in zip(row, base, strict=True)])
        pivots = reduced_echelon(basis, d)
        del basis[len(pivots) :]  # a row that depends on those before it is zero now
        if len(pivots) == d:
            break
    return Hull(pivots, base, basis)
