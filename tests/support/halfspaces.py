"""Tukey depth by definition, in rationals: nothing of the package is used."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np


def brute_force(y, rows):
    """By definition, over enough directions: one from inside every cell that the rows cut the directions into.

    A cell has a corner: the normal v of a hyperplane through y and d-1 independent rows (axes complete them where the
    rows do not span the space). From there the cell is reached by a turn that gives each of these rows a side, small
    enough to move no other row across. All in rationals.
    """
    d = len(y)
    offsets = [tuple(Fraction(a) - Fraction(b) for a, b in zip(r, y, strict=True)) for r in rows]
    axes = [tuple(Fraction(int(i == j)) for j in range(d)) for i in range(d)]
    spans = np.linalg.matrix_rank(np.array([[float(c) for c in u] for u in offsets])) == d
    pool = list(dict.fromkeys([*(u for u in offsets if any(u)), *([] if spans else axes)]))
    best = len(rows)
    for chosen in itertools.combinations(pool, d - 1):
        normal = orthogonal(chosen, d)
        if normal is None:
            continue
        sides = [solve([*chosen, normal], [Fraction(int(i == j)) for j in range(d)]) for i in range(d - 1)]
        at = [dot(normal, u) for u in offsets]
        slopes = [[dot(side, u) for u in offsets] for side in sides]
        for signs in itertools.product((1, -1), repeat=d - 1):
            slope = [dot(signs, [slopes[i][j] for i in range(d - 1)]) for j in range(len(offsets))]
            size = min((abs(a / b) for a, b in zip(at, slope, strict=True) if a and b), default=Fraction(1)) / 2
            for outward in (1, -1):
                best = min(best, sum(outward * a + size * b >= 0 for a, b in zip(at, slope, strict=True)))
    return best


def solve(matrix, right):
    """The solution of a regular system, by elimination."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    for c in range(len(rows)):
        pivot = next(r for r in range(c, len(rows)) if rows[r][c])
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [e / rows[c][c] for e in rows[c]]
        for r in range(len(rows)):
            if r != c and rows[r][c]:
                rows[r] = [e - rows[r][c] * f for e, f in zip(rows[r], rows[c], strict=True)]
    return tuple(row[-1] for row in rows)


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), start=Fraction(0))


def orthogonal(vectors, d):
    """A vector orthogonal to d-1 vectors by minors, or None if they are dependent."""
    if d == 1:
        return (Fraction(1),)
    normal = []
    for c in range(d):
        minor = [[v[j] for j in range(d) if j != c] for v in vectors]
        normal.append((-1) ** c * determinant(minor))
    return tuple(normal) if any(normal) else None


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum(
        ((-1) ** j * m[0][j] * determinant([row[:j] + row[j + 1 :] for row in m[1:]]) for j in range(len(m))),
        start=Fraction(0),
    )
