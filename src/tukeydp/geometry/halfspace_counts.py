"""Compiled counts of the rows on either side of hyperplanes through rows.

Floats with a tolerance. A row closer to a hyperplane than rounding can tell counts as on it, so that a level set is off
by no more than rounding; whether a level set has any point at all is never decided here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tukeydp.compiled_code import compiled

# Sines closer than this are equal. Differences of floats are exact to 2^-53, about 1e-16, and
# some products and sums follow. Smaller: rows on a hyperplane are counted beside it, and facets are missed. Larger:
# rows close to it are counted on it, and the level set is off by as much.
_SAME = 1e-13


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
            if not length > _SAME:
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
    slight = _SAME * np.abs(z - z[o]).max(axis=1)
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
    if height > _SAME * size:
        return 1
    return -1 if height < -_SAME * size else 0


@compiled
def _orthogonalise(basis: Any, count: int, v: Any) -> None:
    for r in range(count):
        along = 0.0
        for c in range(len(v)):
            along += basis[r, c] * v[c]
        for c in range(len(v)):
            v[c] -= along * basis[r, c]
