"""The facet of some rows' hull that parts a point from them, exactly.

Each level set of exact depth is an intersection of hulls of rows. Normals found in floats are close to those of its
facets, but a thin level set, or one in a plane, is cut out by the facets themselves only. Where rows hold few different
values their normals are short integers.
"""

from __future__ import annotations

import math

import numpy as np

from tukeydp.trusted.exact.vectors import look_flat, orthogonal_integers, pivot_columns, spanning_rows
from tukeydp.trusted.matrices import Integers, integers
from tukeydp.trusted.sizes.linear_programs import Region, maximum


def parting_facet(rows: Integers, point: Integers) -> list[int] | None:
    """An integer normal: all rows (m, d) are on one side of a hyperplane through some of them, the point beyond.

    None if the point is in the hull of the rows.
    """
    m, d = rows.shape
    if m == 0:
        return None
    columns = list(range(d))
    away = rows[1:] - rows[0]
    if m <= d or look_flat(away[(away != 0).any(axis=1)].astype(np.float64)):
        basis = spanning_rows(away[(away != 0).any(axis=1)].tolist(), d)
        for normal in orthogonal_integers(basis, d):
            side = int(integers(normal) @ (point - rows[0]))
            if side:
                return normal if side > 0 else [-c for c in normal]
        columns = pivot_columns(basis)
    short = _exit(rows[:, columns], point[columns]) if columns else None
    if short is None:
        return None
    whole = [0] * d
    for column, entry in zip(columns, short, strict=True):
        whole[column] = entry
    return whole


def _exit(rows: Integers, point: Integers) -> list[int] | None:
    """The same for rows that span all columns: where the way from their mean to the point leaves the hull.

    With rows and point seen from the mean, normals v with <v, row> <= 1 for all rows are the polar of the hull, and its
    corner that is best for the point is the facet.
    """
    m, d = rows.shape
    total = rows.sum(axis=0)
    away, target = rows * m - total, point * m - total
    largest = int(np.abs(away).max())
    far = math.factorial(d) * largest ** (d - 1)  # no corner has a larger entry: minors over a whole determinant
    units = integers(np.eye(d, dtype=np.int64))
    polar = Region(
        np.concatenate([away, units, -units]),
        integers([1] * m + [far] * (2 * d)),
        integers([0] * d),
        1.0 / np.maximum(np.abs(away).max(axis=0).astype(np.float64), 1.0),
    )
    best = maximum(polar, target.tolist())
    if best is None or best.value <= 1:
        return None
    shrink = math.gcd(*(int(c) for c in best.numerators))
    return [int(c) // shrink for c in best.numerators]
