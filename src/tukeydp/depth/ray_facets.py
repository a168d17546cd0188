"""Hyperplanes through rows that part points from a level set, found by walking from one to a closer one.

Without the fewer than `level` rows of a halfspace the hull of the others holds the level set. The facet through which
the ray to a point leaves that hull passes through rows. If fewer rows are beyond it than may be, more are left out, and
the ray leaves sooner; where that ends, no normal close by does better. Floats, hints: an envelope ranks all rows along
a normal in integers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import njit

from tukeydp.arrays import FloatArray
from tukeydp.depth.directions import unit_vectors
from tukeydp.randomness import derived_key

# Speed only, all of them.
_RAYS = 48  # points that are walked to, at most
_KNOWN = 4  # normals closest to a point, from which to walk there
_TURNED, _BY = 32, (0.05, 0.1, 0.2, 0.4)  # how many turned ones of them, and by which part of their length
_HULLS, _PIVOTS = 30, 60  # steps of a walk, and of the simplex method for one hull
_FAR = 1e-6  # points that close to where rays start stand in for rows, at first
_SAME, _ON_EDGE = 1e-12, 1e-9  # what counts as no progress, and the part by which rows on an edge are told apart
_BEYOND = 1e-5  # how far beyond a facet a point must be to be worth a cut


def facets_before(
    points: FloatArray, rows: FloatArray, weights: FloatArray, level: int, known: FloatArray
) -> FloatArray:
    """Normals (any, d) of hyperplanes through rows that part one of the points (k, d) from the level set.

    Points and rows (m, d) are seen from a point of the level set. The level set is in <v, y> <= 1 for the `known` v.
    """
    d = points.shape[1]
    with np.errstate(all="ignore"):
        try:
            frame = np.asarray(np.linalg.qr(points)[1])  # in these coordinates the points are spread evenly
            rays, seen = np.linalg.solve(frame.T, points.T).T, np.linalg.solve(frame.T, rows.T).T
        except np.linalg.LinAlgError:
            return np.empty((0, d))
        normals = known @ frame.T
        if not len(normals) or not (np.isfinite(seen).all() and np.isfinite(rays).all() and np.isfinite(normals).all()):
            return np.empty((0, d))
        held = rays @ normals.T
        if len(rays) > _RAYS:  # those that are closest to a known hyperplane
            chosen = np.argsort(-held.max(axis=1, initial=-np.inf), kind="stable")[:_RAYS]
            rays, held = rays[chosen], held[chosen]
        closest = normals[np.argsort(-held, axis=1, kind="stable")[:, :_KNOWN]]
        starts = np.concatenate([closest, _turned(closest)], axis=1)
        found = np.zeros_like(starts)
        walk(np.ascontiguousarray(seen), weights, float(level), np.ascontiguousarray(rays), starts, found)
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


@njit(nogil=True, cache=True)
def walk(rows: Any, weights: Any, level: float, rays: Any, starts: Any, found: Any) -> None:
    """From each start (k, s, d) of each ray (k, d): `found` is the last normal v, its hyperplane <v, y> = 1.

    All arrays in C order: another would be compiled, and kept in a file, only for the tables that call for it.
    """
    m, d = rows.shape
    kept, numbers = np.empty((m, d)), np.empty(m, dtype=np.int64)
    edges, basis = np.empty((d, d)), np.empty(d, dtype=np.int64)
    normal, along = np.empty(d), np.empty(m)
    values, shares = np.empty(m), np.empty(m)
    for r in range(len(rays)):
        for s in range(starts.shape[1]):
            _project(rows, starts[r, s], along)
            reached = 0.0
            for _ in range(_HULLS):
                edge = _ranked(along, weights, level, values, shares)
                k = 0
                for i in range(m):
                    if along[i] <= edge:
                        kept[k], numbers[k] = rows[i], i
                        k += 1
                if not _leave(kept[:k], rays[r], normal, edges, basis):
                    break
                held = 0.0
                for c in range(d):
                    held += rays[r, c] * normal[c]
                if held <= reached * (1.0 + _SAME):
                    break
                reached = held
                found[r, s] = normal
                _project(rows, normal, along)
                # Of the rows on the hyperplane those are left out first that hold the ray back most.
                for j in range(d):
                    share = 0.0
                    for c in range(d):
                        share += rays[r, c] * edges[c, j]
                    along[numbers[basis[j]]] = 1.0 + _ON_EDGE * share / held


@njit(nogil=True, cache=True)
def _project(rows: Any, normal: Any, along: Any) -> None:
    for i in range(len(rows)):
        along[i] = 0.0
        for c in range(len(normal)):
            along[i] += rows[i, c] * normal[c]


@njit(nogil=True, cache=True)
def _ranked(along: Any, weights: Any, level: float, values: Any, shares: Any) -> float:
    """The largest number so that those that are not below it weigh `level`, or the smallest; the last two are scratch.

    By parting what is left about one of its values, again and again.
    """
    values[:], shares[:] = along, weights
    first, last = 0, len(along)
    while last - first > 1:
        pivot = values[(first + last) // 2]
        above, i, below = first, first, last
        heavier = equal = 0.0
        while i < below:
            value, share = values[i], shares[i]
            if value > pivot:
                values[i], shares[i] = values[above], shares[above]
                values[above], shares[above] = value, share
                heavier += share
                above += 1
                i += 1
            elif value < pivot:
                below -= 1
                values[i], shares[i] = values[below], shares[below]
                values[below], shares[below] = value, share
            else:
                equal += share
                i += 1
        if level <= heavier:
            last = above
        elif level <= heavier + equal:
            return pivot
        else:
            level -= heavier + equal
            if below == last:
                return pivot
            first = below
    return values[first]


@njit(nogil=True, cache=True)
def _leave(rows: Any, ray: Any, normal: Any, edges: Any, basis: Any) -> bool:
    """The `normal` v, largest along the ray, with <v, row> <= 1 for all rows, by a dual simplex method; whether found.

    Its hyperplane passes through the rows of `basis`, at first through points close to zero. `edges` is the inverse of
    their matrix.
    """
    d = rows.shape[1]
    edges[:] = 0.0
    for c in range(d):
        edges[c, c] = 1.0 / _FAR if ray[c] >= 0 else -1.0 / _FAR
        basis[c] = -1
    steps = np.empty(d)
    for _ in range(_PIVOTS):
        for c in range(d):
            normal[c] = edges[c].sum()
        farthest = 1.0 + 1e-10
        entering = -1
        for i in range(len(rows)):
            product = 0.0
            for c in range(d):
                product += rows[i, c] * normal[c]
            if product > farthest:
                farthest, entering = product, i
        if entering < 0:
            return basis.min() >= 0
        leaving = -1
        least = np.inf
        for j in range(d):
            steps[j] = 0.0
            share = 0.0
            for c in range(d):
                steps[j] += rows[entering, c] * edges[c, j]
                share += ray[c] * edges[c, j]
            if steps[j] > 1e-12 and share / steps[j] < least:
                least, leaving = share / steps[j], j
        if leaving < 0:
            return False
        for c in range(d):
            edges[c, leaving] /= steps[leaving]
            for j in range(d):
                if j != leaving:
                    edges[c, j] -= edges[c, leaving] * steps[j]
        basis[leaving] = entering
    return False
