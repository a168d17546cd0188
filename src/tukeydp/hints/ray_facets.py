"""Hyperplanes through rows that part points from a level set, found by walking from one to a closer one.

Without the fewer than `level` rows of a halfspace the hull of the others holds the level set. The facet through which
the ray to a point leaves that hull passes through rows. If fewer rows are beyond it than may be, more are left out, and
the ray leaves sooner; where that ends, no normal close by does better. Floats, hints: an envelope ranks all rows along
a normal in integers.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.directions import unit_vectors
from tukeydp.trusted.parameters import FloatArray

# Speed only, all of them.
_RAYS = 48  # points that are walked to, at most
_KNOWN = 4  # normals closest to a point, from which to walk there
_TURNED, _BY = 32, (0.05, 0.1, 0.2, 0.4)  # how many turned ones of them, and by which part of their length
_BEYOND = 1e-5  # how far beyond a facet a point must be to be worth a cut


def facets_before(
    points: FloatArray, rows: FloatArray, weights: FloatArray, level: int, known: FloatArray
) -> FloatArray:
    """Normals (any, d) of hyperplanes through rows that part one of the points (k, d) from the level set.

    Points and rows (m, d) are seen from a point of the level set. The level set is in <v, y> <= 1 for the `known` v.
    """
    from tukeydp.hints.facet_walk import walk

    d = points.shape[1]
    with np.errstate(all="ignore"):
        try:
            frame = np.asarray(np.linalg.qr(points)[1])  # in these coordinates the points are spread evenly
            rays, seen = np.linalg.solve(frame.T, points.T).T, np.linalg.solve(frame.T, rows.T).T
        except np.linalg.LinAlgError:
            return np.empty((0, d))
        normals = known @ frame.T
        finite = all(np.isfinite(values).all() for values in (seen, rays, normals))
        if not (finite and len(normals) and len(rows)):
            return np.empty((0, d))
        held = rays @ normals.T
        if len(rays) > _RAYS:  # those that are closest to a known hyperplane
            chosen = np.argsort(-held.max(axis=1, initial=-np.inf), kind="stable")[:_RAYS]
            rays, held = rays[chosen], held[chosen]
        closest = normals[np.argsort(-held, axis=1, kind="stable")[:, :_KNOWN]]
        starts = np.concatenate([closest, _turned(closest)], axis=1)
        found = np.zeros_like(starts)
        walk(np.ascontiguousarray(seen), np.array(weights), float(level), np.ascontiguousarray(rays), starts, found)
        beyond = (found * rays[:, np.newaxis]).sum(axis=2) > 1 + _BEYOND
        return np.asarray(np.linalg.solve(frame, np.unique(found[beyond], axis=0).T).T)


def _turned(normals: FloatArray) -> FloatArray:
    """Normals close to some (k, s, d), which they take in turn: (k, _TURNED, d)."""
    k, s, d = normals.shape
    chosen = normals[:, np.arange(_TURNED) % s]
    by = np.resize(np.repeat(_BY, s), _TURNED)[:, np.newaxis]
    return np.asarray(chosen + by * np.linalg.norm(chosen, axis=2, keepdims=True) * _units(d)[:k])


@cache
def _units(d: int) -> FloatArray:
    return unit_vectors(_RAYS * _TURNED, d, derived_key("rays", d)).reshape(_RAYS, _TURNED, d)


@cache
def compile_walk() -> None:
    """Walk once among fixed rows: whether the code is kept in a file must not depend on those of a table."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    facets_before(2 * rows, rows, np.ones(3), 1, rows)
