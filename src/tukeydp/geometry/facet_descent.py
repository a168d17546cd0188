"""Compiled descent from any hyperplane to one through d rows that bounds a level more tightly. Floats.

Seen from a centre, along a ray u, the hyperplane with normal v on which the level's row lies cuts the ray at
(level-th largest <v, row>) / <v, u>. With <v, u> = 1 fixed, v moves so that this falls: at first freely, then with one
row more on the hyperplane after each step, and from a hyperplane through d rows to a neighbouring one. What it finds
is a bound of the level set whether or not it is the lowest; the lowest is a facet, namely the one the ray leaves by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled

# Parts of a row's size below which it is on a hyperplane, and lengths below which a unit vector depends on others. Well
# below `normal_cones.TOLERANCE`, from which a descent starts just below the rows it must leave behind. Smaller:
# rounding takes rows off their hyperplane, and descent stops early. Larger: rows are taken onto one they are not on. A
# wrong hyperplane is no bound, which `cutting_planes` finds out.
_SAME = 1e-14
# Length of what is left of a unit step when the members are kept level; with less, their value cannot fall. Smaller:
# descent follows rounding. Larger: it stops early. Speed only: every hyperplane on the way is a valid bound.
_STUCK = 1e-11
_STEPS = 200  # moves to a neighbouring hyperplane; effort, not accuracy, for the same reason


@compiled
def settle(points: Any, weights: Any, level: int, v: Any, u: Any, members: Any) -> int:
    """Move v (in place) to a hyperplane through rows `members`, of which there are as many as returned.

    Points are relative to the centre and in order of their distance from the middle. <v, u> > 0. The level-th row in
    direction v counts duplicates by weight.
    """
    n, d = points.shape
    sizes = np.empty(n)
    for j in range(n):
        sizes[j] = max(np.abs(points[j]).max(), 1.0)
    v /= dot(v, u)
    basis = np.empty((d, d))
    step = np.empty(d)
    trial = np.empty(d, dtype=np.int64)
    values = np.empty(n)
    for j in range(n):
        values[j] = dot(points[j], v)
    members[0] = ranked(values, weights, level)
    count = 1
    while count < d:
        _fall(points, u, members, count, basis, step)
        if not _advance(points, sizes, v, step, members, count, 0.0):
            return count
        count += 1
    for _ in range(_STEPS):
        above = _beyond(points, weights, sizes, v, members)
        improved = False
        for i in range(d):
            others = 0
            held = 0
            for c in range(d):
                if c != i:
                    trial[others] = members[c]
                    held += weights[members[c]]
                    others += 1
            if not _fall(points, u, trial, d - 1, basis, step):
                continue
            rising = dot(points[members[i]], step) > dot(points[trial[0]], step)
            # Off the hyperplane, the row must leave the level's rank to the others.
            if rising and above + weights[members[i]] >= level:
                continue
            if not rising and above + held < level:
                continue
            if _advance(points, sizes, v, step, trial, d - 1, _SAME):
                members[:] = trial
                improved = True
                break
        if not improved:
            break
    return d


@compiled
def ranked(values: Any, weights: Any, level: int) -> int:
    """The row whose value is the level-th largest, each row counted by its weight (quickselect)."""
    index = np.arange(len(values))
    low, high = 0, len(values)
    left = level
    while high - low > 1:
        pivot = values[index[(low + high) // 2]]
        # Larger ones first, equal ones next.
        larger, a, b = 0, low, high
        c = low
        while c < b:
            value = values[index[c]]
            if value > pivot:
                larger += weights[index[c]]
                index[a], index[c] = index[c], index[a]
                a += 1
                c += 1
            elif value < pivot:
                b -= 1
                index[b], index[c] = index[c], index[b]
            else:
                c += 1
        if left <= larger:
            high = a
            continue
        equal = 0
        for e in range(a, b):
            equal += weights[index[e]]
        if left <= larger + equal or b == high:
            return index[a]
        left -= larger + equal
        low = b
    return index[low]


@compiled
def _fall(points: Any, u: Any, members: Any, count: int, basis: Any, step: Any) -> bool:
    """The direction of v in which the members' common value falls fastest; False if it cannot fall."""
    d = len(u)
    number = 0
    for r in range(count):
        if r == 0:
            basis[number] = u
        else:
            basis[number] = points[members[r]] - points[members[0]]
        if _append(basis, number):
            number += 1
    value = points[members[0]]
    step[:] = -value / max(np.abs(value).max(), 1e-300)
    length = np.sqrt(dot(step, step))
    for _ in range(2):
        for r in range(number):
            step -= dot(step, basis[r]) * basis[r]
    rest = np.sqrt(dot(step, step))
    if rest > _STUCK * length:
        step /= rest
        return True
    # The value cannot change: any direction that is left brings other rows onto the hyperplane.
    best = -1.0
    for c in range(d):
        outside = 1.0
        for r in range(number):
            outside -= basis[r, c] * basis[r, c]
        if outside > best:
            best = outside
            step[:] = 0.0
            step[c] = 1.0
    for _ in range(2):
        for r in range(number):
            step -= dot(step, basis[r]) * basis[r]
        step /= max(np.sqrt(dot(step, step)), 1e-300)
    return False


