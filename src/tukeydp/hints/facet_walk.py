"""The compiled loop of `ray_facets`: from one hyperplane through rows to a closer one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.trusted.compiled_code import compiled

# Speed only, all of them.
_HULLS, _PIVOTS = 30, 60  # steps of a walk, and of the simplex method for one hull
_FAR = 1e-6  # points that close to where rays start stand in for rows, at first
_SAME, _ON_EDGE = 1e-12, 1e-9  # what counts as no progress, and the part by which rows on an edge are told apart


@compiled
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


def _projected(rows: Any, normal: Any, along: Any) -> None:
    along[:] = 0.0
    for c in range(len(normal)):
        along += rows[:, c] * normal[c]


@compiled(plain=_projected)
def _project(rows: Any, normal: Any, along: Any) -> None:
    for i in range(len(rows)):
        along[i] = 0.0
        for c in range(len(normal)):
            along[i] += rows[i, c] * normal[c]


def _in_order(along: Any, weights: Any, level: float, values: Any, shares: Any) -> float:
    """`_ranked` by sorting. Weights are whole numbers: their sums are exact in any order."""
    order = np.argsort(-along, kind="stable")
    reached = np.flatnonzero(np.cumsum(weights[order]) >= level)
    return along[order[reached[0] if len(reached) else -1]]


@compiled(plain=_in_order)
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


def _left(rows: Any, ray: Any, normal: Any, edges: Any, basis: Any) -> bool:
    """`_leave`, all rows together."""
    d = rows.shape[1]
    edges[:] = np.diag(np.where(ray >= 0, 1.0 / _FAR, -1.0 / _FAR))
    basis[:] = -1
    product = np.empty(len(rows))
    for _ in range(_PIVOTS):
        normal[:] = 0.0
        for c in range(d):
            normal += edges[:, c]
        _projected(rows, normal, product)
        beyond = np.where(product > 1.0 + 1e-10, product, -np.inf)
        entering = int(beyond.argmax()) if len(rows) else 0
        if not len(rows) or beyond[entering] == -np.inf:
            return bool(basis.min() >= 0)
        steps, share = np.zeros(d), np.zeros(d)
        for c in range(d):
            steps += rows[entering, c] * edges[c]
            share += ray[c] * edges[c]
        ratio = np.full(d, np.inf)
        np.divide(share, steps, out=ratio, where=steps > 1e-12)
        ratio[np.isnan(ratio)] = np.inf
        leaving = int(ratio.argmin())
        if ratio[leaving] == np.inf:
            return False
        edges[:, leaving] /= steps[leaving]
        others = np.arange(d) != leaving
        edges[:, others] -= edges[:, leaving, np.newaxis] * steps[others]
        basis[leaving] = entering
    return False


@compiled(plain=_left)
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
