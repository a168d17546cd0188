"""Compiled volumes of polyhedra {z : normals z <= slacks} around the origin in space: facets by clipping. Floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled

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
