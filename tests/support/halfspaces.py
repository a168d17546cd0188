"""Tukey depth by definition, in integers: nothing of the package is used."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def brute_force(y, rows):
    """By definition, over enough directions: some from inside every cell that the rows cut the directions into."""
    d = len(y)
    offsets = [[Fraction(a) - Fraction(b) for a, b in zip(r, y, strict=True)] for r in rows]
    common = math.lcm(*(c.denominator for u in offsets for c in u))
    whole = [tuple(int(c * common) for c in u) for u in offsets]
    away = [u for u in whole if any(u)]
    return len(whole) - len(away) + least_count(away, d)


def least_count(vectors, d):
    """The fewest vectors, none of them zero, on one side of a direction that is orthogonal to none.

    A cell has a corner: the normal v of a hyperplane through d-1 independent vectors (axes complete them where the
    vectors do not span the space). It is reached from there by a turn too small to move a vector across that is not in
    the hyperplane. How the turn divides those that are is the same question in the hyperplane, with one coordinate
    left out that v has.
    """
    if d == 1:
        plus = sum(u[0] > 0 for u in vectors)
        return min(plus, len(vectors) - plus)
    pool = list(dict.fromkeys(vectors))
    if not any(determinant(chosen) for chosen in itertools.combinations(pool, d)):
        pool += [tuple(int(i == j) for j in range(d)) for i in range(d)]
    best = len(vectors)
    for chosen in itertools.combinations(pool, d - 1):
        normal = orthogonal(chosen, d)
        if normal is None:
            continue
        at = [dot(normal, u) for u in vectors]
        k = next(j for j, c in enumerate(normal) if c)
        within = [u[:k] + u[k + 1 :] for u, a in zip(vectors, at, strict=True) if not a]
        best = min(best, min(sum(a > 0 for a in at), sum(a < 0 for a in at)) + least_count(within, d - 1))
    return best


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def orthogonal(vectors, d):
    """A vector orthogonal to d-1 vectors by minors, or None if they are dependent."""
    normal = [(-1) ** c * determinant([v[:c] + v[c + 1 :] for v in vectors]) for c in range(d)]
    return normal if any(normal) else None


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** j * m[0][j] * determinant([row[:j] + row[j + 1 :] for row in m[1:]]) for j in range(len(m)))
