"""The least weight of a halfspace by projections, in integers: slow, exact, any dimension.

docs/proofs/exact-depth.md, section 2: project along a vector, down to the plane, and sweep there by angle. Each
function returns the least weight and the normal of an open halfspace that has it, with no vector on its edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cmp_to_key
from itertools import pairwise

Vector = Sequence[int]


def exact_space(exact: Sequence[Vector], weights: Sequence[int]) -> tuple[int, list[int]]:
    """The least weight over generic halfspaces by the recursion itself, in integers, any dimension."""
    if not exact:
        raise ValueError("no vectors")
    d = len(exact[0])
    if d == 1:
        plus = sum(w for v, w in zip(exact, weights, strict=True) if v[0] > 0)
        minus = sum(weights) - plus
        return (plus, [1]) if plus <= minus else (minus, [-1])
    if d == 2:
        return exact_plane(exact, weights)
    return min((least_along(exact, weights, [u]) for u in exact), key=lambda found: found[0])


def least_along(exact: Sequence[Vector], weights: Sequence[int], chain: Sequence[Vector]) -> tuple[int, list[int]]:
    """The least weight over halfspaces whose edges pass close to all vectors of the chain."""
    if not chain:
        return exact_space(exact, weights)
    u, later = chain[0], chain[1:]
    k = largest(u)
    same = opposite = 0
    flat, rest = [], []
    for v, w in zip(exact, weights, strict=True):
        projected = project(v, u)
        if any(projected):
            flat.append(projected)
            rest.append(w)
        elif (v[k] > 0) == (u[k] > 0):
            same += w
        else:
            opposite += w
    # A later vector of the chain that is parallel to u spans nothing new: then all rows of u count.
    onward = [projected for projected in (project(v, u) for v in later) if any(projected)]
    inner, normal = least_along(flat, rest, onward) if flat else (0, [0] * (len(u) - 1))
    return inner + min(same, opposite), _lifted_exactly(normal, u, exact, towards=1 if same <= opposite else -1)


def _lifted_exactly(normal: Sequence[int], u: Vector, exact: Sequence[Vector], towards: int) -> list[int]:
    """A normal of the quotient by u as one of the whole space, turned towards +u or -u, no other sign moved."""
    k = largest(u)
    sign = 1 if u[k] > 0 else -1
    others = iter(normal)
    whole = [0 if c == k else next(others) * abs(u[k]) for c in range(len(u))]
    whole[k] = -sign * sum(n * c for n, c in zip(normal, (c for j, c in enumerate(u) if j != k), strict=True))
    # Products with `whole` are integers, so at least one in size unless zero.
    most = 1 + max(abs(sum(a * b for a, b in zip(u, v, strict=True))) for v in exact)
    lifted = [most * c + towards * e for c, e in zip(whole, u, strict=True)]
    shrink = math.gcd(*lifted)
    return [c // shrink for c in lifted]


def largest(u: Vector) -> int:
    return max(range(len(u)), key=lambda c: abs(u[c]))


def project(v: Vector, u: Vector) -> list[int]:
    k = largest(u)
    sign = 1 if u[k] > 0 else -1
    return [sign * (v[c] * u[k] - u[c] * v[k]) for c in range(len(u)) if c != k]


def exact_plane(exact: Sequence[Vector], weights: Sequence[int]) -> tuple[int, list[int]]:
    """The least weight of an open half-plane over generic lines, in integers, and its normal."""
    upper: list[tuple[int, int, int]] = []
    here = whole = 0
    for (a, b), w in zip(exact, weights, strict=True):
        turned = b < 0 or (b == 0 and a < 0)
        upper.append((-a, -b, w) if turned else (a, b, -w))
        whole += w
        here += 0 if turned else w
    upper.sort(key=_by_angle)
    # Before the first vector the line runs between it and the opposite of the last.
    (a, b, _), (c, d, _) = upper[0], upper[-1]
    line = (a - c, b - d) if a * d != b * c else (b, -a)
    best, normal = _lighter_side(here, whole, line)
    for (a, b, change), (c, d, _) in pairwise(upper):
        here += change
        if a * d != b * c:
            best, normal = min((best, normal), _lighter_side(here, whole, (a + c, b + d)), key=lambda found: found[0])
    return best, normal


def _lighter_side(left: int, whole: int, line: tuple[int, int]) -> tuple[int, list[int]]:
    a, b = line
    return (left, [-b, a]) if left <= whole - left else (whole - left, [b, -a])


@cmp_to_key
def _by_angle(p: tuple[int, int, int], q: tuple[int, int, int]) -> int:
    """Vectors of the upper half-plane, by angle."""
    cross = p[0] * q[1] - p[1] * q[0]
    return (cross < 0) - (cross > 0)
