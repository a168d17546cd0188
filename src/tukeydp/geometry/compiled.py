"""Compiled loops of the geometry: counts beside hyperplanes through rows, hulls in the plane, volumes in space.

Floats with tolerances. A point closer to a hyperplane than rounding can tell counts as on it, so that a region is off
by no more than rounding; whether a region has any point at all is never decided here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# Angles (in radians) and sines closer than this are equal. Differences of floats are exact to 2^-53.
_SAME = 1e-13


@njit(nogil=True, cache=True)
def beside_lines(z: Any, weights: Any, first: int, step: int, start: Any, normals: Any, above: Any, below: Any) -> None:
    """For rows first, first + step, ...: the line to each later row, and the weight strictly on each of its sides.

    Row i's lines are stored from start[i] on, in the order of the later rows.
    """
    n = len(z)
    total = weights.sum()
    for i in range(first, n, step):
        angle = np.empty(n - 1)
        index = np.empty(n - 1, dtype=np.int64)
        m = 0
        for j in range(n):
            if j != i:
                angle[m] = np.arctan2(z[j, 1] - z[i, 1], z[j, 0] - z[i, 0])
                index[m] = j
                m += 1
        order = np.argsort(angle)
        # Twice around, so that every half turn is one stretch; prefix[c] is the weight of the first c.
        turned = np.empty(2 * m)
        prefix = np.zeros(2 * m + 1, dtype=np.int64)
        for c in range(2 * m):
            o = order[c % m]
            turned[c] = angle[o] + (2.0 * np.pi if c >= m else 0.0)
            prefix[c + 1] = prefix[c] + weights[index[o]]
        left = 0  # first entry surely past the line's own angle
        half = 0  # first entry not surely before its opposite
        past = 0  # first entry surely past its opposite
        again = 0  # first entry not surely before the full turn
        for c in range(m):
            while left < 2 * m and turned[left] <= turned[c] + _SAME:
                left += 1
            while half < 2 * m and turned[half] < turned[c] + np.pi - _SAME:
                half += 1
            while past < 2 * m and turned[past] <= turned[c] + np.pi + _SAME:
                past += 1
            while again < 2 * m and turned[again] < turned[c] + 2.0 * np.pi - _SAME:
                again += 1
            j = index[order[c]]
            if j > i:
                at = start[i] + j - i - 1
                dx = z[j, 0] - z[i, 0]
                dy = z[j, 1] - z[i, 1]
                length = np.hypot(dx, dy)
                normals[at, 0] = -dy / length
                normals[at, 1] = dx / length
                above[at] = max(prefix[half] - prefix[left], 0)
                below[at] = min(max(prefix[again] - prefix[past], 0), total)


@njit(nogil=True, cache=True)
def beside_planes(
    z: Any, weights: Any, members: Any, first: int, last: int, normals: Any, above: Any, below: Any
) -> None:
    """For the hyperplanes through tuples of rows: unit normals and the weight strictly on each side.

    A tuple that spans no hyperplane, as far as rounding can tell, gets a normal of zero.
    """
    n, d = z.shape
    basis = np.empty((d - 1, d))
    for t in range(first, last):
        o = members[t, 0]
        flat = False
        # Gram-Schmidt, twice, on edges of length one.
        for r in range(d - 1):
            length = 0.0
            for c in range(d):
                basis[r, c] = z[members[t, r + 1], c] - z[o, c]
                length = max(length, abs(basis[r, c]))
            basis[r] /= length
            basis[r] /= np.sqrt((basis[r] ** 2).sum())
            _orthogonalise(basis, r, basis[r])
            length = np.sqrt((basis[r] ** 2).sum())
            if not length > _SAME:
                flat = True
                break
            basis[r] /= length
            _orthogonalise(basis, r, basis[r])
            basis[r] /= np.sqrt((basis[r] ** 2).sum())
        if flat:
            normals[t, :] = 0.0
            above[t] = 0
            below[t] = 0
            continue
        # The axis with most left outside the span gives the normal.
        best = 0
        most = -1.0
        for c in range(d):
            rest = 1.0
            for r in range(d - 1):
                rest -= basis[r, c] ** 2
            if rest > most:
                most = rest
                best = c
        normal = np.zeros(d)
        normal[best] = 1.0
        for _ in range(2):
            _orthogonalise(basis, d - 1, normal)
            normal /= np.sqrt((normal**2).sum())
        up = 0
        down = 0
        for j in range(n):
            side = _side(z, j, o, normal)
            if side > 0:
                up += weights[j]
            elif side < 0:
                down += weights[j]
        # Members lie on it whatever rounding says.
        for r in range(d):
            j = members[t, r]
            side = _side(z, j, o, normal)
            if side > 0:
                up -= weights[j]
            elif side < 0:
                down -= weights[j]
        normals[t, :] = normal
        above[t] = up
        below[t] = down


@njit(nogil=True, cache=True)
def _side(z: Any, j: int, o: int, normal: Any) -> int:
    """On which side of the hyperplane through row o row j lies; 0 if rounding cannot tell."""
    height = 0.0
    size = 0.0
    for c in range(len(normal)):
        difference = z[j, c] - z[o, c]
        height += normal[c] * difference
        size = max(size, abs(difference))
    if height > _SAME * size:
        return 1
    return -1 if height < -_SAME * size else 0


@njit(nogil=True, cache=True)
def _orthogonalise(basis: Any, count: int, v: Any) -> None:
    for r in range(count):
        along = 0.0
        for c in range(len(v)):
            along += basis[r, c] * v[c]
        for c in range(len(v)):
            v[c] -= along * basis[r, c]


@njit(nogil=True, cache=True)
def planar_hull(points: Any, hull: Any) -> int:
    """Indices of the corners of the convex hull, counterclockwise, into `hull`; returns how many (monotone chain)."""
    m = len(points)
    order = np.argsort(points[:, 0], kind="mergesort")
    # Equal first coordinates: by the second.
    for a in range(1, m):
        b = a
        while (
            b > 0 and points[order[b], 0] == points[order[b - 1], 0] and points[order[b], 1] < points[order[b - 1], 1]
        ):
            order[b], order[b - 1] = order[b - 1], order[b]
            b -= 1
    count = 0
    for a in range(m):
        while count >= 2 and _right_turn(points, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    lower = count
    for a in range(m - 2, -1, -1):
        while count > lower and _right_turn(points, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    # The chain ends where it began. Corners that are equal up to rounding stand for one halfspace given twice.
    kept = 0
    for c in range(count - 1):
        if kept == 0 or not _coincide(points, hull[kept - 1], hull[c]):
            hull[kept] = hull[c]
            kept += 1
    while kept > 1 and _coincide(points, hull[kept - 1], hull[0]):
        kept -= 1
    return max(kept, 1)


@njit(nogil=True, cache=True)
def _coincide(points: Any, a: int, b: int) -> bool:
    apart = max(abs(points[a, 0] - points[b, 0]), abs(points[a, 1] - points[b, 1]))
    return apart <= _SAME * max(abs(points[a, 0]), abs(points[a, 1]))


@njit(nogil=True, cache=True)
def _right_turn(points: Any, a: int, b: int, c: int) -> bool:
    return (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1]) <= (points[b, 1] - points[a, 1]) * (
        points[c, 0] - points[a, 0]
    )


@njit(nogil=True, cache=True, error_model="numpy")
def plane_areas(normals: Any, slacks: Any, sums: Any) -> None:
    """Areas of {normals z <= slack} in the plane, one for each row of slacks, all positive (the origin is inside)."""
    k = len(normals)
    hull = np.empty(2 * k + 2, dtype=np.int64)
    dual = np.empty((k, 2))
    for row in range(len(slacks)):
        for i in range(k):
            dual[i, 0] = normals[i, 0] / slacks[row, i]
            dual[i, 1] = normals[i, 1] / slacks[row, i]
        count = planar_hull(dual, hull)
        twice = 0.0
        for c in range(count):
            h, i, j = hull[c - 1 if c else count - 1], hull[c], hull[c + 1 if c + 1 < count else 0]
            # The edge on line i runs from the corner with line h to the corner with line j.
            before = normals[h, 0] * normals[i, 1] - normals[h, 1] * normals[i, 0]
            after = normals[i, 0] * normals[j, 1] - normals[i, 1] * normals[j, 0]
            one = (slacks[row, h] - slacks[row, i] * _dot(normals, h, i)) / before
            two = (slacks[row, j] - slacks[row, i] * _dot(normals, i, j)) / after
            twice += slacks[row, i] * (one + two)
        sums[row] = 0.5 * twice


@njit(nogil=True, cache=True)
def _dot(normals: Any, i: int, j: int) -> float:
    return normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]


@njit(nogil=True, cache=True)
def space_volumes(normals: Any, slacks: Any, sums: Any) -> None:
    """Volumes of {normals z <= slack} in space, one for each row of slacks, all positive (the origin is inside).

    Each plane's facet is a square that the other planes clip; pyramids from the origin fill the body.
    """
    k = len(normals)
    polygon = np.empty((2 * k + 8, 2))
    clipped = np.empty((2 * k + 8, 2))
    frame = np.empty((2, 3))
    for row in range(len(slacks)):
        reach = 4.0 * slacks[row].max() + 1.0
        volume = 0.0
        for i in range(k):
            _frame(normals[i], frame)
            size = reach
            # Grow the square until its border is clipped away.
            while True:
                count = _facet(normals, slacks[row], i, frame, size, polygon, clipped)
                inside = True
                for c in range(count):
                    if abs(polygon[c, 0]) >= size or abs(polygon[c, 1]) >= size:
                        inside = False
                if inside or size > 1e12 * reach:
                    break
                size *= 1e3
            twice = 0.0
            for c in range(1, count - 1):
                ax = polygon[c, 0] - polygon[0, 0]
                ay = polygon[c, 1] - polygon[0, 1]
                twice += ax * (polygon[c + 1, 1] - polygon[0, 1]) - ay * (polygon[c + 1, 0] - polygon[0, 0])
            volume += slacks[row, i] * twice / 6.0
        sums[row] = volume


@njit(nogil=True, cache=True)
def _frame(normal: Any, frame: Any) -> None:
    """Two unit vectors orthogonal to the normal and to each other."""
    k = 0
    for c in range(1, 3):
        if abs(normal[c]) < abs(normal[k]):
            k = c
    for c in range(3):
        frame[0, c] = (1.0 if c == k else 0.0) - normal[k] * normal[c]
    frame[0] /= np.sqrt((frame[0] ** 2).sum())
    frame[1, 0] = normal[1] * frame[0, 2] - normal[2] * frame[0, 1]
    frame[1, 1] = normal[2] * frame[0, 0] - normal[0] * frame[0, 2]
    frame[1, 2] = normal[0] * frame[0, 1] - normal[1] * frame[0, 0]


@njit(nogil=True, cache=True)
def _facet(normals: Any, slack: Any, i: int, frame: Any, size: float, polygon: Any, clipped: Any) -> int:
    """The facet on plane i, within a square, in the plane's own coordinates about the foot of the origin."""
    for c in range(4):
        polygon[c, 0] = size if c == 0 or c == 3 else -size
        polygon[c, 1] = size if c < 2 else -size
    count = 4
    for j in range(len(normals)):
        if j == i:
            continue
        p = q = cosine = 0.0
        for c in range(3):
            p += normals[j, c] * frame[0, c]
            q += normals[j, c] * frame[1, c]
            cosine += normals[j, c] * normals[i, c]
        room = slack[j] - cosine * slack[i]
        if np.hypot(p, q) < _SAME:
            # Parallel: one of two equal planes keeps the facet.
            if cosine > 0.0 and (room < 0.0 or (room == 0.0 and j < i)):
                return 0
            continue
        kept = 0
        for c in range(count):
            e = c + 1 if c + 1 < count else 0
            here = room - p * polygon[c, 0] - q * polygon[c, 1]
            there = room - p * polygon[e, 0] - q * polygon[e, 1]
            if here >= 0.0:
                clipped[kept, 0] = polygon[c, 0]
                clipped[kept, 1] = polygon[c, 1]
                kept += 1
            if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
                s = here / (here - there)
                clipped[kept, 0] = polygon[c, 0] + s * (polygon[e, 0] - polygon[c, 0])
                clipped[kept, 1] = polygon[c, 1] + s * (polygon[e, 1] - polygon[c, 1])
                kept += 1
        count = kept
        for c in range(count):
            polygon[c, 0] = clipped[c, 0]
            polygon[c, 1] = clipped[c, 1]
        if count < 3:
            return 0
    return count