@compiled
def _append(basis: Any, number: int) -> bool:
    """Orthonormalise row `number` against those before; False if it depends on them."""
    size = np.abs(basis[number]).max()
    if not size > 0.0:
        return False
    basis[number] /= size
    basis[number] /= np.sqrt(dot(basis[number], basis[number]))
    for _ in range(2):
        for r in range(number):
            basis[number] -= dot(basis[number], basis[r]) * basis[r]
        rest = np.sqrt(dot(basis[number], basis[number]))
        if not rest > _SAME:
            return False
        basis[number] /= rest
    return True


def _advanced(points: Any, sizes: Any, v: Any, step: Any, members: Any, count: int, least: float) -> bool:
    """`_advance`, all rows together."""
    origin = points[members[:count].min()]
    length = np.sqrt(dot(v, v))
    gap, rate = np.zeros(len(points)), np.zeros(len(points))
    for c in range(len(v)):
        difference = points[:, c] - origin[c]
        gap += v[c] * difference
        rate += step[c] * difference
    when = np.where(np.abs(gap) <= _SAME * sizes * length, 0.0, -gap / rate)
    met = (when > 0.0) | (np.abs(gap) <= _SAME * sizes * length)
    met &= ~(np.abs(rate) <= _SAME * sizes)
    met[members[:count]] = False
    when = np.where(met & (when < np.inf), when, np.inf)
    chosen = int(when.argmin())
    if when[chosen] == np.inf or when[chosen] < least * length:
        return False
    v += when[chosen] * step
    members[count] = chosen
    return True


@compiled(plain=_advanced)
def _advance(
    points: Any,
    sizes: Any,
    v: Any,
    step: Any,
    members: Any,
    count: int,
    least: float,
) -> bool:
    """Move v along the step until one row more is on the hyperplane, and name it; False if no row is met.

    Rows on it already that the step takes off it are met at once; moves must be longer than `least`.
    """
    origin = points[members[:count].min()]
    length = np.sqrt(dot(v, v))
    best = np.inf
    chosen = -1
    for j in range(len(points)):
        gap = 0.0
        rate = 0.0
        for c in range(len(v)):
            difference = points[j, c] - origin[c]
            gap += v[c] * difference
            rate += step[c] * difference
        if abs(rate) <= _SAME * sizes[j]:
            continue
        known = False
        for r in range(count):
            if members[r] == j:
                known = True
        if known:
            continue
        if abs(gap) <= _SAME * sizes[j] * length:
            when = 0.0
        else:
            when = -gap / rate
            if when <= 0.0:
                continue
        if when < best:
            best = when
            chosen = j
    if chosen < 0 or best < least * length:
        return False
    for c in range(len(v)):
        v[c] += best * step[c]
    members[count] = chosen
    return True


def _all_beyond(points: Any, weights: Any, sizes: Any, v: Any, members: Any) -> int:
    """`_beyond`, all rows together."""
    origin, gap = points[members.min()], np.zeros(len(points))
    for c in range(len(v)):
        gap += v[c] * (points[:, c] - origin[c])
    return int(weights[gap > _SAME * sizes * np.sqrt(dot(v, v))].sum())


@compiled(plain=_all_beyond)
def _beyond(points: Any, weights: Any, sizes: Any, v: Any, members: Any) -> int:
    """Weight strictly beyond the hyperplane through the members."""
    length = np.sqrt(dot(v, v))
    origin = points[members.min()]
    above = 0
    for j in range(len(points)):
        gap = 0.0
        for c in range(len(v)):
            gap += v[c] * (points[j, c] - origin[c])
        if gap > _SAME * sizes[j] * length:
            above += weights[j]
    return above


@compiled
def dot(a: Any, b: Any) -> float:
    total = 0.0
    for c in range(len(a)):
        total += a[c] * b[c]
    return total
