"""Compiled step of Lasserre's recursion (1983): volumes of faces from those one dimension down.

It goes from the vertices upwards, so that a face shared by others is measured once, and takes heights from a point
inside each face, so that all terms are positive and nothing cancels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled

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
