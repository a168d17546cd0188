"""Light halfspaces, found by turning a normal along one great circle after another.

Along a circle all counts follow from one sort by angle. Each turn goes to the fewest, from several starts at once: a
point that is not deep is nearly always refuted so, by a wide margin, in a few milliseconds. Whoever asks counts in
integers. Not to find a halfspace proves nothing.
"""

from __future__ import annotations

import numpy as np

from tukeydp.trusted.bits import derived_key
from tukeydp.trusted.directions import unit_vectors
from tukeydp.trusted.parameters import FloatArray

# Speed only, all of them.
_STARTS, _TURNS = 8, 12  # normals turned together, and how often; each turn sorts all vectors once for every start


def light_normals(
    products: FloatArray, frame: FloatArray, weights: FloatArray, least: int, start: FloatArray | None = None
) -> FloatArray:
    """Normals (any, d) of halfspaces that seem to weigh less than `least`, the lightest first, no entry above one.

    Vectors are given by their `products` with the normals of `frame`, which span everything; `start` is a normal to
    turn, too.
    """
    d = products.shape[1]
    units = unit_vectors(_STARTS * (_TURNS + 1), d, derived_key("descent", d))
    normals, counts = units[:_STARTS].copy(), np.full(_STARTS, np.inf)
    if start is not None:
        normals[0] = np.linalg.lstsq(frame.T, start, rcond=None)[0]
    for t in range(1, _TURNS + 1):
        normals, counts = _turned(products, weights, normals, units[t * _STARTS : (t + 1) * _STARTS])
    directions = normals @ frame
    directions /= np.abs(directions).max(axis=1, keepdims=True)
    order = np.argsort(counts, kind="stable")
    return np.asarray(directions[order[counts[order] < least]])


def _turned(
    vectors: FloatArray, weights: FloatArray, normals: FloatArray, across: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Each normal turned towards another one, or away from it, to where the open halfspace weighs least."""
    along, beside = vectors @ normals.T, vectors @ across.T
    # A vector changes sides where the normal, turned by an angle, is orthogonal to it.
    crossings = np.mod(np.arctan2(along, -beside), np.pi)
    order = np.argsort(crossings, axis=0)
    crossings = np.take_along_axis(crossings, order, axis=0)
    inside = along > 0
    changes = np.take_along_axis(np.where(inside, -weights[:, np.newaxis], weights[:, np.newaxis]), order, axis=0)
    here = weights @ inside + np.cumsum(changes, axis=0)
    lighter = np.minimum(here, weights.sum() - here)
    best = np.argmin(lighter, axis=0)
    columns = np.arange(len(normals))
    ends = np.vstack([crossings, crossings[:1] + np.pi])
    angles = 0.5 * (ends[best, columns] + ends[best + 1, columns])
    turned = np.cos(angles)[:, np.newaxis] * normals + np.sin(angles)[:, np.newaxis] * across
    turned *= np.where(here[best, columns] <= weights.sum() - here[best, columns], 1.0, -1.0)[:, np.newaxis]
    return turned / np.linalg.norm(turned, axis=1, keepdims=True), lighter[best, columns]
