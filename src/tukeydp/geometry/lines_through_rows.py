"""The lines through pairs of rows in the plane, and the weight strictly on either side of each.

Floats with a tolerance, as in halfspace_counts.py. Sorts and searches of NumPy are as fast as compiled ones here, and
nothing has to be compiled for a first call.
"""

from __future__ import annotations

import numpy as np

from tukeydp.arrays import FloatArray, IntArray
from tukeydp.threads import available_cores, for_each

# Angles, in radians, closer than this are equal. Differences of floats are exact to 2^-53, about 1e-16, and some
# products and sums follow. Smaller: rows on a line are counted beside it, and facets are missed. Larger: rows close to
# it are counted on it, and the level set is off by as much.
_SAME = 1e-13
_WORTH_A_THREAD = 500  # rows; with fewer, starting threads takes longer than they save. Speed only


def beside_lines(z: FloatArray, weights: IntArray) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
    """For all pairs of rows, in the order of `np.triu_indices`: the pair, a unit normal, the weight on its two sides.

    The rows are distinct.
    """
    n = len(z)
    pairs = np.column_stack(np.triu_indices(n, 1))
    start = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])
    normals = np.empty((len(pairs), 2))
    above, below = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=np.int64)

    def work(i: int) -> None:
        here = slice(start[i], start[i + 1])
        edges = z[i + 1 :] - z[i]
        lengths = np.hypot(edges[:, 0], edges[:, 1])
        normals[here, 0], normals[here, 1] = -edges[:, 1] / lengths, edges[:, 0] / lengths
        above[here], below[here] = _beside_lines_of(z, weights, i)

    for_each(range(n - 1), work, available_cores() if n >= _WORTH_A_THREAD else 1)
    return pairs, normals, above, below


def _beside_lines_of(z: FloatArray, weights: IntArray, i: int) -> tuple[IntArray, IntArray]:
    """The weight on the left and on the right of the lines from row i to each later row."""
    others = np.delete(np.arange(len(z)), i)
    edges = z[others] - z[i]
    angle = np.arctan2(edges[:, 1], edges[:, 0])
    order = np.argsort(angle)
    # Twice around, so that every half turn is one stretch; prefix[c] is the weight of the first c.
    once = angle[order]
    turned = np.concatenate([once, once + 2.0 * np.pi])
    prefix = np.concatenate([[0], np.cumsum(np.tile(weights[others[order]], 2))])
    own = np.flatnonzero(others[order] > i)
    at = once[own]
    left = turned.searchsorted(at + _SAME, side="right")  # first entry surely past the line's own angle
    half = turned.searchsorted(at + np.pi - _SAME, side="left")  # first entry not surely before its opposite
    past = turned.searchsorted(at + np.pi + _SAME, side="right")  # first entry surely past its opposite
    again = turned.searchsorted(at + 2.0 * np.pi - _SAME, side="left")  # first entry not surely before the full turn
    above, below = np.empty((2, len(own)), dtype=np.int64)
    later = others[order[own]] - i - 1
    above[later] = np.maximum(prefix[half] - prefix[left], 0)
    below[later] = np.clip(prefix[again] - prefix[past], 0, weights.sum())
    return above, below
