"""Is the least weight of a halfspace at least so much? Branch and bound over cones of normals.

In a cone of normals that few vectors' hyperplanes cross, most vectors are on one side for all of its normals, and their
weight bounds every count from below. Cones whose bound falls short are cut in two. Most of the sphere is settled by a
few large cones; small ones are needed only where counts come close to the least. The answer "proven" is exact, floats
have margins (docs/proofs/exact-depth.md, section 5). Anything else is left to the sweeps of `exact_depth`.
"""

from __future__ import annotations

import math

import numpy as np

from tukeydp.arrays import FloatArray
from tukeydp.depth.vectors import Vectors
from tukeydp.exact.matrices import determinant, integers

# Cuts on a path, at most, for each column: a side of the cone is then about 2^-40 of what it was. Not only speed: each
# cut rounds once, and the margins allow for so many.
_CUTS = 40
_FRAME = 2**20  # largest entry of the frame's integers. Speed only
_FLATTEST = 1e-12  # smallest eigenvalue that the frame believes, relative to the largest. Speed only
_LITTLE_WORK = 2**16  # open vectors looked at in a millisecond or two
_ROOM = 16  # rows of scratch space for each vector, at first


def proven(vectors: Vectors, least: int) -> bool | FloatArray | None:
    """True if every generic halfspace weighs at least `least`, a normal of one that seems lighter, or None in doubt."""
    from tukeydp.depth.cone_search import NO_ROOM, PROVEN, REFUTED, search

    m, d = vectors.shadow.shape
    frame, products, margins = _framed(vectors.shadow)
    weights = vectors.weights.astype(np.float64)
    # A millisecond, or about as long as the sweeps would take: where this stays in doubt, not much is lost.
    work = max(_LITTLE_WORK, 3 * math.comb(m, d - 1))
    room = _ROOM * (m + d)
    found, corner = NO_ROOM, np.empty(0)
    while found == NO_ROOM:
        found, corner = search(products, weights, margins, float(least), work, _CUTS * d, np.empty((room, d + 2)))
        room *= 4
    if found == PROVEN:
        return True
    return np.asarray(corner @ frame) if found == REFUTED else None


def _framed(shadow: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Normals that span all others, the vectors' products with them scaled to about one, and bounds of their errors.

    The normals make vectors that are stretched about round. They are integers and independent: every normal is one of
    their combinations.
    """
    d = shadow.shape[1]
    sizes = np.abs(shadow).max(axis=1)
    frame = _frame(shadow / sizes[:, np.newaxis])
    products = shadow @ frame.T
    longest = np.abs(products).max(axis=1)
    with np.errstate(all="ignore"):
        # A product is off by 2^-51 in the vector, d roundings in the sum, one in the scaling; then one for each cut.
        error = 2.0**-53 * (d + 6) * np.abs(frame).sum(axis=1).max() * sizes / longest
        margins = 2 * error + 2.0**-52 * (_CUTS * d + 2)
        scaled = products / longest[:, np.newaxis]
    usable = np.isfinite(margins) & np.isfinite(scaled).all(axis=1)
    # What has no reliable product is on no side of any normal.
    return frame, np.where(usable[:, np.newaxis], scaled, 0.0), np.where(usable, margins, 1.0)


def _frame(directions: FloatArray) -> FloatArray:
    """An invertible matrix of integers that makes the directions about round, or the identity."""
    d = directions.shape[1]
    with np.errstate(all="ignore"):
        try:
            values, axes = np.linalg.eigh(directions.T @ directions)
        except np.linalg.LinAlgError:
            return np.eye(d)
        round_axes = axes.T / np.sqrt(np.maximum(values, values[-1] * _FLATTEST))[:, np.newaxis]
        whole = np.rint(round_axes / np.abs(round_axes).max() * _FRAME)
    if not np.isfinite(whole).all() or not determinant(integers(whole.astype(np.int64))):
        return np.eye(d)
    return np.asarray(whole)
