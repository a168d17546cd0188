"""Compiled searches and volumes of level sets as polytopes. Floats; not private."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tukeydp.trusted.compiled_code import compiled, may_be_called

# Andrew's monotone chain (1979): the corners of a convex hull in the plane. Floats.
#
# One text, run as it is for few points (planar_hulls.py) and compiled for many (polygon_areas.py): compiling takes
# longer than a thousand small hulls, and both round alike.

# Dual points closer than this part of their size stand for one line given twice. Rounding moves a dual point by about
# 1e-16 of its size. Smaller: an edge without length appears, whose corners are 0/0. Larger: a short edge is lost.
_SAME = 1e-13


def chain(x: Any, y: Any, order: Any, hull: Any) -> int:
    """The corners of the hull of points, listed in `order` by x and then y, into `hull`; returns how many."""
    m = len(x)
    count = 0
    for a in range(m):
        while count >= 2 and right_turn(x, y, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    lower = count
    for a in range(m - 2, -1, -1):
        while count > lower and right_turn(x, y, hull[count - 2], hull[count - 1], order[a]):
            count -= 1
        hull[count] = order[a]
        count += 1
    # The chain ends where it began. Corners that are equal up to rounding stand for one halfspace given twice.
    kept = 0
    for c in range(count - 1):
        if kept == 0 or not coincide(x, y, hull[kept - 1], hull[c]):
            hull[kept] = hull[c]
            kept += 1
    while kept > 1 and coincide(x, y, hull[kept - 1], hull[0]):
        kept -= 1
    return max(kept, 1)


def coincide(x: Any, y: Any, a: int, b: int) -> bool:
    """Whether two points are one up to rounding."""
    apart = max(abs(x[a] - x[b]), abs(y[a] - y[b]))
    return apart <= _SAME * max(abs(x[a]), abs(y[a]))


def right_turn(x: Any, y: Any, a: int, b: int, c: int) -> bool:
    """Whether the way from a over b to c does not turn left."""
    return (x[b] - x[a]) * (y[c] - y[a]) <= (y[b] - y[a]) * (x[c] - x[a])


# Compiled areas of polygons {z : normals z <= slacks} around the origin. Floats.
#
# The lines that bound such a polygon are the corners of the hull of the dual points normal / slack.

for _part in (coincide, right_turn):
    may_be_called(_part)
compiled_chain = compiled(chain)


def _areas(normals: Any, slacks: Any, sums: Any) -> None:
    """`polygon_areas`, all edges together; sums are added up in the same order."""
    for row, slack in enumerate(slacks):
        x, y = normals[:, 0] / slack, normals[:, 1] / slack
        hull = [0] * (2 * len(normals) + 2)
        count = chain(x.tolist(), y.tolist(), _ordered(x, y).tolist(), hull)
        i = np.array(hull[:count])
        h, j = np.roll(i, 1), np.roll(i, -1)
        before = normals[h, 0] * normals[i, 1] - normals[h, 1] * normals[i, 0]
        after = normals[i, 0] * normals[j, 1] - normals[i, 1] * normals[j, 0]
        one = (slack[h] - slack[i] * _dots(normals, h, i)) / before
        two = (slack[j] - slack[i] * _dots(normals, i, j)) / after
        sums[row] = 0.5 * (0.0 + np.cumsum(slack[i] * (one + two))[-1])


def _dots(normals: Any, i: Any, j: Any) -> Any:
    return normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]


@compiled(plain=_areas, error_model="numpy")
def polygon_areas(normals: Any, slacks: Any, sums: Any) -> None:
    """Areas of {normals z <= slack} in the plane, one for each row of slacks, all positive (the origin is inside)."""
    k = len(normals)
    hull = np.empty(2 * k + 2, dtype=np.int64)
    x, y = np.empty(k), np.empty(k)
    for row in range(len(slacks)):
        for i in range(k):
            x[i] = normals[i, 0] / slacks[row, i]
            y[i] = normals[i, 1] / slacks[row, i]
        count = compiled_chain(x, y, _ordered(x, y), hull)
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


@compiled
def _ordered(x: Any, y: Any) -> Any:
    """By x; equal ones by y."""
    order = np.argsort(x, kind="mergesort")
    for a in range(1, len(x)):
        b = a
        while b > 0 and x[order[b]] == x[order[b - 1]] and y[order[b]] < y[order[b - 1]]:
            order[b], order[b - 1] = order[b - 1], order[b]
            b -= 1
    return order


@compiled
def _dot(normals: Any, i: int, j: int) -> float:
    return normals[i, 0] * normals[j, 0] + normals[i, 1] * normals[j, 1]


# Compiled step of Lasserre's recursion (1983): volumes of faces from those one dimension down.
#
# It goes from the vertices upwards, so that a face shared by others is measured once, and takes heights from a point
# inside each face, so that all terms are positive and nothing cancels.

# Length of what is left of a unit normal within a face; with no more than this it bounds nothing there. Rounding leaves
# about 1e-16 of a parallel one. Smaller: rounding is scaled up to a direction. Larger: a facet at a tiny angle is lost.
_NONE = 1e-12


@compiled
def outer_face_volumes(
    normals: Any,
    outer: Any,
    inner: Any,
    which: Any,
    dropped: Any,
    centres: Any,
    volumes: Any,
    middles: Any,
    larger: Any,
) -> None:
    """Middles and volumes of the outer faces. Pair p: face inner[p] is where facet dropped[p] meets face which[p].

    An outer face lies on the facets outer[o]. The height of its middle above an inner face is measured along what is
    left of the dropped facet's normal when theirs are projected out.
    """
    count, size = outer.shape
    d = normals.shape[1]
    number = np.zeros(count)
    middles[:] = 0.0
    for p in range(len(which)):
        number[which[p]] += 1.0
        for c in range(d):
            middles[which[p], c] += centres[inner[p], c]
    basis = np.empty((count, size, d))
    rest = np.empty(d)
    for o in range(count):
        for c in range(d):
            middles[o, c] /= number[o]
        for j in range(size):
            _project_out(normals[outer[o, j]], basis[o], j, rest)
            for c in range(d):
                basis[o, j, c] = rest[c]
    larger[:] = 0.0
    dimension = d - size
    for p in range(len(which)):
        height = 0.0
        if dimension == 1:
            for c in range(d):
                off = middles[which[p], c] - centres[inner[p], c]
                height += off * off
            height = np.sqrt(height)
        else:
            _project_out(normals[dropped[p]], basis[which[p]], size, rest)
            for c in range(d):
                height += rest[c] * (middles[which[p], c] - centres[inner[p], c])
        larger[which[p]] += abs(height) * volumes[inner[p]] / dimension


@compiled
def _project_out(normal: Any, basis: Any, count: int, rest: Any) -> None:
    """Gram-Schmidt, again if much was lost; of length one, or zero."""
    d = len(normal)
    for c in range(d):
        rest[c] = normal[c]
    before = 1.0
    while True:
        for j in range(count):
            along = 0.0
            for c in range(d):
                along += rest[c] * basis[j, c]
            for c in range(d):
                rest[c] -= along * basis[j, c]
        length = 0.0
        for c in range(d):
            length += rest[c] * rest[c]
        length = np.sqrt(length)
        if length > 0.5 * before or not length > _NONE:
            break
        before = length
    for c in range(d):
        rest[c] = rest[c] / length if length > _NONE else 0.0


# Compiled volumes of polyhedra {z : normals z <= slacks} around the origin in space: facets by clipping. Floats.

# Sine of the angle below which two planes are parallel; rounding makes about 1e-16. Smaller: a clip by a parallel plane
# divides by rounding. Larger: a plane at a tiny angle clips nothing, and the volume is too large.
_PARALLEL = 1e-13
# The square that is clipped grows by this factor until its border is gone. Speed only.
_GROWTH = 1e3
# Times the first size: a facet beyond it counts as unbounded and is left as it is, its volume meaningless.
_LARGEST = 1e12


@compiled
def polyhedron_volumes(normals: Any, slacks: Any, sums: Any) -> None:
    """Volumes of {normals z <= slack} in space, one for each row of slacks, all positive (the origin is inside).

    Each plane's facet is a square that the other planes clip (Sutherland and Hodgman 1974); pyramids from the origin
    fill the body.
    """
    k = len(normals)
    polygon = np.empty((2 * k + 8, 2))
    clipped = np.empty((2 * k + 8, 2))
    tangents = np.empty((2, 3))
    for row in range(len(slacks)):
        extent = 4.0 * slacks[row].max() + 1.0
        volume = 0.0
        for i in range(k):
            _tangents(normals[i], tangents)
            size = extent
            # Grow the square until its border is clipped away.
            while True:
                count = _facet(normals, slacks[row], i, tangents, size, polygon, clipped)
                inside = True
                for c in range(count):
                    if abs(polygon[c, 0]) >= size or abs(polygon[c, 1]) >= size:
                        inside = False
                if inside or size > _LARGEST * extent:
                    break
                size *= _GROWTH
            twice = 0.0
            for c in range(1, count - 1):
                ax = polygon[c, 0] - polygon[0, 0]
                ay = polygon[c, 1] - polygon[0, 1]
                twice += ax * (polygon[c + 1, 1] - polygon[0, 1]) - ay * (polygon[c + 1, 0] - polygon[0, 0])
            volume += slacks[row, i] * twice / 6.0
        sums[row] = volume


@compiled
def _tangents(normal: Any, tangents: Any) -> None:
    """Two unit vectors orthogonal to the normal and to each other."""
    k = 0
    for c in range(1, 3):
        if abs(normal[c]) < abs(normal[k]):
            k = c
    for c in range(3):
        tangents[0, c] = (1.0 if c == k else 0.0) - normal[k] * normal[c]
    a, b, c = tangents[0, 0], tangents[0, 1], tangents[0, 2]
    tangents[0] /= np.sqrt(a * a + b * b + c * c)
    tangents[1, 0] = normal[1] * tangents[0, 2] - normal[2] * tangents[0, 1]
    tangents[1, 1] = normal[2] * tangents[0, 0] - normal[0] * tangents[0, 2]
    tangents[1, 2] = normal[0] * tangents[0, 1] - normal[1] * tangents[0, 0]


@compiled
def _facet(normals: Any, slack: Any, i: int, tangents: Any, size: float, polygon: Any, clipped: Any) -> int:
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
            p += normals[j, c] * tangents[0, c]
            q += normals[j, c] * tangents[1, c]
            cosine += normals[j, c] * normals[i, c]
        room = slack[j] - cosine * slack[i]
        if np.sqrt(p * p + q * q) < _PARALLEL:
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


# Compiled counts of the rows on either side of hyperplanes through rows.
#
# Floats with a tolerance. A row closer to a hyperplane than rounding can tell counts as on it, so that a level set is
# off by no more than rounding; whether a level set has any point at all is never decided here.

# Sines closer than this are equal. Differences of floats are exact to 2^-53, about 1e-16, and
# some products and sums follow. Smaller: rows on a hyperplane are counted beside it, and facets are missed. Larger:
# rows close to it are counted on it, and the level set is off by as much.
_SAME_SIDE = 1e-13


@compiled
def beside_planes(
    z: Any, weights: Any, members: Any, first: int, last: int, normals: Any, above: Any, below: Any
) -> None:
    """For the hyperplanes through tuples of rows: unit normals and the weight strictly on each side.

    A tuple that spans no hyperplane, as far as rounding can tell, gets a normal of zero.
    """
    d = z.shape[1]
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
            basis[r] /= np.sqrt(_squares(basis[r]))
            _orthogonalise(basis, r, basis[r])
            length = np.sqrt(_squares(basis[r]))
            if not length > _SAME_SIDE:
                flat = True
                break
            basis[r] /= length
            _orthogonalise(basis, r, basis[r])
            basis[r] /= np.sqrt(_squares(basis[r]))
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
                rest -= basis[r, c] * basis[r, c]
            if rest > most:
                most = rest
                best = c
        normal = np.zeros(d)
        normal[best] = 1.0
        for _ in range(2):
            _orthogonalise(basis, d - 1, normal)
            normal /= np.sqrt(_squares(normal))
        up, down = _weighed(z, weights, o, normal)
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


@compiled
def _squares(v: Any) -> float:
    total = 0.0
    for c in range(len(v)):
        total += v[c] * v[c]
    return total


def _all_weighed(z: Any, weights: Any, o: int, normal: Any) -> tuple[int, int]:
    """`_weighed`, all rows together."""
    height = np.zeros(len(z))
    for c in range(len(normal)):
        height += normal[c] * (z[:, c] - z[o, c])
    slight = _SAME_SIDE * np.abs(z - z[o]).max(axis=1)
    return weights[height > slight].sum(), weights[height < -slight].sum()


@compiled(plain=_all_weighed)
def _weighed(z: Any, weights: Any, o: int, normal: Any) -> tuple[int, int]:
    """The weight on each side of the hyperplane through row o."""
    up = 0
    down = 0
    for j in range(len(z)):
        side = _side(z, j, o, normal)
        if side > 0:
            up += weights[j]
        elif side < 0:
            down += weights[j]
    return up, down


@compiled
def _side(z: Any, j: int, o: int, normal: Any) -> int:
    """On which side of the hyperplane through row o row j lies; 0 if rounding cannot tell."""
    height = 0.0
    size = 0.0
    for c in range(len(normal)):
        difference = z[j, c] - z[o, c]
        height += normal[c] * difference
        size = max(size, abs(difference))
    if height > _SAME_SIDE * size:
        return 1
    return -1 if height < -_SAME_SIDE * size else 0


@compiled
def _orthogonalise(basis: Any, count: int, v: Any) -> None:
    for r in range(count):
        along = 0.0
        for c in range(len(v)):
            along += basis[r, c] * v[c]
        for c in range(len(v)):
            v[c] -= along * basis[r, c]


# Compiled search for the cell of least weight in an arrangement of weighted halfspaces within a simplex. Floats.
#
# Each lightest cell borders on the zero set of some row (or no row cuts the simplex), where the row itself can be left
# out: that lowers the dimension by one, until a segment is left to sweep. The part of the simplex still looked at is
# kept as the convex hull of its corners, and rows by their heights there, so that all steps are convex combinations.

# Two crossings closer than this, as parts of a segment, leave no cell between them: a few units of rounding. Smaller:
# cells that rounding made are counted. Larger: true cells are missed, and a bound of the level set with them.
_NO_ROOM = 1e-15


@compiled
def lightest_cell(heights: Any, weights: Any, always: int, level: int, shares: Any) -> int:
    """Least weight over the simplex, which all rows cut; `always` weighs without cutting it.

    Depth k of the search is a part of the simplex on the zero sets of k rows, its corners in columns of shares.
    """
    d = heights.shape[1]
    corners = np.eye(d)
    if d == 2:
        return _sweep(heights, weights, corners, always, shares)
    least = always + weights.sum()
    all_heights = [heights for _ in range(d)]
    all_weights = [weights for _ in range(d)]
    all_corners = [corners for _ in range(d)]
    all_indices = [np.arange(len(weights)) for _ in range(d)]
    all_always = np.full(d, always)
    cursor = np.zeros(d, dtype=np.int64)
    inner = np.empty(d)
    depth = 0
    while depth >= 0:
        i = cursor[depth]
        if i == len(all_weights[depth]):
            depth -= 1
            continue
        cursor[depth] += 1
        section = _section(all_heights[depth], all_corners[depth], i)
        kept = np.empty((len(all_weights[depth]), len(section)))
        indices = np.empty(len(kept), dtype=np.int64)
        number, earlier, added = _cutting(all_heights[depth], all_weights[depth], i, kept, indices)
        weighing = all_always[depth] + added
        if weighing >= least:
            continue
        if number == 0:
            found = weighing
            for c in range(d):
                inner[c] = _mean(section[:, c])
        elif d - depth == 3:
            found = _sweep(kept[:number], all_weights[depth][indices[:number]], section, weighing, inner)
        else:
            # Pairs with an earlier row have been looked at.
            depth += 1
            all_heights[depth] = kept[:number].copy()
            all_weights[depth] = all_weights[depth - 1][indices[:number]]
            all_indices[depth] = all_indices[depth - 1][indices[:number]]
            all_corners[depth] = section
            all_always[depth] = weighing
            cursor[depth] = earlier
            continue
        if found < least:
            least = found
            shares[:] = inner
            if least < level:
                # From the border into the cell: off the zero sets of the rows that were left out, the last one first.
                leaving = np.empty(depth + 1, dtype=np.int64)
                for k in range(depth + 1):
                    leaving[k] = all_indices[k][cursor[k] - 1]
                for k in range(depth, -1, -1):
                    lowest = np.argmin(all_heights[k][cursor[k] - 1])
                    _move_towards(heights, all_corners[k][lowest], leaving[: k + 1], shares)
                return least
    return least


@compiled
def _mean(values: Any) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


@compiled
def _move_towards(heights: Any, corner: Any, on: Any, shares: Any) -> None:
    """Move half as far as no row changes sides, but for those in `on`, whose height is zero so far."""
    m, d = heights.shape
    room = 1.0
    for j in range(m):
        known = False
        for i in on:
            if i == j:
                known = True
        if known:
            continue
        here = 0.0
        there = 0.0
        for c in range(d):
            here += heights[j, c] * shares[c]
            there += heights[j, c] * corner[c]
        if (here >= 0.0) != (there >= 0.0):
            room = min(room, here / (here - there))
    for c in range(d):
        shares[c] += 0.5 * room * (corner[c] - shares[c])


@compiled
def _section(heights: Any, corners: Any, i: int) -> Any:
    """Corners, and maybe other points, of the part where row i has height zero: between each two on different sides."""
    k = heights.shape[1]
    up = 0
    for r in range(k):
        if heights[i, r] >= 0.0:
            up += 1
    section = np.empty((up * (k - up), corners.shape[1]))
    at = 0
    for p in range(k):
        if heights[i, p] < 0.0:
            continue
        for q in range(k):
            if heights[i, q] >= 0.0:
                continue
            part = heights[i, q] / (heights[i, q] - heights[i, p])
            for c in range(corners.shape[1]):
                section[at, c] = part * corners[p, c] + (1.0 - part) * corners[q, c]
            at += 1
    return section


def _all_cutting(heights: Any, weights: Any, i: int, kept: Any, indices: Any) -> tuple[int, int, int]:
    """`_cutting`, all rows together."""
    above, below = np.flatnonzero(~(heights[i] < 0.0)), np.flatnonzero(~(heights[i] >= 0.0))
    p, q = np.repeat(above, len(below)), np.tile(below, len(above))
    part = heights[i, q] / (heights[i, q] - heights[i, p])
    on_section = part * heights[:, p] + (1.0 - part) * heights[:, q]
    low, high = on_section.min(axis=1, initial=np.inf), on_section.max(axis=1, initial=-np.inf)
    others = np.arange(len(heights)) != i
    cut = np.flatnonzero(others & ~(low >= 0.0) & (high >= 0.0))
    kept[: len(cut)], indices[: len(cut)] = on_section[cut], cut
    return len(cut), int((cut < i).sum()), int(weights[others & (low >= 0.0)].sum())


@compiled(plain=_all_cutting)
def _cutting(heights: Any, weights: Any, i: int, kept: Any, indices: Any) -> tuple[int, int, int]:
    """Heights, on the section of row i, of the other rows that cut it, and which these are.

    Returns how many, how many of them are before row i, and the weight of the rows that are above all of it.
    """
    m, k = heights.shape
    number = 0
    earlier = 0
    above = 0
    for j in range(m):
        if j == i:
            continue
        low = np.inf
        high = -np.inf
        at = 0
        for p in range(k):
            if heights[i, p] < 0.0:
                continue
            for q in range(k):
                if heights[i, q] >= 0.0:
                    continue
                part = heights[i, q] / (heights[i, q] - heights[i, p])
                height = part * heights[j, p] + (1.0 - part) * heights[j, q]
                kept[number, at] = height
                low = min(low, height)
                high = max(high, height)
                at += 1
        if low >= 0.0:
            above += weights[j]
        elif high >= 0.0:
            indices[number] = j
            number += 1
            if j < i:
                earlier += 1
    return number, earlier, above


def _swept(heights: Any, weights: Any, corners: Any, always: int, shares: Any) -> int:
    """`_sweep`, all rows together."""
    k = heights.shape[1]
    start, end = 0, 0
    longest = -1.0
    for p in range(k):
        for q in range(p + 1, k):
            apart = np.abs(corners[p] - corners[q]).max()
            if apart > longest:
                longest, start, end = apart, p, q
    a, b = heights[:, start], heights[:, end]
    crossing = np.flatnonzero(np.where(a >= 0.0, b < 0.0, b >= 0.0))
    crossings = a[crossing] / (a[crossing] - b[crossing])
    order = np.argsort(crossings, kind="stable")
    changes = np.where(a >= 0.0, -weights, weights)[crossing][order]
    here = always + weights[a >= 0.0].sum() + np.concatenate([[0], np.cumsum(changes)])
    ends = np.concatenate([[0.0], crossings[order], [1.0]])
    least, best = always + weights.sum(), 0.5
    room = np.flatnonzero((here < least) & (np.diff(ends) > _NO_ROOM))
    if len(room):
        c = room[here[room].argmin()]
        least, best = here[c], 0.5 * (ends[c] + ends[c + 1])
    shares[:] = (1.0 - best) * corners[start] + best * corners[end]
    return int(least)


@compiled(plain=_swept)
def _sweep(heights: Any, weights: Any, corners: Any, always: int, shares: Any) -> int:
    """Least weight along a segment, which the corners lie on."""
    m, k = heights.shape
    start, end = 0, 0
    longest = -1.0
    for p in range(k):
        for q in range(p + 1, k):
            apart = 0.0
            for c in range(corners.shape[1]):
                apart = max(apart, abs(corners[p, c] - corners[q, c]))
            if apart > longest:
                longest = apart
                start, end = p, q
    here = always
    crossings = np.empty(m)
    changes = np.empty(m, dtype=np.int64)
    count = 0
    for j in range(m):
        a = heights[j, start]
        b = heights[j, end]
        if a >= 0.0:
            here += weights[j]
            if b < 0.0:
                crossings[count] = a / (a - b)
                changes[count] = -weights[j]
                count += 1
        elif b >= 0.0:
            crossings[count] = a / (a - b)
            changes[count] = weights[j]
            count += 1
    order = np.argsort(crossings[:count])
    least = always + weights.sum()
    best = 0.5
    before = 0.0
    for c in range(count + 1):
        there = crossings[order[c]] if c < count else 1.0
        if here < least and there - before > _NO_ROOM:
            least = here
            best = 0.5 * (before + there)
        if c < count:
            here += changes[order[c]]
            before = there
    for c in range(corners.shape[1]):
        shares[c] = (1.0 - best) * corners[start, c] + best * corners[end, c]
    return least


# Compiled descent from any hyperplane to one through d rows that bounds a level more tightly. Floats.
#
# Seen from a centre, along a ray u, the hyperplane with normal v on which the level's row lies cuts the ray at (level-
# th largest <v, row>) / <v, u>. With <v, u> = 1 fixed, v moves so that this falls: at first freely, then with one row
# more on the hyperplane after each step, and from a hyperplane through d rows to a neighbouring one. What it finds is a
# bound of the level set whether or not it is the lowest; the lowest is a facet, namely the one the ray leaves by.

# Parts of a row's size below which it is on a hyperplane, and lengths below which a unit vector depends on others. Well
# below `normal_cones.TOLERANCE`, from which a descent starts just below the rows it must leave behind. Smaller:
# rounding takes rows off their hyperplane, and descent stops early. Larger: rows are taken onto one they are not on. A
# wrong hyperplane is no bound, which `cutting_planes` finds out.
_SAME_FACET = 1e-14
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
            if _advance(points, sizes, v, step, trial, d - 1, _SAME_FACET):
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
        if not rest > _SAME_FACET:
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
    when = np.where(np.abs(gap) <= _SAME_FACET * sizes * length, 0.0, -gap / rate)
    met = (when > 0.0) | (np.abs(gap) <= _SAME_FACET * sizes * length)
    met &= ~(np.abs(rate) <= _SAME_FACET * sizes)
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
        if abs(rate) <= _SAME_FACET * sizes[j]:
            continue
        known = False
        for r in range(count):
            if members[r] == j:
                known = True
        if known:
            continue
        if abs(gap) <= _SAME_FACET * sizes[j] * length:
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
    return int(weights[gap > _SAME_FACET * sizes * np.sqrt(dot(v, v))].sum())


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
        if gap > _SAME_FACET * sizes[j] * length:
            above += weights[j]
    return above


@compiled
def dot(a: Any, b: Any) -> float:
    total = 0.0
    for c in range(len(a)):
        total += a[c] * b[c]
    return total


# Compiled search of a normal cone for a direction whose halfspace has too few rows. Floats with a tolerance.
#
# The normal cone of a vertex is spanned by the normals a_1 ... a_d of halfspaces <a_i, z> <= b_i. A direction in it is
# v = sum of shares times normals; the halfspaces imply <v, z> <= sum of shares * b_i, and the level asks for no more
# than that if
#
#     rows with  sum of shares * height_i >= 0,   height_i(row) = <a_i, row> - b_i,
#
# weigh at least `level`. In the shares a row is a halfspace, so the lightest cell of an arrangement within a simplex is
# wanted (see `arrangements`). A row whose heights all have one sign does not cut the simplex; few others are left when
# cones are narrow.

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
    always, m = _cone_cutting(heights, weights, kept)
    shares[:] = 1.0 / heights.shape[1]
    if always >= level or m == 0:
        return always
    return lightest_cell(heights[kept[:m]], weights[kept[:m]], always, level, shares)


def _all_cone_cutting(heights: Any, weights: Any, kept: Any) -> tuple[int, int]:
    above = heights.min(axis=1) >= 0.0
    cut = np.flatnonzero(~above & (heights.max(axis=1) >= 0.0))
    kept[: len(cut)] = cut
    return int(weights[above].sum()), len(cut)


@compiled(plain=_all_cone_cutting)
def _cone_cutting(heights: Any, weights: Any, kept: Any) -> tuple[int, int]:
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
